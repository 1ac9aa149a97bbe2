"""The middleware that every request passes through, in the order of `stack`. Pure ASGI, without buffering.

It includes a response cache keyed by the raw request, since parsing and serializing an API search or rendering a page
takes as long as many empty requests.
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
from jieda.web.http.clients import claimed_address, matches, parse_host
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

PREFLIGHT_MAX_AGE = 86_400
"""Seconds for which a browser may cache the result of a CORS preflight."""
SEARCH_ELEMENT = paths.STATIC.format(name="jieda-search.js")
ACCESS_LINE = "%(client)s %(method)s %(path)s %(status)d %(bytes)d B %(ms).2f ms %(request_id)s"
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Request ids that are accepted from clients; any other is replaced."""
PROBES = {paths.HEALTHZ, paths.READYZ}
"""Paths requested by IP address, hence exempt: no list of host names may make a server look dead."""
METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
"""Methods that metrics and log distinguish."""
CLIENT_CLOSED = 499
"""Status logged if the client disconnects before its response, as in nginx: it is not a server error."""


def stack(service: Service, settings: Settings) -> list[Middleware]:
    """Return all middleware, outermost first."""
    metrics = service.metrics
    return [
        Middleware(Outermost, metrics=metrics),
        Middleware(Hosting, root_path=settings.root_path, allowed=settings.allowed_hosts),
        *([Middleware(CrossOrigin, origins=settings.cors_origins)] if settings.cors_origins else []),
        *([Middleware(RateLimits, settings=settings, metrics=metrics)] if settings.limits else []),
        *([Middleware(Repeats)] if settings.cache else []),
    ]


class Exchange:
    """A request and its response, of which it sets the headers, counts the bytes and, for HEAD, drops the body."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self.method: str = scope["method"]
        client_id = Headers(scope=scope).get("x-request-id", "")
        self.request_id = client_id if REQUEST_ID.fullmatch(client_id) else secrets.token_hex(8)
        self.started = False
        self.status = 500
        """The status that was sent or, before that, the one logged for a request without a response."""
        self.size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.started:
            self.status = CLIENT_CLOSED
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
        # For the server, a GET without the body that its headers announce is an error.
        self._scope["method"] = self.method
        await self._send(message)


@dataclass(frozen=True, slots=True)
class Outermost:
    """Answers every request, counts and times it by route, and writes the access log.

    It assigns the id of the request, passes HEAD on as GET, and turns any exception that escapes a handler into a 500
    without internal details. The log contains the path but not the query, which may be what somebody searched for.
    """

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, exchange = time.perf_counter(), Exchange(scope, receive, send)
        if exchange.method == "HEAD":
            # Modified in place, since routing adds what `record` reads.
            scope["method"] = "GET"
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the server stops and does not wait any longer
            if not exchange.started:
                response = await render(Request(scope), HttpProblem(503, "problem.stopping"))
                response.headers["Connection"] = "close"
                await response(scope, exchange.receive, exchange.send)
        except Exception as error:  # whatever it is, the client gets a response and the operator a log line
            if exchange.started:
                raise
            ERRORS.error("%s", frames_of(error), extra={"request_id": exchange.request_id})
            response = await render(Request(scope), HttpProblem(500, "problem.internal"))
            await response(scope, exchange.receive, exchange.send)
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
    """Restores the path prefix if a proxy has stripped it, and refuses requests whose Host is malformed or not in
    `allowed`; `*.example.com` allows all its subdomains.

    Routes match behind either kind of proxy, since the prefix is in both `path` and `root_path`, as ASGI requires.
    """

    app: ASGIApp
    root_path: str
    allowed: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["root_path"] = self.root_path
            if scope["path"] == self.root_path:
                scope["path"] += "/"  # the slash that nobody types
            elif not scope["path"].startswith(f"{self.root_path}/"):
                scope["path"] = self.root_path + scope["path"]
            if not self.accepts(scope):
                response = await render(Request(scope), HttpProblem(400, "problem.bad_host"))
                await response(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def accepts(self, scope: Scope) -> bool:
        if own_path(scope) in PROBES:
            return True
        name = parse_host(Headers(scope=scope).get("host", ""))
        return bool(name) and (not self.allowed or any(matches(pattern, name) for pattern in self.allowed))


class CrossOrigin:
    """Lets pages of other sites call the API and load the search element, but without cookies or passwords."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        self._app = app
        self._open = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=("Content-Type", "Accept", "If-None-Match", "X-Request-ID"),
            expose_headers=("ETag", "Retry-After", "X-Request-ID", CONFIDENCE_HEADER, *RATE_HEADERS),
            max_age=PREFLIGHT_MAX_AGE,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = own_path(scope) if scope["type"] == "http" else ""
        is_open = path.startswith(f"{paths.API}/") or path == SEARCH_ELEMENT
        await (self._open if is_open else self._app)(scope, receive, send)


