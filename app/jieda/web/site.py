"""The components of one application, created by `create_app` and shared by all its requests."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from jieda.client import Local
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.gaps.recorder import NOBODY
from jieda.usecases.service import OncePerGeneration, Service
from jieda.usecases.workbench.desk import Desk
from jieda.web.http.clients import (
    claimed_address,
    client_address,
    client_key,
    is_allowed,
    is_forwarded,
    is_loopback,
    parse_host,
)
from jieda.web.http.respond import AnswerCache, Resource


def origin_of(scope: Scope, settings: Settings) -> str:
    """Return the scheme and host that absolute addresses begin with: the configured base URL or, without one, the
    host that the request names, if it is one of ours. Otherwise empty: a stranger's Host header is never echoed.

    `localhost` is ours for clients nearby: on this machine, or on the host of this container.
    """
    if settings.base_url:
        return settings.base_url
    host = Headers(scope=scope).get("host", "").lower()
    name = parse_host(host)
    if is_allowed(name, settings):
        return f"{scope['scheme']}://{host}"
    address = claimed_address(scope)
    is_near = address is not None and address.is_private and not is_forwarded(scope)
    return f"{scope['scheme']}://{host}" if is_near and is_loopback(name) else ""


DIGEST_BYTES = 12
MAX_VOTES = 3
"""Votes on one entry that an address may cast during the lifetime of a process."""
MAX_VOTERS = 10_000
"""Pairs of address and entry that are remembered; those that voted longest ago are dropped first."""
MAX_HEADER = 300
"""Bytes of a header that go into the hash."""


@dataclass(frozen=True, slots=True)
class Askers:
    """Hashes clients with a key that is never stored, so that hashes are comparable only within this process."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    votes: OrderedDict[bytes, int] = field(default_factory=OrderedDict)

    def may_vote(self, request: Request, entry: str) -> bool:
        """Return whether an address may still vote on an entry, and count the vote. Loopback always may: it can be a
        proxy that does not forward client addresses."""
        address = client_address(request.scope)
        if address and address.is_loopback:
            return True
        who = blake2b(client_key(address) + entry.encode(), key=self.key, digest_size=DIGEST_BYTES).digest()
        earlier = self.votes.pop(who, 0)
        self.votes[who] = min(earlier + 1, MAX_VOTES)
        if len(self.votes) > MAX_VOTERS:
            self.votes.popitem(last=False)
        return earlier < MAX_VOTES

    def hash_of(self, request: Request) -> bytes:
        """Return the hash of a client: of its address (its network for IPv6), its user agent and its languages."""
        digest = blake2b(client_key(client_address(request.scope)), key=self.key, digest_size=DIGEST_BYTES)
        for name in ("user-agent", "accept-language"):
            digest.update(b"\0" + request.headers.get(name, "")[:MAX_HEADER].encode())
        return digest.digest()


ErrorPage = Callable[[Request, int, str, str], str]
"""Renders an HTML error page from the request, the status, a title and a sentence of detail."""
MAX_ORIGINS = 8
"""Origins (scheme and host) whose `Site` variants are kept; `*.example.com` allows any number of names."""
SCOPE_KEY = "jieda.site"
"""Key in the request scope under which the `Site` is stored."""


@dataclass(frozen=True, slots=True)
class Site:
    """The components of an application. `resources` caches responses that depend only on the generation and the
    origin; `desk` is empty until somebody writes."""

    settings: Settings
    urls: Urls
    service: Service
    client: Local
    resources: OncePerGeneration[Resource]
    cache: AnswerCache
    error_page: ErrorPage
    desk: Desk
    askers: Askers
    by_origin: OrderedDict[str, "Site"] = field(default_factory=OrderedDict)

    def at(self, origin: str) -> "Site":
        """Return this site with absolute addresses that begin with `origin`."""
        if origin == self.urls.base_url:
            return self
        found = self.by_origin.pop(origin, None)
        if found is None:
            urls = replace(self.urls, base_url=origin)
            client = replace(self.client, shapers=Shapers(urls))
            found = replace(self, urls=urls, client=client)
        self.by_origin[origin] = found
        if len(self.by_origin) > MAX_ORIGINS:
            self.by_origin.popitem(last=False)
        return found

    @property
    def knowledge(self) -> Knowledge:
        return self.service.knowledge


def asker_of(request: Request) -> bytes:
    """Return a key for the client of a request, comparable within this process; NOBODY if gaps are not recorded."""
    site = site_of(request)
    return site.askers.hash_of(request) if site.service.recorder else NOBODY


def client_of(request: Request) -> Local:
    """Return the local client for a request, which limits how often the sender may vote on an entry."""
    site = site_of(request)
    return replace(site.client, may_count=partial(site.askers.may_vote, request))


def site_of(request: Request) -> Site:
    """Return the `Site` that handles `request`, for the origin that the request was sent to."""
    scope = request.scope
    if SCOPE_KEY not in scope:
        application_site: Site = request.app.state.site
        scope[SCOPE_KEY] = application_site.at(origin_of(scope, application_site.settings))
    site: Site = scope[SCOPE_KEY]
    return site
