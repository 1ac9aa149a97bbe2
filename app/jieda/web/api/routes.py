"""The route table of the API. FastAPI documents these routes but does not resolve their dependencies: checking field by
field what a handler might depend on took a fifth of the time of a search without results. Every handler takes the
request, its path parameters and at most one parameter model."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from jieda.presentation import paths, schemas
from jieda.web.api.handlers import (
    ApiHandler,
    diagnose,
    diagnose_text,
    entries,
    entry,
    entry_markdown,
    problems,
    reload_content,
    report_outcome,
    search,
    suggest,
    tag_list,
    translations,
)
from jieda.web.api.parameters import suggest_names


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One row of the table. `answer` is the type of a JSON response, `text` the media type of any other.

    `refusals` are the error statuses of the route.
    """

    method: str
    path: str
    operation: str
    summary: str
    handler: ApiHandler
    answer: Any
    text: str = ""
    refusals: tuple[int, ...] = (400, 422)


def _tags(facet: str, whole: type[schemas.Page]) -> ApiRoute:
    """Return the route that lists the tags of a facet."""
    names = f"{facet}s"
    return ApiRoute(
        "GET",
        paths.API_TAGS[facet],
        f"list_{names}",
        f"List {names.replace('_', ' ')}",
        tag_list(facet, whole),
        whole,
    )


UNREADABLE = (400, 408, 413, 415, 422, 503)
"""Error statuses of the routes that take a log."""
ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute("GET", paths.API_SEARCH, "search", "Search", search, schemas.SearchResult),
    ApiRoute("GET", paths.API_SUGGEST, "suggest", "Complete", suggest, tuple[schemas.ApiCompletion, ...]),
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
        schemas.ApiEntry,
        refusals=(400, 404, 422),
    ),
    ApiRoute(
        "POST",
        paths.API_DIAGNOSE,
        "diagnose",
        "Diagnose a log",
        diagnose,
        schemas.ApiDiagnosis,
        refusals=UNREADABLE,
    ),
    ApiRoute(
        "POST",
        paths.API_DIAGNOSE_TEXT,
        "diagnose_text",
        "Diagnose a log, as text",
        diagnose_text,
        None,
        "text/plain",
        UNREADABLE,
    ),
    ApiRoute(
        "POST",
        paths.API_OUTCOMES,
        "report_outcome",
        "Say whether an entry helped",
        report_outcome,
        schemas.Reported,
        refusals=(400, 403, 404, 408, 413, 422),
    ),
    _tags("framework", schemas.FrameworkList),
    *(_tags(facet, schemas.TagList) for facet in ("kind", "topic", "error_type")),
    ApiRoute(
        "GET",
        paths.API_PROBLEMS,
        "list_problems",
        "List content problems",
        problems,
        schemas.ContentProblemList,
    ),
    ApiRoute(
        "GET",
        paths.API_TRANSLATIONS,
        "list_translations",
        "List the state of translations",
        translations,
        schemas.TranslationList,
    ),
    ApiRoute(
        "POST",
        paths.API_RELOAD,
        "reload",
        "Reload the content",
        reload_content,
        schemas.Reloaded,
        refusals=(400, 401, 403, 409),
    ),
)


class QuickRoute(APIRoute):
    """A route whose parameters are validated by their model alone."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request. It raises RequestValidationError for invalid parameters."""
        handler = self.endpoint
        taken: dict[str, Any] = {
            each.name: each.field_info.annotation for each in self.dependant.query_params
        }
        lists = {name: _lists(model) for name, model in taken.items()}

        async def answer(request: Request) -> Response:
            given = request.query_params
            read = {name: _read(model, lists[name], given) for name, model in taken.items()}
            response: Response = await handler(request, **request.path_params, **read)
            return response

        return answer


def _lists(model: type[BaseModel]) -> frozenset[str]:
    """Return the parameters that may be repeated."""
    schema = model.model_json_schema()["properties"]
    return frozenset(name for name, field in schema.items() if field.get("type") == "array")


def _read(model: type[BaseModel], lists: frozenset[str], given: QueryParams) -> BaseModel:
    try:
        return model.model_validate(
            {name: given.getlist(name) if name in lists else given[name] for name in given}
        )
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("query", *each["loc"])} for each in suggest_names(error, model)]
        ) from error


def add_api_routes(app: FastAPI) -> None:
    """Add `ROUTES` to an application, with their documentation."""
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
