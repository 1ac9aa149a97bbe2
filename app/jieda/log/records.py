"""Reads records of logs: JSON, and logfmt (`level=error msg="…"`)."""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from jieda.log.formats import Formats

_PAIR = re.compile(r'([\w.@/-]{1,80}+)=("(?:[^"\\]|\\.){0,9999}+"|[^\s"]{0,9999}+)(?:\s{1,8}+|$)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}


def may_be_record(line: str) -> bool:
    """Whether a line begins like a record."""
    return line[:1] == "{" or _PAIR.match(line) is not None


def text_of_record(line: str, formats: Formats) -> str:
    """Return the message and the error of a record, after its level if only that reports trouble; empty if the line is
    none, or has neither."""
    record = _fields_of(line, formats)
    text = _field(record, formats.message_fields)
    errors = [each for name in formats.error_fields if (each := _field(record, (name,)))]
    stack = next((each for each in errors if "\n" in each), "")
    said = (each for each in errors if "\n" not in each and each not in text and each not in stack)
    text = ": ".join(filter(None, (text, *dict.fromkeys(said))))
    if stack and stack not in text:
        return f"{text}\n{stack}"
    level = _field(record, formats.level_fields)
    alarming = text and formats.tells_of_trouble(level) and level.casefold() not in text.casefold()
    return f"{level.upper()}: {text}" if alarming else text


def _fields_of(line: str, formats: Formats) -> Mapping[str, Any]:
    """Return the fields of a record; in logfmt its message must be in quotes, as any program prints `a=1 b=2`."""
    if line[:1] == "{":
        with suppress(ValueError, RecursionError):
            return dict(json.loads(line))
        return {}
    found, at = {}, 0
    while pair := _PAIR.match(line, at):
        found[pair[1]], at = pair[2], pair.end()
    if at < len(line) or not _field(found, formats.message_fields).startswith('"'):
        return {}
    return {
        name: _ESCAPE.sub(_unescape, value[value[:1] == '"' :].removesuffix('"'))
        for name, value in found.items()
    }


def _unescape(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[1])


def _field(record: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first of these fields that is a text, or an empty text."""
    for name in names:
        outer, _, inner = name.partition(".")
        nested = record.get(outer)
        value = record.get(name, nested.get(inner) if isinstance(nested, dict) else None)
        if isinstance(value, str):
            return value
    return ""
