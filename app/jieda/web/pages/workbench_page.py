"""The page for writing an entry: both editions, with a review of their current state."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from jieda.content.authoring.source_text import values_of
from jieda.content.read.history import blocks_between
from jieda.entry import Kind, Language, Problem
from jieda.presentation.problem_text import problem_text
from jieda.presentation.urls import fill_in
from jieda.usecases.entries import ReadEntry
from jieda.usecases.workbench.desk import OpenedEdition, where_of
from jieda.usecases.workbench.review import Review
from jieda.web.pages.context import PageContext
from jieda.web.pages.entry import edit_address, entry_page
from jieda.web.pages.layout import SENTENCE_GAPS, Head, render_page
from jieda.web.pages.parts import PageLink, entry_link


@dataclass(frozen=True, slots=True)
class Form:
    """The values of the form. `entry` is the id of the opened entry, empty for a new one; `draft` is the key under
    which the browser stores the text; `opened` has the digests of the files when opened, `seen` those of newer versions
    that the author has been shown since."""

    entry: str = ""
    draft: str = ""
    framework: str = ""
    slug: str = ""
    texts: Mapping[Language, str] = field(default_factory=dict)
    opened: Mapping[Language, str] = field(default_factory=dict)
    seen: Mapping[Language, str] = field(default_factory=dict)
    log: str = ""
    keep: bool = False
    beside: str = ""
    """What is shown beside a text: its preview or, for `text`, the other edition."""
    user: str = ""
    """The user whom a trusted proxy names; without one empty, and `author` is then as typed."""
    author: str = ""
    email: str = ""
    message: str = ""

    @property
    def id(self) -> str:
        return self.entry or f"{self.framework}/{self.slug}"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action, in sentences for the top of the page. `done` is the draft that the browser can drop;
    `begun`: it may have stored one already."""

    note: str = ""
    warning: str = ""
    link: PageLink | None = None
    theirs: Mapping[Language, OpenedEdition] = field(default_factory=dict)
    done: str = ""
    begun: bool = False


MOST_ENTRIES = 2000
"""Titles to choose from; other entries are named by id."""
LONGEST_ADDRESS = 8000
"""Characters; git hosts refuse longer URLs."""
SCRIPT = re.compile(r"<script\b.*?</script>\n?", re.DOTALL)
"""Removed from previews, in which no script runs. All scripts are ours: the text of entries is escaped."""


def workbench_page(
    context: PageContext, form: Form, review: Review | None = None, result: ActionResult | None = None
) -> str:
    """Render the page. Without `review`, the draft has an invalid id or no text."""
    result = result or ActionResult()
    started = any(form.texts.values())
    ranks, wordings = (review.ranks, review.wordings) if review else ((), {})
    return render_page(
        context,
        _head(context, form, started=started),
        started=started,
        form=form,
        result=result,
        taxonomy=context.library.taxonomy,
        tags={
            "framework": {form.framework},
            "kind": _values(form, "kind") or {Kind.ERROR},
            "topic": _values(form, "topics"),
            "error_type": _values(form, "error_types"),
        },
        wordings=[(lang, text) for lang, texts in wordings.items() for text in texts],
        # To open, or to relate to the draft.
        entries=tuple(islice(context.library.listed(), MOST_ENTRIES)),
        related=_values(form, "related"),
        related_links=_related(context, form),
        editions=[
            _edition(context, lang, form, review, result.theirs.get(lang))
            for lang in sorted(Language, key=lambda lang: not form.texts.get(lang))
        ],
        others=_translated(context, review.checked.others) if review else (),
        # All problems, shown before committing.
        open=_translated(context, review.checked.problems) if review else (),
        status=_status(context, form, review) if started else "",
        tried=review.tried if review else None,
        won=[each for each in ranks if each.place == 1],
        lost=[(each, each.winner and entry_link(context, each.winner)) for each in ranks if each.place != 1],
        alike=[entry_link(context, each) for each in review.alike] if review else [],
        writes=context.site.settings.workbench_write,
    )


def _head(context: PageContext, form: Form, *, started: bool) -> Head:
    title = context.t("nav.workbench")
    if started and form.id.strip("/"):
        title = f"{form.id} · {title}"
    here = partial(context.urls.workbench, entry=form.entry)
    return Head("workbench", title, context.t("bench.lead"), here, indexed=False)


def _values(form: Form, key: str) -> set[str]:
    return {value for text in form.texts.values() for value in values_of(text, key)}


def _related(context: PageContext, form: Form) -> list[PageLink]:
    ids = sorted(_values(form, "related"))
    return [entry_link(context, context.library.summary(each)) for each in ids if each in context.library]


def _edition(
    context: PageContext, lang: Language, form: Form, review: Review | None, theirs: OpenedEdition | None
) -> Mapping[str, object]:
    """Return a column of the page. `preview` is the page as it would be served, empty if it would not be; `differing`
    are the differences from a file that somebody else has changed; `too_long`: the text is too long for a link to the
    git host's form; `foreign`: the edition has no text, and no entry is in its language."""
    text = form.texts.get(lang, "")
    host = _host(context, form, lang)
    fits = host is None or len(host.url) <= LONGEST_ADDRESS
    return {
        "lang": lang,
        "text": text,
        "findings": _translated(context, review.checked.own[lang]) if review else (),
        "preview": _preview(context, lang, review.read) if review and review.read else "",
        "theirs": theirs,
        "differing": blocks_between(text, theirs.text) if theirs else (),
        "host": host if fits else None,
        "too_long": not fits,
        "foreign": bool(review and not text and lang not in review.languages),
    }


def _host(context: PageContext, form: Form, lang: Language) -> PageLink | None:
    """Return a link to the git host: to its editor of an existing file, or to its form for a new one, filled in."""
    settings, text = context.site.settings, form.texts.get(lang, "")
    if form.opened.get(lang):
        path = context.site.desk.directory_of(form.id).resolve() / where_of(form.id, lang)
        url = edit_address(settings, form.id, lang, path)
        return PageLink(context.t("bench.host_edit"), url) if url else None
    url = fill_in(settings.new_url, path=where_of(form.id, lang), content=text) if text else ""
    return PageLink(context.t("bench.host_new"), url) if url else None


def _preview(context: PageContext, lang: Language, read: ReadEntry) -> str:
    if lang not in read.entry.editions:
        return ""
    shown = PageContext(context.site, lang, context.theme, context.snapshot)
    return SCRIPT.sub("", entry_page(shown, read))


def _translated(context: PageContext, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(replace(each, message=problem_text(each.message, context.lang)) for each in problems)


def _status(context: PageContext, form: Form, review: Review | None) -> str:
    if review is None:
        return context.t("bench.bad_id" if form.slug else "bench.unnamed")
    count = len(review.checked.problems)
    if review.checked.unserved:
        return context.t("bench.unserved", count=count)
    drafts = [text for text in form.texts.values() if text and "true" in values_of(text, "draft")]
    found = context.t("bench.problems", count=count) if count else context.t("bench.clean")
    end = "bench.is_draft" if drafts else "bench.is_served"
    return f"{found}{SENTENCE_GAPS[context.lang]}{context.t(end)}"
