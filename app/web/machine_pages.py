"""Pages for programs that read sites: sitemap, robots, OpenSearch, feeds, and llms.txt."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.content.library import Library
from app.entry import Entry, Language
from app.web.compression import packed
from app.web.dependencies import CurrentSite, CurrentSnapshot, Site
from app.web.feeds import feed
from app.web.negotiation import conditional
from app.web.pages.parts import name_of
from app.web.pages.requests import CurrentVisit
from app.web.pages.shell import OWN_NAMES, Alternate
from app.web.pages.visit import Visit
from app.web.preferences import Theme
from app.web.urls import TAG_PAGES, Urls

machine_router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """A page in one language, with its counterparts. `changed` is an ISO date or empty."""

    url: str
    changed: str
    alternates: tuple[Alternate, ...]


@dataclass(frozen=True, slots=True)
class OpenSearchView:
    """What `opensearch.xml` shows; addresses are absolute where a base address is configured."""

    name: str
    description: str
    lang: str
    icon: str
    search: str
    self: str


@machine_router.get("/robots.txt")
async def robots(request: Request, site: CurrentSite) -> Response:
    """Everything may be read but endless combinations of filters."""
    urls = site.urls
    closed = [urls.search(lang) for lang in Language]
    lines = ["User-agent: *", *(f"Disallow: {path}?" for path in closed)]
    lines += ["", f"Sitemap: {urls.absolute(urls.sitemap())}", ""]
    return _answer(request, "\n".join(lines), "text/plain")


@machine_router.get("/sitemap.xml")
async def sitemap(request: Request, site: CurrentSite, snapshot: CurrentSnapshot) -> Response:
    """Every page that is to be found, in every language that it exists in."""
    pages = tuple(_pages(site.urls, snapshot.library))
    text = site.renderer.render("sitemap.xml", Language.EN, view=pages)
    return _answer(request, text, "application/xml")


@machine_router.get("/llms.txt")
async def llms_root(request: Request, site: CurrentSite, snapshot: CurrentSnapshot) -> Response:
    """The lists of both languages in one file."""
    visits = [Visit(site, lang, Theme.SYSTEM, snapshot.library) for lang in Language]
    parts = [llms_list(visit, snapshot.library) for visit in visits]
    return _answer(request, "\n".join(parts), "text/plain")


@machine_router.get("/{lang}/llms.txt")
async def llms(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """A list of all entries as links to their Markdown."""
    return _answer(request, llms_list(visit, snapshot.library), "text/plain")


@machine_router.get("/{lang}/llms-full.txt")
async def llms_full(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """All entries in one text."""
    parts = [f"# {visit.say('site.name')}\n\n> {visit.say('llms.summary')}\n"]
    parts += [_whole(visit, entry) for entry in snapshot.library.entries.values()]
    return _answer(request, "\n\n---\n\n".join(parts), "text/plain")


@machine_router.get("/{lang}/feed.xml")
async def atom(request: Request, visit: CurrentVisit, snapshot: CurrentSnapshot) -> Response:
    """New and changed entries."""
    return _answer(request, feed(visit, snapshot.library), "application/atom+xml")


@machine_router.get("/{lang}/opensearch.xml")
async def opensearch(request: Request, visit: CurrentVisit) -> Response:
    """How a browser can search here from its address bar."""
    urls, lang = visit.urls, visit.lang
    view = OpenSearchView(
        name=visit.say("opensearch.name"),
        description=visit.say("opensearch.description"),
        lang=lang.tag,
        icon=urls.absolute(urls.static("icon.svg")),
        search=urls.absolute(urls.search(lang)),
        self=urls.absolute(urls.opensearch(lang)),
    )
    text = visit.site.renderer.render("opensearch.xml", lang, view=view)
    return _answer(request, text, "application/opensearchdescription+xml")


def llms_list(visit: Visit, library: Library) -> str:
    """The list of entries in llms.txt's form: title, summary, a section of links per framework."""
    lines = [f"# {visit.say('site.name')}", "", f"> {visit.say('llms.summary')}", ""]
    lines += [visit.say("llms.search_text", **_api_addresses(visit.site)), ""]
    for framework in library.taxonomy.framework.values():
        entries = [entry for entry in library.entries.values() if entry.framework == framework.id]
        if entries:
            lines += [f"## {framework.name[visit.lang]}", "", framework.description[visit.lang], ""]
            lines += [*(_line(visit, entry) for entry in entries), ""]
    other = visit.lang.other
    lines += ["## Optional", ""]
    lines += [f"- [{visit.say('llms.full')}]({_absolute(visit, visit.urls.llms_full(visit.lang))})"]
    lines += [f"- [{OWN_NAMES[other]}]({_absolute(visit, visit.urls.llms(other))})", ""]
    return "\n".join(lines)


def _line(visit: Visit, entry: Entry) -> str:
    edition = entry.edition(visit.lang)
    tags = [name_of(visit, "kind", entry.kind.value)]
    tags += [name_of(visit, "topic", value) for value in entry.topics]
    title = edition.title.replace("[", "\\[").replace("]", "\\]")
    address = _absolute(visit, visit.urls.entry_markdown(edition.lang, entry.id))
    note = "" if edition.lang is visit.lang else f" ({OWN_NAMES[edition.lang]})"
    return f"- [{title}]({address}): {visit.say('list.join').join(tags)}{note}"


def _whole(visit: Visit, entry: Entry) -> str:
    edition = entry.edition(visit.lang)
    address = _absolute(visit, visit.urls.entry(edition.lang, entry.id))
    return f"# {edition.title}\n\n{address}\n\n{edition.markdown.strip()}"


def _absolute(visit: Visit, path: str) -> str:
    return visit.urls.absolute(path)


def _api_addresses(site: Site) -> dict[str, str]:
    urls = site.urls
    return {
        "search": urls.absolute(urls.api_search(q="QUERY")),
        "diagnose": urls.absolute(urls.api_diagnose()),
        "openapi": urls.absolute(urls.openapi()),
    }


def _pages(urls: Urls, library: Library) -> Iterator[SitemapPage]:
    both = tuple(Language)
    for address in (urls.home, urls.search, urls.diagnose):
        yield from _page(urls, address, both, "")
    for facet in TAG_PAGES:
        for value in library.taxonomy.facet(facet):
            entries = library.tagged(facet, value)
            if entries:
                changed = entries[0].updated.isoformat()
                yield from _page(urls, partial(urls.tag, facet=facet, value=value), both, changed)
    for entry in library.entries.values():
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


def _answer(request: Request, text: str, media_type: str) -> Response:
    return packed(request, conditional(request, Response(text, media_type=media_type)))
