"""What programs and operators ask for, all of it."""

from app.presentation import paths
from app.settings import Settings
from app.web.http.files import own_files, serve, swagger_files
from app.web.http.routing import Route
from app.web.machine import agents, docs_page, handlers, operations


def machine_routes(settings: Settings) -> tuple[Route, ...]:
    """The routes of an application; the files below `settings.static` are read here."""
    return (
        Route(paths.HEALTHZ, operations.healthz),
        Route(paths.READYZ, operations.readyz),
        Route(paths.METRICS, operations.metrics),
        Route(paths.OPENAPI, docs_page.openapi),
        Route(paths.DOCS, docs_page.docs),
        Route(paths.DOCS_FILE, serve(swagger_files())),
        Route(paths.STATIC, serve(own_files(settings.static))),
        Route(paths.MCP, agents.mcp, "POST"),
        Route(paths.MCP, agents.no_stream),
        Route(paths.ROBOTS, handlers.robots),
        Route(paths.SITEMAP, handlers.site_map),
        Route(paths.SITEMAP_PART, handlers.site_map_part),
        Route(paths.LLMS_ALL, handlers.llms_of_all),
        Route(paths.LLMS, handlers.llms),
        Route(paths.LLMS_FULL, handlers.llms_whole),
        Route(paths.FEED, handlers.atom),
        Route(paths.OPENSEARCH, handlers.open_search),
    )
