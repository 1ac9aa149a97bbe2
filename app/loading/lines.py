"""Lines of a stream, one at a time, and each as the JSON object that it has to be."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from app.errors import LoadingError

MAX_LINE_BYTES = 4 << 20
"""An edition has at most 128 KiB; in an answer of the API its HTML and its fix stand beside it."""
_MARK = b"\xef\xbb\xbf"

Object = dict[str, Any]


class RefusedLine(ValueError):
    """What is wrong with a line: pairs of a field and what to do about it. The field is empty for all of the line."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        super().__init__(faults)
        self.faults = faults


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, from 1, blank ones left out; None for one that is too long, which is never held
    whole. Raises LoadingError."""
    number = 0
    while line := _next(stream, number, MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_MARK)
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = _next(stream, number, MAX_LINE_BYTES)
            yield number, None
        elif line.strip():
            yield number, line


def _next(stream: BinaryIO, number: int, most: int) -> bytes:
    try:
        return stream.readline(most)
    except OSError as error:
        raise LoadingError(f"the input cannot be read after line {number}: {error.strerror}") from error


def read_object(line: bytes | None) -> Object:
    """The object that a line holds. Raises RefusedLine."""
    if line is None:
        raise RefusedLine(
            ("", f"is longer than {MAX_LINE_BYTES} bytes: leave `html` out, or split the entry")
        )
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise RefusedLine(("", f"must be UTF-8; byte {error.start + 1} is not")) from error
    except json.JSONDecodeError as error:
        raise RefusedLine(("", f"is not JSON: {error.msg}, at character {error.pos + 1}")) from error
    except RecursionError as error:
        raise RefusedLine(("", "is nested too deep to be an entry")) from error
    if not isinstance(found, dict):
        raise RefusedLine(("", "must be one JSON object, `{…}`, for each edition"))
    return found


def _object(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RefusedLine((twice, "stands twice: say it once"))
    return found
