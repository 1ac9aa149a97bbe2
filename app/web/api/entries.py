"""Entries: the list, one as JSON, one as Markdown."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.content.library import Library, latest_first
from app.errors import UnknownEntry
from app.web.api import schemas
from app.web.api.common import asked, cut, json_answer, shaper, text_answer
from app.web.api.parameters import EntryParameters, OneEntry
from app.web.dependencies import site_of
from app.web.negotiation import preferred_media_type
from app.web.problems import Problem, Refusal
from app.web.tags import check_filters

JSON, MARKDOWN = "application/json", "text/markdown"


async def entries(request: Request, parameters: Annotated[EntryParameters, Query()]) -> Response:
    """List entries, latest change first."""
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    filters = parameters.filters()
    check_filters(filters, snapshot.library)
    lang = asked(request, parameters.lang)
    since = parameters.updated_since
    found = latest_first(
        entry
        for entry in snapshot.library.entries.values()
        if filters.admit(entry) and (since is None or entry.updated >= since)
    )
    shown, fields = cut(found, parameters, snapshot.generation)
    shape = shaper(request, snapshot, lang)
    items = tuple(shape.summary(entry) for entry in shown)
    return json_answer(request, schemas.SummaryList(items=items, **fields), lang)


async def entry(
    request: Request, framework: str, slug: str, parameters: Annotated[OneEntry, Query()]
) -> Response:
    """Read one entry, as JSON or, with `Accept: text/markdown`, as Markdown with its front matter.

    Asked for in a language it lacks, it comes in the other; `lang` says which. An old id is answered with
    308 and the address of today.
    """
    site = site_of(request)
    snapshot = site.knowledge.snapshot
    found = snapshot.library.entries.get(f"{framework}/{slug}")
    if found is None:
        return moved(request, snapshot.library, f"{framework}/{slug}", markdown=False)
    accepted = preferred_media_type(request.headers.get("accept", ""), (JSON, MARKDOWN))
    if accepted is None:
        raise Refusal(Problem(406, "problem.not_acceptable", {"offers": f"{JSON}, {MARKDOWN}"}))
    lang = asked(request, parameters.lang)
    shown = found.edition(lang)
    headers = {"Vary": "Accept, Accept-Language"}
    if accepted == MARKDOWN:
        return text_answer(request, shown.raw, MARKDOWN, shown.lang, headers)
    return json_answer(request, shaper(request, snapshot, lang).entry(found), shown.lang, headers)


async def entry_markdown(
    request: Request, framework: str, slug: str, parameters: Annotated[OneEntry, Query()]
) -> Response:
    """Read one entry as Markdown with its front matter, as its file has it."""
    library = site_of(request).knowledge.snapshot.library
    found = library.entries.get(f"{framework}/{slug}")
    if found is None:
        return moved(request, library, f"{framework}/{slug}", markdown=True)
    shown = found.edition(asked(request, parameters.lang))
    return text_answer(request, shown.raw, MARKDOWN, shown.lang)


def moved(request: Request, library: Library, wanted: str, *, markdown: bool) -> Response:
    """308 to where an entry of an old id is now, keeping the query. Raises UnknownEntry if nowhere."""
    today = library.formerly.get(wanted, "")
    if today not in library.entries:
        raise UnknownEntry(id=wanted[:200])
    query = f"?{request.url.query}" if request.url.query else ""
    address = site_of(request).urls.api_entry(today, markdown=markdown)
    return RedirectResponse(address + query, 308)
