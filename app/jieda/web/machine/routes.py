"""Routes for programs and operators. What depends on the generation only is built once per generation."""

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.entry import Language
from jieda.presentation import paths
from jieda.presentation.brand import COLORS, style_sheet
from jieda.settings import Settings
from jieda.snapshot.snapshot import Snapshot
from jieda.web.http.files import own_files, serve, swagger_files
from jieda.web.http.respond import FOREVER, REVALIDATE, Resource, Theme, respond
from jieda.web.http.routing import Handler, Route
from jieda.web.machine import agents, chat, docs_page, operations
from jieda.web.machine.reading import (
    feed,
    llms_full,
    llms_list,
    llms_parts,
    opensearch,
    part_count,
    sitemap,
    sitemap_part,
)
from jieda.web.pages.context import PageContext, context_of
from jieda.web.pages.entry import IMAGE_TYPES
from jieda.web.site import Site, site_of

BRAND_TYPES = IMAGE_TYPES | {"svg": "image/svg+xml"}
"""A logo may be SVG: the Content-Security-Policy of every response blocks scripts in it."""
PLAIN, XML = "text/plain", "application/xml"

SiteText = Callable[[Site, Snapshot], str]
PageText = Callable[[PageContext], str]


def whole_site(make: SiteText, media_type: str, *, absolute: bool = False) -> Handler:
    """Create a handler for a text about the whole site; `absolute`: it is useless without absolute addresses."""

    async def handler(request: Request) -> Response:
        site = site_of(request)
        if absolute:
            check_address(site)
        snapshot = site.service.current()
        resource = await site.resources.get(
            snapshot.generation, make, lambda: Resource.of(make(site, snapshot), media_type)
        )
        return await respond(request, resource)

    return handler


def one_language(make: PageText, media_type: str, *, absolute: bool = False) -> Handler:
    """Create a handler for a text in the language of its address; `absolute` as in `whole_site`."""

    async def handler(request: Request) -> Response:
        context = await context_of(request)
        if absolute:
            check_address(context.site)
        resource = await context.site.resources.get(
            context.digest, (make, context.lang), lambda: Resource.of(make(context), media_type)
        )
        return await respond(request, resource)

    return handler


def check_address(site: Site) -> None:
    """Raise 404 where the base URL of the site is unknown."""
    if not site.urls.base_url:
        raise HTTPException(404)


def robots_text(site: Site, _snapshot: Snapshot) -> str:
    """Allow everything except endless combinations of filters."""
    closed = [filtered(lang) for lang in Language for filtered in (site.urls.search, site.urls.entries)]
    lines = ["User-agent: *", *(f"Disallow: {path}?" for path in closed)]
    known = [f"\nSitemap: {site.urls.absolute(site.urls.sitemap())}"] if site.urls.base_url else []
    return "\n".join([*lines, *known, ""])


def sitemap_text(site: Site, snapshot: Snapshot) -> str:
    """Return the sitemap."""
    return sitemap(site, snapshot.library)


async def site_map_part(request: Request) -> Response:
    """Send one part of a sitemap that has several."""
    site, wanted = site_of(request), request.path_params["number"]
    check_address(site)
    snapshot = site.service.current()
    known = {str(number + 1): number + 1 for number in range(part_count(snapshot.library))}
    if wanted not in known:
        raise HTTPException(404)
    resource = await site.resources.get(
        snapshot.generation,
        (sitemap_part, wanted),
        lambda: Resource.of(sitemap_part(site, snapshot.library, known[wanted]), XML),
    )
    return await respond(request, resource)


def language_of_most(snapshot: Snapshot) -> Language:
    """Return the language in which most entries have an edition."""
    return min(Language, key=lambda lang: len(snapshot.library.missing(lang)))


def llms_of_site(site: Site, snapshot: Snapshot) -> str:
    """Return the list of entries, each once."""
    return llms_list(PageContext(site, language_of_most(snapshot), Theme.SYSTEM, snapshot))


async def llms_whole(request: Request) -> Response:
    """Send a part of llms-full.txt, in the language of the address or that of most entries."""
    site, written = site_of(request), request.query_params.get("part", "1")
    snapshot = site.service.current()
    if written not in map(str, range(1, llms_parts(snapshot.library) + 1)):
        raise HTTPException(404)
    if "lang" in request.path_params:
        context = await context_of(request)
    else:
        context = PageContext(site, language_of_most(snapshot), Theme.SYSTEM, snapshot)
    resource = await site.resources.get(
        snapshot.generation,
        (llms_full, context.lang, written),
        lambda: Resource.of(llms_full(context, int(written)), PLAIN),
    )
    return await respond(request, resource)


async def send_brand(request: Request) -> Response:
    """Send the style sheet with the content's colours, or one of its logos."""
    site, name = site_of(request), request.path_params["name"]
    library, version = site.service.current().library, request.query_params.get("v", "")
    image = library.brand_image(name)
    cache = FOREVER if version and site.service.current().generation.startswith(version) else REVALIDATE
    if name == COLORS and library.site.accent:
        return await respond(request, style_sheet(library.site), "text/css", cache=cache)
    if image is None:
        raise HTTPException(404)
    try:
        content = await site.service.offload(image.read_bytes)
    except OSError:
        raise HTTPException(404) from None
    return await respond(request, content, BRAND_TYPES[image.suffix[1:].lower()], cache=cache)


robots = whole_site(robots_text, PLAIN)
site_map = whole_site(sitemap_text, XML, absolute=True)
llms_of_all = whole_site(llms_of_site, PLAIN)
llms = one_language(llms_list, PLAIN)
atom = one_language(feed, "application/atom+xml")
open_search = one_language(opensearch, "application/opensearchdescription+xml", absolute=True)


def machine_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of an application; reads the files below `settings.static`."""
    return (
        Route(paths.HEALTHZ, operations.healthz),
        Route(paths.READYZ, operations.readyz),
        Route(paths.METRICS, operations.metrics),
        Route(paths.OPENAPI, docs_page.openapi),
        Route(paths.DOCS, docs_page.docs),
        Route(paths.DOCS_FILE, serve(swagger_files())),
        Route(paths.STATIC, serve(own_files(settings.static))),
        Route(paths.BRAND, send_brand),
        Route(paths.MCP, agents.mcp, "POST"),
        Route(paths.MCP, agents.no_stream),
        *(
            (Route(paths.CHAT, chat.chat, "POST"), Route(paths.CHAT_MODELS, chat.models))
            if settings.chat
            else ()
        ),
        Route(paths.ROBOTS, robots),
        Route(paths.SITEMAP, site_map),
        Route(paths.SITEMAP_PART, site_map_part),
        Route(paths.LLMS_ALL, llms_of_all),
        Route(paths.LLMS, llms),
        Route(paths.LLMS_FULL, llms_whole),
        Route(paths.LLMS_FULL_ALL, llms_whole),
        Route(paths.FEED, atom),
        Route(paths.OPENSEARCH, open_search),
    )
