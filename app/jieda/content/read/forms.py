"""The front matter of an edition, as a table of its fields; and the forms of values in content files: functions that
turn a YAML node into a value.

A form raises YamlError for a value that it cannot use. If it can leave out the faulty part, such as an item of a list,
it passes the error to its Report instead.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any

from jieda.content.read.yaml_reader import NO_LIST, Fields, Items, Node, Scalar, YamlError, full_width_beside
from jieda.entry import Kind, Language, Signature, Source, Validity, Verified
from jieda.signature import PAIR, SHAPE_PARTS, SHAPE_RELATIONS, SignatureSyntaxError, compile_signature_line
from jieda.versions import fault_of_range, fault_of_version

MAX_TITLE_CHARS = 200

ENTRY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[a-z0-9][a-z0-9-]{0,79}")
TAG_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
DIGEST = re.compile(r"[0-9a-f]{12}")
ADDRESS = re.compile(r"https?://[^/\s\\]\S*")
"""Form of an address, which need not exist."""

Report = Callable[[YamlError], None]
Form = Callable[[Node, Report], Any]


def refuse(error: YamlError) -> None:
    """Raise the error. This is the Report for files in which nothing can be left out."""
    raise error


def text(node: Node, _report: Report) -> str:
    """Return a text that any YAML reader would read as text. A bare `on`, `2024` or `1e3` is refused."""
    if not isinstance(node, Scalar):
        raise YamlError(node.line, "must be a text; quote it if it contains `: ` or a bracket")
    if node.looks_like == "nothing" or not node.text.strip():
        raise YamlError(node.line, "must not be empty")
    if node.looks_like != "text":
        raise YamlError(node.line, f"must be a text, but is a {node.looks_like}: quote it, '{node.text}'")
    return node.text


def stripped(node: Node, report: Report) -> str:
    """Return a text without surrounding white space."""
    return text(node, report).strip()


def line_of_text(node: Node, report: Report) -> str:
    """Return a text without line breaks, stripped of surrounding white space."""
    line = stripped(node, report)
    if "\n" in line:
        raise YamlError(node.line, "must be one line")
    return line


def whole(form: Form) -> Form:
    """Return a form that reports a text that is cut short by a comment, as in `title: Why #include fails`."""

    def read(node: Node, report: Report) -> Any:
        if isinstance(node, Scalar) and node.commented:
            report(YamlError(node.line, "ends before ` #`, where a comment starts: quote the whole text"))
        return form(node, report)

    return read


def title(node: Node, report: Report) -> str:
    """Return a line that is short enough for a page heading and a window title."""
    line = line_of_text(node, report)
    if len(line) > MAX_TITLE_CHARS:
        raise YamlError(node.line, f"must have at most {MAX_TITLE_CHARS} characters")
    return line


def _bare(node: Node) -> str:
    """Return a single word as written, whatever its YAML type: `on` and `2024` are valid ids."""
    if not isinstance(node, Scalar):
        raise YamlError(node.line, "must be a single word")
    return node.text.strip()


def word(node: Node, _report: Report) -> str:
    """Return a single word that is not empty."""
    if bare := _bare(node):
        return bare
    raise YamlError(node.line, "must not be empty")


def checked_by(describe_fault: Callable[[str], str]) -> Form:
    """Return the form of a single word for which `describe_fault` returns an empty text."""

    def read(node: Node, _report: Report) -> str:
        bare = _bare(node)
        if fault := describe_fault(bare):
            raise YamlError(node.line, fault)
        return bare

    return read


def matching(pattern: re.Pattern[str], what: str) -> Form:
    """Return the form of a single word that matches `pattern`; `what` describes it in messages."""
    return checked_by(lambda bare: "" if pattern.fullmatch(bare) else f"must be {what}; it is {bare!r}")


def one_of(values: Iterable[str]) -> Form:
    """Return the form of a single word that is one of `values`."""
    known = {str(each): each for each in values}

    def read(node: Node, _report: Report) -> str:
        bare = _bare(node)
        if bare not in known:
            raise YamlError(node.line, f"must be one of {', '.join(known)}; it is {bare!r}")
        return known[bare]

    return read


def switch(node: Node, _report: Report) -> bool:
    """Return True or False, written as any of YAML's words for them."""
    bare = _bare(node)
    if bare.lower() not in {"true", "yes", "on", "false", "no", "off"}:
        raise YamlError(node.line, f"must be true or false; it is {bare!r}")
    return bare.lower() in {"true", "yes", "on"}


def day(node: Node, _report: Report) -> date:
    """Return a date, written as YYYY-MM-DD."""
    bare = _bare(node)
    with suppress(ValueError):
        if (value := date.fromisoformat(bare)).isoformat() == bare:
            return value
    raise YamlError(node.line, f"must be a day such as 2026-01-31; it is {bare!r}")


