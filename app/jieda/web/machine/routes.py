"""Routes for programs and operators. What depends only on the generation is built once for each."""

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.entry import Language
from jieda.places import STATIC
from jieda.presentation import paths
from jieda.presentation.brand import COLORS, style_sheet
from jieda.settings import Settings
from jieda.web.http.files import load_own_files, load_swagger_files, send_file, serve
from jieda.web.http.respond import FOREVER, REVALIDATE, Handler, Resource, Route, Theme, respond
from jieda.web.machine import agents, chat, docs_page, operations, reading
from jieda.web.pages.context import PageContext, context_of
from jieda.web.pages.parts import page_count
from jieda.web.site import site_of

PLAIN, XML = "text/plain", "application/xml"


def serve_text(
    make: Callable[..., str], media_type: str, *, per_part: int = 0, absolute: bool = False
) -> Handler:
    """Create a handler for a text in the language of its address, or else in that of most entries.

    `make` takes the context and, for a text in parts of `per_part` entries, the number of the part. `absolute`: the
    text is useless without absolute addresses.
    """

    async def handler(request: Request) -> Response:
        context = await text_context(request)
        if absolute and not context.urls.base_url:
            raise HTTPException(404)
        part = (requested_part(request, page_count(len(context.library), per_part)),) if per_part else ()
        resource = await context.site.resources.get(
            context.generation,
            (make, context.urls.base_url, context.lang, *part),
            lambda: Resource.of(make(context, *part), media_type),
        )
        return await respond(request, resource)

    return handler


async def text_context(request: Request) -> PageContext:
    """Return the context of a text. Raises 404 for an unsupported language."""
    if "lang" in request.path_params:
        return await context_of(request)
    site = site_of(request)
    snapshot = site.service.current()
    lang = min(Language, key=lambda lang: len(snapshot.library.missing(lang)))
    return PageContext(site, lang, Theme.SYSTEM, snapshot)


def requested_part(request: Request, count: int) -> int:
    """Return the requested part, from 1, which the path or `part` names. Raises 404 if there is no such part."""
    number = request.path_params.get("number") or request.query_params.get("part", "1")
    if number not in map(str, range(1, count + 1)):
        raise HTTPException(404)
    return int(number)


async def send_brand(request: Request) -> Response:
    """Send the style sheet with the content's colors, or one of its logos."""
    site, name = site_of(request), request.path_params["name"]
    library, version = site.service.current().library, request.query_params.get("v", "")
    image = library.brand_image(name)
    cache = FOREVER if version and site.service.current().generation.startswith(version) else REVALIDATE
    if name == COLORS and library.site.accent:
        return await respond(request, style_sheet(library.site), "text/css", cache=cache)
    if image is None:
        raise HTTPException(404)
    # A logo may be SVG: the Content-Security-Policy of every response blocks scripts in it.
    return await send_file(request, image, cache)


llms = serve_text(reading.llms_list, PLAIN)
llms_full = serve_text(reading.llms_full, PLAIN, per_part=reading.ENTRIES_A_PART)


def machine_routes(settings: Settings) -> tuple[Route, ...]:
    """Return the routes of an application; reads the static files."""
    return (
        Route(paths.HEALTHZ, operations.healthz),
        Route(paths.READYZ, operations.readyz),
        Route(paths.METRICS, operations.metrics),
        Route(paths.OPENAPI, docs_page.openapi),
        Route(paths.DOCS, docs_page.docs),
        Route(paths.DOCS_FILE, serve(load_swagger_files())),
        Route(paths.STATIC, serve(load_own_files(STATIC))),
        Route(paths.BRAND, send_brand),
        Route(paths.MCP, agents.mcp, "POST"),
        Route(f"{paths.MCP}/", agents.mcp, "POST"),  # as other servers end it
        Route(f"{paths.MCP}/", agents.no_stream),
        *(
            (Route(paths.CHAT, chat.chat, "POST"), Route(paths.CHAT_MODELS, chat.models))
            if settings.chat
            else ()
        ),
        Route(paths.ROBOTS, serve_text(reading.robots, PLAIN)),
        Route(paths.SITEMAP, serve_text(reading.sitemap, XML, absolute=True)),
        Route(
            paths.SITEMAP_PART,
            serve_text(reading.sitemap_part, XML, per_part=reading.ENTRIES_A_FILE, absolute=True),
        ),
        Route(paths.LLMS_ALL, llms),
        Route(paths.LLMS, llms),
        Route(paths.LLMS_FULL, llms_full),
        Route(paths.LLMS_FULL_ALL, llms_full),
        Route(paths.FEED, serve_text(reading.feed, "application/atom+xml")),
        Route(
            paths.OPENSEARCH,
            serve_text(reading.opensearch, "application/opensearchdescription+xml", absolute=True),
        ),
    )
