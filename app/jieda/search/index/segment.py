"""A segment: an immutable set of documents as columns in one file.

ids       ids of the documents, sorted; a document's number is its index here
terms     term → document, zone, frequency
keys      key → document
facets    `facet:value` → document
failure   word of texts about failures → document, number of these texts
lengths   terms by zone and document, shape (zones · documents,)
atoms     atom → slot: a position in the concatenated texts of all documents, with one extra slot after each text
separators      distinct separators between atoms, sorted
slots.separator, slots.place   of each slot: the separator before it; the number of its zone · REGIONS + its region
slots.start   the first slot of each document, and the end of the last one
meaning.rows, meaning.width, meaning.start   vectors (`meaning.vectors`), how long one is, and the first of each
          document; no rows where nobody embeds
meaning.titles  how many of a document's, behind the first, are of titles and aliases
meaning.signs   the signs of each vector, eight to a byte
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, repeat
from pathlib import Path
from typing import Any

import numpy as np

from jieda.errors import IndexUnreadable
from jieda.search.index.array_file import (
    Array,
    Occurrences,
    Strings,
    Table,
    narrow,
    read_arrays,
    read_signed,
    string_arrays,
    table_arrays,
    write_arrays,
    write_signed,
)
from jieda.search.index.document import REGIONS, ZONES, Document, IndexedText
from jieda.search.meaning.embedder import Quantized, Signs, sign_words, signs_of

NO_VECTORS: Quantized = np.zeros((0, 1), dtype=np.int8)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a segment; documents are numbered in the order of `ids`, which are sorted."""

    ids: tuple[str, ...]
    terms: Occurrences
    keys: Occurrences
    facets: Occurrences
    failure_terms: Occurrences
    atoms: Occurrences
    lengths: Array
    """Shape (zones, documents)."""
    separators: tuple[str, ...]
    """Sorted."""
    slot_separators: Array
    slot_places: Array
    slot_starts: Array
    meaning: Sequence[Quantized]
    """The vectors of each document."""
    titles: Sequence[int]
    """Number of vectors of each document that are of its titles."""


def write_contents(directory: Path, contents: Contents) -> str:
    """Write a segment and return its name. Raises OSError."""
    return write_arrays(
        directory,
        {
            **string_arrays("ids", contents.ids),
            **table_arrays("terms", contents.terms),
            **table_arrays("keys", contents.keys),
            **table_arrays("facets", contents.facets),
            **table_arrays("failure", contents.failure_terms),
            **table_arrays("atoms", contents.atoms),
            **string_arrays("separators", contents.separators),
            "lengths": narrow(contents.lengths.reshape(-1)),
            "slots.separator": narrow(contents.slot_separators),
            "slots.place": narrow(contents.slot_places),
            "slots.start": narrow(contents.slot_starts),
            **_vector_arrays(contents.meaning),
            "meaning.titles": narrow(np.array(contents.titles, dtype=np.int64)),
        },
    )


def _vector_arrays(vectors: Sequence[Quantized]) -> dict[str, Array]:
    rows = np.concatenate([each for each in vectors if len(each)] or [NO_VECTORS])
    return {
        "meaning.rows": rows.reshape(-1),
        "meaning.signs": signs_of(rows).view(np.uint8).reshape(-1),
        "meaning.width": np.array([rows.shape[1]], dtype="<u4"),
        "meaning.start": narrow(np.cumsum([0, *map(len, vectors)], dtype=np.int64)),
    }


