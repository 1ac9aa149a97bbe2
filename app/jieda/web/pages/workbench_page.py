"""The page for writing an entry: both editions, with the review of their current state."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from jieda.content.authoring.source_text import values_of
from jieda.content.read.history import WordPiece, blocks_between
from jieda.diagnosis.answers import Match
from jieda.entry import Kind, Language, Problem
from jieda.presentation.problem_text import problem_text
from jieda.presentation.urls import fill_in
from jieda.usecases.entries import ReadEntry
from jieda.usecases.workbench.desk import OpenedEdition
from jieda.usecases.workbench.draft import where_of
from jieda.usecases.workbench.review import QueryRank, Review
from jieda.web.pages.context import PageContext
from jieda.web.pages.entry import edit_address, entry_page
from jieda.web.pages.layout import SENTENCE_GAPS, Head, render_page
from jieda.web.pages.parts import Choice, PageLink, entry_link, lang_attribute, tag_choices


@dataclass(frozen=True, slots=True)
class Form:
    """The values of the form. `entry` is the id of the opened entry, empty for a new one; `draft` is the key under
    which the browser stores the text; `opened` are the digests of the files when opened, `seen` those of newer versions
    shown to the author since."""

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
    """What is shown beside a text: its preview, or for `text` the other edition."""
    user: str = ""
    """The user as named by a trusted proxy; empty without one, and `author` is then as typed."""
    author: str = ""
    email: str = ""
    message: str = ""

    @property
    def id(self) -> str:
        """The id of the entry being written."""
        return self.entry or f"{self.framework}/{self.slug}"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action, as sentences for the top of the page. `done` is the draft that the browser can drop;
    `begun` says that it may have stored one already."""

    note: str = ""
    warning: str = ""
    link: PageLink | None = None
    theirs: Mapping[Language, OpenedEdition] = field(default_factory=dict)
    done: str = ""
    begun: bool = False


@dataclass(frozen=True, slots=True)
class EditionView:
    """A column of the page. `preview` is the page as it would be served, empty where it could not be."""

    lang: Language
    name: str
    text: str
    opened: str
    findings: tuple[Problem, ...]
    preview: str
    theirs: OpenedEdition | None
    differing: tuple[tuple[WordPiece, ...], ...]
    """Differences between the text and the file that somebody else has changed."""
    host: PageLink | None
    too_long: bool
    """Whether the text is too long to prefill the git host's form."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """An entry that matches the log. `own`: it is the one being written."""

    title: str
    lang: str
    own: bool
    confidence: str
    confidence_name: str
    signature: str


@dataclass(frozen=True, slots=True)
class RankRow:
    """A query, the entry's rank for it in words, and the entry that ranks first instead."""

    query: str
    field: str
    place: str
    winner: PageLink | None


@dataclass(frozen=True, slots=True)
class WorkbenchView:
    """The view of `workbench.html`. `started`: a draft exists."""

    started: bool
    form: Form
    result: ActionResult
    frameworks: tuple[Choice, ...]
    kinds: tuple[Choice, ...]
    topics: tuple[Choice, ...]
    error_types: tuple[Choice, ...]
    wordings: tuple[Choice, ...]
    entries: tuple[Choice, ...]
    """Entries of the content, to open or to relate to the draft."""
    related: tuple[PageLink, ...]
    editions: tuple[EditionView, ...]
    others: tuple[Problem, ...]
    open: tuple[Problem, ...]
    """All problems, shown before committing."""
    status: str
    before: tuple[MatchRow, ...]
    after: tuple[MatchRow, ...]
    tried: bool
    won: tuple[RankRow, ...]
    lost: tuple[RankRow, ...]
    """`won` are the queries for which the entry ranks first, `lost` the others."""
    alike: tuple[PageLink, ...]
    writes: bool


MOST_ENTRIES = 2000
"""Titles offered for selection; any other entry is named by its id."""
LONGEST_ADDRESS = 8000
"""In characters: git hosts refuse longer URLs."""
SCRIPT = re.compile(r"<script\b.*?</script>\n?", re.DOTALL)
"""Removed from previews, where no script runs. All scripts are our own: entries have none, because their text is
escaped."""


