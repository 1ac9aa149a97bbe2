"""What a segment is written from: documents, or the living documents of other segments."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np

from app.search.index.array_file import Array
from app.search.index.document import Document
from app.search.index.fields import ZONES
from app.search.index.lexicon import Occurrences
from app.search.index.segment import NO_VECTORS, Contents, Segment
from app.search.meaning.vectors import Kept

ZONE_NUMBERS = {zone: number for number, zone in enumerate(ZONES)}


COLUMN = "i"
"""Four bytes a number: an index is written in parts that stay far below two thousand million rows."""


class Rows:
    """Collects occurrences, in as little memory as they need."""

    def __init__(self, columns: int) -> None:
        # Gives every new string the next number, without a step of Python for each.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._rows = array(COLUMN)
        self._columns = tuple(array(COLUMN) for _ in range(columns))

    def extend(self, texts: Iterable[str], *columns: Iterable[int]) -> None:
        """More rows; texts and columns of one length."""
        self._rows.extend(self.numbers(texts))
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def numbers(self, texts: Iterable[str]) -> Iterable[int]:
        """The numbers that strings have here."""
        return map(self._numbers.__getitem__, texts)

    def finished(self) -> Occurrences:
        """All rows."""
        columns = tuple(np.frombuffer(column, COLUMN) for column in self._columns)
        return Occurrences(tuple(self._numbers), np.frombuffer(self._rows, COLUMN), columns)


def of_documents(documents: Iterable[Document]) -> Contents:
    """Documents, in the order of their ids; none is held longer than it takes to read it."""
    terms, keys, facets, telling, atoms = Rows(3), Rows(1), Rows(1), Rows(2), Rows(1)
    gaps = Rows(0)
    ids: list[str] = []
    vectors: list[Kept] = []
    lengths, slot_gaps, slot_regions, starts = array(COLUMN), array(COLUMN), array(COLUMN), array(COLUMN, [0])
    for number, document in enumerate(documents):
        ids.append(document.id)
        vectors.append(document.meaning.vectors() if document.meaning else NO_VECTORS)
        lengths.extend(sum(document.zones[zone].values()) if zone in document.zones else 0 for zone in ZONES)
        for zone, counts in document.zones.items():
            terms.extend(
                counts, repeat(number, len(counts)), repeat(ZONE_NUMBERS[zone], len(counts)), counts.values()
            )
        for rows, held_once in ((keys, set(document.keys)), (facets, _tags(document))):
            rows.extend(held_once, repeat(number, len(held_once)))
        telling.extend(document.telling, repeat(number, len(document.telling)), document.telling.values())
        for passage in document.passages:
            atoms.extend(passage.atoms, range(len(slot_gaps), len(slot_gaps) + len(passage.atoms)))
            slot_gaps.extend(gaps.numbers(passage.gaps))
            slot_regions.extend(repeat(passage.region, len(passage.gaps)))
        starts.append(len(slot_gaps))
    names, numbers = _sorted_gaps(gaps.finished().strings, np.frombuffer(slot_gaps, COLUMN))
    return Contents(
        ids=tuple(ids),
        terms=terms.finished(),
        keys=keys.finished(),
        facets=facets.finished(),
        telling=telling.finished(),
        atoms=atoms.finished(),
        lengths=np.frombuffer(lengths, COLUMN).reshape(len(ids), len(ZONES)).T,
        gaps=names,
        slot_gaps=numbers,
        slot_regions=np.frombuffer(slot_regions, COLUMN),
        slot_starts=np.frombuffer(starts, COLUMN),
        meaning=vectors,
    )


def _tags(document: Document) -> set[str]:
    """Facets with their values."""
    return {f"{facet}:{value}" for facet, values in document.facets.items() for value in values}


def of_segments(segments: Sequence[Segment], live: Sequence[Array]) -> Contents:
    """The documents of some segments for which `live` (a mask a segment) is true; no id twice."""
    ids = sorted(name for one, mask in zip(segments, live, strict=True) for name in _kept(one, mask))
    places = {name: place for place, name in enumerate(ids)}
    numbers = [
        np.array(
            [places[name] if keep else -1 for name, keep in zip(one.ids, mask, strict=True)], dtype=np.int64
        )
        for one, mask in zip(segments, live, strict=True)
    ]
    sizes = np.zeros(len(ids), dtype=np.int64)
    lengths = np.zeros((len(ZONES), len(ids)), dtype=np.int64)
    for one, new in zip(segments, numbers, strict=True):
        sizes[new[new >= 0]] = np.diff(one.slot_starts.astype(np.int64))[new >= 0]
        lengths[:, new[new >= 0]] = one.lengths[:, new >= 0]
    starts = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    slots = [_moved_slots(one, new, starts) for one, new in zip(segments, numbers, strict=True)]
    gaps = Rows(0)
    slot_gaps, slot_regions = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], np.int64)
    for one, new in zip(segments, slots, strict=True):
        renamed = np.array(list(gaps.numbers(one.gaps.all())), dtype=np.int64)
        slot_gaps[new[new >= 0]] = renamed[one.slot_gaps[new >= 0]]
        slot_regions[new[new >= 0]] = one.slot_regions[new >= 0]
    names, gap_numbers = _sorted_gaps(gaps.finished().strings, slot_gaps)
    return Contents(
        ids=tuple(ids),
        terms=_joined([one.terms.occurrences() for one in segments], numbers),
        keys=_joined([one.keys.occurrences() for one in segments], numbers),
        facets=_joined([one.facets.occurrences() for one in segments], numbers),
        telling=_joined([one.telling.occurrences() for one in segments], numbers),
        atoms=_joined([one.atoms.occurrences() for one in segments], slots),
        lengths=lengths,
        gaps=names,
        slot_gaps=gap_numbers,
        slot_regions=slot_regions,
        slot_starts=starts,
        meaning=_moved_vectors(segments, numbers, len(ids)),
    )


def _kept(segment: Segment, live: Array) -> Iterable[str]:
    return (name for name, keep in zip(segment.ids, live, strict=True) if keep)


def _moved_slots(segment: Segment, numbers: Array, starts: Array) -> Array:
    """The new slot of each slot of a segment; negative where its document is gone."""
    old = segment.slot_starts.astype(np.int64)
    moved = np.where(numbers >= 0, starts[np.maximum(numbers, 0)] - old[:-1], -int(old[-1]) - 1)
    new: Array = np.arange(old[-1]) + np.repeat(moved, old[1:] - old[:-1])
    return new


def _joined(parts: Sequence[Occurrences], renumbered: Sequence[Array]) -> Occurrences:
    """Occurrences of several segments, the first column renumbered; rows whose new number is negative go."""
    names = Rows(0)
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


def _moved_vectors(segments: Sequence[Segment], numbers: Sequence[Array], size: int) -> list[Kept]:
    """The vectors of `size` documents by their new numbers."""
    vectors = [NO_VECTORS] * size
    for one, new in zip(segments, numbers, strict=True):
        for document in np.flatnonzero(new >= 0).tolist():
            vectors[new[document]] = one.vectors(document)
    return vectors


def _sorted_gaps(names: Sequence[str], numbers: Array) -> tuple[tuple[str, ...], Array]:
    """Gaps that occur, sorted, and the new number of each in `numbers`."""
    used = np.unique(numbers)
    ordered = sorted(used.tolist(), key=names.__getitem__)
    ranks = np.zeros(len(names), dtype=np.int64)
    ranks[ordered] = np.arange(len(ordered))
    return tuple(names[number] for number in ordered), ranks[numbers]
