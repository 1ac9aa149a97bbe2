"""The front matter of an edition: a table of its fields, and the forms of values in content files, each a function
from a YAML node to the value.

A form raises WrongValueError for a value it cannot use, and reports a part that it can leave out (one item of a list)
to its Report.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from jieda.content.read.yaml_reader import Fields, Items, Node, Scalar
from jieda.entry import Kind, Signature, Source, Validity, Verified
from jieda.signature import (
    PAIR,
    SHAPE_PARTS,
    SHAPE_RELATIONS,
    SignatureSyntaxError,
    compile_signature_line,
)
from jieda.versions import fault_of_range, fault_of_version

MAX_TITLE_CHARS = 200

ENTRY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[a-z0-9][a-z0-9-]{0,79}")
TAG_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
DIGEST = re.compile(r"[0-9a-f]{12}")
ADDRESS = re.compile(r"https?://[^/\s\\]\S*")
"""Form of an address; whether it exists is not checked."""


class WrongValueError(ValueError):
    """A value does not have the form that its field needs. `line` is its line."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.line = node.line
        self.message = message


Report = Callable[[WrongValueError], None]
Form = Callable[[Node, Report], Any]


def text_of(node: Node) -> str:
    """Return a text that any YAML reader would read as one: a bare `on`, `2024` or `1e3` is refused."""
    if not isinstance(node, Scalar):
        raise WrongValueError(node, "must be a text; quote it if it contains `: ` or a bracket")
    if node.looks_like == "nothing":
        raise WrongValueError(node, "must not be empty")
    if node.looks_like != "text":
        raise WrongValueError(node, f"must be a text, but is a {node.looks_like}: quote it, '{node.text}'")
    if not node.text.strip():
        raise WrongValueError(node, "must not be empty")
    return node.text


def line_of_text(node: Node, _report: Report) -> str:
    """Return a text without line breaks, stripped of surrounding white space."""
    text = text_of(node).strip()
    if "\n" in text:
        raise WrongValueError(node, "must be one line")
    return text


def title(node: Node, report: Report) -> str:
    """Return a line that is short enough for a page heading and a window title."""
    line = line_of_text(node, report)
    if len(line) > MAX_TITLE_CHARS:
        raise WrongValueError(node, f"must have at most {MAX_TITLE_CHARS} characters")
    return line


def word_of(node: Node) -> str:
    """Return a bare word as written, whatever its YAML type: `on` and `2024` are valid ids."""
    if not isinstance(node, Scalar):
        raise WrongValueError(node, "must be a single word")
    return node.text.strip()


def matching(form: re.Pattern[str], what: str) -> Form:
    """Return the form of a bare word that matches `form`; `what` describes it in messages."""

    def read(node: Node, _report: Report) -> str:
        word = word_of(node)
        if not form.fullmatch(word):
            raise WrongValueError(node, f"must be {what}; it is {word!r}")
        return word

    return read


def kind(node: Node, _report: Report) -> Kind:
    """One of the three kinds."""
    word = word_of(node)
    if word not in list(Kind):
        raise WrongValueError(node, f"must be one of {', '.join(Kind)}; it is {word!r}")
    return Kind(word)


def list_of(item: Form) -> Form:
    """Return the form of a list; wrong or repeated items are reported and left out."""

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
                report(WrongValueError(child, "appears twice in the list"))
            else:
                values.append(value)
        return tuple(values)

    return read


def signature(node: Node, report: Report) -> Signature:
    """Return a signature: a line, or `{all: [...], any: [...], unless: [...], confidence: likely, near: N,
    shapes: {...}}`, with something specific in `all`."""
    if not isinstance(node, Fields):
        return _require_specific(node, Signature((_signature_line(node, report),)))
    if unknown := set(node.values) - {"all", "any", "unless", "confidence", "near", "shapes"}:
        raise WrongValueError(
            node, f"is not a string (`{min(unknown)}` was read as a key): put single quotes around the line"
        )
    if "all" not in node.values:
        raise WrongValueError(node, "needs `all`, a list of lines that must occur")
    every = _read_all_lines(node.values["all"], report)
    if not every:
        raise WrongValueError(node, "needs at least one line in `all`")
    some = list_of(_signature_line)(node.values["any"], report) if "any" in node.values else ()
    unless = list_of(_signature_line)(node.values["unless"], report) if "unless" in node.values else ()
    shapes = _read_shapes(node.values["shapes"]) if "shapes" in node.values else ()
    if shapes and not any(line.count("{shape}") >= PAIR for line in every):
        raise WrongValueError(
            node.values["shapes"], "`shapes` compares two {shape} of one line of `all`; there is none"
        )
    near = _read_near(node.values["near"]) if "near" in node.values else 0
    if "confidence" in node.values and word_of(node.values["confidence"]) != "likely":
        raise WrongValueError(node.values["confidence"], "`confidence` can only be `likely`")
    return _require_specific(node, Signature(every, some, "confidence" in node.values, near, shapes, unless))


