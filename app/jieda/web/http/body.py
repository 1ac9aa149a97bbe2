"""Reading the body of a request, for pages and API alike: never more than is wanted, never for ever."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from starlette.requests import Request

from jieda.errors import TooLarge
from jieda.web.http.problems import HttpProblem, Refusal

SECONDS_TO_ARRIVE = 60.0
DRAINED = 8 << 20
"""Bytes that are thrown away before a refusal. A client that is still sending when the connection closes
may never read the answer."""


async def read_bytes(request: Request, most: int, limit: int) -> bytes:
    """The body, of which never more than `most` bytes are held. Raises as `receive` does."""
    held = bytearray()

    async def hold(chunk: bytes) -> None:
        held.extend(chunk)

    await receive(request, most, limit, hold)
    return bytes(held)


async def receive(request: Request, most: int, limit: int, take: Callable[[bytes], Awaitable[None]]) -> None:
    """Hand the body on as it arrives, up to `most` bytes of it.

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
    """How many strings a JSON text may have, and how many bytes outside of them."""

    strings: int
    outside: int


class TooMuchStructure(Exception):
    """JSON that is refused before it is read."""


def check_structure(raw: bytes, most: Structure) -> None:
    """Raises TooMuchStructure for JSON that is more than a few texts and what holds them together: a megabyte of
    brackets keeps a parser busy for a second, and everybody else waiting."""
    # Without escapes every quotation mark begins or ends a string.
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * most.strings or sum(map(len, plain.split(b'"')[::2])) > most.outside:
        raise TooMuchStructure
