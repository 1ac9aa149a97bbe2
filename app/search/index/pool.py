"""The postings of terms that stand for one word, gathered from all segments and weighed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from app.search.index.array_file import Array
from app.search.index.collection import Collection
from app.search.index.fields import ZONES, Weighting
from app.search.index.protocol import Postings, Scores, Share

MOST_ROWS = 4096
"""Rows of a pool that are kept. Those of common words take most of the room, and ten of their documents are explained:
they are read again where they lie."""


class Rows(NamedTuple):
    """Each occurrence of a term in a zone of a document: `documents`, `sources` (number of the term · zones + number of
    the zone) and `amounts`, what it brings to tf~; all of shape (n,)."""

    documents: Array
    sources: Array
    amounts: Scores

    def ordered(self) -> "Rows":
        """By document."""
        order = np.argsort(self.documents, kind="stable")
        return Rows(*(column[order] for column in self))

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(column.nbytes for column in self)


@dataclass(frozen=True, slots=True)
class Pool:
    """What the terms of a pool occur in: all of them together in `postings`, and row by row in `rows`, which are those
    of all documents where they are kept, otherwise of those asked for, none of them twice."""

    terms: tuple[str, ...]
    postings: Postings
    rows: Callable[[Array], Rows]
    size: int
    """Bytes."""

    def shares(self, numbers: Sequence[int]) -> list[list[Share]]:
        """What each term brought in each zone of some documents."""
        wanted = np.array(numbers, dtype=np.int32)
        rows = self.rows(wanted)
        starts = np.searchsorted(rows.documents, wanted).tolist()
        ends = np.searchsorted(rows.documents, wanted, side="right").tolist()
        return [
            [
                Share(self.terms[source // len(ZONES)], ZONES[source % len(ZONES)], amount)
                for source, amount in zip(
                    rows.sources[start:end].tolist(), rows.amounts[start:end].tolist(), strict=True
                )
            ]
            for start, end in zip(starts, ends, strict=True)
        ]


def pooled(collection: Collection, weighting: Weighting, variants: tuple[str, ...]) -> Pool:
    """The pool of some terms; one that is named twice counts once."""
    terms = tuple(dict.fromkeys(variants))
    rows = _rows(collection, weighting, terms)
    frequencies = np.bincount(rows.documents, rows.amounts, len(collection))
    found = np.flatnonzero(frequencies)
    postings = Postings(found, frequencies[found] / (weighting.k1 + frequencies[found]), len(found))
    size = postings.documents.nbytes + postings.saturation.nbytes + 1024
    if len(rows.documents) > MOST_ROWS:
        return Pool(
            terms,
            postings,
            lambda among: _rows(collection, weighting, terms, np.unique(among)).ordered(),
            size,
        )
    kept = rows.ordered()
    return Pool(terms, postings, lambda _: kept, size + kept.size)


def _rows(
    collection: Collection, weighting: Weighting, terms: Sequence[str], among: Array | None = None
) -> Rows:
    """The rows of some terms, of all documents or of those `among` them; not in order."""
    pieces = [NO_ROWS]
    for number, term in enumerate(terms):
        kind = weighting.kinds.get(term[0], 1.0)
        for place in range(len(collection.segments)):
            if (piece := _piece(collection, place, term, among)) is not None:
                documents, zones, amounts = piece
                pieces.append(Rows(documents, zones + np.uint16(number * len(ZONES)), amounts * kind))
    return Rows(*map(np.concatenate, zip(*pieces, strict=True)))


def _piece(collection: Collection, place: int, term: str, among: Array | None) -> Rows | None:
    """The rows of a term in a segment, as those of a pool that has no other and weighs it in full."""
    table, numbers = collection.segments[place].terms, collection.numbers[place]
    rows = table.rows(term)
    if rows is None:
        return None
    chosen = rows if among is None else _within(table.columns[0], rows, collection.placed(place, among))
    documents, zones, frequencies = (column[chosen] for column in table.columns)
    documents = numbers[documents]
    if len(documents) and documents.min() < 0:
        live = documents >= 0
        documents, zones, frequencies = documents[live], zones[live], frequencies[live]
    gains = collection.gains.take(documents.astype(np.intp) * len(ZONES) + zones)
    return Rows(documents, zones, gains * frequencies)


def _within(column: Array, rows: slice, documents: Array) -> Array:
    """Those of some rows, by document, that are of some documents."""
    here = column[rows]
    starts = here.searchsorted(documents.astype(here.dtype))
    counts = here.searchsorted(documents.astype(here.dtype), side="right") - starts
    chosen: Array = rows.start + np.repeat(starts - np.cumsum(counts) + counts, counts)
    return chosen + np.arange(len(chosen))


NO_ROWS = Rows(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint16), np.zeros(0))
