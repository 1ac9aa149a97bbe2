"""Rate and concurrency limits per client, by the cost of a request. Each worker counts by itself."""

import asyncio
import logging
import math
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from enum import StrEnum
from itertools import cycle

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jieda.metrics import Metrics
from jieda.places import STATIC
from jieda.presentation import paths
from jieda.settings import Settings
from jieda.web.http.clients import claimed_address, client_address, client_key
from jieda.web.http.files import SWAGGER_FILES
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import own_path

log = logging.getLogger(__name__)

MINUTE = 60.0
RATE_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
"""Requests that a client may send per minute, how many are left, and seconds until all are available."""
MOST_CLIENTS = 10_000
"""Clients tracked per cost class; beyond that, the least recently seen one is dropped."""
MOST_AT_ONCE = 50
"""Concurrent requests per client, including those whose body is still arriving, whatever proxies they pass through."""
LOGS_AT_ONCE = 3
"""Concurrent logs per client, of which one is processed at a time."""
PAUSES = tuple(0.25 + 0.005 * number for number in range(50))
"""Delays before refusals, in seconds, used in turn. A refusal takes a millisecond of the event loop, and a client that
never pauses sends a thousand requests a second, at the same time on all its connections. No delay depends on how many
requests wait: a client that sends and disconnects would prolong the delays of all others."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
LARGE_MESSAGE = 1 << 16
"""Bytes from which an agent's message costs as much as a log."""


class Cost(StrEnum):
    """Cost class of a request."""

    SEARCH = "search"
    DIAGNOSIS = "diagnosis"
    PAGE = "page"


COSTS = tuple(
    (method, compile_path(path)[0], cost)
    for method, path, cost in (
        ("GET", paths.API_SEARCH, Cost.SEARCH),
        ("GET", paths.API_SUGGEST, Cost.SEARCH),
        ("GET", paths.SEARCH, Cost.SEARCH),
        ("POST", paths.MCP, Cost.SEARCH),
        ("POST", f"{paths.MCP}/", Cost.SEARCH),
        ("POST", paths.API_DIAGNOSE, Cost.DIAGNOSIS),
        ("POST", paths.API_DIAGNOSE_TEXT, Cost.DIAGNOSIS),
        ("POST", paths.API_OUTCOMES, Cost.DIAGNOSIS),
        ("POST", paths.DIAGNOSE, Cost.DIAGNOSIS),
        ("POST", paths.SEARCH, Cost.DIAGNOSIS),
        ("POST", paths.ASKED, Cost.DIAGNOSIS),
        ("GET", paths.ASKED, Cost.SEARCH),
        ("POST", paths.WORKBENCH, Cost.DIAGNOSIS),
        ("POST", paths.CHAT, Cost.DIAGNOSIS),
    )
)
"""Cost class by method and address. Every other address is a page."""
FREE = frozenset(
    (
        *(paths.HEALTHZ, paths.READYZ),
        *(paths.STATIC.format(name=file.name) for file in STATIC.iterdir()),
        *(paths.DOCS_FILE.format(name=name) for name in SWAGGER_FILES),
    )
)
"""Probes must never be refused, and to send a prepared file costs less than to refuse it."""


def cost_of(scope: Scope) -> Cost | None:
    """Return the cost class of a request; None if it is free."""
    method, path = scope["method"], own_path(scope)
    if path in FREE and method in SAFE_METHODS:
        return None
    matches = (cost for verb, pattern, cost in COSTS if method == verb and pattern.match(path))
    cost = next(matches, Cost.PAGE)
    if cost is Cost.SEARCH and method == "POST":
        length = Headers(scope=scope).get("content-length", "")
        return Cost.SEARCH if length.isdecimal() and int(length[:9]) <= LARGE_MESSAGE else Cost.DIAGNOSIS
    return cost


