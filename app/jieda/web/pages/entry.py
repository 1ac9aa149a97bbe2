"""The page of an entry: its symptom, the fix at once, then the rest, and where it all comes from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from jieda.presentation.urls import filled, rewrite
from jieda.presentation.validity_text import validity_texts
from jieda.settings import Settings
from jieda.usecases.entries import MovedTo, ReadEntry, note_read, read
from jieda.usecases.gaps.recorder import NOBODY, EntryRead
from jieda.web.http.respond import Body, Resource, Theme, preferred_media_type, respond
from jieda.web.pages.context import (
    HTML,
    MARKDOWN,
    PageContext,
    context_of,
    page_answer,
)
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.outcome import REASONS, said_before
from jieda.web.pages.parts import (
    ListedEntry,
    PageLink,
    crumb_data,
    entry_row,
    name_of,
    phrased,
)
from jieda.web.site import asker_of
from jieda.web.templating import safe

ANSWERS = frozenset({"fix", "answer", "steps"})
"""Sections that are set off as the answer."""
SHORT = 10
"""Lines of a symptom, in a column of 80 characters, that leave the fix on the first screen."""
LONG = 4
"""From so many headings on, a page has a table of contents beside it."""
VERY_LONG = 8
"""From so many on it has one before the article, too, where there is no room beside it."""


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with its body as HTML; `answer` marks what the reader came for."""

    key: str
    title: str
    html: Markup
    answer: bool


@dataclass(frozen=True, slots=True)
class ChangeView:
    """What a commit changed in the edition shown. `omitted` says how much of it is not shown, or is empty."""

    day: str
    day_iso: str
    subject: str
    lines: tuple[tuple[WordPiece, ...], ...]
    omitted: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """What `entry.html` shows. `lang` is that of the edition shown, not of the page."""

    id: str
    crumbs: tuple[PageLink, ...]
    lang: str
    title: Markup
    kind: str
    kind_name: str
    tags: tuple[PageLink, ...]
    """Topics and error types; the framework is one of the crumbs."""
    applies_to: str
    """Empty where it says no more than the framework, which is one of the crumbs."""
    held: str
    """The versions that it holds for, those that mended it, and when it was verified; empty where nobody said."""
    notice: str
    """Why the reader sees another language or an outdated text; empty where neither."""
    notice_link: PageLink | None
    sections: tuple[SectionView, ...]
    toc: tuple[Heading, ...]
    """Headings of levels 2 and 3; empty where there are few."""
    is_long: bool
    sources: tuple[Source, ...]
    updated: str
    updated_iso: str
    edit: str
    workbench: str
    """Where an entry is edited in place, or empty."""
    report: str
    """Where something wrong on this page is reported, or empty."""
    vote: str
    voted: str
    """What the reader has said of how it went: empty, or a value of the cookie."""
    reasons: tuple[tuple[str, str], ...]
    """Why it may not have helped: values and words."""
    markdown: str
    related: tuple[ListedEntry, ...]
    history: tuple[ChangeView, ...]


def entry_page(
    context: PageContext, read: ReadEntry, changes: Sequence[Change] = (), *, voted: str = ""
) -> str:
    """The page of an entry in the reader's language, or in the other where it has no such edition."""
    entry, edition = read.entry, read.entry.edition(context.lang)
    crumbs = _crumbs(context, entry)
    view = replace(_view(context, read, edition, crumbs, voted=voted), history=_history(context, changes))
    head = Head(
        name="entry",
        title=f"{edition.title} · {context.t('site.name')}",
        description=_description(edition),
        here=lambda lang: context.urls.entry(lang, entry.id),
        languages=frozenset(entry.editions),
        kind="article",
        data=(
            _article_data(context, entry, edition),
            crumb_data(
                context, (*crumbs, PageLink(edition.title, context.urls.entry(context.lang, entry.id)))
            ),
        ),
        canonical_lang=edition.lang,
    )
    return render_page(context, "entry.html", head, view)


def _view(
    context: PageContext, read: ReadEntry, edition: Edition, crumbs: tuple[PageLink, ...], *, voted: str
) -> EntryView:
    entry = read.entry
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
        workbench=context.urls.workbench(context.lang, entry=entry.id)
        if context.site.settings.workbench
        else "",
        report=_report_address(context, entry, edition),
        vote=context.urls.entry(context.lang, entry.id),
        voted=voted,
        reasons=tuple((each.value, context.t(f"vote.why.{each}")) for each in REASONS),
        markdown=context.urls.entry_markdown(edition.lang, entry.id),
        related=tuple(entry_row(context, other) for other in _unmentioned(context, read, edition)),
        history=(),
    )


def _history(context: PageContext, changes: Sequence[Change]) -> tuple[ChangeView, ...]:
    return tuple(
        ChangeView(
            day=context.day(change.day),
            day_iso=change.day.isoformat(),
            subject=change.subject,
            lines=change.lines,
            omitted=context.t("entry.history_omitted", count=change.omitted) if change.omitted else "",
        )
        for change in changes
    )


