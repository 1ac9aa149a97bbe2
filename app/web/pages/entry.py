"""The page of an entry: its symptom, the fix at once, then the rest, and where it all comes from."""

from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from app.content.library import Library
from app.entry import Edition, Entry, Language, Section
from app.web.links import rewrite
from app.web.pages.parts import (
    EditionLink,
    EntryRow,
    Link,
    crumb_data,
    edition_links,
    entry_row,
    name_of,
)
from app.web.pages.shell import Head, render_page
from app.web.pages.visit import Visit
from app.web.templating import safe

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
class SourceView:
    """Where facts come from."""

    title: str
    url: str
    license: str


@dataclass(frozen=True, slots=True)
class TocItem:
    """A line of the table of contents; `level` is 2 or 3."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """What `entry.html` shows. `lang` is that of the edition shown, not of the page."""

    id: str
    crumbs: tuple[Link, ...]
    lang: str
    title: str
    kind: str
    kind_name: str
    framework: Link
    tags: tuple[Link, ...]
    applies_to: str
    notice: str
    """Why the reader sees another language or an outdated text; empty where neither."""
    notice_link: Link | None
    sections: tuple[SectionView, ...]
    toc: tuple[TocItem, ...]
    is_long: bool
    twin: EditionLink | None
    read_twin: str
    """Leads to the twin, in the words of its own language."""
    sources: tuple[SourceView, ...]
    updated: str
    updated_iso: str
    edit: str
    markdown: str
    related: tuple[EntryRow, ...]


def entry_page(visit: Visit, library: Library, entry: Entry) -> str:
    """The page of an entry in the reader's language, or in the other where it has no such edition."""
    edition = entry.edition(visit.lang)
    crumbs = _crumbs(visit, entry)
    view = _view(visit, library, entry, edition, crumbs)
    head = Head(
        name="entry",
        title=f"{edition.title} · {visit.say('site.name')}",
        description=_description(edition),
        here=lambda lang: visit.urls.entry(lang, entry.id),
        languages=frozenset(entry.editions),
        kind="article",
        data=(
            _article_data(visit, entry, edition),
            crumb_data(visit, (*crumbs, Link(edition.title, visit.urls.entry(visit.lang, entry.id)))),
        ),
        canonical_lang=edition.lang,
    )
    return render_page(visit, "entry.html", head, view)


def _view(
    visit: Visit, library: Library, entry: Entry, edition: Edition, crumbs: tuple[Link, ...]
) -> EntryView:
    notice, notice_link = _notice(visit, entry, edition)
    editions = edition_links(visit, entry)
    toc = _toc(edition)
    return EntryView(
        id=entry.id,
        crumbs=crumbs,
        lang=edition.lang.tag,
        title=edition.title,
        kind=entry.kind.value,
        kind_name=name_of(visit, "kind", entry.kind.value),
        framework=crumbs[-1],
        tags=_tags(visit, entry),
        applies_to=edition.applies_to,
        notice=notice,
        notice_link=notice_link,
        sections=tuple(_section(visit, section) for section in fix_early(edition.sections)),
        toc=toc,
        is_long=len(toc) >= VERY_LONG,
        twin=next((link for link in editions if not link.shown), None),
        read_twin=visit.site.translations.translate(edition.lang.other, "entry.read"),
        sources=tuple(SourceView(source.title, source.url, source.license) for source in edition.source),
        updated=visit.day(edition.updated),
        updated_iso=edition.updated.isoformat(),
        edit=_edit_address(visit, entry, edition),
        markdown=visit.urls.entry_markdown(edition.lang, entry.id),
        related=tuple(entry_row(visit, other) for other in library.related(entry)),
    )


def fix_early(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """`sections` with the fix on the first screen: behind a short symptom, before a long one.

    The cause can wait, the reader cannot; and who has a long traceback knows it already.
    """
    symptom = [section for section in sections if section.key == "symptom"]
    fix = [section for section in sections if section.key == "fix"]
    rest = [section for section in sections if section.key not in {"symptom", "fix"}]
    is_short = sum(section.text.count("\n") + len(section.text) // 80 for section in symptom) <= SHORT
    return tuple([*symptom, *fix, *rest] if is_short else [*fix, *symptom, *rest])


def _section(visit: Visit, section: Section) -> SectionView:
    html = rewrite(section.html, visit.lang, visit.urls)
    return SectionView(section.key, section.title, safe(html), section.key in ANSWERS)


def _toc(edition: Edition) -> tuple[TocItem, ...]:
    order = {section.key: place for place, section in enumerate(fix_early(edition.sections))}
    groups: dict[str, list[TocItem]] = {}
    key = ""
    for heading in edition.headings:
        if heading.level == 2:
            key = heading.anchor
        if heading.level <= 3:
            groups.setdefault(key, []).append(TocItem(heading.level, heading.text, heading.anchor))
    items = [item for key in sorted(groups, key=lambda key: order.get(key, -1)) for item in groups[key]]
    return tuple(items) if len(items) >= LONG else ()


def _crumbs(visit: Visit, entry: Entry) -> tuple[Link, ...]:
    framework = name_of(visit, "framework", entry.framework)
    return (
        Link(visit.say("nav.home"), visit.urls.home(visit.lang)),
        Link(framework, visit.urls.tag(visit.lang, "framework", entry.framework)),
    )


def _tags(visit: Visit, entry: Entry) -> tuple[Link, ...]:
    pairs = [("topic", value) for value in entry.topics]
    pairs += [("error_type", value) for value in entry.error_types]
    return tuple(
        Link(name_of(visit, facet, value), visit.urls.tag(visit.lang, facet, value)) for facet, value in pairs
    )


def _notice(visit: Visit, entry: Entry, edition: Edition) -> tuple[str, Link | None]:
    if edition.lang is not visit.lang:
        return visit.say("entry.single_language"), None
    if edition.lang in entry.stale:
        twin = edition.lang.other
        link = Link(visit.say("entry.stale_link"), visit.urls.entry(twin, entry.id), twin.tag)
        return visit.say("entry.stale"), link
    return "", None


def _description(edition: Edition) -> str:
    parts = [section.text for section in (edition.section("symptom"), edition.answer) if section]
    return " ".join(parts) or edition.title


def _edit_address(visit: Visit, entry: Entry, edition: Edition) -> str:
    """Where the file of an edition is edited, empty where nobody said: addresses belong to directories."""
    settings = visit.site.settings
    path = quote(f"{edition.lang}/{entry.id}.md")
    for directory, address in zip(reversed(settings.content), reversed(settings.edit_url), strict=False):
        if edition.path.is_relative_to(directory.resolve()):
            return address.replace("{path}", path)
    return ""


def _article_data(visit: Visit, entry: Entry, edition: Edition) -> dict[str, object]:
    address = visit.urls.absolute(visit.urls.entry(edition.lang, entry.id))
    data: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": edition.title,
        "url": address,
        "inLanguage": edition.lang.tag,
        "dateModified": edition.updated.isoformat(),
        "about": [name_of(visit, "framework", entry.framework)],
        "isBasedOn": [source.url for source in edition.source],
    }
    other = entry.editions.get(Language(edition.lang).other)
    if other:
        data["workTranslation"] = visit.urls.absolute(visit.urls.entry(other.lang, entry.id))
    return data