def list_of(item: Form) -> Form:
    """Return the form of a list. Wrong or repeated items are reported and left out."""

    def read(node: Node, report: Report) -> tuple[Any, ...]:
        if not isinstance(node, Items):
            raise YamlError(node.line, NO_LIST)
        values: dict[Any, None] = {}
        for child in node.items:
            try:
                value = item(child, report)
            except YamlError as error:
                report(error)
                continue
            if value in values:
                report(YamlError(child.line, "appears twice in the list"))
            values[value] = None
        return tuple(values)

    return read


def all_of(item: Form, minimum: int = 0) -> Form:
    """Return the form of a list of at least `minimum` items, none of which may be wrong."""

    def read(node: Node, report: Report) -> tuple[Any, ...]:
        if not isinstance(node, Items):
            raise YamlError(node.line, NO_LIST)
        if len(node.items) < minimum:
            raise YamlError(node.line, "must not be an empty list")
        return tuple(item(child, report) for child in node.items)

    return read


def record(forms: Mapping[str, Form], *required: str, make: Callable[..., Any] = dict) -> Form:
    """Return the form of a mapping with these keys, whose values become arguments of `make`. Errors name the key."""

    def error_at(node: Node, line: int, message: str) -> YamlError:
        return full_width_beside(forms, node) or YamlError(line, message)

    def read(node: Node, report: Report) -> Any:
        if not isinstance(node, Fields):
            raise error_at(node, node.line, f"must be `{{{', '.join(forms)}}}`")
        values = {}
        for key, child in node.values.items():
            if key not in forms:
                raise error_at(node, node.key_lines[key], f"`{key}` is not one of {', '.join(forms)}")
            values[key] = _read_value(key, forms[key], child, report)
        if missing := [key for key in required if key not in values]:
            raise error_at(node, node.line, f"needs `{missing[0]}`")
        return make(**values)

    return read


def mapping_of(name: Form, value: Form) -> Form:
    """Return the form of a mapping from names to values. Errors contain the name."""

    def read(node: Node, report: Report) -> dict[Any, Any]:
        if not isinstance(node, Fields):
            raise YamlError(node.line, "must be made of `key: value` lines")
        values = {}
        for key, child in node.values.items():
            parsed_key = name(Scalar(key, quoted=True, line=node.key_lines[key]), report)
            values[parsed_key] = _read_value(key, value, child, report)
        return values

    return read


def _read_value(key: str, form: Form, node: Node, report: Report) -> Any:
    try:
        return form(node, report)
    except YamlError as error:
        raise error.within(key) from None


def in_both_languages(form: Form) -> Form:
    """Return the form of `{en: …, zh: …}`, or of one value for both languages."""

    def read(node: Node, report: Report) -> dict[Language, Any]:
        if not isinstance(node, Fields):
            return dict.fromkeys(Language, form(node, report))
        if set(node.values) != set(Language):
            raise YamlError(node.line, "must be one value, or have `en` and `zh` and nothing else")
        return {lang: form(node.values[lang], report) for lang in Language}

    return read


def parsable(form: Form, parse: Callable[[str], object]) -> Form:
    """Return the form of a text that `parse` accepts; `parse` raises SignatureSyntaxError for others."""

    def read(node: Node, report: Report) -> str:
        line: str = form(node, report)
        try:
            parse(line)
        except SignatureSyntaxError as error:
            raise YamlError(node.line, f"{error}; it is {line!r}") from error
        return line

    return read


_signature_line = parsable(line_of_text, compile_signature_line)
_SIGNATURE: Mapping[str, Form] = {
    # No faulty line may be left out: without it, the others would match logs of other failures.
    "all": all_of(_signature_line, minimum=1),
    "any": list_of(_signature_line),
    "unless": list_of(_signature_line),
    "confidence": one_of(["likely"]),
    "near": matching(re.compile(r"[1-9]\d{0,4}"), "a number of lines from 1"),
    "shapes": mapping_of(one_of(SHAPE_PARTS), one_of(SHAPE_RELATIONS)),
}
_read_signature = record(_SIGNATURE, "all")


def signature(node: Node, report: Report) -> Signature:
    """Return a signature: a line, or `{all: [...], any: [...], unless: [...], confidence: likely, near: N,
    shapes: {...}}`, with something specific in `all`."""
    if not isinstance(node, Fields):
        return _require_specific(node, Signature((_signature_line(node, report),)))
    if not node.values.keys() & _SIGNATURE.keys():
        key = next(iter(node.values), "")
        raise YamlError(
            node.line, f"is not a string (`{key}` was read as a key): put single quotes around the line"
        )
    values = _read_signature(node, report)
    lines = tuple(dict.fromkeys(values["all"]))
    shapes = tuple(values.get("shapes", {}).items())
    if shapes and not any(line.count("{shape}") >= PAIR for line in lines):
        raise YamlError(node.line, "`shapes` compares two {shape} of one line of `all`; no line has two")
    any_lines, near, unless = values.get("any", ()), int(values.get("near", 0)), values.get("unless", ())
    return _require_specific(node, Signature(lines, any_lines, "confidence" in values, near, shapes, unless))


