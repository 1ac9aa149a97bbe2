"""Views that several pages share: links, rows of entries, breadcrumbs, pagers."""

from collections.abc import Callable
from dataclasses import dataclass

from app.entry import Edition, Entry, Language, Tag
from app.web.pages.shell import OWN_NAMES
from app.web.pages.visit import Visit


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads somewhere. `lang` is given where the text is in another language than the page."""

    text: str
    url: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class TagLink:
    """A tag with what it means and how many entries carry it."""

    name: str
    description: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class EditionLink:
    """An edition of an entry, named in its own language."""

    name: str
    lang: str
    url: str
    stale: bool
    shown: bool


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry in a list."""

    id: str
    kind: str
    kind_name: str
    framework: Link
    title: Link
    applies_to: str
    updated: str
    updated_iso: str
    editions: tuple[EditionLink, ...]


@dataclass(frozen=True, slots=True)
class Pager:
    """Where the reader is in a list and how to go on; an address is empty where there is no such page."""

    text: str
    previous: str
    next: str


def name_of(visit: Visit, facet: str, value: str) -> str:
    """The name of a tag in the reader's language; its id where the taxonomy lacks it."""
    tags = visit.library.taxonomy.facet(facet) if visit.library else {}
    return tags[value].name[visit.lang] if value in tags else value


def tag_link(visit: Visit, facet: str, tag: Tag, count: int = 0) -> TagLink:
    """A link to the page of a tag."""
    url = visit.urls.tag(visit.lang, facet, tag.id)
    return TagLink(tag.name[visit.lang], tag.description[visit.lang], count, url)


def foreign(visit: Visit, edition: Edition) -> str:
    """The `lang` attribute that an edition's text needs on this page, or empty."""
    return "" if edition.lang is visit.lang else edition.lang.tag


def entry_link(visit: Visit, entry: Entry) -> Link:
    """A link to an entry, titled as its page will be."""
    edition = entry.edition(visit.lang)
    return Link(edition.title, visit.urls.entry(visit.lang, entry.id), foreign(visit, edition))


def edition_links(visit: Visit, entry: Entry) -> tuple[EditionLink, ...]:
    """The editions that an entry has, in the order of `Language`."""
    shown = entry.edition(visit.lang).lang
    return tuple(
        EditionLink(
            OWN_NAMES[lang], lang.tag, visit.urls.entry(lang, entry.id), lang in entry.stale, lang is shown
        )
        for lang in Language
        if lang in entry.editions
    )


def entry_row(visit: Visit, entry: Entry) -> EntryRow:
    """An entry as a row of a list."""
    edition = entry.edition(visit.lang)
    framework = Link(
        name_of(visit, "framework", entry.framework), visit.urls.tag(visit.lang, "framework", entry.framework)
    )
    return EntryRow(
        id=entry.id,
        kind=entry.kind.value,
        kind_name=name_of(visit, "kind", entry.kind.value),
        framework=framework,
        title=entry_link(visit, entry),
        applies_to=edition.applies_to,
        updated=visit.day(entry.updated),
        updated_iso=entry.updated.isoformat(),
        editions=edition_links(visit, entry),
    )


def build_pager(visit: Visit, page: int, pages: int, address: Callable[[int], str]) -> Pager | None:
    """The way from page to page (counted from 1); None where one page holds everything."""
    if pages <= 1:
        return None
    return Pager(
        text=visit.say("pager.position", page=page, pages=pages),
        previous=address(page - 1) if page > 1 else "",
        next=address(page + 1) if page < pages else "",
    )


def crumb_data(visit: Visit, crumbs: tuple[Link, ...]) -> dict[str, object]:
    """Breadcrumbs as schema.org data."""
    return {
        "@context": "https://schema.org",
        "@type": "BreadcrumbList",
        "itemListElement": [
            {
                "@type": "ListItem",
                "position": place,
                "name": crumb.text,
                "item": visit.urls.absolute(crumb.url),
            }
            for place, crumb in enumerate(crumbs, 1)
        ],
    }
