"""The page of an entry: symptom, then the fix, then the rest and the sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.content.authoring.edition_text import validity_data
from jieda.content.catalog import beside_framework
from jieda.content.read.history import Change, WordPiece
from jieda.entry import Edition, Entry, Heading, Language, Section, Source, Summary
from jieda.presentation.reading_form import reading_form
from jieda.presentation.urls import fill_in, rewrite
from jieda.presentation.validity_text import validity_texts
from jieda.settings import Settings
from jieda.usecases.entries import MovedTo, ReadEntry, note_read, read
from jieda.usecases.gaps.recorder import NOBODY, EntryRead
from jieda.web.http.respond import Body, Resource, preferred_media_type, respond
from jieda.web.pages.context import HTML, MARKDOWN, PageContext, context_of, page_answer
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.outcome import REASONS, previous_vote
from jieda.web.pages.parts import ListedEntry, PageLink, crumb_data, entry_row, name_of, phrased, tag_link
from jieda.web.site import asker_of
from jieda.web.templating import safe

ANSWERS = frozenset({"fix", "answer", "steps"})
"""Sections highlighted as the answer."""
SHORT = 10
"""Longest symptom, in lines of 80 characters, that leaves the fix on the first screen."""
LONG = 4
"""Number of headings from which a page has a table of contents beside it."""
VERY_LONG = 8
"""Number of headings from which it is also shown above the article, where there is no room beside it."""


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with its body as HTML; `answer` highlights it."""

    key: str
    title: str
    html: Markup
    answer: bool


@dataclass(frozen=True, slots=True)
class ChangeView:
    """What a commit changed in the edition shown. `omitted` states how much is left out, or is empty."""

    day: str
    day_iso: str
    subject: str
    lines: tuple[tuple[WordPiece, ...], ...]
    omitted: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """The view of `entry.html`. `lang` is the language of the edition shown, not of the page."""

    id: str
    crumbs: tuple[PageLink, ...]
    lang: str
    title: Markup
    kind: str
    kind_name: str
    tags: tuple[PageLink, ...]
    """Topics and error types; the framework is in the breadcrumbs."""
    applies_to: str
    """Empty where it only repeats the framework, which is in the breadcrumbs."""
    held: str
    """The affected versions, the fixed versions and the date of verification; empty where not given."""
    notice: str
    """Why the reader sees another language or an outdated text; otherwise empty."""
    notice_link: PageLink | None
    sections: tuple[SectionView, ...]
    toc: tuple[Heading, ...]
    """Headings of levels 2 and 3; empty where there are few."""
    is_long: bool
    sources: tuple[Source, ...]
    updated: str
    updated_iso: str
    edit: str
    report: str
    """Address for reporting an error on this page, or empty."""
    voted: str
    """The reader's vote: empty, or a value of the cookie."""
    reasons: tuple[tuple[str, str], ...]
    """Reasons why it may not have helped: values and labels."""
    markdown: str
    related: tuple[ListedEntry, ...]
    history: tuple[ChangeView, ...]


def entry_page(
    context: PageContext, read: ReadEntry, changes: Sequence[Change] = (), *, voted: str = ""
) -> str:
    """Render an entry in the reader's language, or in the other where that edition is missing."""
    entry, edition = read.entry, read.entry.edition(context.lang)
    this_page = PageLink(edition.title, context.urls.entry(context.lang, entry.id))
    view = _view(context, read, edition, changes, voted)
    head = Head(
        name="entry",
        title=f"{edition.title} · {context.t('site.name')}",
        description=_description(edition),
        here=lambda lang: context.urls.entry(lang, entry.id),
        languages=frozenset(entry.editions),
        kind="article",
        data=(_article_data(context, entry, edition), crumb_data(context, (*view.crumbs, this_page))),
        canonical_lang=edition.lang,
    )
    return render_page(context, "entry.html", head, view)


