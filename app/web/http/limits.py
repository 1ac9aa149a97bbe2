"""How much one client may ask in a minute, by what it costs to answer. Each worker counts for itself."""

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from app.metrics import Metrics
from app.presentation import paths
from app.settings import Settings
from app.web.http.clients import address_of, client_key
from app.web.http.languages import own_path
from app.web.http.problems import Problem, render

log = logging.getLogger(__name__)

MINUTE = 60.0
MOST_CLIENTS = 10_000
"""Clients that are remembered for each kind; beyond that those are forgotten who asked longest ago."""


class Kind(StrEnum):
    """What a request costs."""

    SEARCH = "search"
    DIAGNOSIS = "diagnosis"
    PAGE = "page"


KINDS = tuple(
    (method, compile_path(path)[0], kind)
    for method, path, kind in (
        ("GET", paths.API_SEARCH, Kind.SEARCH),
        ("GET", paths.API_SUGGEST, Kind.SEARCH),
        ("GET", paths.SEARCH, Kind.SEARCH),
        ("POST", paths.MCP, Kind.SEARCH),
        ("POST", paths.API_DIAGNOSE, Kind.DIAGNOSIS),
        ("POST", paths.DIAGNOSE, Kind.DIAGNOSIS),
        ("POST", paths.SEARCH, Kind.DIAGNOSIS),
        ("POST", paths.WORKBENCH, Kind.DIAGNOSIS),
    )
)
"""What is not here is a page."""
FREE = tuple(compile_path(path)[0] for path in (paths.HEALTHZ, paths.READYZ, paths.STATIC, paths.DOCS_FILE))
"""Probes must never be refused, and files that are ready to be sent cost less than a refusal."""


def kind_of(method: str, path: str) -> Kind | None:
    """What a request costs; None where it is free."""
    if any(pattern.match(path) for pattern in FREE):
        return None
    for asked, pattern, kind in KINDS:
        if method == asked and pattern.match(path):
            return kind
    return Kind.PAGE


class Buckets:
    """For each client a bucket that holds what it may ask in a minute, and fills up again within one."""

    def __init__(self, per_minute: int, most: int = MOST_CLIENTS) -> None:
        self._each = MINUTE / per_minute
        self._most = most
        self._full_at: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_at)

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


class RateLimits:
    """Refuses what a client asks beyond its limits with 429. Who asks from this machine has none: a developer, a
    test, or a proxy beside us that does not say for whom it asks."""

    def __init__(self, app: ASGIApp, buckets: Mapping[Kind, Buckets], metrics: Metrics) -> None:
        self._app = app
        self._buckets = buckets
        self._metrics = metrics
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass what is within the limits through."""
        kind = (
            kind_of(scope["method"], own_path(scope)) if scope["type"] == "http" and self._buckets else None
        )
        address = address_of(scope) if kind else None
        if kind is None or (address and address.is_loopback):
            await self._app(scope, receive, send)
            return
        wait = self._buckets[kind].wait(client_key(address), time.monotonic())
        if not wait:
            await self._app(scope, receive, send)
            return
        self._metrics.refused.labels(kind.value).inc()
        self._warn_of_proxy(scope)
        seconds = max(1, math.ceil(wait))
        headers = {"Retry-After": str(seconds)}
        problem = Problem(429, "problem.too_many", {"wait": seconds}, headers=headers)
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
            address_of(scope),
        )


def buckets_of(settings: Settings) -> dict[Kind, Buckets]:
    """The limits that are set; none where they are switched off."""
    if not settings.limits:
        return {}
    return {
        Kind.SEARCH: Buckets(settings.searches_per_minute),
        Kind.DIAGNOSIS: Buckets(settings.diagnoses_per_minute),
        Kind.PAGE: Buckets(settings.pages_per_minute),
    }
