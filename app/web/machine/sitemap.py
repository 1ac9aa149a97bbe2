"""The sitemap: every page that is to be found, in every language that it exists in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from app.content.library import Library
from app.entry import Language
from app.presentation.paths import TAG_PAGES
from app.presentation.urls import Urls
from app.web.pages.layout import Alternate
from app.web.site import Site


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """A page in one language, with its counterparts. `changed` is an ISO date or empty."""

    url: str
    changed: str
    alternates: tuple[Alternate, ...]


def sitemap(site: Site, library: Library) -> str:
    """The sitemap as XML."""
    return site.renderer.render("sitemap.xml", Language.EN, view=tuple(_pages(site.urls, library)))


def _pages(urls: Urls, library: Library) -> Iterator[SitemapPage]:
    both = tuple(Language)
    for address in (urls.home, urls.entries, urls.diagnose, urls.agents, urls.about):
        yield from _page(urls, address, both, "")
    for facet in TAG_PAGES:
        for value in library.taxonomy.facet(facet):
            entries = library.tagged(facet, value)
            if entries:
                changed = entries[0].updated.isoformat()
                yield from _page(urls, partial(urls.tag, facet=facet, value=value), both, changed)
    for entry in map(library.summary, library.ids):
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