def workbench_page(
    context: PageContext, form: Form, review: Review | None = None, result: ActionResult | None = None
) -> str:
    """Render the page. Without `review`, the draft could not be reviewed: its id is invalid or it has no text."""
    result = result or ActionResult()
    started = any(form.texts.values())
    tags, ranks = context.library.taxonomy, review.ranks if review else ()
    tried = review.tried if review else None
    view = WorkbenchView(
        started=started,
        form=form,
        result=result,
        frameworks=tag_choices(context, "framework", tags.framework, {form.framework}),
        kinds=tag_choices(context, "kind", list(Kind), _values(form, "kind") or {Kind.ERROR.value}),
        topics=tag_choices(context, "topic", tags.topic, _values(form, "topics")),
        error_types=tag_choices(context, "error_type", tags.error_type, _values(form, "error_types")),
        wordings=_wordings(review),
        entries=_entries(context, _values(form, "related")),
        related=_related(context, form),
        editions=tuple(_edition(context, lang, form, review, result.theirs.get(lang)) for lang in Language),
        others=_translated(context, review.checked.others) if review else (),
        open=_translated(context, review.checked.problems) if review else (),
        status=_status(context, form, review) if started else "",
        before=_matches(context, tried.before, form) if tried else (),
        after=_matches(context, tried.after, form) if tried else (),
        tried=tried is not None,
        won=tuple(_rank(context, each) for each in ranks if each.place == 1),
        lost=tuple(_rank(context, each) for each in ranks if each.place != 1),
        alike=tuple(entry_link(context, each) for each in review.alike) if review else (),
        writes=context.site.settings.workbench_write,
    )
    return render_page(context, "workbench.html", _head(context, form, started=started), view)


def _head(context: PageContext, form: Form, *, started: bool) -> Head:
    title = form.id if form.id.strip("/") and started else context.t("bench.title")
    return Head(
        name="workbench",
        title=f"{title} · {context.t('bench.title')} · {context.t('site.name')}",
        description=context.t("bench.lead"),
        here=lambda lang: context.urls.workbench(lang, entry=form.entry),
        indexed=False,
    )


def _values(form: Form, key: str) -> set[str]:
    return {value for text in form.texts.values() for value in values_of(text, key)}


def _entries(context: PageContext, held: set[str]) -> tuple[Choice, ...]:
    """Return the entries by title."""
    found = islice(context.library.listed(), MOST_ENTRIES)
    return tuple(
        Choice(
            each.id,
            f"{'✓ ' if each.id in held else ''}{each.edition(context.lang).title}",
            each.id in held,
            lang_attribute(context, each.shown(context.lang)),
        )
        for each in found
    )


def _related(context: PageContext, form: Form) -> tuple[PageLink, ...]:
    held = sorted(_values(form, "related"))
    return tuple(
        entry_link(context, context.library.summary(each)) for each in held if each in context.library
    )


def _wordings(review: Review | None) -> tuple[Choice, ...]:
    offered = review.wordings.items() if review else ()
    return tuple(Choice(f"{lang} {text}", text, chosen=False) for lang, texts in offered for text in texts)


def _edition(
    context: PageContext, lang: Language, form: Form, review: Review | None, theirs: OpenedEdition | None
) -> EditionView:
    text = form.texts.get(lang, "")
    host = _host(context, form, lang)
    fits = host is None or len(host.url) <= LONGEST_ADDRESS
    return EditionView(
        lang=lang,
        name=lang.own_name,
        text=text,
        opened=form.opened.get(lang, ""),
        findings=_translated(context, review.checked.own[lang]) if review else (),
        preview=_preview(context, lang, review.read) if review and review.read else "",
        theirs=theirs,
        differing=blocks_between(text, theirs.text) if theirs else (),
        host=host if fits else None,
        too_long=not fits,
    )


def _host(context: PageContext, form: Form, lang: Language) -> PageLink | None:
    """Return the link to the git host: its editor for an existing file, its prefilled form for a new one."""
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
        return context.t("bench.unnamed")
    count = len(review.checked.problems)
    if review.checked.unserved:
        return context.t("bench.unserved", count=count)
    drafts = [text for text in form.texts.values() if text and "true" in values_of(text, "draft")]
    found = context.t("bench.problems", count=count) if count else context.t("bench.clean")
    end = "bench.is_draft" if drafts else "bench.is_served"
    return f"{found}{SENTENCE_GAPS[context.lang]}{context.t(end)}"


def _matches(context: PageContext, matches: Iterable[Match], form: Form) -> tuple[MatchRow, ...]:
    return tuple(
        MatchRow(
            title=each.edition.title,
            lang=lang_attribute(context, each.edition.lang),
            own=each.entry.id == form.id,
            confidence=each.confidence.value,
            confidence_name=context.t(f"confidence.{each.confidence}"),
            signature=next((one.detail for one in each.evidence if one.kind == "signature"), ""),
        )
        for each in matches
    )


def _rank(context: PageContext, rank: QueryRank) -> RankRow:
    key = "bench.place" if rank.place else "bench.place_none"
    weak = context.t("bench.place_weak") if rank.weak else ""
    place = context.t(key, place=rank.place)
    return RankRow(
        query=rank.query,
        field=context.t(f"bench.field.{rank.field}"),
        place=place + weak,
        winner=entry_link(context, rank.winner) if rank.winner else None,
    )
