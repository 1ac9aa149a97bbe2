"""The sitemap: every page that is to be found, in every language that it exists in.

A sitemap may name 50,000 addresses (sitemaps.org). Where there are more entries than ENTRIES_A_FILE, it is an index of
several: the first has all pages that are no entries as well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from app.content.library import Library
from app.entry import Language
from app.presentation.paths import TAG_PAGES
from app.presentation.urls import Urls
from app.web.pages.layout import Alternate
from app.web.site import Site

ENTRIES_A_FILE = 20_000


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """A page in one language, with its counterparts. `changed` is an ISO date or empty."""

    url: str
    changed: str
    alternates: tuple[Alternate, ...]


def sitemap(site: Site, library: Library) -> str:
    """The sitemap as XML, or the index of its parts."""
    parts = part_count(library)
    if parts == 1:
        return sitemap_part(site, library, 1)
    addresses = tuple(site.urls.absolute(site.urls.sitemap_part(number + 1)) for number in range(parts))
    return site.renderer.render("sitemaps.xml", Language.EN, view=addresses)


def part_count(library: Library) -> int:
    """How many files the sitemap takes."""
    return max(1, -(-len(library) // ENTRIES_A_FILE))


def sitemap_part(site: Site, library: Library, number: int) -> str:
    """Part `number`, from 1 on, as XML."""
    pages = chain(_general(site.urls, library) if number == 1 else (), _entries(site.urls, library, number))
    return site.renderer.render("sitemap.xml", Language.EN, view=pages)


def _general(urls: Urls, library: Library) -> Iterator[SitemapPage]:
    both = tuple(Language)
    for address in (urls.home, urls.entries, urls.diagnose, urls.agents, urls.about):
        yield from _page(urls, address, both, "")
    for facet in TAG_PAGES:
        for value in library.taxonomy.facet(facet):
            entries = library.tagged(facet, value)
            if entries:
                changed = entries[0].updated.isoformat()
                yield from _page(urls, partial(urls.tag, facet=facet, value=value), both, changed)


def _entries(urls: Urls, library: Library, number: int) -> Iterator[SitemapPage]:
    for entry_id in library.ids[(number - 1) * ENTRIES_A_FILE : number * ENTRIES_A_FILE]:
        entry = library.summary(entry_id)
        held = tuple(lang for lang in Language if lang in entry.editions)
        changed = entry.updated.isoformat()
        yield from _page(urls, partial(urls.entry, entry_id=entry.id), held, changed)


def _page(
    urls: Urls, address: Callable[[Language], str], langs: tuple[Language, ...], changed: str
) -> Iterator[SitemapPage]:
    alternates = [Alternate(lang.tag, urls.absolute(address(lang))) for lang in langs]
    alternates.append(Alternate("x-default", alternates[0].url))
    for alternate in alternates[:-1]:
        yield SitemapPage(alternate.url, changed, tuple(alternates))
