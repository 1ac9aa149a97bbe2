"""Access control of the maintainer pages: a request must bring the token, where one is configured."""

import hmac
from base64 import b64decode
from collections.abc import Iterable
from contextlib import suppress
from functools import wraps

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from jieda.presentation.brand import handle
from jieda.settings import Settings
from jieda.web.http.clients import is_our_host
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import NO_STORE, Handler, Route
from jieda.web.site import site_of

MOST_NAME = 100
"""Characters of a user's name."""
PRIVATE = {"Cache-Control": NO_STORE, "X-Robots-Tag": "noindex"}
"""Headers of every guarded response: drafts and figures are private."""


def guard_routes(settings: Settings, routes: Iterable[Route]) -> tuple[Route, ...]:
    """Return `routes` behind the guard; none where the maintainer pages are off: their addresses are then unknown."""
    if not settings.workbench:
        return ()
    return tuple(Route(route.path, require_token(route.handler), route.method) for route in routes)


def require_token(handler: Handler) -> Handler:
    """Wrap `handler` so that it requires the token and its responses are neither cached nor indexed."""

    @wraps(handler)
    async def only_for_maintainers(request: Request) -> Response:
        site = site_of(request)
        realm = handle(site.knowledge.snapshot.library.site) if site.knowledge.ready else "maintainers"
        # A browser asks for any user name and the token as password. Headers are ASCII only.
        check_maintainer(request.headers, site.settings, f'Basic realm="{realm}", charset="UTF-8"')
        response = await handler(request)
        response.headers.update(PRIVATE)
        if "etag" in response.headers:
            del response.headers["etag"]
        return response

    return only_for_maintainers


def check_maintainer(headers: Headers, settings: Settings, asks: str) -> None:
    """Raise HttpProblem unless a trusted proxy names the user or the request brings the token, if one is configured. A
    server on a loopback address answers to its own names only: another site may have pointed its name at it."""
    if not is_our_host(headers.get("host", ""), settings):
        raise HttpProblem(403, "problem.bad_origin")
    if user_of(headers, settings):
        return
    if settings.user_header and not settings.workbench_token:
        raise HttpProblem(403, "problem.user_needed")
    token = settings.workbench_token.encode()
    if token and not hmac.compare_digest(token_in(headers.get("authorization", "")), token):
        raise HttpProblem(401, "problem.token_needed", headers={"WWW-Authenticate": asks})


def user_of(headers: Headers, settings: Settings) -> str:
    """Return the user that a trusted proxy names, or empty. The connection drops this header from all other senders; a
    header that occurs twice was not written by the proxy alone."""
    said = headers.getlist(settings.user_header) if settings.user_header else []
    name = said[0].encode("latin-1").decode("utf-8", "replace").strip() if len(said) == 1 else ""
    return name if name.isprintable() and len(name) <= MOST_NAME else ""


def token_in(authorization: str) -> bytes:
    """Return the token from the header, as any user's password (RFC 7617) or alone; empty if none."""
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            return b64decode(given.strip(), validate=True).partition(b":")[2]
    return bearer_token(authorization)


def bearer_token(authorization: str) -> bytes:
    """Return the token alone from the header (RFC 6750), in the bytes that the client sent; empty if none."""
    scheme, _, given = authorization.partition(" ")
    return given.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