def _view(
    context: PageContext, read: ReadEntry, edition: Edition, changes: Sequence[Change], voted: str
) -> EntryView:
    entry = read.entry
    crumbs = _crumbs(context, entry)
    notice, notice_link = _notice(context, entry, edition)
    toc = _toc(edition)
    return EntryView(
        id=entry.id,
        crumbs=crumbs,
        lang=edition.lang.tag,
        title=phrased(context, edition.title, edition.lang),
        kind=entry.kind.value,
        kind_name=name_of(context, "kind", entry.kind.value),
        tags=_tags(context, entry),
        applies_to=edition.applies_to if beside_framework(crumbs[-1].text, edition.applies_to) else "",
        held=context.t("list.semicolon").join(validity_texts(validity_data(entry.validity), context.t)),
        notice=notice,
        notice_link=notice_link,
        sections=tuple(_section(context, section) for section in fix_early(edition.sections)),
        toc=toc,
        is_long=len(toc) >= VERY_LONG,
        sources=edition.source,
        updated=context.day(edition.updated),
        updated_iso=edition.updated.isoformat(),
        edit=edit_address(context.site.settings, entry.id, edition.lang, edition.path),
        report=_report_address(context, entry, edition),
        voted=voted,
        reasons=tuple((each.value, context.t(f"vote.why.{each}")) for each in REASONS),
        markdown=context.urls.entry_markdown(edition.lang, entry.id),
        related=tuple(entry_row(context, other) for other in _unmentioned(context, read, edition)),
        history=tuple(_change(context, each) for each in changes),
    )


def _change(context: PageContext, change: Change) -> ChangeView:
    return ChangeView(
        day=context.day(change.day),
        day_iso=change.day.isoformat(),
        subject=change.subject,
        lines=change.lines,
        omitted=context.t("entry.history_omitted", count=change.omitted) if change.omitted else "",
    )


def _unmentioned(context: PageContext, read: ReadEntry, edition: Edition) -> tuple[Summary, ...]:
    """Return the related entries that the text does not link to."""
    text = "".join(rewrite(section.html, context.lang, context.urls) for section in edition.sections)
    linked = set(re.findall(r'href="([^"#]+)', text))
    return tuple(each for each in read.related if context.urls.entry(context.lang, each.id) not in linked)


