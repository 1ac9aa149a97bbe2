"""The forms in which facts and generations are kept: frozen values to JSON and back, nothing that could run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TypeVar

import msgspec

from jieda.content.read.corpus import FileOutline
from jieda.content.read.gather import Vocabulary
from jieda.content.read.state import EntryHead
from jieda.diagnosis.words import SignatureCount
from jieda.entry import Edition, Entry, Language, Problem, Signature

Value = TypeVar("Value")

TELLING = "telling"
"""A tag that only a diagnosis looks at, of entries that tell a failure."""


class RecordUnreadable(ValueError):
    """Bytes that are not the record they should be."""


@dataclass(frozen=True, slots=True)
class FileFact:
    """What the bytes of one edition's file say."""

    outline: FileOutline | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry in a generation. `editions`, `places` (of terms in editions), `document`, `completions`, `diagnosis`,
    `meaning` and `history` are keys of facts, in hexadecimal digits; `meaning` is empty where nobody embeds, `history`
    has the editions that git knows to have changed."""

    head: EntryHead
    editions: Mapping[Language, str]
    places: Mapping[Language, str]
    document: str
    completions: str
    diagnosis: str
    meaning: str = ""
    history: Mapping[Language, str] = field(default_factory=dict)

    @property
    def keys(self) -> Iterator[str]:
        """The facts that it names."""
        yield from self.editions.values()
        yield from self.places.values()
        yield from self.history.values()
        yield from (self.document, self.completions, self.diagnosis)
        if self.meaning:
            yield self.meaning

    @property
    def indexed(self) -> tuple[str, str, str]:
        """The facts that an index is written from."""
        return self.document, self.diagnosis, self.meaning


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A log that belongs to an entry, or to none: where it lies, and the hash of its content."""

    entry_id: str
    where: str
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Header:
    """What is read of a generation when it is opened. `code` is the version of the code that made it; `engine`, what
    searches it: empty for the index beside it. `background_words`: the keys of the facts about the words of the logs
    that no entry explains. `counts` says how many logs have which signature; `signatures` are those of the entries that
    have any; `anywhere`, the entries that apply to any framework. `completions`: the name of a file of its index."""

    code: str
    engine: str
    vocabulary: Vocabulary
    background_words: tuple[str, ...]
    counts: tuple[SignatureCount, ...]
    signatures: Mapping[str, tuple[Signature, ...]]
    anywhere: tuple[str, ...] = ()
    completions: str = ""


@dataclass(frozen=True, slots=True)
class Lists:
    """What stands beside the entries of a generation. `samples` of no entry are the logs that none explains;
    `old_ids`: old id to the id of today; `images`: served name to the name of a file beside the facts; `drafts`: the
    files that readers are not to see."""

    samples: tuple[SampleRow, ...]
    problems: tuple[Problem, ...]
    old_ids: Mapping[str, str]
    images: Mapping[str, str]
    drafts: tuple[str, ...]


def to_json(value: object) -> bytes:
    """The JSON of a record. Paths become text."""
    return msgspec.json.encode(value, enc_hook=_plain)


def from_json(data: bytes, kind: type[Value]) -> Value:
    """The record of a kind. Raises RecordUnreadable for anything else."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_rich)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordUnreadable(str(error)) from error


def edition_to_json(edition: Edition) -> bytes:
    """An edition without what does not follow from its text: where it lies, and the day of its file."""
    return to_json(replace(edition, path=Path(), updated=date.min))


def edition_from_json(data: bytes, path: str, updated: date) -> Edition:
    """The edition that lies at `path`. Raises RecordUnreadable."""
    return replace(from_json(data, Edition), path=Path(path), updated=updated)


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a record")


def _rich(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"{kind.__name__} has no place in a record")


def read_entry(fact: Callable[[bytes], bytes | None], row: EntryRow) -> Entry:
    """A whole entry, from its facts. Raises RecordUnreadable, KeyError where its text is lost."""
    editions: dict[Language, Edition] = {}
    for lang, key in row.editions.items():
        value = fact(bytes.fromhex(key))
        if value is None:
            raise KeyError(row.head.summary.id)
        summary = row.head.summary.editions[lang]
        editions[lang] = edition_from_json(value, summary.path, summary.updated)
    return row.head.entry(editions)
