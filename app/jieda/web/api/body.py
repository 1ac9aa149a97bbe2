"""Reads logs that clients send, within limits and without trusting the headers that describe them."""

import codecs
import json
import re
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from jieda.log.window import BEGINNING, SEARCHED, LogExtract, is_binary, unpacker_of
from jieda.usecases.diagnose import extracted, window
from jieda.usecases.service import Service
from jieda.web.api.parameters import DiagnoseBody, DiagnoseParameters, bad_parameters
from jieda.web.http.body import bad_body, check_structure, is_json, read_bytes, receive
from jieda.web.http.problems import FieldError, HttpProblem
from jieda.web.http.respond import MAX_HEADER, parse_language

JSON_ESCAPE = 6
"""Bytes that JSON may need for a byte of text: a control character is escaped as six."""
JSON_FRAME = 1024
"""Bytes around the text in a JSON body."""
MAX_STRINGS, MAX_OUTSIDE = 100, 1024
"""A log and its metadata need a dozen strings, with a few bytes between them."""
BLOCK = 1 << 18
"""Bytes of a long log that are processed at a time."""
# `email.message` takes a time quadratic in the number of semicolons within quotation marks.
CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s;"]{0,40})', re.IGNORECASE)
CHARSETS = re.compile(
    r"utf-8(-sig)?|ascii|iso8859-\d+|cp\d+|koi8-[rut]|gb2312|gbk|gb18030|big5\w*|euc_\w+|shift_jis\w*"
)
"""Accepted encodings, by Python's names: those that decode in linear time and use a newline byte for nothing else."""

M = TypeVar("M", bound=BaseModel)


async def read_json_bytes(request: Request, limit: int) -> bytes:
    """Read a JSON body with a log of at most `limit` bytes. Raises TooLarge, with the limit of the body, and
    HttpProblem if it does not arrive in time."""
    most = limit * JSON_ESCAPE
    return await read_bytes(request, most + JSON_FRAME, most)


async def read_log(
    request: Request, parameters: DiagnoseParameters, service: Service
) -> tuple[LogExtract, str]:
    """Read the log of a request, as JSON or raw, and the framework that is sent along.

    Raises TooLarge beyond the limit of `service`, and HttpProblem if the body cannot be read.
    """
    if request.headers.get("content-encoding", "").strip().lower() not in {"identity", ""}:
        raise _compressed()
    content_type = request.headers.get("content-type", "")
    if content_type.lower().startswith("multipart/"):
        raise HttpProblem(415, "problem.no_log")  # the headers of its parts would count as lines of the log
    encoding = _encoding(content_type)
    if not is_json(request):
        return await _read_raw(request, service, encoding), parameters.framework
    raw = await read_json_bytes(request, service.settings.max_log_bytes)
    _check_text(raw)
    body = await service.offload(partial(parse_body, request, raw, DiagnoseBody, encoding))
    log = await service.offload(partial(extracted, service, body.text))
    return log, body.framework or parameters.framework


async def _read_raw(request: Request, service: Service, encoding: str) -> LogExtract:
    """Extract a raw log while it arrives, chunk by chunk. Raises as `read_log` does."""
    log, buffer = window(service, encoding), bytearray()
    most = max(SEARCHED, service.settings.max_log_bytes)

    async def take(chunk: bytes) -> None:
        buffer.extend(chunk)
        if not log.size:
            _check_text(bytes(buffer[:BEGINNING]))
        if log.size + len(buffer) > service.settings.max_log_bytes and len(buffer) >= BLOCK:
            await service.offload(partial(log.feed, bytes(buffer)))
            buffer.clear()

    await receive(request, most, most, take)
    log.feed(bytes(buffer))
    if not log.size:
        raise bad_body("problem.field.empty")
    return await service.offload(log.extract)


def _encoding(content_type: str) -> str:
    """Return the encoding of a content type, UTF-8 by default. Raises HttpProblem for one that is not accepted."""
    charset = CHARSET.search(content_type[:MAX_HEADER])
    try:
        name = codecs.lookup(charset[1] if charset else "utf-8").name
    except (LookupError, ValueError):
        name = ""
    if not CHARSETS.fullmatch(name):
        raise HttpProblem(415, "problem.unsupported_charset")
    return name


def _check_text(beginning: bytes) -> None:
    """Raise HttpProblem for a compressed or binary file, which would look like a log without errors."""
    if unpacker_of(beginning):
        raise _compressed()
    if is_binary(beginning):
        raise HttpProblem(415, "problem.no_log")


def _compressed() -> HttpProblem:
    # Kilobytes can unpack to gigabytes, so a log must be sent uncompressed.
    return HttpProblem(415, "problem.unsupported_encoding", headers={"Accept-Encoding": "identity"})


def parse_body(request: Request, raw: bytes, model: type[M], encoding: str = "utf-8") -> M:
    """Parse and validate a JSON body. A language in it becomes that of the response, even of a refusal. Raises
    HttpProblem with the errors."""
    if encoding != "utf-8":  # strictly speaking invalid JSON, but what the client declares
        raw = raw.decode(encoding, "replace").encode()
    try:
        check_structure(raw, strings=MAX_STRINGS, outside=MAX_OUTSIDE)
        # A log that the client decoded wrongly contains lone surrogates, which are replaced like undecodable bytes.
        fields = json.loads(raw.decode("utf-8-sig", "replace"), object_hook=_without_surrogates)
        if isinstance(fields, dict):
            request.state.lang = parse_language(str(fields.get("lang")))
        return model.model_validate(fields)
    except ValidationError as error:
        raise bad_parameters(error, model) from None
    except (ValueError, RecursionError) as error:
        at = {"line": error.lineno, "column": error.colno} if isinstance(error, json.JSONDecodeError) else {}
        invalid = FieldError("body", "problem.field.json_at" if at else "problem.field.json", at)
        raise HttpProblem(400, "problem.bad_json", errors=(invalid,)) from None


def _without_surrogates(fields: dict[str, object]) -> dict[str, object]:
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in fields.items()
    }
