"""The handlers of the API, and the table of its routes. `parameters` and `body` read the input.

The name of a handler is the id of its operation. Generated clients call it by that name, so it must not change.
FastAPI documents the routes but does not resolve their dependencies, which took a fifth of the time of a search without
results. Every handler takes the request, its path parameters and at most one parameter model.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from jieda.entry import Language, Problem
from jieda.locales.translations import Translate, translator
from jieda.presentation import paths, schemas
from jieda.presentation.diagnosis_text import CONFIDENCE_HEADER, as_text
from jieda.presentation.entry_text import reading_form
from jieda.presentation.problem_text import failure_text, problem_text
from jieda.presentation.shaper import Shaper
from jieda.snapshot.knowledge import RELOAD_FAILURES, Reloaded
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import known_tag
from jieda.usecases.diagnose import NONE, Diagnosed, diagnose_log
from jieda.usecases.entries import all_tags, read
from jieda.usecases.search import search as search_for
from jieda.usecases.search import suggest as suggest_for
from jieda.web.api.body import parse_body, read_log
from jieda.web.api.parameters import (
    DiagnoseBody,
    DiagnoseParameters,
    EntryParameters,
    Framework,
    LanguageParameters,
    ListParameters,
    OneEntry,
    OutcomeBody,
    SearchParameters,
    Slug,
    SuggestParameters,
    bad_parameters,
)
from jieda.web.http.body import read_bytes
from jieda.web.http.clients import is_from_our_pages
from jieda.web.http.maintainers import bearer_token
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import NO_STORE, UNCACHED, api_language, respond
from jieda.web.site import asker_of, client_of, site_of

COMPLETIONS = TypeAdapter(tuple[schemas.ApiCompletion, ...])
RELOADED = TypeAdapter(Reloaded)
JSON, MARKDOWN, TEXT = "application/json", "text/markdown", "text/plain"
MOST_OUTCOME = 4096
"""Bytes of a reported outcome."""
ApiHandler = Callable[..., Awaitable[Response]]


def shaper(request: Request, snapshot: Snapshot, lang: Language) -> Shaper:
    """Return the shaper of answers from a snapshot in a language."""
    return site_of(request).client.shapers.of(snapshot, lang)


async def json_answer(request: Request, model: BaseModel, lang: Language) -> Response:
    """Respond with a model as JSON and its ETag, or with 304.

    The model is serialized here because FastAPI would validate it a second time.
    """
    return await respond(request, model.model_dump_json(), JSON, lang=lang, vary=("Accept-Language",))


async def search(request: Request, parameters: Annotated[SearchParameters, Query()]) -> Response:
    """Find entries by words, questions, identifiers or error text, in either language.

    Every entry is found once, through any of its editions, and shown in the requested language where it has it.
    """
    lang = api_language(request)
    found = await search_for(site_of(request).service, parameters.wanted(lang), asker_of(request))
    request.state.outcome, request.state.note = found.outcome, found.note
    return await json_answer(request, shaper(request, found.snapshot, lang).search(found), lang)


async def suggest(request: Request, parameters: Annotated[SuggestParameters, Query()]) -> Response:
    """Complete what is being typed: titles, identifiers, tags and words of the glossary."""
    service = site_of(request).service
    lang = api_language(request)
    snapshot = service.current()
    found = await suggest_for(service, snapshot, parameters.q, lang, parameters.limit)
    shape = shaper(request, snapshot, lang)
    body = COMPLETIONS.dump_json(tuple(shape.completion(each) for each in found))
    return await respond(request, body, JSON, lang=lang, vary=("Accept-Language",))


async def diagnose(request: Request, parameters: Annotated[DiagnoseParameters, Query()]) -> Response:
    """Find the entries that explain a log: a line, a traceback or all of it, up to 64 MiB of raw text.

    Of more than 1 MiB, the end and the part around the first failure are read; `read` says which lines.

    Send `application/json` with `text`, `lang` and `framework`, or the raw text as any other type, with
    `lang` and `framework` as query parameters.
    """
    found, lang = await diagnosed(request, parameters)
    answer = shaper(request, found.snapshot, lang).diagnosis(found.diagnosis).model_dump_json()
    return await diagnosis_answer(request, found, answer, JSON, lang)


async def diagnose_text(request: Request, parameters: Annotated[DiagnoseParameters, Query()]) -> Response:
    """Find the entries that explain a log, as text for a terminal: `curl --data-binary @job.log …/api/v1/diagnose.txt`.

    Takes what `POST /diagnose` takes.
    """
    found, lang = await diagnosed(request, parameters)
    site = site_of(request)
    urls, t = site.urls, translator(lang)
    answer = as_text(found.diagnosis, t, partial(urls.external.entry, lang))
    return await diagnosis_answer(request, found, answer, TEXT, lang)


async def diagnosed(request: Request, parameters: DiagnoseParameters) -> tuple[Diagnosed, Language]:
    """Diagnose the log of a request; return the diagnosis and the language to report it in."""
    service = site_of(request).service
    log, framework = await read_log(request, parameters, service)
    lang = api_language(request)
    if parameters.framework:  # a framework in the body takes precedence
        known_tag("framework", parameters.framework, service.current().library.taxonomy)
    return await diagnose_log(service, log, lang, framework, asker_of(request)), lang


async def diagnosis_answer(
    request: Request, found: Diagnosed, answer: str, media_type: str, lang: Language
) -> Response:
    """Respond with a diagnosis, which no cache stores."""
    return await respond(
        request,
        answer,
        media_type,
        lang=lang,
        vary=("Accept-Language",),
        cache=NO_STORE,
        headers={CONFIDENCE_HEADER: found.diagnosis.confidence or NONE},
    )


async def report_outcome(request: Request, _parameters: Annotated[LanguageParameters, Query()]) -> Response:
    """Say whether an entry helped and, if not, why. Reports are counted and shown to its maintainers."""
    site = site_of(request)
    if not is_from_our_pages(request.headers, site.settings):
        raise HttpProblem(403, "problem.bad_origin")
    body = parse_body(request, await read_bytes(request, MOST_OUTCOME, MOST_OUTCOME), OutcomeBody)
    lang = api_language(request)
    found = await client_of(request).report(body.id, lang, body.outcome, body.text)
    return await respond(request, found.model_dump_json(), JSON, lang=lang, cache=NO_STORE)


async def list_entries(request: Request, parameters: Annotated[EntryParameters, Query()]) -> Response:
    """List entries, latest change first."""
    lang = api_language(request)
    filters, since = parameters.filters(), parameters.updated_since
    found = await site_of(request).client.entries(filters, lang, parameters.window(), since)
    return await json_answer(request, found, lang)


async def get_entry(
    request: Request, framework: Framework, slug: Slug, _parameters: Annotated[LanguageParameters, Query()]
) -> Response:
    """Read one entry.

    Where it lacks the requested language, the other edition is returned; `lang` says which. An old id is
    redirected to the current address (308).
    """
    service = site_of(request).service
    snapshot = service.current()
    found = await read(service, snapshot, f"{framework}/{slug}", asker_of(request))
    if isinstance(found, str):
        return moved(request, found, markdown=False)
    lang = api_language(request)
    shown = found.entry.edition(lang)
    return await json_answer(request, shaper(request, snapshot, lang).entry(found), shown.lang)


async def get_entry_markdown(
    request: Request, framework: Framework, slug: Slug, parameters: Annotated[OneEntry, Query()]
) -> Response:
    """Read one entry as Markdown: title, what it applies to, body, sources.

    With `source=1`: its file as it is, with front matter.
    """
    service = site_of(request).service
    snapshot = service.current()
    found = await read(service, snapshot, f"{framework}/{slug}", asker_of(request))
    if isinstance(found, str):
        return moved(request, found, markdown=True)
    shown = found.entry.edition(api_language(request))
    t = translator(shown.lang)
    text = shown.raw if parameters.source else reading_form(shown, found.entry.validity, t)
    return await respond(request, text, MARKDOWN, lang=shown.lang, vary=("Accept-Language",))


def moved(request: Request, to: str, *, markdown: bool) -> Response:
    """Redirect from an old id to the entry's current address with 308, keeping the query."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(site_of(request).urls.api_entry(to, markdown=markdown) + query, 308)


