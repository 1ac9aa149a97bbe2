"""Search and completion. Both take less than a millisecond or little more, so they stay on the event loop."""

from typing import Annotated

from fastapi import Query
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from app.search.answers import SearchRequest
from app.web.api import schemas
from app.web.api.common import asked, json_answer, shaper, text_answer
from app.web.api.parameters import SearchParameters, SuggestParameters
from app.web.dependencies import clip, site_of
from app.web.tags import check_filters

COMPLETIONS = TypeAdapter(tuple[schemas.Completion, ...])


async def search(request: Request, parameters: Annotated[SearchParameters, Query()]) -> Response:
    """Find entries by words, questions, identifiers or error text, in either language.

    Every entry is found once, by any of its editions, and shown in the language asked for where it exists.
    """
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    filters = parameters.filters()
    check_filters(filters, snapshot.library)
    lang = asked(request, parameters.lang)
    wanted = SearchRequest(
        text=clip(parameters.q, site.settings),
        lang=lang,
        filters=filters,
        limit=parameters.limit,
        offset=parameters.offset,
        verbatim=parameters.verbatim,
    )
    answer = snapshot.searcher.search(wanted)
    site.metrics.searches.labels("weak" if answer.weak else "found" if answer.total else "nothing").inc()
    return json_answer(request, shaper(request, snapshot, lang).search(wanted, answer), lang)


async def suggest(request: Request, parameters: Annotated[SuggestParameters, Query()]) -> Response:
    """Complete what is being typed: titles, identifiers, tags and words of the glossary."""
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    lang = asked(request, parameters.lang)
    text = clip(parameters.q, site.settings)
    found = snapshot.completer.complete(text, lang, parameters.limit)
    shape = shaper(request, snapshot, lang)
    body = COMPLETIONS.dump_json(tuple(shape.completion(each) for each in found)).decode()
    return text_answer(request, body, "application/json", lang)
