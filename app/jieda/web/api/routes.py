"""The route table of the API. FastAPI documents these routes but does not resolve their dependencies, which took a
fifth of the time of a search without results. Every handler takes the request, its path parameters and at most one
parameter model."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from jieda.presentation import paths, schemas
from jieda.snapshot.knowledge import Reloaded
from jieda.web.api.handlers import (
    MARKDOWN,
    TEXT,
    ApiHandler,
    diagnose,
    diagnose_text,
    get_entry,
    get_entry_markdown,
    list_entries,
    list_problems,
    list_translations,
    reload,
    report_outcome,
    search,
    suggest,
    tag_list,
)
from jieda.web.api.parameters import DiagnoseBody, OutcomeBody, bad_parameters


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """A row of the table. `tag` is its group; `answer` the type of a JSON response, or the media type of any other;
    `refusals` the error statuses; `body` the model of the request body."""

    tag: str
    method: str
    path: str
    handler: ApiHandler
    answer: Any
    refusals: tuple[int, ...] = (400, 422)
    body: type[BaseModel] | None = None

    @property
    def operation(self) -> str:
        return self.handler.__name__

    @property
    def text(self) -> str:
        """The media type of a response that is not JSON; otherwise empty."""
        return self.answer if isinstance(self.answer, str) else ""


SEARCH = (400, 422, 503)
UNKNOWN_ENTRY = (400, 404, 422)
LOG = (400, 408, 413, 415, 422, 503)
OUTCOME = (400, 403, 404, 408, 413, 422)
RELOAD = (400, 401, 403, 409, 422)
TAG_LISTS = dict.fromkeys(paths.API_TAGS, schemas.TagList) | {"framework": schemas.FrameworkList}
FIND, READ, LISTS, CONTENT = "Find", "Read", "Tags", "Content"
ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute(FIND, "GET", paths.API_SEARCH, search, schemas.SearchResult, SEARCH),
    ApiRoute(FIND, "GET", paths.API_SUGGEST, suggest, tuple[schemas.ApiCompletion, ...]),
    ApiRoute(READ, "GET", paths.API_ENTRIES, list_entries, schemas.SummaryList),
    ApiRoute(READ, "GET", paths.API_ENTRY_MARKDOWN, get_entry_markdown, MARKDOWN, UNKNOWN_ENTRY),
    ApiRoute(READ, "GET", paths.API_ENTRY, get_entry, schemas.ApiEntry, UNKNOWN_ENTRY),
    ApiRoute(FIND, "POST", paths.API_DIAGNOSE, diagnose, schemas.ApiDiagnosis, LOG, DiagnoseBody),
    ApiRoute(FIND, "POST", paths.API_DIAGNOSE_TEXT, diagnose_text, TEXT, LOG, DiagnoseBody),
    ApiRoute(FIND, "POST", paths.API_OUTCOMES, report_outcome, schemas.Reported, OUTCOME, OutcomeBody),
    *(
        ApiRoute(LISTS, "GET", paths.API_TAGS[facet], tag_list(facet, model), model)
        for facet, model in TAG_LISTS.items()
    ),
    ApiRoute(CONTENT, "GET", paths.API_PROBLEMS, list_problems, schemas.ContentProblemList),
    ApiRoute(CONTENT, "GET", paths.API_TRANSLATIONS, list_translations, schemas.TranslationList),
    ApiRoute(CONTENT, "POST", paths.API_RELOAD, reload, Reloaded, RELOAD),
)


class QuickRoute(APIRoute):
    """A route whose parameters are validated only by their model."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request. It raises HttpProblem for invalid parameters."""
        handler = self.endpoint
        models: dict[str, Any] = {
            each.name: each.field_info.annotation for each in self.dependant.query_params
        }
        lists = {name: _list_fields(model) for name, model in models.items()}

        async def answer(request: Request) -> Response:
            query = request.query_params
            parameters = {name: _parse(model, lists[name], query) for name, model in models.items()}
            response: Response = await handler(request, **request.path_params, **parameters)
            return response

        return answer


def _list_fields(model: type[BaseModel]) -> frozenset[str]:
    schema = model.model_json_schema()["properties"]
    return frozenset(name for name, field in schema.items() if field.get("type") == "array")


def _parse(model: type[BaseModel], lists: frozenset[str], query: QueryParams) -> BaseModel:
    try:
        return model.model_validate(
            {name: query.getlist(name) if name in lists else query[name] for name in query}
        )
    except ValidationError as error:
        raise bad_parameters(error, model) from None


def add_api_routes(app: FastAPI, t: Callable[..., str]) -> None:
    """Add `ROUTES` to an application, with their documentation; `t` translates into English."""
    for route in ROUTES:
        app.router.add_api_route(
            route.path,
            route.handler,
            methods=[route.method],
            operation_id=route.operation,
            summary=t(f"docs.route.{route.operation}"),
            tags=[route.tag],
            response_model=None if route.text else route.answer,
            response_class=PlainTextResponse if route.text else JSONResponse,
            route_class_override=QuickRoute,
        )
