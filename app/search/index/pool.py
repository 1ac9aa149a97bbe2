"""The postings of terms that stand for one word, gathered from all segments and weighed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.search.index.array_file import Array
from app.search.index.collection import Collection
from app.search.index.fields import ZONES, Weighting
from app.search.index.protocol import Postings, Scores, Share


@dataclass(frozen=True, slots=True)
class Pool:
    """What the terms of a pool occur in: all of them together in `postings`, and each occurrence of a term in a zone of
    a document, ordered by document: `documents`, `sources` (number of the term · zones + number of the zone) and
    `amounts`, what it brings to tf~; all of shape (n,)."""

    terms: tuple[str, ...]
    postings: Postings
    documents: Array
    sources: Array
    amounts: Scores

    @property
    def size(self) -> int:
        """Bytes."""
        postings = self.postings
        arrays = (
            postings.documents,
            postings.saturation,
            self.documents,
            self.sources,
            self.amounts,
        )
        return sum(array.nbytes for array in arrays) + 1024

    def shares(self, numbers: Sequence[int]) -> list[list[Share]]:
        """What each term brought in each zone of some documents."""
        starts = np.searchsorted(self.documents, np.array(numbers, dtype=np.int32))
        ends = np.searchsorted(self.documents, np.array(numbers, dtype=np.int32), side="right")
        return [
            [
                Share(self.terms[source // len(ZONES)], ZONES[source % len(ZONES)], amount)
                for source, amount in zip(
                    self.sources[start:end].tolist(), self.amounts[start:end].tolist(), strict=True
                )
            ]
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]


def pooled(collection: Collection, weighting: Weighting, variants: tuple[str, ...]) -> Pool:
    """The pool of some terms; one that is named twice counts once."""
    terms = tuple(dict.fromkeys(variants))
    pieces = [
        piece
        for number, term in enumerate(terms)
        for place in range(len(collection.segments))
        if (piece := _piece(collection, weighting, place, number, term)) is not None
    ]
    if not pieces:
        return Pool(terms, NOWHERE, NO_DOCUMENTS, NO_SOURCES, NO_AMOUNTS)
    documents, sources, amounts = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if len(pieces) > 1:
        order = np.argsort(documents, kind="stable")
        documents, sources, amounts = documents[order], sources[order], amounts[order]
    first = np.flatnonzero(np.diff(documents, prepend=-1))
    frequencies = np.add.reduceat(amounts, first) if len(first) else NO_AMOUNTS
    postings = Postings(
        documents[first].astype(np.intp), frequencies / (weighting.k1 + frequencies), len(first)
    )
    return Pool(terms, postings, documents, sources, amounts)


def _piece(
    collection: Collection, weighting: Weighting, place: int, number: int, term: str
) -> tuple[Array, Array, Scores] | None:
    """The rows of a term in a segment, weighed."""
    table = collection.segments[place].terms
    rows = table.rows(term)
    if rows is None:
        return None
    documents, zones, frequencies = (column[rows] for column in table.columns)
    numbers = collection.numbers[place][documents]
    if len(numbers) and numbers.min() < 0:
        kept = numbers >= 0
        numbers, zones, frequencies = numbers[kept], zones[kept], frequencies[kept]
    weights = np.array([weighting.zones[zone].weight for zone in ZONES]) * weighting.kinds.get(term[0], 1.0)
    amounts = weights[zones] * frequencies / collection.norms[zones, numbers]
    return numbers, zones.astype(np.uint16) + number * len(ZONES), amounts


NO_DOCUMENTS = np.zeros(0, dtype=np.int32)
NO_SOURCES = np.zeros(0, dtype=np.uint16)
NO_AMOUNTS = np.zeros(0)
NOWHERE = Postings(np.zeros(0, dtype=np.intp), NO_AMOUNTS, 0)
