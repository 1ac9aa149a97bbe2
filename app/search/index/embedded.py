"""The index inside the process: segments mapped into memory, looked up and judged in bulk by numpy."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from app.entry import Language
from app.search.index.array_file import Array
from app.search.index.cache import ByteCache
from app.search.index.collection import Collection
from app.search.index.facets import FacetColumns
from app.search.index.fields import Weighting
from app.search.index.likeness import EmbeddedLikeness
from app.search.index.manifest import read_manifest
from app.search.index.phrases import documents_of, held_at, phrase_starts
from app.search.index.pool import Pool, pooled
from app.search.index.protocol import Columns, Mask, Numbers, Wanted
from app.search.index.segment import Segment
from app.search.index.selection import EmbeddedFound, Judged
from app.search.index.telling import EmbeddedTelling
from app.search.index.vocabulary import EmbeddedLexicon

POOL_ROOM, ROOM_OF_ENTRY = 64 << 20, 1 << 10
"""Bytes of postings that are kept decoded, and as many more for each entry: a word that all of them have takes 16."""


class EmbeddedIndex:
    """An index directory, open. Implements `protocol.Index`."""

    def __init__(self, directory: Path, weighting: Weighting, reuse: "EmbeddedIndex | None" = None) -> None:
        """Segments that `reuse` has are not read again. Raises IndexUnreadable where anything in `directory` is
        missing or damaged."""
        manifest = read_manifest(directory)
        known = {one.name: one for one in reuse.collection.segments} if reuse else {}
        segments = [known.get(name) or Segment(directory, name) for name in manifest.segments]
        self.collection: Collection = Collection(segments, manifest, weighting)
        self.facets = FacetColumns(self.collection)
        self.likeness = EmbeddedLikeness(self.collection, weighting.gist)
        self.lexicon = EmbeddedLexicon(self.collection)
        self.telling = EmbeddedTelling(self.collection)
        self._lacking = {lang: self.facets.lacking(lang) for lang in Language}
        self._weighting = weighting
        room = POOL_ROOM + ROOM_OF_ENTRY * len(self.collection)
        self._pools: ByteCache[tuple[str, ...], Pool] = ByteCache(room, lambda pool: pool.size)

    def find(self, wanted: Wanted) -> EmbeddedFound:
        """Judges every document."""
        pools = tuple(map(self._pool, wanted.pools))
        phrase, written = self._phrase(wanted.phrase, wanted.writing)
        columns = Columns(
            size=len(self.collection),
            total=len(self.collection),
            pools=tuple(pool.postings for pool in pools),
            keyed=tuple(self._keyed(keys) for keys in wanted.keys),
            phrase=phrase,
            written=written,
            likeness=None if wanted.meaning is None else partial(self.likeness.of, wanted.meaning),
            lacking=self._lacking,
        )
        required = self._required(wanted.required)
        judged = Judged(pools, columns, wanted.judge(columns))
        return EmbeddedFound(self.collection.ids, self.facets, wanted, judged, required)

    def is_tagged(self, facet: str, document_id: str) -> bool:
        """Whether a document carries any value of a facet."""
        ids, carriers = self.collection.ids, self.facets.carriers(facet)
        number = bisect_left(ids, document_id)
        place = int(carriers.searchsorted(number))
        return ids[number : number + 1] == (document_id,) and carriers[place : place + 1].tolist() == [number]

    def _pool(self, variants: tuple[str, ...]) -> Pool:
        return self._pools.get(variants, lambda: pooled(self.collection, self._weighting, variants))

    def _keyed(self, keys: Sequence[str]) -> Numbers:
        found = [
            self.collection.renumbered(place, segment.keys.columns[0][rows])
            for key in keys
            for place, segment in enumerate(self.collection.segments)
            if (rows := segment.keys.rows(key)) is not None
        ]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *found]))

    def _phrase(self, atoms: Sequence[str], typed: Sequence[str]) -> tuple[Numbers, Array]:
        """The documents that hold a phrase, and how each has it written."""
        held = np.zeros(len(self.collection), dtype=np.uint16)
        mask = np.zeros(len(self.collection), dtype=np.bool_)
        for place, segment in enumerate(self.collection.segments):
            starts = phrase_starts(segment, atoms)
            if not len(starts):
                continue
            holders = documents_of(segment, starts)
            first = np.flatnonzero(np.diff(holders, prepend=-1))
            numbers = self.collection.numbers[place][holders[first]]
            live = numbers >= 0
            mask[numbers[live]] = True
            if typed:
                ways = np.bitwise_or.reduceat(held_at(segment, starts, typed), first)
                held[numbers[live]] |= ways[live]
        documents = np.flatnonzero(mask)
        return documents, held[documents]

    def _required(self, phrases: Sequence[Sequence[str]]) -> Mask | None:
        """Documents that hold all of some phrases; None where none are asked for."""
        masks = []
        for phrase in phrases:
            mask = np.zeros(len(self.collection), dtype=np.bool_)
            mask[self._phrase(phrase, ())[0]] = True
            masks.append(mask)
        required: Mask | None = np.logical_and.reduce(masks) if masks else None
        return required