def fix_early(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Return `sections` with the fix on the first screen: after a short symptom, before a long one.

    Readers need the fix before the cause. A long symptom is a traceback that they have just seen.
    """
    symptom = [section for section in sections if section.key == "symptom"]
    fix = [section for section in sections if section.key == "fix"]
    rest = [section for section in sections if section.key not in {"symptom", "fix"}]
    is_short = sum(section.text.count("\n") + len(section.text) // 80 for section in symptom) <= SHORT
    return tuple([*symptom, *fix, *rest] if is_short else [*fix, *symptom, *rest])


def _section(context: PageContext, section: Section) -> SectionView:
    html = rewrite(section.html, context.lang, context.urls)
    return SectionView(section.key, section.title, safe(html), section.key in ANSWERS)


def _toc(edition: Edition) -> tuple[Heading, ...]:
    places = {section.key: place for place, section in enumerate(fix_early(edition.sections))}
    placed, key = [], ""
    for heading in edition.headings:
        if heading.level == 2:
            key = heading.anchor
        if heading.level <= 3:
            placed.append((places.get(key, -1), heading))
    items = tuple(heading for _, heading in sorted(placed, key=itemgetter(0)))
    return items if len(items) >= LONG else ()


def _crumbs(context: PageContext, entry: Entry) -> tuple[PageLink, ...]:
    home = PageLink(context.t("nav.home"), context.urls.home(context.lang))
    return home, tag_link(context, "framework", entry.framework)


def _tags(context: PageContext, entry: Entry) -> tuple[PageLink, ...]:
    pairs = [("topic", each) for each in entry.topics] + [("error_type", each) for each in entry.error_types]
    return tuple(tag_link(context, facet, value) for facet, value in pairs)


def _notice(context: PageContext, entry: Entry, edition: Edition) -> tuple[str, PageLink | None]:
    if edition.lang is not context.lang:
        return context.t("entry.single_language"), None
    if edition.lang in entry.stale:
        twin = edition.lang.other
        link = PageLink(context.t("entry.stale_link"), context.urls.entry(twin, entry.id), twin.tag)
        return context.t("entry.stale"), link
    return "", None


def _description(edition: Edition) -> str:
    parts = [section.text for section in (edition.section("symptom"), edition.answer) if section]
    return " ".join(parts) or edition.title


def edit_address(settings: Settings, entry_id: str, lang: Language, path: Path) -> str:
    """Return the address where the file of an edition is edited; empty where none is configured for its directory."""
    where = quote(f"{lang}/{entry_id}.md")
    for directory, address in zip(reversed(settings.content), reversed(settings.edit_url), strict=False):
        if path.is_relative_to(directory.resolve()):
            return address.replace("{path}", where)
    return ""


def _report_address(context: PageContext, entry: Entry, edition: Edition) -> str:
    address = context.urls.absolute(context.urls.entry(edition.lang, entry.id))
    body = context.t("report.body", address=address, edition=edition.lang.value, generation=context.digest)
    title = context.t("report.title", title=edition.title)
    return fill_in(context.site.settings.issue_url, title=title, body=body)


def _article_data(context: PageContext, entry: Entry, edition: Edition) -> dict[str, object]:
    address = context.urls.absolute(context.urls.entry(edition.lang, entry.id))
    data: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": edition.title,
        "url": address,
        "inLanguage": edition.lang.tag,
        "dateModified": edition.updated.isoformat(),
        "about": [name_of(context, "framework", entry.framework)],
        "isBasedOn": [source.url for source in edition.source],
    }
    other = entry.editions.get(edition.lang.other)
    if other:
        data["workTranslation"] = context.urls.absolute(context.urls.entry(other.lang, entry.id))
    return data


IMAGE_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}

VARY = ("Accept", "Cookie")
CACHE_OVERHEAD = 500
"""Approximate size of a cached page beside its body, in bytes."""


async def show_entry(request: Request) -> Response:
    """Show an entry as a page or as Markdown, or an image stored beside the entries."""
    context = await context_of(request)
    framework, name = request.path_params["framework"], request.path_params["name"]
    image = context.library.image(context.lang, f"{framework}/{name}")
    if image:
        return await send_image(request, context, image)
    as_markdown = name.endswith(".md")
    wanted = f"{framework}/{name.removesuffix('.md')}"
    request.state.note = EntryRead(NOBODY, wanted)
    accepted = preferred_media_type(request.headers.get("accept", ""), (HTML, MARKDOWN))
    if not as_markdown and accepted != MARKDOWN:
        return await show_page(request, context, wanted)
    found = await read(context.site.service, context.served, wanted, asker_of(request))
    if isinstance(found, MovedTo):
        address = context.urls.entry_markdown if as_markdown else context.urls.entry
        return RedirectResponse(address(context.lang, found.id), 308)
    edition = found.entry.edition(context.lang)
    is_source = request.query_params.get("source") == "1"
    text = edition.raw if is_source else reading_form(edition, found.entry.validity, context.t)
    return await respond(request, text, MARKDOWN, lang=edition.lang, vary=() if as_markdown else VARY)


async def show_page(request: Request, context: PageContext, wanted: str) -> Response:
    """Show the page of an entry, cached by all that it depends on besides the snapshot: readers whose browsers send
    different headers share it."""
    cache, service, voted = context.site.cache, context.site.service, previous_vote(request)
    reader = (context.lang, context.theme, context.chosen, context.version, voted)
    key = ("entry", wanted, context.urls.base_url, *reader)
    html: Body | None = cache.get(context.served, key)
    if html:
        note_read(service, wanted, asker_of(request))
        return await page_answer(request, context, html, VARY)
    found = await read(service, context.served, wanted, asker_of(request))
    if isinstance(found, MovedTo):
        return RedirectResponse(context.urls.entry(context.lang, found.id), 308)
    lang = found.entry.edition(context.lang).lang
    changes = await service.offload(partial(context.library.changes, wanted, lang))
    html = entry_page(context, found, changes, voted=voted)
    if cache.room:
        html = await service.offload(partial(Resource.of, html, HTML))
        cache.put(context.served, key, html, CACHE_OVERHEAD + len(html.gzipped))
    return await page_answer(request, context, html, VARY)


async def send_image(request: Request, context: PageContext, image: Path) -> Response:
    """Send an image, read off the event loop. 404 where it was deleted after the content was loaded."""
    try:
        content = await context.site.service.offload(image.read_bytes)
    except OSError:
        raise HTTPException(404) from None
    return await respond(request, content, IMAGE_TYPES[image.suffix[1:].lower()])
