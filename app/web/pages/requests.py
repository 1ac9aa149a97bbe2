"""From a request to a visit, and from a page to an answer with its headers."""

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.content.library import Library
from app.entry import FACETS, Language
from app.errors import BadParameter
from app.search.answers import Filters
from app.web.body import read_bytes
from app.web.compression import packed
from app.web.dependencies import CurrentSite, CurrentSnapshot
from app.web.negotiation import conditional
from app.web.pages.visit import Visit
from app.web.preferences import chosen_theme
from app.web.tags import check_filters

MAX_TAGS = 50
MAX_PAGE = 1000
PERCENT = 3
"""Bytes that a form can spend on one byte of text: `%0A`."""
FORM_FRAME = 4096
"""Bytes for what surrounds the text in a form."""


async def get_visit(request: Request, site: CurrentSite, snapshot: CurrentSnapshot, lang: str) -> Visit:
    """Who asks for a page under `/{lang}/`. Raises 404 for a language that there are no pages in."""
    if lang not in set(Language):
        raise HTTPException(404)
    return Visit(site, Language(lang), chosen_theme(request.cookies), snapshot.library)


CurrentVisit = Annotated[Visit, Depends(get_visit)]


def page_answer(request: Request, visit: Visit, html: str, vary: str = "Cookie") -> Response:
    """A page with its ETag, or 304. Its look depends on the cookies."""
    headers = {"Vary": vary, "Content-Language": visit.lang.tag}
    return packed(request, conditional(request, HTMLResponse(html, headers=headers)))


def asked_filters(request: Request, library: Library) -> Filters:
    """The filters of a search. Raises UnknownTag, BadParameter."""
    params = request.query_params
    chosen = {facet: tuple(filter(None, params.getlist(facet)[:MAX_TAGS])) for facet in FACETS}
    edition = params.get("edition", "")
    if edition and edition not in set(Language):
        raise BadParameter(field="edition")
    filters = Filters(**chosen, edition=Language(edition) if edition else None)
    check_filters(filters, library)
    return filters


def asked_page(request: Request) -> int:
    """The number of the page asked for, from 1. Raises BadParameter."""
    text = request.query_params.get("page", "") or "1"
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MAX_PAGE):
        raise BadParameter(field="page")
    return int(text)


async def read_form(request: Request, limit: int) -> dict[str, str]:
    """The fields of a form sent as `application/x-www-form-urlencoded`, the last of each name.

    Raises TooLarge where the body cannot hold less than `limit` bytes of text.
    """
    raw = await read_bytes(request, limit * PERCENT + FORM_FRAME, limit)
    try:
        fields = parse_qs(
            raw.decode("ascii", "replace"), keep_blank_values=True, errors="replace", max_num_fields=20
        )
    except ValueError:
        raise BadParameter(field="body") from None
    return {name: values[-1] for name, values in fields.items()}
