"""The middleware that every request passes through, outermost first: see `stack`. Pure ASGI, nothing is buffered.

It includes a response cache keyed by the raw request: parsing and serializing an API search, or rendering a page, takes
as long as many empty requests.
"""

import asyncio
import logging
import re
import secrets
import time
from dataclasses import dataclass
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jieda.errors import frames_of
from jieda.metrics import Metrics
from jieda.presentation import paths
from jieda.presentation.diagnosis_text import CONFIDENCE_HEADER
from jieda.settings import Settings
from jieda.usecases.gaps.recorder import AnswerFound, EntryRead, Searched
from jieda.usecases.service import Service
from jieda.web.http.clients import claimed_address, covers, parse_host
from jieda.web.http.limits import RATE_HEADERS, RateLimits
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import has_tag, own_path
from jieda.web.site import Site, asker_of, site_of

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
"""Set on every response unless a handler has set its own."""

SECONDS_A_DAY = 86_400
"""How long a browser may cache the result of a CORS preflight, in seconds."""
ELEMENT = paths.STATIC.format(name="jieda-search.js")
ACCESS_LINE = "%(client)s %(method)s %(path)s %(status)d %(bytes)d B %(ms).2f ms %(request_id)s"
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a client may give its request; any other is replaced."""
PROBES = {paths.HEALTHZ, paths.READYZ}
"""Paths requested by IP address, so exempt: no list of host names can make a server look dead."""
METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
"""Methods that the metrics and the log tell apart."""
HUNG_UP = 499
"""Status logged for a client that disconnected before its response, as in nginx: not a server error."""


def stack(service: Service, settings: Settings) -> list[Middleware]:
    """Return all middleware in the order in which a request passes through it."""
    metrics = service.metrics
    return [
        Middleware(Outermost, metrics=metrics),
        Middleware(Hosting, root_path=settings.root_path, allowed=settings.allowed_hosts),
        *([Middleware(CrossOrigin, origins=settings.cors_origins)] if settings.cors_origins else []),
        *([Middleware(RateLimits, settings=settings, metrics=metrics)] if settings.limits else []),
        *([Middleware(Repeats)] if settings.cache else []),
    ]


class Exchange:
    """A request and its response: sets the headers of every response, drops the body of one to HEAD, measures it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self.method: str = scope["method"]
        given = Headers(scope=scope).get("x-request-id", "")
        self.request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        self.started = False
        self.status = 500
        """The status sent or, before one is, what the log says of a request without a response."""
        self.size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.started:
            self.status = HUNG_UP
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers["X-Request-Id"] = self.request_id
        elif self.method == "HEAD":
            message = {**message, "body": b""}
        self.size += len(message.get("body", b""))
        # The server checks the method: a GET without the body that its headers announce is an error.
        self._scope["method"] = self.method
        await self._send(message)


@dataclass(frozen=True, slots=True)
class Outermost:
    """Answers every request, counts and times it by route, and writes the access log.

    It assigns the request's id, handles HEAD as GET, so that no route has to care, and turns any exception that escapes
    a handler into a 500 without internal details. The log contains the path but not the query, which may hold what
    somebody searched for.
    """

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, exchange = time.perf_counter(), Exchange(scope, receive, send)
        if exchange.method == "HEAD":
            # Modify the scope in place: routing adds to it what `record` reads.
            scope["method"] = "GET"
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the server stops, and this took longer than it waits
            if not exchange.started:
                answer = await render(Request(scope), HttpProblem(503, "problem.stopping"))
                answer.headers["Connection"] = "close"
                await answer(scope, exchange.receive, exchange.send)
        except Exception as error:  # whatever it is: the client gets an answer, the operator a log line
            if exchange.started:
                raise
            ERRORS.error("%s", frames_of(error), extra={"request_id": exchange.request_id})
            answer = await render(Request(scope), HttpProblem(500, "problem.internal"))
            await answer(scope, exchange.receive, exchange.send)
        finally:
            self.record(scope, exchange, time.perf_counter() - start)

    def record(self, scope: Scope, exchange: Exchange, seconds: float) -> None:
        method = exchange.method if exchange.method in METHODS else "other"
        route = getattr(scope.get("route"), "path", "unmatched")
        self.metrics.requests.labels(method, route, str(exchange.status)).inc()
        self.metrics.seconds.labels(method, route).observe(seconds)
        fields = {
            "request_id": exchange.request_id,
            "client": str(claimed_address(scope) or "-"),
            "method": method,
            "path": quote(scope["path"], errors="replace"),
            "status": exchange.status,
            "bytes": exchange.size,
            "ms": round(seconds * 1000, 2),
        }
        ACCESS.info(ACCESS_LINE, fields, extra=fields)


