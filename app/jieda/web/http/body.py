"""Reads request bodies for pages and API, with limits on size and time."""

from collections.abc import Awaitable, Callable

import anyio
from starlette.requests import Request

from jieda.errors import TooLarge
from jieda.web.http.problems import FieldError, HttpProblem

SECONDS_TO_ARRIVE = 60.0
DRAINED = 8 << 20
"""Bytes read and discarded before a refusal: a client still sending when the connection closes may not read it."""


def is_json(request: Request) -> bool:
    """Return whether a body is declared as JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def read_bytes(request: Request, most: int, limit: int) -> bytes:
    """Read the body into memory, at most `most` bytes of it. Raises as `receive` does."""
    held = bytearray()

    async def hold(chunk: bytes) -> None:
        held.extend(chunk)

    await receive(request, most, limit, hold)
    return bytes(held)


async def receive(request: Request, most: int, limit: int, take: Callable[[bytes], Awaitable[None]]) -> None:
    """Pass the body to `take` as it arrives, up to `most` bytes.

    Raises TooLarge(limit) beyond that, and HttpProblem where it does not arrive in time.
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
        raise HttpProblem(408, "problem.too_slow") from None
    if too_large:
        raise TooLarge(limit=limit)


def check_structure(raw: bytes, *, strings: int, outside: int) -> None:
    """Raise HttpProblem for JSON with more than so many strings, or bytes outside of them, before it is parsed: a
    megabyte of brackets keeps the parser, and thus every other request, busy for a second."""
    # Without escaped quotes, every quotation mark begins or ends a string.
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * strings or sum(map(len, plain.split(b'"')[::2])) > outside:
        raise bad_body("problem.field.structure")


def bad_body(key: str) -> HttpProblem:
    """Return the refusal of a body, for the reason that `key` names."""
    return HttpProblem(422, "problem.bad_parameter", errors=(FieldError("body", key),))