def _require_specific(node: Node, parsed: Signature) -> Signature:
    if not any(compile_signature_line(line).specific for line in parsed.all):
        raise YamlError(
            node.line,
            f"contains nothing specific: {' + '.join(parsed.all)}; quote more of the log, in `all` if on several lines",
        )
    return parsed


def verified(node: Node, report: Report) -> Verified | None:
    """Return `{on, with}`: a date, and the programs and versions that the entry was verified with."""
    if isinstance(node, Fields) and not node.values:
        return None
    values = record({"on": day, "with": line_of_text}, "on", "with")(node, report)
    return Verified(values["on"], values["with"])


MAX_FRONT_MATTER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Complaint:
    """A problem with a field. A `fatal` one keeps the file from being served."""

    line: int
    rule: str
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """How a field is read. `fatal`: an edition with a wrong value, or without a required value, is not served."""

    read: Form
    required: bool = False
    fatal: bool = False


def _field(default: Any, read: Form, *, required: bool = False, fatal: bool = False) -> Any:
    return field(default_factory=lambda: default, metadata={"form": Field(read, required, fatal)})


_tags = list_of(matching(TAG_ID, "an id of the taxonomy"))
_ids = list_of(matching(ENTRY_ID, "an id: framework/name-of-the-entry"))
_lines = list_of(whole(line_of_text))
_program = matching(TAG_ID, "the name of a program as pip writes it")
_address = matching(ADDRESS, "an http(s) address")
_source = {"title": stripped, "url": _address, "license": stripped}
_sources = list_of(record(_source, *_source, make=Source))
_digest = matching(DIGEST, "12 hex digits, as `jieda sync` writes them")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of an edition, in the order of docs/content-format.md. Missing or wrong ones have their defaults."""

    title: str = _field("", whole(title), required=True, fatal=True)
    kind: Kind = _field(Kind.CONCEPT, one_of(Kind), required=True, fatal=True)  # noqa: RUF009 - a field of dataclasses
    topics: tuple[str, ...] = _field((), _tags)
    error_types: tuple[str, ...] = _field((), _tags)
    signatures: tuple[Signature, ...] = _field((), list_of(whole(signature)))
    symptoms: tuple[str, ...] = _field((), _lines)
    aliases: tuple[str, ...] = _field((), _lines)
    applies_to: str = _field("", whole(line_of_text))
    versions: Mapping[str, str] = _field({}, mapping_of(_program, checked_by(fault_of_range)))
    fixed_in: Mapping[str, str] = _field({}, mapping_of(_program, checked_by(fault_of_version)))
    verified: Verified | None = _field(None, verified)  # noqa: RUF009 - as above
    applies_anywhere: bool = _field(False, switch)
    related: tuple[str, ...] = _field((), _ids)
    source: tuple[Source, ...] = _field((), _sources, required=True)
    updated: date | None = _field(None, day, required=True)  # noqa: RUF009 - as above
    synced_with: str = _field("", _digest)
    formerly: tuple[str, ...] = _field((), _ids)
    # A typo must not publish what may have been meant as a draft.
    draft: bool = _field(False, switch, fatal=True)
    doubts: tuple[str, ...] = _field((), _lines)

    @property
    def validity(self) -> Validity:
        return Validity(self.versions, self.fixed_in, self.verified)


FIELDS: Mapping[str, Field] = {each.name: each.metadata["form"] for each in fields(FrontMatter)}


def read_front_matter(node: Fields) -> tuple[FrontMatter, tuple[Complaint, ...]]:
    """Return the valid fields, and a complaint about each problem."""
    complaints: list[Complaint] = []
    values: dict[str, Any] = {}
    for name, rules in FIELDS.items():
        if name in node.values:
            values |= _read_field(name, rules, node, complaints)
        elif rules.required:
            complaints.append(Complaint(node.line, "field", f"`{name}` is missing", rules.fatal))
    for key, line in node.key_lines.items():
        if key not in FIELDS:
            complaints.append(Complaint(line, "unknown-key", f"`{key}` is not a field of an edition"))
    return FrontMatter(**values), tuple(complaints)


def _read_field(name: str, rules: Field, node: Fields, complaints: list[Complaint]) -> dict[str, Any]:
    rule = "signature" if name == "signatures" else "field"

    def report(error: YamlError, *, fatal: bool = False) -> None:
        complaints.append(Complaint(error.line, rule, f"`{name}` {error.message}", fatal))

    before = len(complaints)
    try:
        value = rules.read(node.values[name], report)
    except YamlError as error:
        report(error, fatal=rules.fatal)
        return {}
    if rules.required and not value and len(complaints) == before:
        complaints.append(Complaint(node.key_lines[name], "field", f"`{name}` is empty", rules.fatal))
    return {name: value}
