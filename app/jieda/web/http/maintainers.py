"""Access control of the maintainer pages: a request must have the token, if one is configured."""

import hmac
from base64 import b64decode
from contextlib import suppress
from functools import wraps

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from jieda.presentation.brand import handle
from jieda.settings import Settings
from jieda.web.http.clients import is_our_host
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import NO_STORE, Handler
from jieda.web.site import site_of

MOST_NAME = 100
"""Characters of a user's name."""
PRIVATE = {"Cache-Control": NO_STORE, "X-Robots-Tag": "noindex"}
"""Headers of every guarded response, since drafts and figures are private."""


def require_token(handler: Handler) -> Handler:
    """Wrap `handler` so that it requires the token and its responses are neither cached nor indexed."""

    @wraps(handler)
    async def only_for_maintainers(request: Request) -> Response:
        site = site_of(request)
        realm = handle(site.knowledge.snapshot.library.site) if site.knowledge.ready else "maintainers"
        # A browser asks for any user name, and the token as the password. Headers are ASCII only.
        check_maintainer(request.headers, site.settings, f'Basic realm="{realm}", charset="UTF-8"')
        response = await handler(request)
        response.headers.update(PRIVATE)
        if "etag" in response.headers:
            del response.headers["etag"]
        return response

    return only_for_maintainers


def check_maintainer(headers: Headers, settings: Settings, challenge: str) -> None:
    """Raise HttpProblem unless a trusted proxy names the user or the request has the token, if one is configured. A
    server on a loopback address answers only to its own names: another site may have pointed its name at it."""
    if not is_our_host(headers.get("host", ""), settings):
        raise HttpProblem(403, "problem.bad_origin")
    if user_of(headers, settings):
        return
    if settings.user_header and not settings.workbench_token:
        raise HttpProblem(403, "problem.user_needed")
    token = settings.workbench_token.encode()
    if token and not hmac.compare_digest(token_in(headers.get("authorization", "")), token):
        raise HttpProblem(401, "problem.token_needed", headers={"WWW-Authenticate": challenge})


def user_of(headers: Headers, settings: Settings) -> str:
    """Return the user that a trusted proxy names; empty if there is none. The connection drops the header of all other
    senders. A header that occurs twice was not written by the proxy alone."""
    values = headers.getlist(settings.user_header) if settings.user_header else []
    name = values[0].encode("latin-1").decode("utf-8", "replace").strip() if len(values) == 1 else ""
    return name if name.isprintable() and len(name) <= MOST_NAME else ""


def token_in(authorization: str) -> bytes:
    """Return the token from the header, as the password of any user (RFC 7617) or by itself; empty if none."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            return b64decode(credentials.strip(), validate=True).partition(b":")[2]
    return bearer_token(authorization)


def bearer_token(authorization: str) -> bytes:
    """Return a bearer token from the header (RFC 6750), in the bytes that the client sent; empty if none."""
    scheme, _, token = authorization.partition(" ")
    return token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
