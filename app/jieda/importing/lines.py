"""Reads a stream of JSON lines, one at a time, and converts each object to an edition."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from jieda.content.read.forms import ENTRY_ID, FIELDS, FrontMatter, read_front_matter
from jieda.content.read.yaml_reader import Fields, Items, Node, Scalar
from jieda.entry import NO_TEXT, Language
from jieda.errors import JiedaError
from jieda.taxonomy import Taxonomy

MAX_LINE_BYTES = 4 << 20
"""Maximum line length. An edition has at most 128 KiB; an answer of the API also contains its HTML and its fix."""

Object = dict[str, Any]


class RefusedLine(ValueError):
    """A line cannot be loaded. `faults`: pairs of a field and what to do; the field is empty for the whole line."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        super().__init__(faults)
        self.faults = faults


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield non-blank lines with their numbers, from 1; None for a line that is too long. Raises JiedaError."""
    number = 0
    while line := _read_line(stream, number, MAX_LINE_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = _read_line(stream, number, MAX_LINE_BYTES)
            yield number, None
        elif line.strip():
            yield number, line


def _read_line(stream: BinaryIO, number: int, most: int) -> bytes:
    try:
        return stream.readline(most)
    except OSError as error:
        raise JiedaError(f"the input cannot be read after line {number}: {error.strerror}") from error


def read_object(line: bytes | None) -> Object:
    """Parse a line as a JSON object. Raises RefusedLine."""
    if line is None:
        raise RefusedLine(
            ("", f"is longer than {MAX_LINE_BYTES} bytes: leave `html` out, or split the entry")
        )
    try:
        parsed = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise RefusedLine(("", f"must be UTF-8; byte {error.start + 1} is not")) from error
    except json.JSONDecodeError as error:
        raise RefusedLine(("", f"is not JSON: {error.msg}, at character {error.pos + 1}")) from error
    except RefusedLine:
        raise
    except (RecursionError, ValueError) as error:
        raise RefusedLine(
            ("", "is nested too deep to be an entry, or has a number of too many digits")
        ) from error
    if not isinstance(parsed, dict):
        raise RefusedLine(("", "must be one JSON object, `{…}`, for each edition"))
    return parsed


def _object(pairs: list[tuple[str, Any]]) -> Object:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise RefusedLine((repeated, "appears twice: write it once"))
    return fields


OWN = ("id", "lang", "framework", "markdown")
"""Fields of the API's entries that become an edition's path and body, not front matter."""
IGNORED = ("editions", "html", "fix", "headings", "stale", "url", "api_url", "generation")
"""Fields of the API's entries that are ignored."""
_RELATED = ("id", "lang", "title", "applies_to", "url", "api_url", "named")
_LANGUAGES = " or ".join(Language)
_BREAK = re.compile("[\r\n\x85\u2028\u2029]")
"""Line ends of YAML."""
_DEEPEST = 8
_NAME = re.compile("`([^`]+)` ")


def read_path(fields: Object) -> tuple[str, str]:
    """Return the id, and the path of the edition below the content directory. Raises RefusedLine."""
    entry_id, lang = fields.get("id"), fields.get("lang")
    if not isinstance(entry_id, str) or not ENTRY_ID.fullmatch(entry_id):
        fault = "is missing: say" if entry_id is None else f"is {str(entry_id)[:100]!r}, but must be"
        raise RefusedLine(
            ("id", f"{fault} <framework>/<slug>, the slug 1 to 80 of a-z, 0-9 and -, not starting with -")
        )
    if not isinstance(lang, str) or lang not in list(Language):
        fault = "is missing: say" if lang is None else f"is {str(lang)[:20]!r}, but must be"
        raise RefusedLine(("lang", f"{fault} {_LANGUAGES}"))
    return entry_id, f"{lang}/{entry_id}.md"


