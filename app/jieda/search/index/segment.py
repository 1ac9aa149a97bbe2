"""A segment: an immutable set of documents as columns in one file.

ids       ids of the documents, sorted; a document's number is its index here
terms     term → document, zone, frequency
keys      key → document
facets    `facet:value` → document
failure   word of texts about failures → document, number of these texts
lengths   terms by zone and document, shape (zones · documents,)
atoms     atom → slot: a position in the concatenated texts of all documents, with one extra slot after each text
separators      distinct separators between atoms
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
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import compress, repeat
from pathlib import Path

import numpy as np

from jieda.entry import Language
from jieda.errors import IndexUnreadable
from jieda.search.index.array_file import (
    Array,
    Occurrences,
    Strings,
    Table,
    narrow,
    ranges,
    read_arrays,
    read_signed,
    string_arrays,
    table_arrays,
    write_signed,
)
from jieda.search.index.document import EDITION, REGIONS, ZONES, Document
from jieda.search.meaning.embedder import Quantized, Signs, sign_words, signs_of

NO_VECTORS: Quantized = np.zeros((0, 1), dtype=np.int8)


TABLES = {"terms": 3, "keys": 1, "facets": 1, "failure": 2, "atoms": 1}
"""The tables of a segment, and the columns of each. The first column is the document, or of atoms the slot."""


class Segment:
    """An open segment."""

    def __init__(self, directory: Path, name: str, *, verified: bool = True) -> None:
        """Raises IndexUnreadable if the file is missing or differs by a bit from what was written."""
        self.name = name
        try:
            arrays = read_arrays(directory, name, verified=verified)
            self.tables = {name: Table(arrays, name, columns) for name, columns in TABLES.items()}
            self.terms, self.keys, self.facets, self.diagnosis_terms, self.atoms = self.tables.values()
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
        """Return the vectors of a document: its centroid, then its chunks; none if it is not embedded."""
        first, end = self.meaning_starts[document : document + 2].tolist()
        return self.meaning[first:end]

    def lacks_a_language(self) -> Array:
        """Return the mask of the documents without an edition in some language."""
        editions = np.zeros(len(self), dtype=np.intp)
        for lang in Language:
            if (rows := self.facets.rows(f"{EDITION}:{lang}")) is not None:
                editions[self.facets.columns[0][rows]] += 1
        return editions < len(Language)

    def live(self, deleted: Sequence[int]) -> Array:
        """Return the mask of the documents that are not deleted. Raises IndexUnreadable if some are not of this
        segment."""
        live = np.ones(len(self), dtype=np.bool_)
        if deleted and not 0 <= min(deleted) <= max(deleted) < len(self):
            raise IndexUnreadable(f"{self.name}: deletes documents that it does not have")
        live[list(deleted)] = False
        return live

    def prefixed(self, prefix: str, held: Array | None = None) -> list[str]:
        """Return the terms that start with `prefix`, sorted; only those of the mask `held`, if given."""
        numbers = self.terms.strings.prefixed(prefix)
        terms = self.terms.strings.slice(numbers)
        return terms if held is None else [*compress(terms, held[numbers.start : numbers.stop].tolist())]

    def terms_held(self, live: Array) -> Array:
        """Return the mask of the terms that some live document holds; `live` is true for each document that counts."""
        starts = self.terms.starts[:-1].astype(np.int64)
        held: Array = live[self.terms.columns[0]]
        return np.logical_or.reduceat(held, starts) if len(starts) else held[:0]


MANIFEST = "index.json"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """`segments` by name; `deleted`: numbers of documents by segment, ascending, for those that have any; `words`: name
    of the file of the words' vectors, if they have any."""

    segments: tuple[str, ...]
    deleted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    words: str = ""


def write_manifest(directory: Path, manifest: IndexManifest) -> None:
    """Write the manifest, last of all files: an index without it is unfinished. Raises OSError."""
    write_signed(directory / MANIFEST, asdict(manifest))


