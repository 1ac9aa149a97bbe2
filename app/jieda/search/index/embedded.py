"""The index inside the process: memory-mapped segments, looked up and judged in bulk with numpy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jieda.byte_cache import ByteCache
from jieda.entry import Language
from jieda.search.index.array_file import Array, firsts, ranges
from jieda.search.index.collection import (
    Collection,
    DiagnosisTerms,
    EmbeddedLexicon,
    FacetColumns,
    documents_of,
    phrase_starts,
    spelled_at,
)
from jieda.search.index.document import ZONES
from jieda.search.index.protocol import (
    Candidates,
    CandidateScores,
    Lookup,
    LookupResult,
    Mask,
    Numbers,
    Postings,
    ScoredDocument,
    Scores,
    Share,
    Variants,
)
from jieda.search.index.segment import Segment, read_manifest
from jieda.search.index.vectors import VectorIndex
from jieda.search.meaning.word_vectors import open_words
from jieda.search.weights import K1, KIND_WEIGHTS
from jieda.taxonomy import Filters

MOST_ROWS = 4096
"""Most rows of a pool that the cache keeps. Rows of common words take most of the memory, and only ten of their
documents are explained: these are read again from the segments."""


class PoolRows(NamedTuple):
    """Each occurrence of a term in a zone of a document: `documents`, `sources` (number of the term · zones + number of
    the zone) and `amounts`, its part of tf~; all of shape (n,)."""

    documents: Array
    sources: Array
    amounts: Scores

    def ordered(self) -> "PoolRows":
        order = np.argsort(self.documents, kind="stable")
        return PoolRows(*(column[order] for column in self))

    @property
    def size(self) -> int:
        return sum(column.nbytes for column in self)


@dataclass(frozen=True, slots=True)
class Pool:
    """Occurrences of the terms of a pool: pooled in `postings`, and one by one in `rows`. A call of `rows` returns the
    cached rows of all documents, or reads those of the given documents, each once."""

    terms: Variants
    postings: Postings
    rows: Callable[[Array], PoolRows]
    size: int
    """Bytes."""

    def shares(self, numbers: Sequence[int]) -> list[list[Share]]:
        """Return for each of some documents the part of its tf~ that each term adds, by zone."""
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


def of_phrase(documents: Numbers, doc_frequency: int) -> Postings:
    """Return the postings of a phrase, given its document frequency."""
    return Postings(documents, np.ones(len(documents)), doc_frequency)


def make_pool(collection: Collection, variants: Variants) -> Pool:
    """Return the pool of some terms; a repeated term counts once."""
    terms = tuple(dict.fromkeys(variants))
    rows = pool_rows(collection, terms)
    frequencies = np.bincount(rows.documents, rows.amounts, len(collection))
    found = np.flatnonzero(frequencies)
    postings = Postings(found, frequencies[found] / (K1 + frequencies[found]), len(found))
    size = postings.documents.nbytes + postings.saturation.nbytes + sum(map(len, terms)) + 1024
    if len(rows.documents) <= MOST_ROWS:
        kept = rows.ordered()
        return Pool(terms, postings, lambda _: kept, size + kept.size)
    return Pool(terms, postings, lambda among: pool_rows(collection, terms, np.unique(among)).ordered(), size)


def pool_rows(collection: Collection, terms: Sequence[str], among: Array | None = None) -> PoolRows:
    """Return the rows of some terms in all documents, or in the documents `among`; unordered."""
    pieces = [NO_ROWS]
    for number, term in enumerate(terms):
        kind = KIND_WEIGHTS.get(term[0], 1.0)
        for place in range(len(collection.segments)):
            if (piece := _piece(collection, place, term, among)) is not None:
                documents, zones, amounts = piece
                pieces.append(PoolRows(documents, zones + np.uint16(number * len(ZONES)), amounts * kind))
    return PoolRows(*map(np.concatenate, zip(*pieces, strict=True)))


def _piece(collection: Collection, place: int, term: str, among: Array | None) -> PoolRows | None:
    """Return the rows of a term in a segment, as of a pool of this term alone with full weight."""
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
    weights = collection.occurrence_weights.take(documents.astype(np.intp) * len(ZONES) + zones)
    return PoolRows(documents, zones, weights * frequencies)


def _within(column: Array, rows: slice, documents: Array) -> Array:
    """Return the indices of the `rows` of a document column that belong to `documents`."""
    here = column[rows]
    starts = here.searchsorted(documents.astype(here.dtype))
    counts = here.searchsorted(documents.astype(here.dtype), side="right") - starts
    chosen: Array = rows.start + ranges(starts, counts)
    return chosen


NO_ROWS = PoolRows(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint16), np.zeros(0))


class EmbeddedResult:
    """The judged result of a lookup; counts are computed on demand. Implements `protocol.LookupResult`."""

    def __init__(
        self, index: "EmbeddedIndex", wanted: Lookup, pools: Mapping[Variants, Pool], candidates: Candidates
    ) -> None:
        """`pools` are those of `Lookup.words`; `candidates` are all documents."""
        self.candidates = candidates
        self._ids, self._facets = index.collection.ids, index.facets
        self._pools, self._filters = pools, wanted.filters
        self._scores = wanted.score(candidates)
        admitted = index.holding_all(wanted.required)
        self.phrases_dropped = bool(wanted.required) and not admitted.any()
        if self.phrases_dropped:
            admitted = np.ones(candidates.size, np.bool_)
        if wanted.admitted:
            admitted &= wanted.admitted.mask
        self._answering: Mask = self._scores.answering & admitted
        near: Mask = self._scores.near & admitted
        passing = self._facets.passing(wanted.filters)
        self.answers = self._best(self._answering, passing, wanted.window)
        self.near = self._best(near, passing, wanted.near)

    def shares(self, word: Variants, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        return self._pools[word].shares(numbers)

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        return count_passing(self._answering, map(self._facets.passing, filters))

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        return self._facets.all_counts(self._answering, self._filters)

    def _best(self, chosen: Mask, passing: Mask | None, limit: int) -> tuple[ScoredDocument, ...]:
        chosen = chosen if passing is None else chosen & passing
        return best_documents(self._scores, chosen, limit, self._ids.__getitem__)


def best_documents(
    scores: CandidateScores, chosen: Mask, limit: int, id_of: Callable[[int], str]
) -> tuple[ScoredDocument, ...]:
    """Return the `limit` best of the documents `chosen` among judged ones; `id_of` returns the id of one by number."""
    numbers = np.flatnonzero(chosen)
    if not limit or not len(numbers):
        return ()
    tiers, score, coverage, semantic = scores.tiers, scores.score, scores.coverage, scores.semantic
    if len(numbers) > limit:
        numbers = _leading(numbers, tiers[numbers], score[numbers], limit)
    order = numbers[np.lexsort((-score[numbers], -tiers[numbers]))][:limit]
    return tuple(
        ScoredDocument(id_of(n), n, float(score[n]), float(coverage[n]), int(tiers[n]), float(semantic[n]))
        for n in order.tolist()
    )


def count_passing(answering: Mask, masks: Iterable[Mask | None]) -> tuple[int, ...]:
    """Count the answers in each of some masks; None stands for all documents."""
    return tuple(int(np.count_nonzero(answering if mask is None else answering & mask)) for mask in masks)


def _leading(numbers: Numbers, tiers: Array, score: Array, limit: int) -> Numbers:
    """Return at least the first `limit` by tier and score: those that tie with the last one too, few others."""
    kept = np.zeros(len(numbers), dtype=np.bool_)
    for tier in np.flatnonzero(np.bincount(tiers))[::-1]:
        here = np.flatnonzero(tiers == tier)
        room = limit - int(np.count_nonzero(kept))
        if len(here) > room:
            least = np.partition(score[here], len(here) - room)[len(here) - room]
            here = here[score[here] >= least]
        kept[here] = True
        if np.count_nonzero(kept) >= limit:
            break
    return numbers[kept]


POOL_ROOM, ROOM_OF_ENTRY = 64 << 20, 1 << 10
"""Bytes of the cache of decoded postings, and further bytes for each entry: a word takes 16 in each entry it has."""


class EmbeddedIndex:
    """An open index directory. Implements `protocol.Index`."""

    is_remote = False

    def __init__(
        self, directory: Path, reuse: "EmbeddedIndex | None" = None, *, calibrated: bool = False
    ) -> None:
        """Shares the segments that `reuse` has open; `calibrated` as for `VectorIndex`. Raises IndexUnreadable if
        anything in `directory` is missing or damaged."""
        manifest = read_manifest(directory)
        known = {one.name: one for one in reuse.collection.segments} if reuse else {}
        segments = [known.get(name) or Segment(directory, name) for name in manifest.segments]
        self.collection: Collection = Collection(segments, manifest)
        self.facets = FacetColumns(self.collection)
        self.vectors = VectorIndex(self.collection, calibrated=calibrated)
        words = reuse.lexicon.vectors if reuse else None
        if not words or words.name != manifest.words:
            words = open_words(directory, manifest.words)
        self.lexicon: EmbeddedLexicon = EmbeddedLexicon(self.collection, words)
        self.diagnosis_terms = DiagnosisTerms(self.collection)
        self._lacking = {lang: self.facets.lacking(lang) for lang in Language}
        room = POOL_ROOM + ROOM_OF_ENTRY * len(self.collection)
        self._pools: ByteCache[Variants, Pool] = ByteCache(room, lambda pool: pool.size)
        self._phrases: ByteCache[tuple[str, ...], Numbers] = ByteCache(room // 8, lambda held: held.nbytes)

    def find(self, wanted: Lookup) -> LookupResult:
        pools = {
            terms: self._pools.get(terms, partial(make_pool, self.collection, terms))
            for terms in wanted.words
        }
        phrase, written = self._phrase(wanted.phrase, wanted.separators)
        candidates = Candidates(
            size=len(self.collection),
            total=len(self.collection),
            postings={terms: pool.postings for terms, pool in pools.items()},
            key_matches=tuple(self._keyed(keys) for keys in wanted.keys),
            phrase=phrase,
            neighbors=tuple(of_phrase(held, len(held)) for held in map(self.holders_of, wanted.neighbors)),
            spelled=written,
            recency=wanted.admitted.recency if wanted.admitted and wanted.admitted.listed else None,
            similarity=None
            if wanted.query_vector is None
            else partial(self.vectors.similarity, wanted.query_vector),
            without_edition=self._lacking,
        )
        return EmbeddedResult(self, wanted, pools, candidates)

    def is_there(self) -> bool:
        """True: the index is in this process."""
        return True

    def holding_all(self, phrases: Sequence[Sequence[str]]) -> Mask:
        counts = np.zeros(len(self.collection), dtype=np.intp)
        for phrase in phrases:
            counts[self._phrase(phrase, ())[0]] += 1
        mask: Mask = counts == len(phrases)
        return mask

    def holders_of(self, phrase: tuple[str, ...]) -> Numbers:
        """Return the documents that hold a phrase."""
        return self._phrases.get(phrase, lambda: self._phrase(phrase, ())[0])

    def _keyed(self, keys: Sequence[str]) -> Numbers:
        held = (self.collection.holders("keys", key) for key in keys)
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *held]))

    def _phrase(self, atoms: Sequence[str], typed: Sequence[str]) -> tuple[Numbers, Array]:
        """Return the documents that hold a phrase, and how each spells it."""
        held = np.zeros(len(self.collection), dtype=np.uint16)
        mask = np.zeros(len(self.collection), dtype=np.bool_)
        for place, segment in enumerate(self.collection.segments):
            starts = phrase_starts(segment, atoms)
            if not len(starts):
                continue
            holders = documents_of(segment, starts)
            first = np.flatnonzero(firsts(holders))
            numbers = self.collection.numbers[place][holders[first]]
            live = numbers >= 0
            mask[numbers[live]] = True
            if typed:
                ways = np.bitwise_or.reduceat(spelled_at(segment, starts, typed), first)
                held[numbers[live]] |= ways[live]
        documents = np.flatnonzero(mask)
        return documents, held[documents]
