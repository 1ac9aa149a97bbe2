"""From a request to what a page needs, and from a page to an answer with its headers."""

from functools import partial
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response

from app.entry import Language
from app.errors import BadParameter
from app.filters import Filters
from app.search.answers import SearchRequest
from app.taxonomy import FACETS
from app.usecases.tags import MAX_TAGS
from app.web.http.body import read_bytes
from app.web.http.hosting import is_from_our_pages
from app.web.http.problems import Problem, Refusal
from app.web.http.respond import Body, respond
from app.web.pages.context import PageContext
from app.web.site import site_of

HTML, MARKDOWN = "text/html", "text/markdown"
MAX_PAGE = 1000
PERCENT = 3
"""Bytes that a form can spend on one byte of text: `%0A`."""
LARGE = 1 << 16
"""Bytes of a form from which on reading it takes more than some milliseconds, and so leaves the event loop."""
PIECE = 1 << 15
"""Bytes of a form that are decoded in one go."""
MAX_FIELDS = 20
FORM_FRAME = 4096
"""Bytes for what surrounds the text in a form."""


async def page_answer(
    request: Request, context: PageContext, html: Body, vary: tuple[str, ...] = ("Cookie",)
) -> Response:
    """A page with its ETag, or 304. Its look depends on the cookies."""
    return await respond(request, html, HTML, lang=context.lang, vary=vary)


def asked_search(request: Request, lang: Language, page_size: int) -> SearchRequest:
    """The search that an address asks for. Raises BadParameter."""
    params = request.query_params
    return SearchRequest(
        text=params.get("q", ""),
        lang=lang,
        filters=asked_filters(request),
        limit=page_size,
        offset=(asked_page(request) - 1) * page_size,
        verbatim=params.get("verbatim", "") in {"1", "true"},
        unfinished=params.get("unfinished", "") in {"1", "true"},
    )


def asked_filters(request: Request) -> Filters:
    """The filters of a search. Raises BadParameter."""
    params = request.query_params
    chosen = {facet: tuple(filter(None, params.getlist(facet)[:MAX_TAGS])) for facet in FACETS}
    edition = params.get("edition", "")
    if edition and edition not in set(Language):
        raise BadParameter(field="edition")
    return Filters(**chosen, edition=Language(edition) if edition else None)


def asked_page(request: Request) -> int:
    """The number of the page asked for, from 1. Raises BadParameter."""
    text = request.query_params.get("page", "") or "1"
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MAX_PAGE):
        raise BadParameter(field="page")
    return int(text)


async def read_form(request: Request, limit: int) -> dict[str, str]:
    """The fields of a form sent as `application/x-www-form-urlencoded`, the last of each name.

    Raises TooLarge where the body cannot hold less than `limit` bytes of text, and Refusal where a page of another site
    sends it: that could choose a language, vote, or diagnose in the name of whoever looks at it.
    """
    if not is_from_our_pages(request.headers, site_of(request).settings):
        raise Refusal(Problem(403, "problem.bad_origin"))
    raw = await read_bytes(request, limit * PERCENT + FORM_FRAME, limit)
    if len(raw) > LARGE:
        return await site_of(request).service.offload(partial(form_fields, raw))
    return form_fields(raw)


def form_fields(raw: bytes) -> dict[str, str]:
    """The fields of a form, the last of each name. Raises BadParameter for more than MAX_FIELDS."""
    pairs = raw.split(b"&", MAX_FIELDS) if raw else []
    if len(pairs) > MAX_FIELDS:
        raise BadParameter(field="body")
    named = (pair.partition(b"=") for pair in pairs if pair)
    return {decoded(name): decoded(value) for name, _, value in named}


def decoded(written: bytes) -> str:
    """What a form means by a name or a value. A piece at a time: in one go, a megabyte of `%0A` would be taken apart by
    a few calls that let no other thread work for a tenth of a second each."""
    plain = written.replace(b"+", b" ")
    parts, start = [], 0
    while start < len(plain):
        end = start + PIECE
        # Not within `%0A`.
        cut = plain.rfind(b"%", max(start + 1, end - 2), end) if end < len(plain) else -1
        end = end if cut < 0 else cut
        parts.append(unquote_to_bytes(plain[start:end]))
        start = end
    return b"".join(parts).decode("utf-8", "replace")
