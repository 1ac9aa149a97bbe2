"""Builds every response: headers, ETag, 304 and compression of pages, JSON, files and errors. Also negotiates language
and media type from request headers and cookies, and defines the routes outside the OpenAPI document."""

import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import Any, Self
from weakref import ref

from anyio.to_thread import run_sync
from starlette import routing
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from jieda.byte_cache import ByteCache
from jieda.content.read.forms import TAG_ID
from jieda.entry import Language
from jieda.snapshot.snapshot import Snapshot

Handler = Callable[[Request], Awaitable[Response]]


class Route(routing.Route):
    """A path of `presentation.paths` and its handler, hidden from the OpenAPI document. Like FastAPI's routes, it puts
    itself into the scope, since requests are counted by route."""

    def __init__(self, path: str, handler: Handler, method: str = "GET") -> None:
        super().__init__(path, handler, methods=[method], include_in_schema=False)

    def matches(self, scope: Scope) -> tuple[routing.Match, Scope]:
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}


LANGUAGE_PATTERN = "^([eE][nN]|[zZ][hH])(-[A-Za-z0-9]{1,8})*$"
"""Language tags that a request may contain. A region or script is accepted and ignored."""

# The server allows long headers, but no legitimate one exceeds this.
MAX_HEADER = 1000
QUALITY = re.compile(r"^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$", re.IGNORECASE)


def parse_language(tag: str) -> Language | None:
    """Parse a language tag: `zh-Hans-CN` is `Language.ZH`; None for an unsupported language."""
    return Language(tag[:2].lower()) if re.fullmatch(LANGUAGE_PATTERN, tag) else None


def parse_accept(header: str) -> list[tuple[str, float]]:
    """Return the members of an `Accept…` header in lower case, with their quality; a malformed one counts as 0."""
    members = []
    for part in header[:MAX_HEADER].lower().split(","):
        name, *parameters = part.split(";")
        quality = next((text for text in parameters if text.strip().startswith("q")), "q=1")
        match = QUALITY.match(quality)
        if name.strip():
            members.append((name.strip(), min(float(match[1]), 1.0) if match else 0.0))
    return members


def preferred_language(header: str) -> Language | None:
    """Return the supported language that an Accept-Language header prefers; None if it has neither."""
    best: dict[Language, float] = {}
    for tag, quality in parse_accept(header):
        lang = parse_language(tag)
        if lang and quality > best.get(lang, 0.0):
            best[lang] = quality
    return max(best, key=lambda lang: best[lang]) if best else None


def preferred_media_type(header: str, offers: Sequence[str]) -> str | None:
    """Return the offer that an Accept header prefers, the first of equals; None if it accepts none.

    At equal quality, an explicitly named offer ranks before one that matches a wildcard.
    """
    members = parse_accept(header) or [("*/*", 1.0)]
    ranked = [(_quality(offer, members), -position, offer) for position, offer in enumerate(offers)]
    (quality, _), _, offer = max(ranked)
    return offer if quality > 0 else None


