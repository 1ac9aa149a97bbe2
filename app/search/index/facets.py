"""Tags of documents as columns: counted and filtered by without looking at a document."""

from collections.abc import Mapping

import numpy as np

from app.entry import Language
from app.filters import Filters
from app.search.index.array_file import Array
from app.search.index.collection import Collection
from app.search.index.protocol import Mask
from app.taxonomy import FACETS

EDITION = "edition"


class FacetColumns:
    """For each facet its values, sorted, and rows of (document, number of the value), those of a value together."""

    def __init__(self, collection: Collection) -> None:
        self._size = len(collection)
        rows: dict[str, dict[str, list[Array]]] = {facet: {} for facet in (*FACETS, EDITION)}
        for place, segment in enumerate(collection.segments):
            table = segment.facets
            for number, tag in enumerate(table.strings.all()):
                facet, _, value = tag.partition(":")
                documents_of_tag = table.columns[0][int(table.starts[number]) : int(table.starts[number + 1])]
                documents = collection.renumbered(place, documents_of_tag)
                if len(documents):
                    rows.setdefault(facet, {}).setdefault(value, []).append(documents)
        self._values = {facet: tuple(sorted(values)) for facet, values in rows.items()}
        self._documents: dict[str, Array] = {}
        self._numbers: dict[str, Array] = {}
        self._firsts: dict[str, Array] = {}
        self._carriers: dict[str, Array] = {}
        for facet, values in rows.items():
            held = [np.concatenate(values[value]) for value in self._values[facet]]
            counts = [len(documents) for documents in held]
            self._documents[facet] = np.concatenate([np.zeros(0, dtype=np.int32), *held])
            self._numbers[facet] = np.repeat(np.arange(len(counts)), counts)
            self._firsts[facet] = np.cumsum([0, *counts[:-1]])
            self._carriers[facet] = np.unique(self._documents[facet])

    def passing(self, filters: Filters, without: str = "") -> Mask | None:
        """Documents that pass all filters but the one on the facet `without`; None where all do."""
        chosen = {facet: filters.facet(facet) for facet in FACETS if facet != without}
        chosen[EDITION] = (filters.edition,) if filters.edition else ()
        masks = [self._chosen(facet, values) for facet, values in chosen.items() if values]
        passing: Mask | None = np.logical_and.reduce(masks) if masks else None
        return passing

    def lacking(self, lang: Language) -> Mask:
        """Documents that have no edition in a language."""
        return ~self._chosen(EDITION, (lang,))

    def counts(self, facet: str, among: Mask) -> dict[str, int]:
        """How many of the documents `among` carry each value of a facet."""
        values = self._values[facet]
        if not values:
            return {}
        # A value that no document carries is none, so that no group is empty.
        counted = np.add.reduceat(among[self._documents[facet]], self._firsts[facet], dtype=np.intp)
        return dict(zip(values, counted.tolist(), strict=True))

    def all_counts(self, answering: Mask, filters: Filters) -> Mapping[str, Mapping[str, int]]:
        """For each value of each facet, how many answers there would be with it alone chosen in that facet."""
        counted = {}
        for facet in FACETS:
            passing = self.passing(filters, without=facet)
            counted[facet] = self.counts(facet, answering if passing is None else answering & passing)
        return counted

    def carriers(self, facet: str) -> Array:
        """The documents that carry any value of a facet, ascending."""
        return self._carriers.get(facet, np.zeros(0, dtype=np.int32))

    def _chosen(self, facet: str, values: tuple[str, ...]) -> Mask:
        mask = np.zeros(self._size, dtype=np.bool_)
        wanted = [number for number, value in enumerate(self._values[facet]) if value in values]
        mask[self._documents[facet][np.isin(self._numbers[facet], wanted)]] = True
        return mask
