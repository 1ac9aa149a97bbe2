"""How much one client may ask in a minute and at once, by what it costs to answer. Each worker counts for itself."""

import asyncio
import logging
import math
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from itertools import cycle

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jieda.metrics import Metrics
from jieda.presentation import paths
from jieda.settings import Settings
from jieda.web.http.clients import address_of, client_key, named_address
from jieda.web.http.problems import HttpProblem, render
from jieda.web.http.respond import own_path

log = logging.getLogger(__name__)

MINUTE = 60.0
RATE_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
"""What a client may ask in a minute, what is left of it, and the seconds until all is."""
MOST_CLIENTS = 10_000
"""Clients that are remembered for each kind; beyond that those are forgotten who asked longest ago."""
MOST_AT_ONCE = 50
"""Requests of one client that are under way, their bodies perhaps still coming, whatever proxy they come through."""
LOGS_AT_ONCE = 3
"""Logs of one client, of which one is worked on."""
PAUSES = tuple(0.25 + 0.005 * place for place in range(50))
"""Seconds that refusals wait, in turn. Each costs a millisecond of the event loop, and a client that takes no pause
asks a thousand times a second, all its connections at the same moment. No wait depends on how many others there are:
whoever asks and goes would make everybody else's longer."""
LARGE_MESSAGE = 1 << 16
"""Bytes from which on what an agent sends costs as much as a log."""


class Cost(StrEnum):
    """What a request costs."""

    SEARCH = "search"
    DIAGNOSIS = "diagnosis"
    PAGE = "page"


KINDS = tuple(
    (method, compile_path(path)[0], kind)
    for method, path, kind in (
        ("GET", paths.API_SEARCH, Cost.SEARCH),
        ("GET", paths.API_SUGGEST, Cost.SEARCH),
        ("GET", paths.SEARCH, Cost.SEARCH),
        ("POST", paths.MCP, Cost.SEARCH),
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
"""The kind of request behind each address; every other address is a page."""
FREE = tuple(compile_path(path)[0] for path in (paths.HEALTHZ, paths.READYZ, paths.STATIC, paths.DOCS_FILE))
"""Probes must never be refused, and files that are ready to be sent cost less than a refusal."""


def kind_of(scope: Scope) -> Cost | None:
    """Return what a request costs; None where it is free."""
    method, path = scope["method"], own_path(scope)
    if any(pattern.match(path) for pattern in FREE):
        return None
    kind = next(
        (kind for asked, pattern, kind in KINDS if method == asked and pattern.match(path)), Cost.PAGE
    )
    if kind is Cost.SEARCH and method == "POST":
        length = Headers(scope=scope).get("content-length", "")
        return Cost.SEARCH if length.isdecimal() and int(length[:9]) <= LARGE_MESSAGE else Cost.DIAGNOSIS
    return kind


class Buckets:
    """For each client a bucket that holds what it may ask in a minute, and fills up again within one."""

    def __init__(self, per_minute: int, most: int = MOST_CLIENTS) -> None:
        self._each = MINUTE / per_minute
        self._most = most
        self._full_at: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_at)

    @property
    def per_minute(self) -> int:
        """What a full bucket holds."""
        return round(MINUTE / self._each)

    def left(self, client: bytes, now: float) -> tuple[int, int]:
        """Requests that a client may send now, and seconds until its bucket is full."""
        filling = max(0.0, self._full_at.get(client, now) - now)
        return max(0, int((MINUTE - filling) / self._each + 1e-6)), math.ceil(filling)

    def wait(self, client: bytes, now: float) -> float:
        """Seconds until a client may ask again; 0 where it may now, which is then counted."""
        full_at = max(self._full_at.get(client, now), now) + self._each
        if full_at - now > MINUTE:
            return full_at - now - MINUTE
        self._full_at[client] = full_at
        self._full_at.move_to_end(client)
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return 0.0


class ClientShares:
    """Counts what each client has under way, and lets one of its logs at a time be worked on.

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._under_way: Counter[tuple[bytes, bool]] = Counter()
        self._one_log: dict[bytes, asyncio.Lock] = {}

    @asynccontextmanager
    async def share(self, client: bytes, *, is_log: bool) -> AsyncIterator[bool]:
        """Entered when it is the request's turn; False where its client has enough under way."""
        key = client, is_log
        if self._under_way[key] >= (LOGS_AT_ONCE if is_log else MOST_AT_ONCE):
            yield False
            return
        self._under_way[key] += 1
        try:
            if is_log:
                async with self._one_log.setdefault(client, asyncio.Lock()):
                    yield True
            else:
                yield True
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]
                if is_log:
                    del self._one_log[client]


class RateLimits:
    """Refuses what a client asks beyond its limits with 429. Who asks from this machine has none: a developer, a
    test, or a proxy beside us that does not say for whom it asks."""

    def __init__(self, app: ASGIApp, buckets: Mapping[Cost, Buckets], metrics: Metrics) -> None:
        self._app = app
        self._buckets = buckets
        self._metrics = metrics
        self._shares = ClientShares()
        self._warned = False
        self._pauses = cycle(PAUSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is within the limits through."""
        kind = kind_of(scope) if scope["type"] == "http" and self._buckets else None
        address = address_of(scope) if kind else None
        if kind is None or (address and address.is_loopback):
            await self._app(scope, receive, send)
            return
        client = client_key(address)

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                bucket = self._buckets[kind]
                said = (bucket.per_minute, *bucket.left(client, time.monotonic()))
                MutableHeaders(scope=message).update(dict(zip(RATE_HEADERS, map(str, said), strict=True)))
            await send(message)

        wait = self._buckets[kind].wait(client, time.monotonic())
        if not wait:
            async with self._shares.share(client, is_log=kind is Cost.DIAGNOSIS) as is_granted:
                if is_granted:
                    await self._app(scope, receive, counted)
                    return
        await self._refuse(kind, wait, scope, receive, counted)

    async def _refuse(self, kind: Cost, wait: float, scope: Scope, receive: Receive, send: Send) -> None:
        self._metrics.refused.labels(kind.value).inc()
        await asyncio.sleep(next(self._pauses))
        self._warn_of_proxy(scope)
        seconds = max(1, math.ceil(wait))
        headers = {"Retry-After": str(seconds)}
        if scope["method"] == "GET":
            headers["Connection"] = "close"  # nothing that is asked behind it is worth reading
        problem = HttpProblem(429, "problem.too_many", {"wait": seconds}, headers=headers)
        answer = await render(Request(scope), problem)
        await answer(scope, receive, send)

    def _warn_of_proxy(self, scope: Scope) -> None:
        """Says once that a proxy nobody trusts is limited like one client, which is seldom what anybody wants."""
        if self._warned or "x-forwarded-for" not in Headers(scope=scope) or scope["client"][1] == 0:
            return
        self._warned = True
        log.warning(
            "all that comes from %s is limited as one client, though it says for whom it asks: if it is your proxy, "
            "name it in JIEDA_TRUSTED_PROXIES",
            named_address(scope),
        )


def buckets_of(settings: Settings) -> dict[Cost, Buckets]:
    """The limits that are set; none where they are switched off."""
    if not settings.limits:
        return {}
    return {
        Cost.SEARCH: Buckets(settings.searches_per_minute),
        Cost.DIAGNOSIS: Buckets(settings.diagnoses_per_minute),
        Cost.PAGE: Buckets(settings.pages_per_minute),
    }