def read_edition(fields: Object, entry_id: str, taxonomy: Taxonomy) -> tuple[FrontMatter, str]:
    """Convert an object to front matter and Markdown. Raises RefusedLine with all its faults."""
    framework = entry_id.partition("/")[0]
    filled = {key: value for key, value in fields.items() if value not in (None, "") and key not in IGNORED}
    body = filled.get("markdown")
    faults = [("markdown", fault)] if (fault := _body_fault(body)) else []
    if filled.get("framework", framework) != framework:
        faults.append(("framework", f"must be that of the id, {entry_id}, or be left out"))
    values = {name: value for name, value in filled.items() if name not in OWN}
    faults += [(name, fault) for name, value in values.items() if (fault := _value_fault(value))]
    if faults:
        raise RefusedLine(*faults)
    if "related" in values:
        values["related"] = _related(values["related"])
    front, complaints = read_front_matter(_fields(values))
    faults = [_fault(each.message) for each in complaints] + _unknown_tags(framework, front, taxonomy)
    if faults:
        raise RefusedLine(*faults)
    return front, _with_lf(str(body)).strip("\n")


def _with_lf(body: str) -> str:
    return re.sub("\r\n?", "\n", body)


def _body_fault(body: object) -> str:
    if not isinstance(body, str) or not body.strip():
        return "must be the Markdown of the edition, a text that is not empty"
    return _character_fault(NO_TEXT.search(_with_lf(body)))


def _character_fault(match: re.Match[str] | None) -> str:
    return f"has the character U+{ord(match[0]):04X}, which no text holds: take it out" if match else ""


def _value_fault(value: object, depth: int = 0) -> str:
    """Describe why a value cannot be written in front matter; empty if it can."""
    if depth > _DEEPEST:
        return "is nested too deep"
    if isinstance(value, str):
        if _BREAK.search(value.strip()):
            return "must be one line, and so must each text in it"
        return _character_fault(NO_TEXT.search(value.strip()))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, (_value_fault(each, depth + 1) for each in inner)), "")


def _related(value: Any) -> Any:
    """Return related ids from a list as in files, or as in the API, without the neighbors that the API adds."""
    if not isinstance(value, list):
        return value
    for each in value:
        unknown = set(each) - set(_RELATED) if isinstance(each, dict) else ()
        if unknown:
            raise RefusedLine(("related", f"has `{min(unknown)}`, which is not a field of a related entry"))
    return [
        each.get("id") if isinstance(each, dict) else each
        for each in value
        if not isinstance(each, dict) or each.get("named", True)
    ]


def _fields(values: Mapping[str, Any]) -> Fields:
    nodes = {name: _node(value) for name, value in values.items() if value is not None}
    return Fields(nodes, dict.fromkeys(nodes, 1), 1)


def _node(value: Any) -> Node:
    """Return the YAML node for a value."""
    if isinstance(value, dict):
        return _fields(value)
    if isinstance(value, list):
        return Items(tuple(map(_node, value)), 1)
    if isinstance(value, str):
        return Scalar(value.strip(), quoted=True, line=1)
    return Scalar(json.dumps(value), quoted=False, line=1)


def _fault(message: str) -> tuple[str, str]:
    match = _NAME.match(message)
    if not match:
        return "", message
    if match[1] not in FIELDS:
        return match[1], "is not a field of an entry: see docs/content-format.md for those that there are"
    return match[1], message[match.end() :]


def _unknown_tags(framework: str, front: FrontMatter, taxonomy: Taxonomy) -> list[tuple[str, str]]:
    used = (
        ("id", "framework", (framework,), taxonomy.framework),
        ("topics", "topic", front.topics, taxonomy.topic),
        ("error_types", "error type", front.error_types, taxonomy.error_type),
    )
    return [
        (
            field,
            f"{what} {value!r} is not in taxonomy.yaml, which has {', '.join(known)}: add it, or choose one",
        )
        for field, what, values, known in used
        for value in values
        if value not in known
    ]
