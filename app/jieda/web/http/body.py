"""Reads request bodies for pages and API, with limits on size and time."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from starlette.requests import Request

from jieda.errors import TooLarge
from jieda.web.http.problems import HttpProblem, Refusal

SECONDS_TO_ARRIVE = 60.0
DRAINED = 8 << 20
"""Bytes that are read and discarded before a refusal. A client that is still sending when the connection closes may
never read the response."""


async def read_bytes(request: Request, most: int, limit: int) -> bytes:
    """Read the body into memory, at most `most` bytes of it. Raises as `receive` does."""
    held = bytearray()

    async def hold(chunk: bytes) -> None:
        held.extend(chunk)

    await receive(request, most, limit, hold)
    return bytes(held)


async def receive(request: Request, most: int, limit: int, take: Callable[[bytes], Awaitable[None]]) -> None:
    """Pass the body to `take` as it arrives, up to `most` bytes.

    Raises TooLarge(limit) beyond that, and Refusal where it does not arrive in time.
    """
    announced = request.headers.get("content-length", "")
    too_large = announced.isdecimal() and int(announced[:20]) > most
    passed = 0
    try:
        with anyio.fail_after(SECONDS_TO_ARRIVE):
            async for chunk in request.stream():
                passed += len(chunk)
                too_large = too_large or passed > most
                if not too_large:
                    await take(chunk)
                elif passed > most + DRAINED:
                    break
    except TimeoutError:
        raise Refusal(HttpProblem(408, "problem.too_slow")) from None
    if too_large:
        raise TooLarge(limit=limit)


@dataclass(frozen=True, slots=True)
class Structure:
    """Limits of a JSON text: the number of strings, and the bytes outside of them."""

    strings: int
    outside: int


class TooMuchStructure(Exception):
    """JSON that is refused before it is parsed."""


def check_structure(raw: bytes, most: Structure) -> None:
    """Raise TooMuchStructure for JSON that is more than a few strings and their punctuation: a megabyte of brackets
    keeps the parser, and thus every other request, busy for a second."""
    # Without escaped quotes, every quotation mark begins or ends a string.
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * most.strings or sum(map(len, plain.split(b'"')[::2])) > most.outside:
        raise TooMuchStructure