class Segment:
    """An open segment."""

    def __init__(self, directory: Path, name: str, *, verified: bool = True) -> None:
        """Raises IndexUnreadable if the file is missing or differs by a bit from what was written."""
        self.name = name
        try:
            arrays = read_arrays(directory, name, verified=verified)
            self.terms = Table(arrays, "terms", 3)
            self.keys = Table(arrays, "keys", 1)
            self.facets = Table(arrays, "facets", 1)
            self.failure_terms = Table(arrays, "failure", 2)
            self.atoms = Table(arrays, "atoms", 1)
            self.separators = Strings(arrays, "separators")
            self.slot_separators, self.slot_places = arrays["slots.separator"], arrays["slots.place"]
            self.slot_starts = arrays["slots.start"]
            self.meaning: Quantized = arrays["meaning.rows"].reshape(-1, int(arrays["meaning.width"][0]))
            self.signs: Signs = (
                arrays["meaning.signs"].view(np.uint64).reshape(-1, sign_words(self.meaning.shape[1]))
            )
            self.meaning_starts = arrays["meaning.start"].astype(np.int64)
            self.titles = arrays["meaning.titles"].astype(np.int64)
            self._ids = Strings(arrays, "ids")
            self.lengths = arrays["lengths"].reshape(len(ZONES), len(self._ids))
        except (KeyError, ValueError) as error:
            raise IndexUnreadable(f"{directory / name}: {error}") from error

    def __len__(self) -> int:
        return len(self._ids)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of the documents, by number."""
        return tuple(self._ids.all())

    def number(self, document_id: str) -> int | None:
        return self._ids.find(document_id)

    def vectors(self, document: int) -> Quantized:
        """Return the vectors of a document: its mean, then its sayings; none if it is not embedded."""
        first, end = self.meaning_starts[document : document + 2].tolist()
        return self.meaning[first:end]

    def term_frequencies(self, live: Array) -> Array:
        """Count the live documents of each term; `live` is true for each document that counts."""
        documents, starts = self.terms.columns[0], self.terms.starts[:-1].astype(np.int64)
        first = np.ones(len(documents), dtype=np.bool_)
        first[1:] = documents[1:] != documents[:-1]
        first[starts] = True
        return np.add.reduceat((first & live[documents]).astype(np.int64), starts) if len(starts) else starts


MANIFEST = "index.json"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """`segments` by name; `deleted`: numbers of documents by segment, ascending, for those that have any."""

    segments: tuple[str, ...]
    deleted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def write_manifest(directory: Path, manifest: IndexManifest) -> None:
    """Write the manifest, last of all files: an index without it is unfinished. Raises OSError."""
    write_signed(directory / MANIFEST, {"segments": manifest.segments, "deleted": manifest.deleted})


def read_manifest(directory: Path) -> IndexManifest:
    """Read the manifest. Raises IndexUnreadable if it is missing or not as written."""
    content = read_signed(directory / MANIFEST)
    try:
        deleted = {name: tuple(numbers) for name, numbers in content["deleted"].items()}
        return IndexManifest(tuple(content["segments"]), deleted)
    except (KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error


ZONE_NUMBERS = {zone: number for number, zone in enumerate(ZONES)}


COLUMN = "i"
"""Four bytes per number: an index is written in parts of far fewer than two billion rows."""


class RowCollector:
    """Collects occurrences in compact arrays."""

    def __init__(self, columns: int) -> None:
        # Assigns the next number to every new string, without a Python step for each.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._rows = array(COLUMN)
        self._columns = tuple(array(COLUMN) for _ in range(columns))

    def extend(self, texts: Iterable[str], *columns: Iterable[int]) -> None:
        """Append rows; texts and columns have one length."""
        self._rows.extend(self.numbers(texts))
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def numbers(self, texts: Iterable[str]) -> Iterable[int]:
        return map(self._numbers.__getitem__, texts)

    def finished(self) -> Occurrences:
        columns = tuple(np.frombuffer(column, COLUMN) for column in self._columns)
        return Occurrences(tuple(self._numbers), np.frombuffer(self._rows, COLUMN), columns)


class _Slots:
    """Collects the slots of atoms, and the separator before each atom."""

    def __init__(self) -> None:
        self.atoms = RowCollector(1)
        self._separators = RowCollector(0)
        self._before, self._places, self._starts = array(COLUMN), array(COLUMN), array(COLUMN, [0])

    def extend(self, texts: Iterable[IndexedText]) -> None:
        """Append the texts of the next document."""
        for text in texts:
            first = len(self._before)
            self.atoms.extend(text.atoms, range(first, first + len(text.atoms)))
            self._before.extend(self._separators.numbers(text.separators))
            place = ZONE_NUMBERS[text.zone] * REGIONS + text.region
            self._places.extend(repeat(place, len(text.separators)))
        self._starts.append(len(self._before))

    def finished(self) -> dict[str, Any]:
        """Return the fields of `Contents` for all of it."""
        names, numbers = _sort_separators(
            self._separators.finished().strings, np.frombuffer(self._before, COLUMN)
        )
        return {
            "atoms": self.atoms.finished(),
            "separators": names,
            "slot_separators": numbers,
            "slot_places": np.frombuffer(self._places, COLUMN),
            "slot_starts": np.frombuffer(self._starts, COLUMN),
        }


def of_documents(documents: Iterable[Document]) -> Contents:
    """Return the contents of a segment of `documents`, which come in the order of ids; none is kept in memory."""
    terms, keys, facets, failure = RowCollector(3), RowCollector(1), RowCollector(1), RowCollector(2)
    slots, lengths = _Slots(), array(COLUMN)
    ids: list[str] = []
    vectors: list[Quantized] = []
    titles: list[int] = []
    for number, document in enumerate(documents):
        ids.append(document.id)
        vectors.append(document.meaning.vectors() if document.meaning else NO_VECTORS)
        titles.append(document.meaning.titles if document.meaning else 0)
        lengths.extend(sum(document.zones[zone].values()) if zone in document.zones else 0 for zone in ZONES)
        for zone, counts in document.zones.items():
            size = len(counts)
            terms.extend(counts, repeat(number, size), repeat(ZONE_NUMBERS[zone], size), counts.values())
        tags = {f"{facet}:{value}" for facet, values in document.facets.items() for value in values}
        for rows, held_once in ((keys, set(document.keys)), (facets, tags)):
            rows.extend(held_once, repeat(number, len(held_once)))
        words = document.failure_terms
        failure.extend(words, repeat(number, len(words)), words.values())
        slots.extend(document.texts)
    return Contents(
        ids=tuple(ids),
        terms=terms.finished(),
        keys=keys.finished(),
        facets=facets.finished(),
        failure_terms=failure.finished(),
        lengths=np.frombuffer(lengths, COLUMN).reshape(len(ids), len(ZONES)).T,
        meaning=vectors,
        titles=titles,
        **slots.finished(),
    )


def of_segments(segments: Sequence[Segment], live: Sequence[Array]) -> Contents:
    """Merge the documents of `segments` for which `live` (one mask per segment) is true; no id may occur twice."""
    kept = [list(compress(one.ids, mask)) for one, mask in zip(segments, live, strict=True)]
    ids = tuple(sorted(chain.from_iterable(kept)))
    places = {name: place for place, name in enumerate(ids)}
    numbers = [np.full(len(one), -1, dtype=np.int64) for one in segments]
    for new, mask, own in zip(numbers, live, kept, strict=True):
        new[mask] = [places[name] for name in own]
    sizes = np.zeros(len(ids), dtype=np.int64)
    lengths = np.zeros((len(ZONES), len(ids)), dtype=np.int64)
    for one, new in zip(segments, numbers, strict=True):
        sizes[new[new >= 0]] = np.diff(one.slot_starts.astype(np.int64))[new >= 0]
        lengths[:, new[new >= 0]] = one.lengths[:, new >= 0]
    starts = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    slots = [_move_slots(one, new, starts) for one, new in zip(segments, numbers, strict=True)]
    separators = RowCollector(0)
    slot_separators, slot_places = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int64)
    for one, new in zip(segments, slots, strict=True):
        renamed = np.array(list(separators.numbers(one.separators.all())), dtype=np.int64)
        slot_separators[new[new >= 0]] = renamed[one.slot_separators[new >= 0]]
        slot_places[new[new >= 0]] = one.slot_places[new >= 0]
    names, separator_numbers = _sort_separators(separators.finished().strings, slot_separators)
    return Contents(
        ids=ids,
        terms=_join([one.terms.occurrences() for one in segments], numbers),
        keys=_join([one.keys.occurrences() for one in segments], numbers),
        facets=_join([one.facets.occurrences() for one in segments], numbers),
        failure_terms=_join([one.failure_terms.occurrences() for one in segments], numbers),
        atoms=_join([one.atoms.occurrences() for one in segments], slots),
        lengths=lengths,
        separators=names,
        slot_separators=separator_numbers,
        slot_places=slot_places,
        slot_starts=starts,
        **_move_vectors(segments, numbers, len(ids)),
    )


def _move_slots(segment: Segment, numbers: Array, starts: Array) -> Array:
    """Return the new slot of each slot of a segment; negative if its document is deleted."""
    old = segment.slot_starts.astype(np.int64)
    moved = np.where(numbers >= 0, starts[np.maximum(numbers, 0)] - old[:-1], -int(old[-1]) - 1)
    new: Array = np.arange(old[-1]) + np.repeat(moved, old[1:] - old[:-1])
    return new


def _join(parts: Sequence[Occurrences], renumbered: Sequence[Array]) -> Occurrences:
    """Join the occurrences of several segments, the first column renumbered; drop rows with a negative new number."""
    names = RowCollector(0)
    rows, columns = [], []
    for part, new in zip(parts, renumbered, strict=True):
        named = np.array(list(names.numbers(part.strings)), dtype=np.int64)
        first = new[part.columns[0]] if len(part.columns[0]) else np.zeros(0, dtype=np.int64)
        kept = first >= 0
        rows.append(named[part.numbers[kept]])
        columns.append([first[kept], *(column[kept].astype(np.int64) for column in part.columns[1:])])
    return Occurrences(
        names.finished().strings,
        np.concatenate(rows),
        tuple(np.concatenate(column) for column in zip(*columns, strict=True)),
    )


def _move_vectors(segments: Sequence[Segment], numbers: Sequence[Array], size: int) -> dict[str, Any]:
    """Return the fields of `Contents` on vectors, for `size` documents by their new numbers."""
    vectors, titles = [NO_VECTORS] * size, [0] * size
    for one, new in zip(segments, numbers, strict=True):
        for document in np.flatnonzero(new >= 0).tolist():
            vectors[new[document]], titles[new[document]] = one.vectors(document), int(one.titles[document])
    return {"meaning": vectors, "titles": titles}


def _sort_separators(names: Sequence[str], numbers: Array) -> tuple[tuple[str, ...], Array]:
    """Return the separators that occur, sorted, and the new number of each in `numbers`."""
    used = np.unique(numbers)
    ordered = sorted(used.tolist(), key=names.__getitem__)
    ranks = np.zeros(len(names), dtype=np.int64)
    ranks[ordered] = np.arange(len(ordered))
    return tuple(names[number] for number in ordered), ranks[numbers]
