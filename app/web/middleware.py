"""What every request passes on its way, outermost first: see `stack`. Pure ASGI, nothing is buffered."""

import logging
import re
import secrets
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.metrics import Metrics
from app.web.dependencies import own_path
from app.web.problems import Problem, render

ACCESS = logging.getLogger("jieda.access")
ERRORS = logging.getLogger("jieda.errors")

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer, unless a handler has set its own."""

ACCESS_LINE = "%(client)s %(method)s %(path)s %(status)d %(bytes)d B %(ms).2f ms %(request_id)s"
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.IGNORECASE)
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
HUNG_UP = 499
"""Logged for a client that went before it was answered, as nginx does: no failure of ours."""
PROBES = {"/healthz", "/readyz"}
"""Asked by address rather than by name, so that no list of host names can make a server look dead."""


def stack(metrics: Metrics, root_path: str, allowed_hosts: Sequence[str]) -> list[Middleware]:
    """All of it in the order in which a request passes."""
    return [
        Middleware(HeadAsGet),
        Middleware(Observe, metrics=metrics),
        Middleware(SecurityHeaders),
        Middleware(CatchAll),
        Middleware(HostingPath, root_path=root_path),
        Middleware(HostNames, allowed=tuple(allowed_hosts)),
    ]


@dataclass(frozen=True, slots=True)
class HeadAsGet:
    """Answers HEAD as GET without the body, so that no route has to know."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything but HEAD through."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET", "jieda.method": "HEAD"}, receive, without_body)


@dataclass(frozen=True, slots=True)
class Observe:
    """Gives each request an id, counts and times it by route, and writes the access log.

    The log has the path but not the query, which may hold what somebody searched for.
    """

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch the answer go by."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, unanswered, size = time.perf_counter(), 0, 500, 0
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope["jieda.request_id"] = request_id

        async def heard() -> Message:
            nonlocal unanswered
            message = await receive()
            if message["type"] == "http.disconnect":
                unanswered = HUNG_UP
            return message

        async def watched(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, heard, watched)
        finally:
            self.record(scope, status or unanswered, size, time.perf_counter() - start)

    def record(self, scope: Scope, status: int, size: int, seconds: float) -> None:
        """One line and two figures for an answered request."""
        method = scope.get("jieda.method", scope["method"])
        known = method if method in {"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"} else "other"
        route = getattr(scope.get("route"), "path", "unmatched")
        self.metrics.requests.labels(known, route, str(status)).inc()
        self.metrics.seconds.labels(known, route).observe(seconds)
        fields = {
            "request_id": scope["jieda.request_id"],
            "client": (scope.get("client") or ("-",))[0],
            "method": known,
            "path": quote(scope["path"], errors="replace"),
            "status": status,
            "bytes": size,
            "ms": round(seconds * 1000, 2),
        }
        ACCESS.info(ACCESS_LINE, fields, extra=fields)


@dataclass(frozen=True, slots=True)
class SecurityHeaders:
    """Puts `SECURITY_HEADERS` on every answer, failures included."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add what is missing at the start of the answer."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, secured)


@dataclass(frozen=True, slots=True)
class CatchAll:
    """Turns whatever escapes a handler into a 500 that says nothing of the inside; logged here, once."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, or with a 500."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            return
        except Exception as error:  # whatever it is: the client gets an answer, the operator a log line
            if scope["type"] != "http" or started:
                raise
            ERRORS.error("%s", describe(error), extra={"request_id": scope["jieda.request_id"]})
            await render(Request(scope), Problem(500, "problem.internal"))(scope, receive, send)


@dataclass(frozen=True, slots=True)
class HostingPath:
    """Puts the hosting prefix back before the path where a proxy has stripped it.

    With the prefix in `path` and in `root_path` alike, as ASGI wants it, routes match in both proxy styles.
    """

    app: ASGIApp
    root_path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say what the prefix is and complete the path where it is missing."""
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if not self.covers(scope["path"]):
                scope["path"] = self.root_path + scope["path"]
        await self.app(scope, receive, send)

    def covers(self, path: str) -> bool:
        """Whether the prefix, if there is one, stands at the start of a path."""
        return not self.root_path or path == self.root_path or path.startswith(f"{self.root_path}/")


@dataclass(frozen=True, slots=True)
class HostNames:
    """Refuses requests whose Host is malformed or not in `allowed`; `*.example.com` allows all below it."""

    app: ASGIApp
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is addressed to us through."""
        if scope["type"] != "http" or self.accepts(scope):
            await self.app(scope, receive, send)
        else:
            await render(Request(scope), Problem(400, "problem.bad_host"))(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        """Whether the host that a request names is one of ours."""
        if own_path(scope) in PROBES:
            return True
        host = Headers(scope=scope).get("host", "")
        match = HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        return bool(name) and (not self.allowed or any(_covers(pattern, name) for pattern in self.allowed))


def _covers(pattern: str, name: str) -> bool:
    pattern = pattern.lower()
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in {name, "*"}


def describe(error: BaseException) -> str:
    """Types and frames of an exception and its causes, without messages: these may quote what was pasted."""
    return "\n".join(
        f"{type(each).__module__}.{type(each).__qualname__}\n{''.join(traceback.format_tb(each.__traceback__))}"
        for each in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