def _unmentioned(context: PageContext, read: ReadEntry, edition: Edition) -> tuple[Summary, ...]:
    """The neighbors that the entry does not link to by itself."""
    text = "".join(rewrite(section.html, context.lang, context.urls) for section in edition.sections)
    linked = set(re.findall(r'href="([^"#]+)', text))
    return tuple(each for each in read.related if context.urls.entry(context.lang, each.id) not in linked)


def fix_early(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """`sections` with the fix on the first screen: behind a short symptom, before a long one.

    The cause can wait, the reader can't. A long symptom is a traceback that the reader has just seen.
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
    order = {section.key: place for place, section in enumerate(fix_early(edition.sections))}
    groups: dict[str, list[Heading]] = {}
    key = ""
    for heading in edition.headings:
        if heading.level == 2:
            key = heading.anchor
        if heading.level <= 3:
            groups.setdefault(key, []).append(heading)
    items = [item for key in sorted(groups, key=lambda key: order.get(key, -1)) for item in groups[key]]
    return tuple(items) if len(items) >= LONG else ()


def _crumbs(context: PageContext, entry: Entry) -> tuple[PageLink, ...]:
    framework = name_of(context, "framework", entry.framework)
    return (
        PageLink(context.t("nav.home"), context.urls.home(context.lang)),
        PageLink(framework, context.urls.tag(context.lang, "framework", entry.framework)),
    )


def _tags(context: PageContext, entry: Entry) -> tuple[PageLink, ...]:
    pairs = [("topic", value) for value in entry.topics]
    pairs += [("error_type", value) for value in entry.error_types]
    return tuple(
        PageLink(name_of(context, facet, value), context.urls.tag(context.lang, facet, value))
        for facet, value in pairs
    )


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
    """Where the file of an edition is edited, empty where nobody said: addresses belong to directories."""
    where = quote(f"{lang}/{entry_id}.md")
    for directory, address in zip(reversed(settings.content), reversed(settings.edit_url), strict=False):
        if path.is_relative_to(directory.resolve()):
            return address.replace("{path}", where)
    return ""


def _report_address(context: PageContext, entry: Entry, edition: Edition) -> str:
    address = context.urls.absolute(context.urls.entry(edition.lang, entry.id))
    body = context.t("report.body", address=address, edition=edition.lang.value, generation=context.digest)
    title = context.t("report.title", title=edition.title)
    return filled(context.site.settings.issue_url, title=title, body=body)


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


LOOK_SIZE = 500
"""Bytes that a kept page takes beside its body, about."""


@dataclass(frozen=True, slots=True)
class Look:
    """All that the page of an entry depends on beside what is served: visitors whose browsers say other things of
    themselves share a page."""

    entry: str
    lang: Language
    theme: Theme
    works_with: tuple[str, str]
    voted: str
    origin: str


async def show_entry(request: Request) -> Response:
    """An entry as a page or as Markdown, or an image that lies beside the entries."""
    context = await context_of(request)
    framework, name = request.path_params["framework"], request.path_params["name"]
    image = context.library.image(context.lang, f"{framework}/{name}")
    if image:
        return await send_image(request, context, image)
    as_markdown = name.endswith(".md")
    wanted = f"{framework}/{name.removesuffix('.md')}"
    accepted = preferred_media_type(request.headers.get("accept", ""), (HTML, MARKDOWN))
    is_text = as_markdown or accepted == MARKDOWN
    known = (context.chosen, context.version)
    look = None
    if not is_text:
        said, origin = said_before(request), context.urls.base_url
        look = Look(wanted, context.lang, context.theme, known, said, origin)
    service, vary = context.site.service, ("Accept", "Cookie")
    request.state.note = EntryRead(NOBODY, wanted)
    if look and (kept := context.site.cache.get(context.served, look)):
        note_read(service, wanted, asker_of(request))
        return await page_answer(request, context, kept, vary)
    found = await read(service, context.served, wanted, asker_of(request))
    if isinstance(found, MovedTo):
        address = context.urls.entry_markdown if as_markdown else context.urls.entry
        return RedirectResponse(address(context.lang, found.id), 308)
    if look:
        return await page_answer(request, context, await made_page(context, look, found), vary)
    edition = found.entry.edition(context.lang)
    is_source = request.query_params.get("source") == "1"
    text = edition.raw if is_source else reading_form(edition, found.entry.validity, context.t)
    return await respond(request, text, MARKDOWN, lang=edition.lang, vary=() if as_markdown else vary)


async def made_page(context: PageContext, look: Look, found: ReadEntry) -> Body:
    """The page of an entry, compressed and kept for the next visitors where answers are kept."""
    service, library, entry = context.site.service, context.library, found.entry
    edition = entry.edition(context.lang)
    changes = await service.offload(lambda: library.changes(entry.id, edition.lang))
    html = entry_page(context, found, changes, voted=look.voted)
    if not context.site.cache.room:
        return html
    page = await service.offload(partial(Resource.of, html, HTML))
    context.site.cache.put(context.served, look, page, LOOK_SIZE + len(page.gzipped))
    return page


async def send_image(request: Request, context: PageContext, image: Path) -> Response:
    """An image, read off the event loop. 404 where it has gone since the content was loaded."""
    try:
        content = await context.site.service.offload(image.read_bytes)
    except OSError:
        raise HTTPException(404) from None
    return await respond(request, content, IMAGE_TYPES[image.suffix[1:].lower()])
