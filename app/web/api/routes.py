"""The routes of the API, all of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from starlette.responses import JSONResponse, PlainTextResponse, Response

from app.web.api import reports, schemas
from app.web.api.diagnose import diagnose
from app.web.api.entries import entries, entry, entry_markdown
from app.web.api.lists import problems, tag_list, translations
from app.web.api.reload import reload_content
from app.web.api.search import search, suggest
from app.web.urls import API


@dataclass(frozen=True, slots=True)
class Route:
    """One row: `answer` is the type of a JSON answer (None: it has none), `text` the type of another.

    `refusals` are the statuses that it may be refused with.
    """

    method: str
    path: str
    operation: str
    summary: str
    handler: Callable[..., Awaitable[Response]]
    answer: Any
    text: str = ""
    refusals: tuple[int, ...] = (400, 422)


ROUTES: tuple[Route, ...] = (
    Route("GET", "/search", "search", "Search", search, schemas.SearchResult),
    Route("GET", "/suggest", "suggest", "Complete", suggest, tuple[schemas.Completion, ...]),
    Route("GET", "/entries", "list_entries", "List entries", entries, schemas.SummaryList),
    Route(
        "GET",
        "/entries/{framework}/{slug}.md",
        "get_entry_markdown",
        "Read an entry's Markdown",
        entry_markdown,
        None,
        "text/markdown",
        (400, 404, 422),
    ),
    Route(
        "GET",
        "/entries/{framework}/{slug}",
        "get_entry",
        "Read an entry",
        entry,
        schemas.Entry,
        "text/markdown",
        (400, 404, 406, 422),
    ),
    Route(
        "POST",
        "/diagnose",
        "diagnose",
        "Diagnose a log",
        diagnose,
        reports.Diagnosis,
        "text/plain",
        (400, 406, 408, 413, 415, 422),
    ),
    Route(
        "GET",
        "/frameworks",
        "list_frameworks",
        "List frameworks",
        tag_list("framework", reports.FrameworkList),
        reports.FrameworkList,
    ),
    Route("GET", "/kinds", "list_kinds", "List kinds", tag_list("kind", reports.TagList), reports.TagList),
    Route(
        "GET", "/topics", "list_topics", "List topics", tag_list("topic", reports.TagList), reports.TagList
    ),
    Route(
        "GET",
        "/error-types",
        "list_error_types",
        "List error types",
        tag_list("error_type", reports.TagList),
        reports.TagList,
    ),
    Route("GET", "/problems", "list_problems", "List content problems", problems, reports.ContentProblemList),
    Route(
        "GET",
        "/translations",
        "list_translations",
        "List the state of translations",
        translations,
        reports.TranslationList,
    ),
    Route(
        "POST",
        "/reload",
        "reload",
        "Reload the content",
        reload_content,
        reports.Reloaded,
        refusals=(400, 401, 403, 409),
    ),
)


def add_routes(app: FastAPI) -> None:
    """Put `ROUTES` under `/api/v1`."""
    for route in ROUTES:
        app.add_api_route(
            API + route.path,
            route.handler,
            methods=[route.method],
            operation_id=route.operation,
            summary=route.summary,
            response_model=route.answer,
            response_class=JSONResponse if route.answer else PlainTextResponse,
        )