class Buckets:
    """Token buckets, one per client. Each has the requests of a minute and refills within a minute."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._interval = MINUTE / per_minute
        self._full_at: OrderedDict[bytes, float] = OrderedDict()

    def left(self, client: bytes, now: float) -> tuple[int, int]:
        """Return how many requests a client may send now, and the seconds until its bucket is full."""
        filling = max(0.0, self._full_at.get(client, now) - now)
        return max(0, int((MINUTE - filling) / self._interval + 1e-6)), math.ceil(filling)

    def wait(self, client: bytes, now: float) -> float:
        """Return the seconds until a client may send again; 0 if it may now, and then count its request."""
        full_at = max(self._full_at.get(client, now), now) + self._interval
        if full_at - now > MINUTE:
            return full_at - now - MINUTE
        self._full_at[client] = full_at
        self._full_at.move_to_end(client)
        if len(self._full_at) > MOST_CLIENTS:
            self._full_at.popitem(last=False)
        return 0.0


class RateLimits:
    """Refuses requests beyond a client's limits with 429, and lets its logs through one at a time. Loopback is exempt:
    it is a developer, a test, or a local proxy that does not forward client addresses.

    Belongs to one event loop.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._buckets = {
            Cost.SEARCH: Buckets(settings.searches_per_minute),
            Cost.DIAGNOSIS: Buckets(settings.diagnoses_per_minute),
            Cost.PAGE: Buckets(settings.pages_per_minute),
        }
        self._under_way: Counter[tuple[bytes, bool]] = Counter()
        self._log_locks: dict[bytes, asyncio.Lock] = {}
        self._warned = False
        self._pauses = cycle(PAUSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cost = cost_of(scope) if scope["type"] == "http" else None
        address = client_address(scope) if cost else None
        if cost is None or (address and address.is_loopback):
            await self._app(scope, receive, send)
            return
        client, bucket = client_key(address), self._buckets[cost]

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                values = (bucket.per_minute, *bucket.left(client, time.monotonic()))
                MutableHeaders(scope=message).update(dict(zip(RATE_HEADERS, map(str, values), strict=True)))
            await send(message)

        is_log = cost is Cost.DIAGNOSIS
        wait = bucket.wait(client, time.monotonic())
        if wait or self._under_way[client, is_log] >= (LOGS_AT_ONCE if is_log else MOST_AT_ONCE):
            await self._refuse(cost, wait, scope, receive, send_with_limits)
            return
        async with self._turn(client, is_log=is_log):
            await self._app(scope, receive, send_with_limits)

    @asynccontextmanager
    async def _turn(self, client: bytes, *, is_log: bool) -> AsyncIterator[None]:
        """Count a request as under way. A log waits for the client's other logs."""
        self._under_way[client, is_log] += 1
        try:
            async with self._log_locks.setdefault(client, asyncio.Lock()) if is_log else nullcontext():
                yield
        finally:
            self._under_way[client, is_log] -= 1
            if not self._under_way[client, is_log]:
                del self._under_way[client, is_log]
                if is_log:
                    del self._log_locks[client]

    async def _refuse(self, cost: Cost, wait: float, scope: Scope, receive: Receive, send: Send) -> None:
        self._metrics.refused.labels(cost.value).inc()
        await asyncio.sleep(next(self._pauses))
        self._warn_of_proxy(scope)
        seconds = max(1, math.ceil(wait))
        headers = {"Retry-After": str(seconds)}
        if scope["method"] == "GET":
            headers["Connection"] = "close"  # so that pipelined requests are not read
        problem = HttpProblem(429, "problem.too_many", {"wait": seconds}, headers=headers)
        response = await render(Request(scope), problem)
        await response(scope, receive, send)

    def _warn_of_proxy(self, scope: Scope) -> None:
        """Warn once that an untrusted proxy is limited as one client, which is seldom intended."""
        if self._warned or "x-forwarded-for" not in Headers(scope=scope) or scope["client"][1] == 0:
            return
        self._warned = True
        log.warning(
            "all requests from %s are limited as one client, although it forwards addresses of others: if it is your "
            "proxy, name it in JIEDA_TRUSTED_PROXIES",
            claimed_address(scope),
        )
