"""A cache of answers by address: scripts, agents and readers who ask again are sent the same bytes.

Of a search over HTTP, reading the parameters and writing the answer take as long as many an empty request, and of a
page filling the template does. An answer kept here is found by the request as it came, before any of that.
"""

import hashlib
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jieda.presentation import paths
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import AnswerFound, EntryRead, Searched
from jieda.web.http.negotiation import has_tag, own_path
from jieda.web.site import Site, asker_of, site_of

PAGES = tuple(compile_path(path)[0] for path in (paths.SEARCH, paths.ENTRY))
DEPENDS_ON = ("accept", "accept-language", "accept-encoding", "cookie")
"""Headers that an answer may differ by."""
OF_A_BODY = {b"content-type", b"content-length", b"content-encoding"}
"""Headers that an answer without a body does not have."""
KEPT_TYPES = ("text/", "application/json")
LARGEST = 1 << 18
"""Bytes of a body that is kept; pictures and what is larger are sent from where they are."""
SIZE = 1500
"""Bytes that an answer takes beside its body, about."""

RawHeaders = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it was sent. `route` and, of a search, `outcome` are what requests and searches are counted by;
    `note` is what was taken down for the maintainers, where that is wanted."""

    headers: RawHeaders
    body: bytes
    route: object
    outcome: str
    note: Searched | AnswerFound | EntryRead | None


@dataclass(frozen=True, slots=True)
class Repeats:
    """Answers repeated searches and requests for entries, and keeps the answers to others; none of those given while
    words alone are searched that should not be."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or pass on."""
        key = _key(scope)
        site = site_of(Request(scope)) if key else None
        if site is None or not site.knowledge.ready:
            await self.app(scope, receive, send)
            return
        kept: Sent | None = site.cache.get(site.service.current(), key)
        if kept is None:
            await self._keep(site, key, scope, receive, send)
            return
        scope["route"] = kept.route
        if kept.outcome:
            site.metrics.repeated.labels("hit").inc()
            site.metrics.searches.labels(kept.outcome).inc()
        if kept.note:
            site.service.note(kept.note._replace(asker=asker_of(Request(scope))))
        await _send_again(kept, scope, send)

    async def _keep(self, site: Site, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and keep the answer if all of it was made of the snapshot that was served at its start."""
        snapshot = site.service.current()
        headers: RawHeaders = ()

        async def watched(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                headers = tuple(message["headers"]) if message["status"] == 200 else ()
            elif headers and not message.get("more_body", False) and site.service.current() is snapshot:
                body = message.get("body", b"")
                if _is_kept(Headers(raw=list(headers)), len(body)) and not failing(snapshot):
                    said = scope.get("state", {})
                    sent = Sent(headers, body, scope["route"], said.get("outcome", ""), said.get("note"))
                    site.cache.put(snapshot, key, sent, SIZE + len(body))
            await send(message)

        await self.app(scope, receive, watched)


def failing(snapshot: Snapshot) -> bool:
    """Whether what finds by meaning failed the last time."""
    embedder = snapshot.searcher.embedder
    return bool(embedder and embedder.failure)


def _is_kept(headers: Headers, size: int) -> bool:
    """Whether an answer that ends with `size` bytes is whole (in pieces it is larger), small, and for everybody."""
    is_whole = headers.get("content-length") == str(size) and size <= LARGEST
    return is_whole and headers.get("content-type", "").startswith(KEPT_TYPES) and "set-cookie" not in headers


async def _send_again(kept: Sent, scope: Scope, send: Send) -> None:
    """The answer as it was sent before, or 304 for a client that has it."""
    had = Headers(scope=scope).get("if-none-match", "")
    if had and has_tag(had, Headers(raw=list(kept.headers)).get("etag", "")):
        headers = [pair for pair in kept.headers if pair[0] not in OF_A_BODY]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": list(kept.headers)})
    await send({"type": "http.response.body", "body": kept.body})


def _key(scope: Scope) -> bytes:
    """Return a digest of all that an answer depends on, cookies among it; empty where the answer is not kept."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return b""
    path = own_path(scope)
    if path != paths.API_SEARCH and not any(page.match(path) for page in PAGES):
        return b""
    headers = Headers(scope=scope)
    said = (f"{len(value)} {value}" for name in DEPENDS_ON for value in (",".join(headers.getlist(name)),))
    whole = "\n".join((path, *said, scope["query_string"].decode("latin-1")))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=24).digest()
