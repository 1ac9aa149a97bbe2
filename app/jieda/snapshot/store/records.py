"""Record types of facts and generations: frozen values, converted to JSON and back, with nothing executable."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from jieda.content.read.corpus import SampleFile
from jieda.content.read.gather import Vocabulary
from jieda.diagnosis.facts import SignatureCount
from jieda.entry import Edition, Entry, Language, Problem, Signature, Summary

Value = TypeVar("Value")

DIGEST_SIZE = 16


class GenerationUnreadable(Exception):
    """A generation is missing, damaged or made by other code; `str` says why."""


class RecordUnreadable(GenerationUnreadable):
    """Bytes do not decode to the expected record."""


@dataclass(frozen=True)
class EntryRow:
    """An entry in a generation. `editions`, `places` (of terms in editions), `document`, `completions`, `diagnosis`,
    `meaning` and `history` are keys of facts; `meaning` is empty without an embedder, `history` has only editions with
    changes recorded in git."""

    summary: Summary
    editions: Mapping[Language, bytes]
    places: Mapping[Language, bytes]
    document: bytes
    completions: bytes
    diagnosis: bytes
    meaning: bytes = b""
    history: Mapping[Language, bytes] = field(default_factory=dict)

    @property
    def keys(self) -> Iterator[bytes]:
        yield from self.editions.values()
        yield from self.places.values()
        yield from self.history.values()
        yield from (self.document, self.completions, self.diagnosis)
        if self.meaning:
            yield self.meaning

    @property
    def indexed(self) -> tuple[bytes, bytes, bytes]:
        """Keys of the facts that the index is written from."""
        return self.document, self.diagnosis, self.meaning

    @cached_property
    def digest(self) -> bytes:
        return hashlib.blake2b(to_json(self), digest_size=DIGEST_SIZE).digest()


@dataclass(frozen=True, slots=True)
class Header:
    """The part of a generation that is read when it is opened: everything but its entries.

    `code`: version of the code that made it. `engine`: name of the external engine, empty for the in-process index.
    `background_words`: keys of the facts about the words of logs that no entry explains; those logs are the `samples`
    without an entry. `counts`: number of logs per signature. `signatures`: by id, of entries that have any. `anywhere`:
    ids of entries that apply to any framework. `problems`: sorted by path and line. `old_ids`: old id to current id.
    `images`: served name to the name of a file in the images folder. `drafts`: files that are hidden from readers.
    `completions`: name of an array file in its index.
    """

    code: str
    engine: str
    vocabulary: Vocabulary
    background_words: tuple[bytes, ...]
    counts: tuple[SignatureCount, ...]
    signatures: Mapping[str, tuple[Signature, ...]]
    anywhere: tuple[str, ...]
    samples: tuple[SampleFile, ...]
    problems: tuple[Problem, ...]
    old_ids: Mapping[str, str]
    images: Mapping[str, str]
    drafts: tuple[str, ...]
    completions: str = ""


def to_json(value: object) -> bytes:
    """Encode a record as JSON. Paths become strings, bytes base64."""
    return msgspec.json.encode(value, enc_hook=_plain)


def from_json(data: bytes, kind: type[Value]) -> Value:
    """Decode a record of type `kind`. Raises RecordUnreadable for anything else."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_rich)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordUnreadable(str(error)) from error


def edition_to_json(edition: Edition) -> bytes:
    """Encode an edition without its path and the date of its file, which do not follow from its text."""
    return to_json(replace(edition, path=Path(), updated=date.min))


def edition_from_json(data: bytes, path: str, updated: date) -> Edition:
    """Decode an edition and set its path and date. Raises RecordUnreadable."""
    return replace(from_json(data, Edition), path=Path(path), updated=updated)


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a record cannot contain a {type(value).__name__}")


def _rich(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"a record cannot contain a {kind.__name__}")


def read_entry(fact: Callable[[bytes], bytes | None], row: EntryRow) -> Entry:
    """Return a whole entry, read from its facts. Raises RecordUnreadable, KeyError if its text is missing."""
    editions: dict[Language, Edition] = {}
    for lang, key in row.editions.items():
        value = fact(key)
        if value is None:
            raise KeyError(row.summary.id)
        summary = row.summary.editions[lang]
        editions[lang] = edition_from_json(value, summary.path, summary.updated)
    return row.summary.entry(editions)