def _quality(offer: str, members: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Return the quality of an offer and its specificity: 2 by name, 1 by `text/*`, 0 by `*/*`."""
    qualities = dict(reversed(members))  # of duplicates, the first counts
    for specificity, name in ((2, offer), (1, f"{offer.partition('/')[0]}/*"), (0, "*/*")):
        if name in qualities:
            return qualities[name], specificity
    return 0.0, 0


def has_tag(header: str, tag: str) -> bool:
    """Return whether an If-None-Match header contains an ETag, by weak comparison (RFC 9110 §13.1.2)."""
    tags = {candidate.strip().removeprefix("W/") for candidate in header.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags


LANGUAGE_COOKIE = "jieda_lang"
THEME_COOKIE = "jieda_theme"
FRAMEWORK_COOKIE = "jieda_framework"
"""A session cookie, since the next question may be about another framework."""
FRAMEWORK_AND_VERSION = re.compile(rf"({TAG_ID.pattern})(?::(\d[\d.a-z]{{0,30}}))?")
"""A framework with an optional version: `slime:0.3.0`."""
YEAR = 365 * 24 * 3600
"""Lifetime of a preference cookie, in seconds."""


class Theme(StrEnum):
    """Light, dark, or the reader's system setting."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def cookies_of(request: Request) -> dict[str, str]:
    """Return the cookies of a request, the first of each name: browsers send those for the site's own path before those
    for `/`. Ours are never quoted, and unquoting takes a time quadratic in the number of backslashes."""
    pairs = reversed(";".join(request.headers.getlist("cookie")).split(";"))
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def chosen_theme(cookies: Mapping[str, str]) -> Theme:
    """Return the theme from the cookies; the system's if none is set."""
    value = cookies.get(THEME_COOKIE, "")
    return Theme(value) if value in set(Theme) else Theme.SYSTEM


def chosen_cookies(fields: Mapping[str, str]) -> dict[str, str]:
    """Return names and values of the cookies for the valid choices in a form. An empty value clears a choice."""
    choices = {LANGUAGE_COOKIE: fields.get("lang", ""), THEME_COOKIE: fields.get("theme", "")}
    allowed: dict[str, set[str]] = {LANGUAGE_COOKIE: set(Language), THEME_COOKIE: set(Theme)}
    cookies = {name: value for name, value in choices.items() if value in allowed[name]}
    framework = fields.get("framework")
    if framework is not None and (not framework or FRAMEWORK_AND_VERSION.fullmatch(framework)):
        cookies[FRAMEWORK_COOKIE] = framework
    return cookies


def framework_and_version(value: str) -> tuple[str, str]:
    """Parse a choice such as `slime:0.3.0` or `slime`; both parts are empty for any other text."""
    match = FRAMEWORK_AND_VERSION.fullmatch(value)
    return (match[1], match[2] or "") if match else ("", "")


def safe_next(target: str, root_path: str, fallback: str) -> str:
    """Return `target` if it is an address of this site, otherwise `fallback`.

    For browsers, `//host`, `/\\host` and addresses with tabs or line breaks may be on other hosts.
    """
    local = re.fullmatch(r"/(?![/\\])[^\\\x00-\x20\x7f]*", target)
    inside = target == root_path or target.startswith(f"{root_path}/")
    return target if local and inside and not target.startswith(f"{root_path}//") else fallback


def own_path(scope: Scope) -> str:
    """Return the path of a request without the hosting prefix."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def api_language(request: Request) -> Language:
    """Return the language of an API response: from the body, whose handler sets `request.state.lang`, then from the
    parameter `lang`, then Accept-Language, then English."""
    from_body: Language | None = getattr(request.state, "lang", None)
    requested = from_body or parse_language(request.query_params.get("lang", ""))
    return requested or preferred_language(request.headers.get("accept-language", "")) or Language.EN


def page_language(request: Request) -> Language:
    """Return the language of a page: from its address, then the reader's cookie, then Accept-Language, then English."""
    segment = own_path(request.scope).split("/")[1:2]
    if segment and segment[0] in set(Language):
        return Language(segment[0])
    chosen = parse_language(cookies_of(request).get(LANGUAGE_COOKIE, ""))
    return chosen or preferred_language(request.headers.get("accept-language", "")) or Language.EN


MIN_COMPRESSED = 1024
"""Bytes below which compression saves less than its headers cost."""
LARGE = 1 << 18
"""Bytes from which compression takes more than a few milliseconds, so it runs off the event loop."""
GZIP_LEVEL = 5
"""Takes half the time of the highest level and yields three percent more bytes."""
COMPRESSIBLE = ("text/", "application/json", "application/problem+json", "application/xml")
"""Prefixes of textual media types. Those of XML formats end in `+xml`."""

REVALIDATE = "no-cache"
"""A cache may store the response but must revalidate it each time."""
NO_STORE = "no-store"
"""No cache may store the response, which has no ETag."""
UNCACHED = {"Cache-Control": NO_STORE}
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Resource:
    """A compressed response body with its ETag, built once and sent often."""

    media_type: str
    size: int
    """Size before compression, in bytes."""
    gzipped: bytes
    tag: str

    @classmethod
    def of(cls, body: str | bytes, media_type: str) -> Self:
        """Create the resource for a body. For a large body, call this off the event loop."""
        content = body.encode() if isinstance(body, str) else body
        return cls(media_type, len(content), compress(content), etag(content))


class AnswerCache:
    """LRU cache of responses from one snapshot. Belongs to one event loop.

    It is not kept for a whole generation: if damaged files are read again, earlier responses may have been wrong. All
    clients share the responses, so they must be immutable.
    """

    def __init__(self, capacity: int) -> None:
        """`capacity` is in bytes; 0 disables the cache."""
        self.capacity = capacity
        self._snapshot: ref[Snapshot] | None = None
        self._responses: ByteCache[Hashable, tuple[Any, int]]

    def get(self, snapshot: Snapshot, key: Hashable) -> Any:
        """Return the response cached for a key, or None. Responses of another snapshot are dropped first."""
        if not self._is_of(snapshot):
            self._snapshot, self._responses = ref(snapshot), ByteCache(self.capacity, itemgetter(1))
        entry = self._responses.find(key)
        return entry and entry[0]

    def put(self, snapshot: Snapshot, key: Hashable, value: Any, size: int) -> None:
        """Cache a response of `size` bytes, unless its snapshot is no longer served or the cache is too small."""
        if self._is_of(snapshot) and size <= self.capacity:
            self._responses.put(key, (value, size))

    def _is_of(self, snapshot: Snapshot) -> bool:
        return self._snapshot is not None and self._snapshot() is snapshot


Body = str | bytes | Resource


async def respond(  # noqa: PLR0913 - one parameter for everything in which responses differ
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
    """Build the response to a request, or 304 if the client already has it.

    `media_type` is that of a plain `body`, `lang` the language of the content, `vary` the request headers that the
    response depends on, `cache` its Cache-Control. ETags are weak, since a proxy may compress the body.
    """
    if isinstance(body, str):
        body = body.encode()
    if isinstance(body, Resource):
        media_type = body.media_type
    is_text = media_type.startswith(COMPRESSIBLE) or media_type.endswith("+xml")
    sent = {"Cache-Control": cache}
    if varies_by := (*vary, "Accept-Encoding") if is_text else vary:
        sent["Vary"] = ", ".join(varies_by)
    if lang:
        sent["Content-Language"] = lang.tag
    sent |= headers or {}
    if status == 200 and cache != NO_STORE:
        sent["ETag"] = body.tag if isinstance(body, Resource) else etag(body)
        if has_tag(request.headers.get("if-none-match", ""), sent["ETag"]):
            return Response(status_code=304, headers=sent)
    size = body.size if isinstance(body, Resource) else len(body)
    accepted = dict(parse_accept(request.headers.get("accept-encoding", "")))  # without it, no gzip
    if gzipped := is_text and size >= MIN_COMPRESSED and accepted.get("gzip", accepted.get("*", 0.0)) > 0:
        sent["Content-Encoding"] = "gzip"
    return Response(await encode_body(body, size, gzipped=gzipped), status, sent, media_type)


async def encode_body(body: bytes | Resource, size: int, *, gzipped: bool) -> bytes:
    """Return the bytes to send for a body of `size` bytes, from a thread if that takes a while."""
    if isinstance(body, Resource):
        if gzipped:
            return body.gzipped
        work = partial(gzip.decompress, body.gzipped)
    elif gzipped:
        work = partial(compress, body)
    else:
        return body
    return await run_sync(work) if size >= LARGE else work()


def compress(content: bytes) -> bytes:
    """Compress `content` with gzip, deterministically."""
    return gzip.compress(content, GZIP_LEVEL, mtime=0)


def etag(content: bytes) -> str:
    """Return a weak ETag for a body."""
    return f'W/"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
