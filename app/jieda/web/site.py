"""The parts of one application, made by `create_app` and shared by all its requests."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from jieda.client.local import Local
from jieda.locales.translations import Translations
from jieda.metrics import Metrics
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.gaps.recorder import NOBODY
from jieda.usecases.service import OncePerGeneration, Service
from jieda.usecases.workbench.desk import Desk
from jieda.web.agents import AgentsEndpoint
from jieda.web.http.clients import address_of, client_key, is_forwarded, named_address
from jieda.web.http.names import is_allowed, is_loopback, name_in
from jieda.web.http.respond import AnswerCache, Resource
from jieda.web.templating import Renderer


def origin_of(scope: Scope, settings: Settings) -> str:
    """Scheme and host that absolute addresses begin with: as configured or, where nothing is, as the request names
    them, if that is a name of ours. Empty otherwise: what a stranger writes into Host is repeated to nobody.

    `localhost` is one for those who are near: on this machine, or on the one that this is a container of.
    """
    if settings.base_url:
        return settings.base_url
    host = Headers(scope=scope).get("host", "").lower()
    name = name_in(host)
    if is_allowed(name, settings):
        return f"{scope['scheme']}://{host}"
    address = named_address(scope)
    is_near = address is not None and address.is_private and not is_forwarded(scope)
    return f"{scope['scheme']}://{host}" if is_near and is_loopback(name) else ""


BYTES = 12
MOST_VOTES = 3
"""Votes on an entry that one address may give, as long as a process lives."""
MOST_VOTERS = 10_000
"""Addresses and entries that are remembered; those are forgotten first who voted longest ago."""
LONGEST_HEADER = 300
"""Bytes of a header that are looked at."""


@dataclass(frozen=True, slots=True)
class Askers:
    """A hash for each client, by a key that is made at start and written nowhere: it can be compared within one process
    while that lives, and means nothing to anybody else."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    votes: OrderedDict[bytes, int] = field(default_factory=OrderedDict)

    def may_vote(self, request: Request, entry: str) -> bool:
        """Whether an address has not voted too often on an entry; the vote is counted then. This machine always may:
        it may be a proxy that does not say for whom it asks."""
        address = address_of(request.scope)
        if address and address.is_loopback:
            return True
        who = blake2b(client_key(address) + entry.encode(), key=self.key, digest_size=BYTES).digest()
        given = self.votes.pop(who, 0)
        self.votes[who] = min(given + 1, MOST_VOTES)
        if len(self.votes) > MOST_VOTERS:
            self.votes.popitem(last=False)
        return given < MOST_VOTES

    def of(self, request: Request) -> bytes:
        """The hash of a client: of its address, or its network for IPv6, its program and its languages."""
        total = blake2b(client_key(address_of(request.scope)), key=self.key, digest_size=BYTES)
        for name in ("user-agent", "accept-language"):
            total.update(b"\0" + request.headers.get(name, "")[:LONGEST_HEADER].encode())
        return total.digest()


ErrorPage = Callable[[Request, int, str, str], str]
"""Makes the page for a browser from the request, the status, a title and a sentence of detail."""
MOST_ORIGINS = 8
"""Schemes and hosts that what was made for them is kept for; `*.example.com` stands for names without number."""
HERE = "jieda.site"
"""Where a request keeps the site that answers it."""


@dataclass(frozen=True, slots=True)
class Site:
    """Complete when made. `resources` are the answers that depend on nothing but the generation; `agents` is None
    where the SDK for them is not installed; `desk` holds nothing before somebody writes."""

    settings: Settings
    urls: Urls
    renderer: Renderer
    service: Service
    client: Local
    resources: OncePerGeneration[Resource]
    cache: AnswerCache
    error_page: ErrorPage
    agents: AgentsEndpoint | None
    desk: Desk
    askers: Askers
    at_origins: OrderedDict[str, "Site"] = field(default_factory=OrderedDict)

    def at(self, origin: str) -> "Site":
        """The same site with addresses that begin with `origin` where they are absolute, and what was made of them."""
        if origin == self.urls.base_url:
            return self
        found = self.at_origins.pop(origin, None)
        if found is None:
            urls = replace(self.urls, base_url=origin)
            client = replace(self.client, shapers=Shapers(urls, self.translations.words))
            found = replace(self, urls=urls, client=client, resources=self.resources.another())
        self.at_origins[origin] = found
        if len(self.at_origins) > MOST_ORIGINS:
            self.at_origins.popitem(last=False)
        return found

    @property
    def shapers(self) -> Shapers:
        """What shapes answers of the API."""
        return self.client.shapers

    @property
    def knowledge(self) -> Knowledge:
        """What is served, and its swap."""
        return self.service.knowledge

    @property
    def metrics(self) -> Metrics:
        """What this process counts."""
        return self.service.metrics

    @property
    def translations(self) -> Translations:
        """The words of both languages."""
        return self.renderer.translations


def asker_of(request: Request) -> bytes:
    """Return a key for the client of a request, which only this process can compare; NOBODY where gaps are not kept."""
    site = site_of(request)
    return site.askers.of(request) if site.service.recorder else NOBODY


def client_of(request: Request) -> Local:
    """Return what answers whoever sends a request, who may say only so often that an entry helped or did not."""
    site = site_of(request)
    return replace(site.client, counts=partial(site.askers.may_vote, request))


def site_of(request: Request) -> Site:
    """The application that answers `request`, under the name that it was asked by."""
    scope = request.scope
    if HERE not in scope:
        whole: Site = request.app.state.site
        scope[HERE] = whole.at(origin_of(scope, whole.settings))
    site: Site = scope[HERE]
    return site
