"""What scripts, agents and readers ask for again: the bytes that were sent for an address are sent again.

Of a search over HTTP, reading the parameters and writing the answer take as long as many an empty request, and of a
page filling the template does. What is kept here is found by the request as it came, before any of that; whoever
searches the same in other words is answered from what `usecases.search` keeps.
"""

import hashlib
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.presentation import paths
from app.snapshot.snapshot import Snapshot
from app.usecases.service import Service
from app.web.http.languages import own_path
from app.web.http.negotiation import has_tag

ENTRY = compile_path(paths.ENTRY)[0]
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
    """What was sent. `route` and, of a search, `outcome` are what requests and searches are counted by."""

    headers: RawHeaders
    body: bytes
    route: object
    outcome: str


@dataclass(frozen=True, slots=True)
class Repeats:
    """Answers repeated searches of the API and requests for entries, and keeps the answers to others."""

    app: ASGIApp
    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass on."""
        key = _key(scope) if self.service.knowledge.ready else b""
        if not key:
            await self.app(scope, receive, send)
            return
        kept: Sent | None = self.service.repeated.get(self.service.current(), key)
        if kept is None:
            await self._keep(key, scope, receive, send)
            return
        scope["route"] = kept.route
        if kept.outcome:
            self.service.metrics.repeated.labels("hit").inc()
            self.service.metrics.searches.labels(kept.outcome).inc()
        await _send_again(kept, scope, send)

    async def _keep(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and keep the answer if all of it was made of the snapshot that was served at its start."""
        snapshot = self.service.current()
        headers: RawHeaders = ()

        async def watched(message: Message) -> None:
            nonlocal headers
            if message["type"] == "http.response.start":
                headers = tuple(message["headers"]) if message["status"] == 200 else ()
            elif headers and not message.get("more_body", False) and self.service.current() is snapshot:
                self._put(snapshot, key, scope, headers, message.get("body", b""))
            await send(message)

        await self.app(scope, receive, watched)

    def _put(self, snapshot: Snapshot, key: bytes, scope: Scope, headers: RawHeaders, body: bytes) -> None:
        said = Headers(raw=list(headers))
        # An answer that comes in pieces is larger than its last one.
        is_whole = said.get("content-length") == str(len(body)) and len(body) <= LARGEST
        if is_whole and said.get("content-type", "").startswith(KEPT_TYPES) and "set-cookie" not in said:
            outcome = scope.get("state", {}).get("outcome", "")
            sent = Sent(headers, body, scope["route"], outcome)
            self.service.repeated.put(snapshot, key, sent, SIZE + len(body))


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
    """Names all that an answer depends on, and holds none of it: there are cookies among it. Empty for a request whose
    answer is not kept."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return b""
    path = own_path(scope)
    if path != paths.API_SEARCH and not ENTRY.match(path):
        return b""
    headers = Headers(scope=scope)
    said = (f"{len(value)} {value}" for name in DEPENDS_ON for value in (",".join(headers.getlist(name)),))
    whole = "\n".join((path, *said, scope["query_string"].decode("latin-1")))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=24).digest()
