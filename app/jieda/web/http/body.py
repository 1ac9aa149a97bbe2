"""Reads request bodies for the pages and the API, with limits on size and time."""

from collections.abc import Awaitable, Callable

import anyio
from starlette.requests import Request

from jieda.errors import TooLarge
from jieda.web.http.problems import FieldError, HttpProblem

SECONDS_TO_ARRIVE = 60.0
MOST_DISCARDED = 8 << 20
"""Bytes read and discarded before a refusal, which a client that is still sending might never read."""


def is_json(request: Request) -> bool:
    """Return whether a body is declared to be JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


async def read_bytes(request: Request, most: int, limit: int) -> bytes:
    """Read the body into memory, at most `most` bytes of it. Raises as `receive` does."""
    body = bytearray()

    async def append(chunk: bytes) -> None:
        body.extend(chunk)

    await receive(request, most, limit, append)
    return bytes(body)


async def receive(request: Request, most: int, limit: int, take: Callable[[bytes], Awaitable[None]]) -> None:
    """Pass the body to `take` as it arrives, up to `most` bytes.

    Raises TooLarge(limit) beyond that, and HttpProblem if it does not arrive in time.
    """
    declared = request.headers.get("content-length", "")
    too_large = declared.isdecimal() and int(declared[:20]) > most
    received = 0
    try:
        with anyio.fail_after(SECONDS_TO_ARRIVE):
            async for chunk in request.stream():
                received += len(chunk)
                too_large = too_large or received > most
                if not too_large:
                    await take(chunk)
                elif received > most + MOST_DISCARDED:
                    break
    except TimeoutError:
        raise HttpProblem(408, "problem.too_slow") from None
    if too_large:
        raise TooLarge(limit=limit)


def check_structure(raw: bytes, *, strings: int, outside: int) -> None:
    """Raise HttpProblem for JSON with more than so many strings, or bytes outside them, before it is parsed. Parsing a
    megabyte of brackets holds up all other requests for a second."""
    # Once escaped quotes are gone, every quotation mark begins or ends a string.
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * strings or sum(map(len, plain.split(b'"')[::2])) > outside:
        raise bad_body("problem.field.structure")


def bad_body(key: str) -> HttpProblem:
    """Return the refusal of a body for the reason with the message key `key`."""
    return HttpProblem(422, "problem.bad_parameter", errors=(FieldError("body", key),))