PAGES = tuple(compile_path(path)[0] for path in (paths.SEARCH, paths.ENTRY))
VARIES_BY = ("accept", "accept-language", "accept-encoding", "cookie")
"""Request headers that a response may vary by."""
BODY_HEADERS = {b"content-type", b"content-length", b"content-encoding"}
"""Headers that a response without a body omits."""
CACHED_TYPES = ("text/", "application/json")
MAX_CACHED = 1 << 18
"""Bytes of the largest body that is cached. Images and larger bodies are sent from where they are stored."""
OVERHEAD = 1500
"""Bytes that a cached response takes in addition to its body, roughly."""

RawHeaders = tuple[tuple[bytes, bytes], ...]
Key = tuple[str, ...]
"""What a response depends on, ending with the origin of absolute addresses in it."""


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
    """Caches responses with searches and entries, except while search falls back to words only."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_key = _request_key(scope)
        site = site_of(Request(scope)) if request_key else None
        if site is None or not site.knowledge.ready:
            await self.app(scope, receive, send)
            return
        key = *request_key, site.urls.base_url
        cached: SentResponse | None = site.cache.get(site.service.current(), key)
        if cached is None:
            await self._fill(site, key, scope, receive, send)
            return
        scope["route"] = cached.route
        if cached.outcome:
            site.service.metrics.repeated.labels("hit").inc()
            site.service.metrics.searches.labels(cached.outcome).inc()
        if cached.note:
            site.service.note(cached.note._replace(asker=asker_of(Request(scope))))
        await _send_cached(cached, scope, receive, send)

    async def _fill(self, site: Site, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and cache its response if the same snapshot was served from start to end."""
        snapshot = site.service.current()
        headers: RawHeaders = ()

        async def send_and_cache(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                headers = tuple(message["headers"]) if message["status"] == 200 else ()
            elif headers and not message.get("more_body", False) and site.service.current() is snapshot:
                body, embedder = message.get("body", b""), snapshot.searcher.embedder
                if _cacheable(Headers(raw=list(headers)), len(body)) and not (embedder and embedder.failure):
                    state = scope.get("state", {})
                    outcome, note = state.get("outcome", ""), state.get("note")
                    sent = SentResponse(headers, body, scope["route"], outcome, note)
                    site.cache.put(snapshot, key, sent, OVERHEAD + len(body) + sum(map(len, key)))
            await send(message)

        await self.app(scope, receive, send_and_cache)


def _cacheable(headers: Headers, size: int) -> bool:
    """Return whether a response with a last chunk of `size` bytes is complete, small and the same for everybody."""
    is_whole = headers.get("content-length") == str(size) and size <= MAX_CACHED
    is_shared = "set-cookie" not in headers
    return is_whole and is_shared and headers.get("content-type", "").startswith(CACHED_TYPES)


async def _send_cached(cached: SentResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the cached response, or 304 to a client that already has it."""
    tags = Headers(scope=scope).get("if-none-match", "")
    known = bool(tags) and has_tag(tags, Headers(raw=list(cached.headers)).get("etag", ""))
    response = Response(b"" if known else cached.body, 304 if known else 200)
    response.raw_headers = [pair for pair in cached.headers if not (known and pair[0] in BODY_HEADERS)]
    await response(scope, receive, send)


def _request_key(scope: Scope) -> tuple[str, ...]:
    """Return everything in the request that a response depends on, cookies included; empty if it is not cached."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return ()
    path = own_path(scope)
    if path != paths.API_SEARCH and not any(page.match(path) for page in PAGES):
        return ()
    headers = Headers(scope=scope)
    values = ("\n".join(headers.getlist(name)) for name in VARIES_BY)
    return path, scope["query_string"].decode("latin-1"), *values
