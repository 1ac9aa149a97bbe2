"""Front matter: one table of fields, each with the form it must have. Contract §1.

A field whose value is wrong is left out and reported; so is a key that no row knows.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.content.yaml_reader import Fields, Items, Node, Scalar
from app.entry import Kind, Signature, Source

MAX_FRONT_MATTER_BYTES = 64 << 10
MAX_TITLE_CHARS = 200

ENTRY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[a-z0-9][a-z0-9-]{0,79}")
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DIGEST = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of an edition, each with its default where it is absent or wrong."""

    title: str = ""
    kind: Kind | None = None
    topics: tuple[str, ...] = ()
    error_types: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()
    symptoms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    applies_to: str = ""
    related: tuple[str, ...] = ()
    source: tuple[Source, ...] = ()
    updated: date | None = None
    synced_with: str = ""
    formerly: tuple[str, ...] = ()
    draft: bool = False


class WrongValueError(ValueError):
    """A value has not the form its field needs. `line` is where it stands."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.line = node.line
        self.message = message


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong with one field; `fatal` keeps the file from being served."""

    line: int
    rule: str
    message: str
    fatal: bool = False


Report = Callable[[WrongValueError], None]
Reader = Callable[[Node, Report], Any]
"""Turns a node into a value, or raises WrongValueError; hands what it could leave out to the Report."""


def text_of(node: Node) -> str:
    """A text as YAML's other readers would see one: a bare `on`, `2024` or `1e3` is refused."""
    if not isinstance(node, Scalar):
        raise WrongValueError(node, "must be a text; quote it if it has `: ` or a bracket in it")
    if node.looks_like == "nothing":
        raise WrongValueError(node, "must not be empty")
    if node.looks_like != "text":
        raise WrongValueError(node, f"must be a text, but is a {node.looks_like}: quote it, '{node.text}'")
    if not node.text.strip():
        raise WrongValueError(node, "must not be empty")
    return node.text


def _line_of_text(node: Node, _report: Report) -> str:
    text = text_of(node).strip()
    if "\n" in text:
        raise WrongValueError(node, "must be one line")
    return text


def _title(node: Node, report: Report) -> str:
    title = _line_of_text(node, report)
    if len(title) > MAX_TITLE_CHARS:
        raise WrongValueError(node, f"must have at most {MAX_TITLE_CHARS} characters")
    return title


def word_of(node: Node) -> str:
    """A bare word, whatever YAML would make of it: `on` and `2024` are good ids."""
    if not isinstance(node, Scalar):
        raise WrongValueError(node, "must be a single word")
    return node.text.strip()


def _matching(form: re.Pattern[str], what: str) -> Reader:
    def read(node: Node, _report: Report) -> str:
        word = word_of(node)
        if not form.fullmatch(word):
            raise WrongValueError(node, f"must be {what}; it is {word!r}")
        return word

    return read


def _kind(node: Node, _report: Report) -> Kind:
    word = word_of(node)
    if word not in list(Kind):
        raise WrongValueError(node, f"must be one of {', '.join(Kind)}; it is {word!r}")
    return Kind(word)


def _list_of(item: Reader) -> Reader:
    def read(node: Node, report: Report) -> tuple[Any, ...]:
        if not isinstance(node, Items):
            raise WrongValueError(node, "must be a list")
        values: list[Any] = []
        for child in node.items:
            try:
                value = item(child, report)
            except WrongValueError as error:
                report(error)
                continue
            if value in values:
                report(WrongValueError(child, "stands twice in the list"))
            else:
                values.append(value)
        return tuple(values)

    return read


def _signature(node: Node, report: Report) -> Signature:
    if not isinstance(node, Fields):
        return Signature((_signature_line(node),))
    if unknown := set(node.values) - {"all", "any"}:
        raise WrongValueError(
            node, f"is not a string (`{min(unknown)}` was read as a key): put single quotes around the line"
        )
    if "all" not in node.values:
        raise WrongValueError(node, "needs `all`, a list of lines that must occur")
    lines = {key: _list_of(_signature_item)(value, report) for key, value in node.values.items()}
    if not lines["all"]:
        raise WrongValueError(node, "needs at least one line in `all`")
    return Signature(lines["all"], lines.get("any", ()))


