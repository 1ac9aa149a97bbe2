"""Front matter: one table of fields, each with the form it must have (docs/content-format.md).

A field whose value is wrong is left out and reported; so is a key that no row knows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from jieda.content.read import forms
from jieda.content.read.forms import Form, WrongValueError
from jieda.content.read.yaml_reader import Fields
from jieda.entry import Kind, Signature, Source, Validity, Verified
from jieda.versions import fault_of_range, fault_of_version

MAX_FRONT_MATTER_BYTES = 64 << 10


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
        """What the entry holds for."""
        return Validity(self.versions, self.fixed_in, self.verified)


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something wrong with one field; `fatal` keeps the file from being served."""

    line: int
    rule: str
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One row. `fatal`: an edition without it, or with a wrong one, is kept from being served."""

    name: str
    read: Form
    required: bool = False
    fatal: bool = False


_tags = forms.list_of(forms.matching(forms.TAG_ID, "an id of the taxonomy"))
_ids = forms.list_of(forms.matching(forms.ENTRY_ID, "an id: framework/name-of-the-entry"))
_lines = forms.list_of(forms.line_of_text)

FIELDS = (
    Field("title", forms.title, required=True, fatal=True),
    Field("kind", forms.kind, required=True, fatal=True),
    Field("topics", _tags),
    Field("error_types", _tags),
    Field("signatures", forms.list_of(forms.signature)),
    Field("symptoms", _lines),
    Field("aliases", _lines),
    Field("applies_to", forms.line_of_text),
    Field("versions", forms.by_program(fault_of_range)),
    Field("fixed_in", forms.by_program(fault_of_version)),
    Field("verified", forms.verified),
    Field("applies_anywhere", forms.switch),
    Field("related", _ids),
    Field("source", forms.list_of(forms.source), required=True),
    Field("updated", forms.day, required=True),
    Field("synced_with", forms.matching(forms.DIGEST, "12 hex digits, as `jieda sync` writes them")),
    Field("formerly", _ids),
    # What may have been meant to stay hidden must not be shown because of a typing slip.
    Field("draft", forms.switch, fatal=True),
    Field("doubts", _lines),
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

    before = len(complaints)
    try:
        value = row.read(fields.values[row.name], report)
    except WrongValueError as error:
        report(error, fatal=row.fatal)
        return {}
    if row.required and not value and len(complaints) == before:
        complaints.append(Complaint(fields.key_lines[row.name], "field", f"`{row.name}` is empty", row.fatal))
    return {row.name: value}


def _rule(name: str) -> str:
    return "signature" if name == "signatures" else "field"


def _unknown(fields: Fields) -> Iterator[Complaint]:
    known = {row.name for row in FIELDS}
    for key, line in fields.key_lines.items():
        if key not in known:
            yield Complaint(line, "unknown-key", f"`{key}` is not a field of an edition")
