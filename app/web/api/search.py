"""Search and completion."""

from typing import Annotated

from fastapi import Query
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from app.presentation import schemas
from app.search.answers import SearchRequest
from app.usecases.search import search as search_for
from app.usecases.search import suggest as suggest_for
from app.web.api.answers import JSON, asked, json_answer, shaper
from app.web.api.parameters import SearchParameters, SuggestParameters
from app.web.http.respond import respond
from app.web.site import asker_of, site_of

COMPLETIONS = TypeAdapter(tuple[schemas.Completion, ...])


async def search(request: Request, parameters: Annotated[SearchParameters, Query()]) -> Response:
    """Find entries by words, questions, identifiers or error text, in either language.

    Every entry is found once, by any of its editions, and shown in the language asked for where it exists.
    """
    lang = asked(request, parameters.lang)
    wanted = SearchRequest(
        text=parameters.q,
        lang=lang,
        filters=parameters.filters(),
        limit=parameters.limit,
        offset=parameters.offset,
        verbatim=parameters.verbatim,
        unfinished=parameters.unfinished,
    )
    found = await search_for(site_of(request).service, wanted, asker_of(request))
    request.state.outcome, request.state.note = found.outcome, found.note
    return await json_answer(request, shaper(request, found.snapshot, lang).search(found), lang)


async def suggest(request: Request, parameters: Annotated[SuggestParameters, Query()]) -> Response:
    """Complete what is being typed: titles, identifiers, tags and words of the glossary."""
    service = site_of(request).service
    lang = asked(request, parameters.lang)
    snapshot = service.current()
    found = await suggest_for(service, snapshot, parameters.q, lang, parameters.limit)
    shape = shaper(request, snapshot, lang)
    body = COMPLETIONS.dump_json(tuple(shape.completion(each) for each in found))
    return await respond(request, body, JSON, lang=lang, vary=("Accept-Language",))