def _signature_item(node: Node, _report: Report) -> str:
    return _signature_line(node)


def _signature_line(node: Node) -> str:
    if not isinstance(node, Scalar) or node.looks_like != "text":
        raise WrongValueError(node, "is not a string: put single quotes around the line")
    text = node.text.strip()
    if not text or "\n" in text:
        raise WrongValueError(node, "must be one line of text")
    return text


def _source(node: Node, _report: Report) -> Source:
    if not isinstance(node, Fields) or set(node.values) != {"title", "url", "license"}:
        raise WrongValueError(node, "must have `title`, `url` and `license`, and nothing else")
    values = {key: text_of(value).strip() for key, value in node.values.items()}
    if not re.fullmatch(r"https?://[^/\s\\]\S*", values["url"]):
        raise WrongValueError(node.values["url"], "must be an http(s) address")
    return Source(**values)


def _date(node: Node, _report: Report) -> date:
    word = word_of(node)
    try:
        return date.fromisoformat(word)
    except ValueError as error:
        raise WrongValueError(node, f"must be a day such as 2026-01-31; it is {word!r}") from error


def _switch(node: Node, _report: Report) -> bool:
    word = word_of(node)
    if word.lower() not in {"true", "yes", "on", "false", "no", "off"}:
        raise WrongValueError(node, f"must be true or false; it is {word!r}")
    return word.lower() in {"true", "yes", "on"}


@dataclass(frozen=True, slots=True)
class Field:
    """One row. `fatal`: an edition without it, or with a wrong one, is kept from being served."""

    name: str
    read: Reader
    required: bool = False
    fatal: bool = False


_tags = _list_of(_matching(_TAG, "an id of the taxonomy"))
_ids = _list_of(_matching(ENTRY_ID, "an id such as roll/colocate-mode"))
_lines = _list_of(_line_of_text)

FIELDS = (
    Field("title", _title, required=True, fatal=True),
    Field("kind", _kind, required=True, fatal=True),
    Field("topics", _tags),
    Field("error_types", _tags),
    Field("signatures", _list_of(_signature)),
    Field("symptoms", _lines),
    Field("aliases", _lines),
    Field("applies_to", _line_of_text),
    Field("related", _ids),
    Field("source", _list_of(_source), required=True),
    Field("updated", _date, required=True),
    Field("synced_with", _matching(_DIGEST, "12 hex digits, as `jieda sync` writes them")),
    Field("formerly", _ids),
    # What may have been meant to stay hidden must not be shown because of a typing slip.
    Field("draft", _switch, fatal=True),
)


def read_front_matter(fields: Fields) -> tuple[FrontMatter, tuple[Complaint, ...]]:
    """The fields that are right, and a complaint about everything that is not."""
    complaints: list[Complaint] = []
    values: dict[str, Any] = {}
    for row in FIELDS:
        if row.name in fields.values:
            values |= _read_field(row, fields, complaints)
        elif row.required:
            complaints.append(Complaint(fields.line, "field", f"`{row.name}` is missing", row.fatal))
    complaints.extend(_unknown(fields))
    return FrontMatter(**values), tuple(complaints)


def _read_field(row: Field, fields: Fields, complaints: list[Complaint]) -> dict[str, Any]:
    def report(error: WrongValueError, *, fatal: bool = False) -> None:
        complaints.append(Complaint(error.line, _rule(row.name), f"`{row.name}` {error.message}", fatal))

    try:
        value = row.read(fields.values[row.name], report)
    except WrongValueError as error:
        report(error, fatal=row.fatal)
        return {}
    if row.required and not value:
        complaints.append(Complaint(fields.key_lines[row.name], "field", f"`{row.name}` is empty", row.fatal))
    return {row.name: value}


def _rule(name: str) -> str:
    return "signature" if name == "signatures" else "field"


def _unknown(fields: Fields) -> Iterator[Complaint]:
    known = {row.name for row in FIELDS}
    for key, line in fields.key_lines.items():
        if key not in known:
            yield Complaint(line, "unknown-key", f"`{key}` is no field of an edition")