def read_manifest(directory: Path) -> IndexManifest:
    """Read the manifest. Raises IndexUnreadable if it is missing or not as written."""
    content = read_signed(directory / MANIFEST)
    try:
        deleted = {name: tuple(numbers) for name, numbers in content["deleted"].items()}
        return IndexManifest(tuple(content["segments"]), deleted, content["words"])
    except (KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error


ZONE_NUMBERS = {zone: number for number, zone in enumerate(ZONES)}


COLUMN = "i"
"""Four bytes per number: an index is written in parts of far fewer than two billion rows."""


class RowCollector:
    """Collects occurrences in compact arrays."""

    def __init__(self, columns: int = 0) -> None:
        # Assigns the next number to every new string, without a Python step for each.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._rows = array(COLUMN)
        self._columns = tuple(array(COLUMN) for _ in range(columns))

    def extend(self, texts: Iterable[str], *columns: Iterable[int]) -> None:
        """Append rows; texts and columns have one length."""
        self._rows.extend(map(self._numbers.__getitem__, texts))
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def finished(self) -> Occurrences:
        columns = tuple(np.frombuffer(column, COLUMN) for column in self._columns)
        return Occurrences(tuple(self._numbers), np.frombuffer(self._rows, COLUMN), columns)


def document_arrays(documents: Iterable[Document]) -> dict[str, Array]:
    """Return the arrays of a segment of `documents`, which come in the order of ids; none is kept in memory."""
    tables = {name: RowCollector(columns) for name, columns in TABLES.items()}
    lengths, places, starts, titles = array(COLUMN), array(COLUMN), array(COLUMN, [0]), array(COLUMN)
    separators = RowCollector()
    ids: list[str] = []
    vectors: list[Quantized] = []
    for number, document in enumerate(documents):
        ids.append(document.id)
        vectors.append(document.meaning.vectors() if document.meaning else NO_VECTORS)
        titles.append(document.meaning.titles if document.meaning else 0)
        lengths.extend(sum(document.zones[zone].values()) if zone in document.zones else 0 for zone in ZONES)
        for zone, counts in document.zones.items():
            size = len(counts)
            tables["terms"].extend(
                counts, repeat(number, size), repeat(ZONE_NUMBERS[zone], size), counts.values()
            )
        tags = {f"{facet}:{value}" for facet, values in document.facets.items() for value in values}
        for name, held_once in (("keys", set(document.keys)), ("facets", tags)):
            tables[name].extend(held_once, repeat(number, len(held_once)))
        words = document.diagnosis_terms
        tables["failure"].extend(words, repeat(number, len(words)), words.values())
        for text in document.texts:
            tables["atoms"].extend(text.atoms, range(len(places), len(places) + len(text.atoms)))
            separators.extend(text.separators)
            place = ZONE_NUMBERS[text.zone] * REGIONS + text.region
            places.extend(repeat(place, len(text.separators)))
        starts.append(len(places))
    before = separators.finished()
    columns = {
        "lengths": np.frombuffer(lengths, COLUMN).reshape(len(ids), len(ZONES)).T.reshape(-1),
        "slots.separator": before.numbers,
        "slots.place": np.frombuffer(places, COLUMN),
        "slots.start": np.frombuffer(starts, COLUMN),
        "meaning.titles": np.frombuffer(titles, COLUMN),
    }
    found = {name: rows.finished() for name, rows in tables.items()}
    return _segment_arrays(ids, before.strings, found, columns, vectors)


def merged_arrays(segments: Sequence[Segment], live: Sequence[Array]) -> dict[str, Array]:
    """Return the arrays of one segment of the documents of `segments` for which `live` (one mask per segment) is true;
    no id may occur twice."""
    found = sorted(
        (document_id, place, number)
        for place, (one, mask) in enumerate(zip(segments, live, strict=True))
        for document_id, number in compress(zip(one.ids, range(len(one)), strict=True), mask)
    )
    documents = np.cumsum([0, *map(len, segments)])
    order = np.array([documents[place] + number for _, place, number in found], dtype=np.int64)
    sizes = np.concatenate([np.diff(one.slot_starts.astype(np.int64)) for one in segments])
    slots = ranges((np.cumsum(sizes) - sizes)[order], sizes[order])
    first_slots = np.cumsum([0, *(int(one.slot_starts[-1]) for one in segments)])
    numbers, slot_numbers = _inverted(order, len(sizes)), _inverted(slots, int(sizes.sum()))
    tables = {}
    for name in TABLES:
        firsts, moved = (first_slots, slot_numbers) if name == "atoms" else (documents, numbers)
        tables[name] = _join([one.tables[name].occurrences() for one in segments], firsts, moved)
    before = [Occurrences(one.separators.all(), one.slot_separators, ()) for one in segments]
    separators, slot_separators = _rename(before)
    columns = {
        "lengths": np.concatenate([one.lengths for one in segments], axis=1)[:, order].reshape(-1),
        "slots.separator": slot_separators[slots],
        "slots.place": np.concatenate([one.slot_places for one in segments])[slots],
        "slots.start": np.cumsum([0, *sizes[order]]),
        "meaning.titles": np.concatenate([one.titles for one in segments])[order],
    }
    vectors = [segments[place].vectors(number) for _, place, number in found]
    return _segment_arrays([document_id for document_id, *_ in found], separators, tables, columns, vectors)


def _inverted(order: Array, size: int) -> Array:
    """Return for each of `size` numbers its place in `order`, or −1."""
    places = np.full(size, -1, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def _join(parts: Sequence[Occurrences], firsts: Array, moved: Array) -> Occurrences:
    """Join the occurrences of several segments. Their first columns, to which `firsts` are added, are renumbered by
    `moved`; rows with a negative new number are dropped."""
    strings, numbers = _rename(parts)
    old = [part.columns[0].astype(np.int64) + first for part, first in zip(parts, firsts, strict=False)]
    documents = moved[np.concatenate(old)]
    kept = documents >= 0
    others = [np.concatenate(each)[kept] for each in zip(*(part.columns[1:] for part in parts), strict=True)]
    return Occurrences(strings, numbers[kept], (documents[kept], *others))


def _rename(parts: Sequence[Occurrences]) -> tuple[Sequence[str], Array]:
    """Return the strings of several segments, each once, and the number among them of each row."""
    names = RowCollector()
    for part in parts:
        names.extend(part.strings)
    found = names.finished()
    ends = np.cumsum([len(part.strings) for part in parts])
    renamed = np.split(found.numbers, ends[:-1])
    return found.strings, np.concatenate(
        [new[part.numbers] for new, part in zip(renamed, parts, strict=True)]
    )


def _segment_arrays(
    ids: Sequence[str],
    separators: Sequence[str],
    tables: Mapping[str, Occurrences],
    columns: Mapping[str, Array],
    vectors: Sequence[Quantized],
) -> dict[str, Array]:
    arrays = {**string_arrays("ids", ids), **string_arrays("separators", separators)}
    for name, found in tables.items():
        arrays |= table_arrays(name, found)
    rows = np.concatenate([each for each in vectors if len(each)] or [NO_VECTORS])
    return {
        **arrays,
        **{name: narrow(column) for name, column in columns.items()},
        "meaning.rows": rows.reshape(-1),
        "meaning.signs": signs_of(rows).view(np.uint8).reshape(-1),
        "meaning.width": np.array([rows.shape[1]], dtype="<u4"),
        "meaning.start": narrow(np.cumsum([0, *map(len, vectors)], dtype=np.int64)),
    }
