"""The guard of the pages for maintainers: whoever asks for one brings the token, where there is one."""

import binascii
import hmac
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import replace
from functools import wraps

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from jieda.presentation.brand import handle
from jieda.settings import Settings
from jieda.web.http.names import names_us
from jieda.web.http.problems import HttpProblem, Refusal
from jieda.web.http.respond import NO_STORE
from jieda.web.http.routing import Handler, Route
from jieda.web.site import Site, site_of

MOST_NAME = 100
"""Characters of a user's name."""
PRIVATE = {"Cache-Control": NO_STORE, "X-Robots-Tag": "noindex"}
"""On every answer behind the guard: drafts and figures are for nobody else's eyes."""


def for_maintainers(settings: Settings, routes: Iterable[Route]) -> tuple[Route, ...]:
    """`routes` behind the guard; none where the pages for maintainers are switched off, so that their addresses are
    as unknown as any other."""
    if not settings.workbench:
        return ()
    return tuple(replace(route, handler=guarded(route.handler)) for route in routes)


def guarded(handler: Handler) -> Handler:
    """`handler` for those who bring the token, its answers kept by no cache and listed by no search engine."""

    @wraps(handler)
    async def only_for_maintainers(request: Request) -> Response:
        site = site_of(request)
        check_maintainer(request.headers, site.settings, challenge(site))
        response = await handler(request)
        response.headers.update(PRIVATE)
        if "etag" in response.headers:
            del response.headers["etag"]
        return response

    return only_for_maintainers


def challenge(site: Site) -> str:
    """Makes a browser ask for a name, which may be any, and the token as the password. A header has ASCII only."""
    realm = handle(site.knowledge.snapshot.library.site) if site.knowledge.ready else "maintainers"
    return f'Basic realm="{realm}", charset="UTF-8"'


def check_maintainer(headers: Headers, settings: Settings, asks: str) -> None:
    """Raises Refusal unless a trusted proxy names who asks, or a request brings the token, where one is configured. A
    server that listens on this machine alone answers to its own names only: pages of other sites may have had their
    name pointed at it."""
    if not names_us(headers.get("host", ""), settings):
        raise Refusal(HttpProblem(403, "problem.bad_origin"))
    if user_of(headers, settings):
        return
    if settings.user_header and not settings.workbench_token:
        raise Refusal(HttpProblem(403, "problem.user_needed"))
    token = settings.workbench_token.encode()
    if token and not hmac.compare_digest(brought(headers.get("authorization", "")), token):
        raise Refusal(HttpProblem(401, "problem.token_needed", headers={"WWW-Authenticate": asks}))


def user_of(headers: Headers, settings: Settings) -> str:
    """Who asks, as a trusted proxy says; empty where none does. From anybody else the connection takes no such header,
    and one that comes twice was not written by the proxy alone."""
    said = headers.getlist(settings.user_header) if settings.user_header else []
    name = said[0].encode("latin-1").decode("utf-8", "replace").strip() if len(said) == 1 else ""
    return name if name.isprintable() and len(name) <= MOST_NAME else ""


def brought(authorization: str) -> bytes:
    """The token that a header brings, as the password of any user (RFC 7617) or by itself (RFC 6750); empty where it
    brings none."""
    scheme, _, given = authorization.partition(" ")
    raw = given.strip().encode("latin-1", "replace")
    match scheme.lower():
        case "bearer":
            return raw
        case "basic":
            return password_in(raw)
    return b""


def password_in(credentials: bytes) -> bytes:
    """What stands behind the first colon of credentials in Base64; empty where it is none."""
    try:
        return b64decode(credentials, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""