@dataclass(frozen=True, slots=True)
class Hosting:
    """Restores the path prefix where a proxy has stripped it, and refuses requests whose Host is malformed or not in
    `allowed`; `*.example.com` allows all below it.

    With the prefix both in `path` and in `root_path`, as ASGI requires, routes match behind either kind of proxy.
    """

    app: ASGIApp
    root_path: str
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if scope["path"] != self.root_path and not scope["path"].startswith(f"{self.root_path}/"):
                scope["path"] = self.root_path + scope["path"]
            if not self.accepts(scope):
                answer = await render(Request(scope), HttpProblem(400, "problem.bad_host"))
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        if own_path(scope) in PROBES:
            return True
        name = parse_host(Headers(scope=scope).get("host", ""))
        return bool(name) and (not self.allowed or any(covers(pattern, name) for pattern in self.allowed))


class CrossOrigin:
    """Lets pages of other sites call the API and load the search element, without cookies or passwords."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self._app = app
        self._open = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=("Content-Type", "Accept", "If-None-Match", "X-Request-ID"),
            expose_headers=("ETag", "Retry-After", "X-Request-ID", CONFIDENCE_HEADER, *RATE_HEADERS),
            max_age=SECONDS_A_DAY,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = own_path(scope) if scope["type"] == "http" else ""
        is_open = path.startswith(f"{paths.API}/") or path == ELEMENT
        await (self._open if is_open else self._app)(scope, receive, send)


PAGES = tuple(compile_path(path)[0] for path in (paths.SEARCH, paths.ENTRY))
DEPENDS_ON = ("accept", "accept-language", "accept-encoding", "cookie")
"""Request headers that a response may vary by."""
OF_A_BODY = {b"content-type", b"content-length", b"content-encoding"}
"""Headers that a response without a body leaves out."""
KEPT_TYPES = ("text/", "application/json")
LARGEST = 1 << 18
"""Largest body that is cached, in bytes; images and larger bodies are sent from where they are stored."""
SIZE = 1500
"""Approximate overhead of a cached response beside its body, in bytes."""

RawHeaders = tuple[tuple[bytes, bytes], ...]
Key = tuple[str, ...]
"""What a response depends on, and last the origin that absolute addresses in it begin with."""


@dataclass(frozen=True, slots=True)
class SentResponse:
    """A response as sent. `route` and, for a search, `outcome` label the metrics; `note` is for maintainers."""

    headers: RawHeaders
    body: bytes
    route: object
    outcome: str
    note: Searched | AnswerFound | EntryRead | None


@dataclass(frozen=True, slots=True)
class Repeats:
    """Caches searches and entries and serves them again, except those given while search falls back to words only."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _key(scope)
        site = site_of(Request(scope)) if asked else None
        if site is None or not site.knowledge.ready:
            await self.app(scope, receive, send)
            return
        key = *asked, site.urls.base_url
        kept: SentResponse | None = site.cache.get(site.service.current(), key)
        if kept is None:
            await self._keep(site, key, scope, receive, send)
            return
        scope["route"] = kept.route
        if kept.outcome:
            site.metrics.repeated.labels("hit").inc()
            site.metrics.searches.labels(kept.outcome).inc()
        if kept.note:
            site.service.note(kept.note._replace(asker=asker_of(Request(scope))))
        await _send_again(kept, scope, receive, send)

    async def _keep(self, site: Site, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and cache its response if the same snapshot was served from start to end."""
        snapshot = site.service.current()
        headers: RawHeaders = ()

        async def watched(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                headers = tuple(message["headers"]) if message["status"] == 200 else ()
            elif headers and not message.get("more_body", False) and site.service.current() is snapshot:
                body, embedder = message.get("body", b""), snapshot.searcher.embedder
                if _is_kept(Headers(raw=list(headers)), len(body)) and not (embedder and embedder.failure):
                    said = scope.get("state", {})
                    sent = SentResponse(
                        headers, body, scope["route"], said.get("outcome", ""), said.get("note")
                    )
                    site.cache.put(snapshot, key, sent, SIZE + len(body) + sum(map(len, key)))
            await send(message)

        await self.app(scope, receive, watched)


def _is_kept(headers: Headers, size: int) -> bool:
    """Return whether a response whose last chunk has `size` bytes is complete, small and the same for everybody."""
    is_whole = headers.get("content-length") == str(size) and size <= LARGEST
    return is_whole and headers.get("content-type", "").startswith(KEPT_TYPES) and "set-cookie" not in headers


async def _send_again(kept: SentResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the cached response, or 304 to a client that already has it."""
    had = Headers(scope=scope).get("if-none-match", "")
    known = bool(had) and has_tag(had, Headers(raw=list(kept.headers)).get("etag", ""))
    answer = Response(b"" if known else kept.body, 304 if known else 200)
    answer.raw_headers = [pair for pair in kept.headers if not (known and pair[0] in OF_A_BODY)]
    await answer(scope, receive, send)


def _key(scope: Scope) -> tuple[str, ...]:
    """Return all that a response depends on, cookies included; empty where the response is not cached."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ()
    path = own_path(scope)
    if path != paths.API_SEARCH and not any(page.match(path) for page in PAGES):
        return ()
    headers = Headers(scope=scope)
    said = (",".join(headers.getlist(name)) for name in DEPENDS_ON)
    return path, scope["query_string"].decode("latin-1"), *said
