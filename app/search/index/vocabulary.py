"""The terms of live documents, and how many documents hold each."""

from collections.abc import Sequence
from functools import lru_cache
from heapq import merge
from itertools import groupby

import numpy as np

from app.search.index.array_file import Array
from app.search.index.collection import Collection
from app.search.index.phrases import apart_starts, documents_of

KNOWN_TERMS = 50_000
"""Terms whose frequency is kept."""


class EmbeddedLexicon:
    """The vocabulary of live documents. Implements `protocol.Lexicon`."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.frequency = lru_cache(KNOWN_TERMS)(self._frequency)
        self._held = lru_cache(len(collection.segments))(self._held_terms)

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix`, sorted."""
        found = merge(*(self._prefixed(place, prefix) for place in range(len(self._collection.segments))))
        return [term for term, _ in groupby(found)]

    def has_key(self, key: str) -> bool:
        """Whether any document has a key."""
        for place, segment in enumerate(self._collection.segments):
            rows = segment.keys.rows(key)
            if rows is not None and len(self._collection.renumbered(place, segment.keys.columns[0][rows])):
                return True
        return False

    def are_neighbors(self, first: str, second: str) -> bool:
        """Whether an atom stands before another one in some text, a space or a hyphen between them."""
        for place, segment in enumerate(self._collection.segments):
            starts = apart_starts(segment, first, second)
            if len(self._collection.renumbered(place, documents_of(segment, starts))):
                return True
        return False

    def _frequency(self, term: str) -> int:
        held = 0
        for place, segment in enumerate(self._collection.segments):
            if (rows := segment.terms.rows(term)) is not None:
                numbers = self._collection.renumbered(place, segment.terms.columns[0][rows])
                held += int(np.count_nonzero(np.diff(numbers, prepend=-1)))
        return held

    def _prefixed(self, place: int, prefix: str) -> list[str]:
        segment = self._collection.segments[place]
        numbers = segment.terms.strings.prefixed(prefix)
        terms, live = segment.terms.strings.slice(numbers), self._collection.live(place)
        if live.all():
            return terms
        held = self._held(place)[numbers.start : numbers.stop]
        return [term for term, count in zip(terms, held.tolist(), strict=True) if count]

    def _held_terms(self, place: int) -> Array:
        """Which terms of a segment any live document holds."""
        found: Array = self._collection.segments[place].term_frequencies(self._collection.live(place)) > 0
        return found