def tag_list(facet: str, model: type[schemas.Page]) -> ApiHandler:
    """Create a handler that lists the tags of a facet with names, descriptions and counts."""

    async def tags(request: Request, parameters: Annotated[ListParameters, Query()]) -> Response:
        snapshot, lang = site_of(request).service.current(), api_language(request)
        shape, found = shaper(request, snapshot, lang), all_tags(snapshot.library, facet)
        page = shape.page(model, parameters.window(), found, partial(shape.tag, facet))
        return await json_answer(request, page, lang)

    tags.__name__ = f"list_{facet}s"
    return tags


async def list_problems(request: Request, parameters: Annotated[ListParameters, Query()]) -> Response:
    """List problems in the content files, as `jieda check` reports them, except those of drafts."""
    snapshot, lang = site_of(request).service.current(), api_language(request)

    def shape(each: Problem) -> dict[str, object]:
        return asdict(each) | {"message": problem_text(each.message, lang, "terminal")}

    model, found = schemas.ContentProblemList, snapshot.library.open_problems
    page = shaper(request, snapshot, lang).page(model, parameters.window(), found, shape)
    return await json_answer(request, page, lang)


async def list_translations(request: Request, parameters: Annotated[ListParameters, Query()]) -> Response:
    """List, for every entry, which editions are present, missing or older than their twin."""
    snapshot, lang = site_of(request).service.current(), api_language(request)
    shape = shaper(request, snapshot, lang)
    page = shape.page(schemas.TranslationList, parameters.window(), snapshot.library.ids, shape.translation)
    return await json_answer(request, page, lang)


async def reload(request: Request, _parameters: Annotated[LanguageParameters, Query()]) -> Response:
    """Reload the content in every worker. Needs the reload token; disabled where none is configured.

    Responds when all workers serve the new generation, or after ten seconds; `behind` lists those that do not yet.
    """
    site = site_of(request)
    if not (token := site.settings.reload_token):
        raise HttpProblem(403, "problem.reload_closed")
    if not hmac.compare_digest(bearer_token(request.headers.get("authorization", "")), token.encode()):
        raise HttpProblem(401, "problem.unauthorized", headers={"WWW-Authenticate": "Bearer"})
    try:
        # Not on a pool thread: requests waiting for one build would fill the pool.
        outcome = await asyncio.wrap_future(site.knowledge.reload())
    except RELOAD_FAILURES as error:
        site.service.metrics.reloads.labels("failed").inc()
        # The token belongs to maintainers of the content, so the reason may name files.
        reason = failure_text(error, api_language(request))
        raise HttpProblem(409, "problem.reload_failed", {"reason": reason}) from error
    site.service.metrics.reloads.labels("changed" if outcome.changed else "unchanged").inc()
    return Response(RELOADED.dump_json(outcome), media_type=JSON, headers=UNCACHED)


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


def add_api_routes(app: FastAPI, t: Translate) -> None:
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