def _read_near(node: Node) -> int:
    word = word_of(node)
    if not re.fullmatch(r"[1-9]\d{0,4}", word):
        raise WrongValueError(node, f"`near` must be a number of lines from 1; it is {word!r}")
    return int(word)


def _read_shapes(node: Node) -> tuple[tuple[str, str], ...]:
    values = {part: word_of(value) for part, value in node.values.items()} if isinstance(node, Fields) else {}
    if not values or values.keys() - SHAPE_PARTS.keys() or set(values.values()) - SHAPE_RELATIONS.keys():
        parts, relations = " and ".join(SHAPE_PARTS), " or ".join(SHAPE_RELATIONS)
        raise WrongValueError(node, f"`shapes` says of {parts} whether they {relations}")
    return tuple(values.items())


def _read_all_lines(node: Node, report: Report) -> tuple[str, ...]:
    """Raises WrongValueError for the first faulty line: without it, the others would match logs of other failures."""
    if not isinstance(node, Items):
        raise WrongValueError(node, "must be a list")
    return tuple(dict.fromkeys(_signature_line(child, report) for child in node.items))


def _require_specific(node: Node, signature: Signature) -> Signature:
    if not any(compile_signature_line(line).specific for line in signature.all):
        raise WrongValueError(node, f"contains nothing specific: {' + '.join(signature.all)}")
    return signature


def _signature_line(node: Node, _report: Report) -> str:
    if not isinstance(node, Scalar) or node.looks_like != "text":
        raise WrongValueError(node, "is not a string: put single quotes around the line")
    text = node.text.strip()
    if not text or "\n" in text:
        raise WrongValueError(node, "must be one line of text")
    try:
        compile_signature_line(text)
    except SignatureSyntaxError as error:
        raise WrongValueError(node, f"{error}; it is {text!r}") from error
    return text


def source(node: Node, _report: Report) -> Source:
    """Return a source from `{title, url, license}`, with an http(s) address."""
    if not isinstance(node, Fields) or set(node.values) != {"title", "url", "license"}:
        raise WrongValueError(node, "must have `title`, `url` and `license`, and nothing else")
    values = {key: text_of(value).strip() for key, value in node.values.items()}
    if not ADDRESS.fullmatch(values["url"]):
        raise WrongValueError(node.values["url"], "must be an http(s) address")
    return Source(**values)


def day(node: Node, _report: Report) -> date:
    """Return a date, written as YYYY-MM-DD."""
    word = word_of(node)
    try:
        return date.fromisoformat(word)
    except ValueError as error:
        raise WrongValueError(node, f"must be a day such as 2026-01-31; it is {word!r}") from error


def by_program(fault: Callable[[str], str]) -> Form:
    """Return the form of `{program: text, …}`; `fault` says what is wrong with a text."""

    def read(node: Node, _report: Report) -> dict[str, str]:
        if not isinstance(node, Fields):
            raise WrongValueError(node, "must name a program, such as `{trainer: '0.3.0'}`")
        if strange := next((name for name in node.values if not TAG_ID.fullmatch(name)), ""):
            raise WrongValueError(node, f"must name programs as pip does; {strange!r} is not such a name")
        # A bare 0.3 is a number in YAML, but the version 0.3 here.
        values = {name: word_of(value) for name, value in node.values.items()}
        for name, text in values.items():
            if wrong := fault(text):
                raise WrongValueError(node.values[name], wrong)
        return values

    return read


