"""Reading a log that a client sends: within limits, without trusting what it says about itself."""

import json
from dataclasses import dataclass

import anyio
from pydantic import ValidationError
from starlette.requests import Request

from app.entry import Language
from app.errors import TooLarge
from app.web.api.parameters import DiagnoseBody, DiagnoseParameters
from app.web.problems import FieldError, Problem, Refusal, field_errors

JSON_ESCAPE = 6
"""Bytes that JSON can spend on one byte of text: a control character is written as six."""
JSON_FRAME = 1024
"""Bytes for what surrounds the text in a JSON body."""
SECONDS_TO_ARRIVE = 60.0
DRAINED = 8 << 20
"""Bytes that are thrown away before a refusal. A client that is still sending when the connection closes
may never read the answer."""


@dataclass(frozen=True, slots=True)
class Paste:
    """A text to diagnose. `as_json`: it came as JSON, so that is how the answer goes back."""

    text: str
    lang: Language | None
    framework: str
    as_json: bool


async def read_paste(request: Request, parameters: DiagnoseParameters, limit: int) -> Paste:
    """The text that a request brings, as JSON or raw.

    Raises TooLarge beyond `limit` bytes of text, Refusal where the body cannot be read.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", ""}:
        # A few kilobytes can unpack to gigabytes; a log is sent as it is.
        headers = {"Accept-Encoding": "identity"}
        raise Refusal(Problem(415, "problem.unsupported_encoding", headers=headers))
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        text = (await read_bytes(request, limit, limit)).decode("utf-8", "replace")
        return Paste(text, parameters.lang, parameters.framework, as_json=False)
    raw = await read_bytes(request, limit * JSON_ESCAPE + JSON_FRAME, limit)
    body = parse_body(raw)
    if len(body.text.encode()) > limit:
        raise TooLarge(limit=limit)
    return Paste(
        body.text, body.lang or parameters.lang, body.framework or parameters.framework, as_json=True
    )


def parse_body(raw: bytes) -> DiagnoseBody:
    """The fields of a JSON body. Raises Refusal with what is wrong."""
    try:
        # A log read by a program with other ideas of its encoding holds lone surrogates; they are replaced
        # like any other undecodable bytes.
        fields = json.loads(raw.decode("utf-8", "replace"), object_hook=_without_surrogates)
        return DiagnoseBody.model_validate(fields)
    except ValidationError as error:
        found = field_errors([dict(each) for each in error.errors(include_url=False, include_input=False)])
        raise Refusal(Problem(422, "problem.bad_parameter", errors=found)) from None
    except (ValueError, RecursionError):
        errors = (FieldError("body", "problem.field.json"),)
        raise Refusal(Problem(422, "problem.bad_parameter", errors=errors)) from None


def _without_surrogates(fields: dict[str, object]) -> dict[str, object]:
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in fields.items()
    }


async def read_bytes(request: Request, most: int, limit: int) -> bytes:
    """The body, of which never more than `most` bytes are held.

    Raises TooLarge(limit) beyond that, and Refusal where it does not arrive in time.
    """
    announced = request.headers.get("content-length", "")
    too_large = announced.isdecimal() and int(announced[:20]) > most
    held = bytearray()
    passed = 0
    try:
        with anyio.fail_after(SECONDS_TO_ARRIVE):
            async for chunk in request.stream():
                passed += len(chunk)
                too_large = too_large or passed > most
                if too_large:
                    held.clear()
                else:
                    held += chunk
                if too_large and passed > most + DRAINED:
                    break
    except TimeoutError:
        raise Refusal(Problem(408, "problem.too_slow")) from None
    if too_large:
        raise TooLarge(limit=limit)
    return bytes(held)
