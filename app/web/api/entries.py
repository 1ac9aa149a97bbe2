"""Entries: the list, one as JSON, one as Markdown."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.presentation import schemas
from app.usecases.entries import MovedTo, list_entries, read
from app.usecases.tags import check_filters
from app.web.api.answers import JSON, MARKDOWN, asked, json_answer, list_fields, shaper
from app.web.api.parameters import EntryParameters, OneEntry
from app.web.http.negotiation import preferred_media_type
from app.web.http.problems import Problem, Refusal
from app.web.http.respond import respond
from app.web.site import asker_of, site_of


async def entries(request: Request, parameters: Annotated[EntryParameters, Query()]) -> Response:
    """List entries, latest change first."""
    service = site_of(request).service
    snapshot = service.current()
    lang, filters = asked(request, parameters.lang), parameters.filters()
    check_filters(filters, snapshot.library)
    found = await list_entries(service, snapshot, filters, parameters.updated_since, parameters.window())
    shape = shaper(request, snapshot, lang)
    items = tuple(shape.summary(each) for each in found.entries)
    fields = list_fields(found.total, parameters, snapshot)
    return await json_answer(request, schemas.SummaryList(items=items, **fields), lang)


async def entry(
    request: Request, framework: str, slug: str, parameters: Annotated[OneEntry, Query()]
) -> Response:
    """Read one entry, as JSON or, with `Accept: text/markdown`, as Markdown with its front matter.

    Asked for in a language it lacks, it comes in the other; `lang` says which. An old id is answered with
    308 and the address of today.
    """
    service = site_of(request).service
    snapshot = service.current()
    found = await read(service, snapshot, f"{framework}/{slug}", asker_of(request))
    if isinstance(found, MovedTo):
        return moved(request, found, markdown=False)
    accepted = preferred_media_type(request.headers.get("accept", ""), (JSON, MARKDOWN))
    if accepted is None:
        raise Refusal(Problem(406, "problem.not_acceptable", {"offers": f"{JSON}, {MARKDOWN}"}))
    lang = asked(request, parameters.lang)
    shown = found.entry.edition(lang)
    vary = ("Accept", "Accept-Language")
    if accepted == MARKDOWN:
        return await respond(request, shown.raw, MARKDOWN, lang=shown.lang, vary=vary)
    return await json_answer(request, shaper(request, snapshot, lang).entry(found), shown.lang, vary)


async def entry_markdown(
    request: Request, framework: str, slug: str, parameters: Annotated[OneEntry, Query()]
) -> Response:
    """Read one entry as Markdown with its front matter, exactly as its file contains it."""
    service = site_of(request).service
    found = await read(service, service.current(), f"{framework}/{slug}", asker_of(request))
    if isinstance(found, MovedTo):
        return moved(request, found, markdown=True)
    shown = found.entry.edition(asked(request, parameters.lang))
    return await respond(request, shown.raw, MARKDOWN, lang=shown.lang, vary=("Accept-Language",))


def moved(request: Request, to: MovedTo, *, markdown: bool) -> Response:
    """308 to where an entry of an old id is now, keeping the query."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(site_of(request).urls.api_entry(to.id, markdown=markdown) + query, 308)