def verified(node: Node, report: Report) -> Verified | None:
    """Return `{on, with}`: a date, and the programs and versions that the entry was verified with."""
    if isinstance(node, Fields) and not node.values:
        return None
    if not isinstance(node, Fields) or set(node.values) != {"on", "with"}:
        raise WrongValueError(node, "must have `on`, a day, and `with`, programs and versions; nothing else")
    return Verified(day(node.values["on"], report), line_of_text(node.values["with"], report))


def switch(node: Node, _report: Report) -> bool:
    """Return True or False, written in any of YAML's words for them."""
    word = word_of(node)
    if word.lower() not in {"true", "yes", "on", "false", "no", "off"}:
        raise WrongValueError(node, f"must be true or false; it is {word!r}")
    return word.lower() in {"true", "yes", "on"}


MAX_FRONT_MATTER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of an edition; absent or wrong ones have their defaults."""

    title: str = ""
    kind: Kind | None = None
    topics: tuple[str, ...] = ()
    error_types: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()
    symptoms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    applies_to: str = ""
    applies_anywhere: bool = False
    related: tuple[str, ...] = ()
    source: tuple[Source, ...] = ()
    updated: date | None = None
    synced_with: str = ""
    formerly: tuple[str, ...] = ()
    draft: bool = False
    doubts: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    fixed_in: Mapping[str, str] = field(default_factory=dict)
    verified: Verified | None = None

    @property
    def validity(self) -> Validity:
        """Versions that the entry holds for."""
        return Validity(self.versions, self.fixed_in, self.verified)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A problem of one field; a `fatal` one keeps the file from being served."""

    line: int
    rule: str
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A row of `FIELDS`. `fatal`: an edition with a wrong value, or without a required one, is not served."""

    name: str
    read: Form
    required: bool = False
    fatal: bool = False


_tags = list_of(matching(TAG_ID, "an id of the taxonomy"))
_ids = list_of(matching(ENTRY_ID, "an id: framework/name-of-the-entry"))
_lines = list_of(line_of_text)

FIELDS = (
    Field("title", title, required=True, fatal=True),
    Field("kind", kind, required=True, fatal=True),
    Field("topics", _tags),
    Field("error_types", _tags),
    Field("signatures", list_of(signature)),
    Field("symptoms", _lines),
    Field("aliases", _lines),
    Field("applies_to", line_of_text),
    Field("versions", by_program(fault_of_range)),
    Field("fixed_in", by_program(fault_of_version)),
    Field("verified", verified),
    Field("applies_anywhere", switch),
    Field("related", _ids),
    Field("source", list_of(source), required=True),
    Field("updated", day, required=True),
    Field("synced_with", matching(DIGEST, "12 hex digits, as `jieda sync` writes them")),
    Field("formerly", _ids),
    # A typing error must not publish what may have been meant as a draft.
    Field("draft", switch, fatal=True),
    Field("doubts", _lines),
)


def read_front_matter(fields: Fields) -> tuple[FrontMatter, tuple[Complaint, ...]]:
    """Return the valid fields, and a complaint about each problem."""
    complaints: list[Complaint] = []
    values: dict[str, Any] = {}
    for row in FIELDS:
        if row.name in fields.values:
            values |= _read_field(row, fields, complaints)
        elif row.required:
            complaints.append(Complaint(fields.line, "field", f"`{row.name}` is missing", row.fatal))
    known = {row.name for row in FIELDS}
    for key, line in fields.key_lines.items():
        if key not in known:
            complaints.append(Complaint(line, "unknown-key", f"`{key}` is not a field of an edition"))
    return FrontMatter(**values), tuple(complaints)


def _read_field(row: Field, fields: Fields, complaints: list[Complaint]) -> dict[str, Any]:
    rule = "signature" if row.name == "signatures" else "field"

    def report(error: WrongValueError, *, fatal: bool = False) -> None:
        complaints.append(Complaint(error.line, rule, f"`{row.name}` {error.message}", fatal))

    before = len(complaints)
    try:
        value = row.read(fields.values[row.name], report)
    except WrongValueError as error:
        report(error, fatal=row.fatal)
        return {}
    if row.required and not value and len(complaints) == before:
        complaints.append(Complaint(fields.key_lines[row.name], "field", f"`{row.name}` is empty", row.fatal))
    return {row.name: value}
