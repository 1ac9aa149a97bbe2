"""The routes of the API, all of them."""

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from starlette.responses import JSONResponse, PlainTextResponse

from app.presentation import paths, reports, schemas
from app.web.api.diagnose import diagnose
from app.web.api.entries import entries, entry, entry_markdown
from app.web.api.lists import ApiHandler, problems, tag_list, translations
from app.web.api.quick import QuickRoute
from app.web.api.reload import reload_content
from app.web.api.search import search, suggest


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One row: `answer` is the type of a JSON answer (None: it has none), `text` the type of another.

    `refusals` are the statuses that it may be refused with.
    """

    method: str
    path: str
    operation: str
    summary: str
    handler: ApiHandler
    answer: Any
    text: str = ""
    refusals: tuple[int, ...] = (400, 422)


ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute("GET", paths.API_SEARCH, "search", "Search", search, schemas.SearchResult),
    ApiRoute("GET", paths.API_SUGGEST, "suggest", "Complete", suggest, tuple[schemas.Completion, ...]),
    ApiRoute("GET", paths.API_ENTRIES, "list_entries", "List entries", entries, schemas.SummaryList),
    ApiRoute(
        "GET",
        paths.API_ENTRY_MARKDOWN,
        "get_entry_markdown",
        "Read an entry's Markdown",
        entry_markdown,
        None,
        "text/markdown",
        (400, 404, 422),
    ),
    ApiRoute(
        "GET",
        paths.API_ENTRY,
        "get_entry",
        "Read an entry",
        entry,
        schemas.Entry,
        "text/markdown",
        (400, 404, 406, 422),
    ),
    ApiRoute(
        "POST",
        paths.API_DIAGNOSE,
        "diagnose",
        "Diagnose a log",
        diagnose,
        reports.Diagnosis,
        "text/plain",
        (400, 406, 408, 413, 415, 422, 503),
    ),
    ApiRoute(
        "GET",
        paths.API_FRAMEWORKS,
        "list_frameworks",
        "List frameworks",
        tag_list("framework", reports.FrameworkList),
        reports.FrameworkList,
    ),
    ApiRoute(
        "GET", paths.API_KINDS, "list_kinds", "List kinds", tag_list("kind", reports.TagList), reports.TagList
    ),
    ApiRoute(
        "GET",
        paths.API_TOPICS,
        "list_topics",
        "List topics",
        tag_list("topic", reports.TagList),
        reports.TagList,
    ),
    ApiRoute(
        "GET",
        paths.API_ERROR_TYPES,
        "list_error_types",
        "List error types",
        tag_list("error_type", reports.TagList),
        reports.TagList,
    ),
    ApiRoute(
        "GET",
        paths.API_PROBLEMS,
        "list_problems",
        "List content problems",
        problems,
        reports.ContentProblemList,
    ),
    ApiRoute(
        "GET",
        paths.API_TRANSLATIONS,
        "list_translations",
        "List the state of translations",
        translations,
        reports.TranslationList,
    ),
    ApiRoute(
        "POST",
        paths.API_RELOAD,
        "reload",
        "Reload the content",
        reload_content,
        reports.Reloaded,
        refusals=(400, 401, 403, 409),
    ),
)


def add_api_routes(app: FastAPI) -> None:
    """Put `ROUTES` into an application, with all that its description says about them."""
    for route in ROUTES:
        app.router.add_api_route(
            route.path,
            route.handler,
            methods=[route.method],
            operation_id=route.operation,
            summary=route.summary,
            response_model=route.answer,
            response_class=JSONResponse if route.answer else PlainTextResponse,
            route_class_override=QuickRoute,
        )
