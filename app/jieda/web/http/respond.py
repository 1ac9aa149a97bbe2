"""The one way to answer: headers, ETag, 304 and compression for pages, JSON, files and failures alike."""

import gzip
import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Self
from weakref import ref

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from jieda.byte_cache import ByteCache
from jieda.entry import Language
from jieda.snapshot.snapshot import Snapshot
from jieda.web.http.negotiation import has_tag, weighted

SMALLEST = 1024
"""Bytes below which compressing saves less than its headers cost."""
LARGE = 1 << 18
"""Bytes from which on compressing takes more than a few milliseconds, and so leaves the event loop."""
LEVEL = 5
"""Half the time of the highest level for three per cent more bytes."""
COMPRESSIBLE = ("text/", "application/json", "application/problem+json", "application/xml")
"""How the media types of texts begin. What is written in XML ends in `+xml`."""

REVALIDATE = "no-cache"
"""A cache may keep the answer and asks each time whether it still holds."""
NO_STORE = "no-store"
"""No cache keeps the answer; it has no ETag."""
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Resource:
    """An answer that is made once and sent often: compressed, with its ETag."""

    media_type: str
    size: int
    """Bytes before compression."""
    gzipped: bytes
    tag: str

    @classmethod
    def of(cls, body: str | bytes, media_type: str) -> Self:
        """The resource with this body. For a large one, call this off the event loop."""
        content = body.encode() if isinstance(body, str) else body
        return cls(media_type, len(content), compress(content), etag(content))


class AnswerCache:
    """Answers of one snapshot for clients that ask the same again; the least recently used goes first. Belongs to one
    event loop.

    Not of one generation: where its files were damaged it is read again, and what it answered may have been wrong.

    A kept answer is shared by all who ask, so it must be immutable.
    """

    def __init__(self, room: int) -> None:
        """`room` in bytes; 0: nothing is kept."""
        self.room = room
        self._of: ref[Snapshot] | None = None
        self._kept: ByteCache[Hashable, tuple[Any, int]]

    def get(self, snapshot: Snapshot, key: Hashable) -> Any:
        """Return the answer kept for a key, or None. `snapshot` is the one that is served: answers of another go."""
        if not self._is_of(snapshot):
            self._of, self._kept = ref(snapshot), ByteCache(self.room, itemgetter(1))
        found = self._kept.find(key)
        return found and found[0]

    def put(self, snapshot: Snapshot, key: Hashable, value: Any, size: int) -> None:
        """Keep an answer of `size` bytes, unless its snapshot is no longer served or it is larger than all the room."""
        if self._is_of(snapshot) and size <= self.room:
            self._kept.put(key, (value, size))

    def _is_of(self, snapshot: Snapshot) -> bool:
        return self._of is not None and self._of() is snapshot


Body = str | bytes | Resource


async def respond(  # noqa: PLR0913 - one parameter for each thing that answers differ in
    request: Request,
    body: Body,
    media_type: str = "",
    *,
    status: int = 200,
    lang: Language | None = None,
    vary: Sequence[str] = (),
    cache: str = REVALIDATE,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer to a request, or 304 where the client has it already.

    `media_type` is that of a plain `body`. `lang` is the language of what is shown, `vary` names the request
    headers that the answer depends on, `cache` is its Cache-Control. ETags are weak: a proxy may compress on the way.
    """
    if not isinstance(body, Resource):
        body = body.encode() if isinstance(body, str) else body
    kind = body.media_type if isinstance(body, Resource) else media_type
    is_text = kind.startswith(COMPRESSIBLE) or kind.endswith("+xml")
    depends = (*vary, "Accept-Encoding") if is_text else tuple(vary)
    given = {"Cache-Control": cache, **({"Vary": ", ".join(depends)} if depends else {})}
    if lang:
        given["Content-Language"] = lang.tag
    given |= headers or {}
    if status == 200 and cache != NO_STORE:
        given["ETag"] = body.tag if isinstance(body, Resource) else etag(body)
        if has_tag(request.headers.get("if-none-match", ""), given["ETag"]):
            return Response(status_code=304, headers=given)
    content, encoding = await encoded(body, allowed=is_text and takes_gzip(request))
    return Response(content, status, given | encoding, kind)


async def encoded(body: bytes | Resource, *, allowed: bool) -> tuple[bytes, dict[str, str]]:
    """What is sent of a body, and the header that says how it is compressed; `allowed`: it may be."""
    size = body.size if isinstance(body, Resource) else len(body)
    gzipped = allowed and size >= SMALLEST
    header = {"Content-Encoding": "gzip"} if gzipped else {}
    if isinstance(body, Resource):
        if gzipped:
            return body.gzipped, header
        work = partial(gzip.decompress, body.gzipped)
    elif gzipped:
        work = partial(compress, body)
    else:
        return body, header
    return (await run_sync(work) if size >= LARGE else work()), header


def takes_gzip(request: Request) -> bool:
    """Whether a client accepts gzip; one that says nothing gets its answer as it is."""
    accepted = dict(weighted(request.headers.get("accept-encoding", "")))
    return accepted.get("gzip", accepted.get("*", 0.0)) > 0


def compress(content: bytes) -> bytes:
    """`content` as gzip, the same bytes each time."""
    return gzip.compress(content, LEVEL, mtime=0)


def etag(content: bytes) -> str:
    """A weak ETag of a body."""
    return f'W/"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
