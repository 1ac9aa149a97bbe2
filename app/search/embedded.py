"""The engine inside the process: postings kept on disk by Whoosh, decoded once, scored in bulk by numpy.

Whoosh stores and finds; it never sees text, and its own scoring loop is not used.
"""

import sys
import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.fields import KEYWORD, TEXT, Schema
from whoosh.filedb.filestore import FileStorage

from app.errors import IndexUnreadable
from app.search.engine import EXACT_TIER, HOLDER_TIER, Contribution, Document, Query, Results
from app.search.explain import contributions
from app.search.fields import ATOM_FIELD, KEY_FIELD, ZONES
from app.search.phrases import Positions, holders
from app.search.ranking import NEAR_MISSES, FacetIndex, Mask, Standings
from app.search.scoring import Postings, Scorer, Scores
from app.search.sidecar import Sidecar, read_sidecar, write_sidecar

CACHED_TERMS = 50_000
"""Terms whose decoded postings are kept; at 10,000 entries the most common ones take some 100 KiB each."""

NOWHERE = Postings(np.zeros(0, dtype=np.int64), np.zeros(0))

LAST_CHARACTER = chr(sys.maxunicode)

PHRASE_BONUS = 1.0
"""A document that holds the whole query word for word scores this much more."""


def build(directory: Path, documents: Iterable[Document]) -> None:
    """Writes an index of `documents` into an empty directory, its sidecar last."""
    storage = FileStorage(str(directory))
    index = storage.create_index(_schema())
    written: list[Document] = []
    # Leaving the block commits, or lets go of all files where the documents or the disk came to an end.
    with index.writer(limitmb=256) as writer:
        for document in documents:
            fields = {name: list(terms) for name, terms in document.zones.items() if terms}
            writer.add_document(
                **fields, **{KEY_FIELD: list(document.keys), ATOM_FIELD: list(document.atoms)}
            )
            written.append(document)
    index.close()
    write_sidecar(directory, written)


def _schema() -> Schema:
    # A list of finished terms as a field's value bypasses whatever analyzer the field has.
    listed: dict[str, Any] = {zone.name: KEYWORD(scorable=True) for zone in ZONES}
    return Schema(**listed, **{KEY_FIELD: KEYWORD(), ATOM_FIELD: TEXT(phrase=True)})


class EmbeddedEngine:
    """An index directory, open for searching. Implements `engine.Engine`."""

    def __init__(self, directory: Path) -> None:
        """Raises IndexUnreadable where anything in `directory` is missing, damaged or not of this schema."""
        self._sidecar: Sidecar = read_sidecar(directory)
        try:
            self._reader = FileStorage(str(directory)).open_index(schema=_schema()).reader()
        except Exception as error:  # Whoosh raises whatever its decoding stumbles over
            raise IndexUnreadable(f"{directory}: {error}") from error
        self._ids = self._sidecar.ids
        self._numbers = {document_id: number for number, document_id in enumerate(self._ids)}
        if (count := self._reader.doc_count_all()) != len(self._ids):
            raise IndexUnreadable(f"{directory}: {count} documents, not {len(self._ids)}")
        self._facets = FacetIndex(self._sidecar.facets)
        self._norms = _norms(self._sidecar.lengths)
        self._lock = threading.Lock()
        self._terms = self._all_terms()
        self._known = frozenset(self._terms)
        self._merged = lru_cache(CACHED_TERMS)(self._merge)
        self._decoded = lru_cache(CACHED_TERMS)(self._decode)
        self._positions = lru_cache(CACHED_TERMS)(self._decode_positions)
        self._scorer = Scorer(len(self._ids), self.postings)

    def search(self, query: Query) -> Results:
        """Ranks all documents that answer."""
        score, coverage = self._scorer.combine(query.clauses)
        required, dropped = self._required(query.required)
        whole = self._phrase(query.phrase)
        if len(query.phrase) > 1:
            score = np.where(whole, score * (1 + PHRASE_BONUS), score)
        standings = Standings(score, coverage, self._tiers(query, whole))
        answering = standings.answering() & required
        passing = self._facets.passing(query.filters)
        near = (score > 0) & ~answering & passing & required
        return Results(
            ranked=standings.ranked(self._ids, answering & passing),
            facets=self._facets.counts(answering, query.filters),
            near=standings.ranked(self._ids, near, NEAR_MISSES),
            phrase_dropped=dropped,
        )

    def explain(self, query: Query, document_id: str, least: float = 0.0) -> tuple[Contribution, ...]:
        """What made up the score of a document, largest first, without shares below `least`."""
        return contributions(query, self._numbers[document_id], self._scorer, self.zone_postings, least)

    def frequency(self, term: str) -> int:
        """How many documents hold an index term in any zone."""
        return len(self.postings(term).documents)

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix`, sorted."""
        return self._terms[
            bisect_left(self._terms, prefix) : bisect_left(self._terms, prefix + LAST_CHARACTER)
        ]

    def postings(self, term: str) -> Postings:
        """tf~ of an index term wherever it occurs, all zones together."""
        return self._merged(term) if term in self._known else NOWHERE

    def zone_postings(self, term: str) -> tuple[tuple[str, Postings], ...]:
        """tf~ of an index term by zone, for the zones that hold it."""
        return self._decoded(term) if term in self._known else ()

    def _all_terms(self) -> tuple[str, ...]:
        """Every term of every zone, sorted. Kept, so that what occurs nowhere costs no look-up and no cache."""
        return tuple(sorted({term.decode() for zone in ZONES for term in self._reader.lexicon(zone.name)}))

    def _merge(self, term: str) -> Postings:
        frequencies = np.zeros(len(self._ids))
        for _, zone_postings in self.zone_postings(term):
            frequencies[zone_postings.documents] += zone_postings.frequencies
        documents = np.flatnonzero(frequencies)
        return Postings(documents, frequencies[documents])

    def _decode(self, term: str) -> tuple[tuple[str, Postings], ...]:
        found = []
        with self._lock:
            for number, zone in enumerate(ZONES):
                if (zone.name, term) not in self._reader:
                    continue
                matcher = self._reader.postings(zone.name, term)
                documents, frequencies = [], []
                while matcher.is_active():
                    documents.append(matcher.id())
                    frequencies.append(matcher.weight())
                    matcher.next()
                ids = np.array(documents, dtype=np.int64)
                weighted = zone.weight * np.array(frequencies) / self._norms[number, ids]
                found.append((zone.name, Postings(ids, weighted)))
        return tuple(found)

    def _decode_positions(self, atom: str) -> Positions:
        found: dict[int, frozenset[int]] = {}
        with self._lock:
            if (ATOM_FIELD, atom) in self._reader:
                matcher = self._reader.postings(ATOM_FIELD, atom)
                while matcher.is_active():
                    found[matcher.id()] = frozenset(matcher.value_as("positions"))
                    matcher.next()
        return found

    def _phrase(self, atoms: Sequence[str]) -> Mask:
        mask = np.zeros(len(self._ids), dtype=np.bool_)
        mask[holders(atoms, self._positions)] = True
        return mask

    def _required(self, phrases: Sequence[Sequence[str]]) -> tuple[Mask, bool]:
        """Documents that hold every phrase; all documents, and True, where none does."""
        everything = np.ones(len(self._ids), dtype=np.bool_)
        if not phrases:
            return everything, False
        mask = np.logical_and.reduce([self._phrase(phrase) for phrase in phrases])
        return (mask, False) if mask.any() else (everything, True)

    def _tiers(self, query: Query, whole: Mask) -> NDArray[np.int64]:
        tiers = np.zeros(len(self._ids), dtype=np.int64)
        if query.literal:
            tiers[whole] = HOLDER_TIER
        for key in query.keys:
            tiers[self._key_holders(key)] = EXACT_TIER
        return tiers

    def _key_holders(self, key: str) -> list[int]:
        with self._lock:
            if (KEY_FIELD, key) not in self._reader:
                return []
            return list(self._reader.postings(KEY_FIELD, key).all_ids())

    def close(self) -> None:
        """Closes the files; the engine answers nothing afterwards."""
        self._reader.close()


def _norms(lengths: NDArray[np.int64]) -> Scores:
    """1 − b + b · len/avglen, shape (zones, documents); the average is over documents that have the zone."""
    norms = np.ones(lengths.shape)
    for number, zone in enumerate(ZONES):
        present = lengths[number][lengths[number] > 0]
        if present.size:
            norms[number] = 1 - zone.b + zone.b * lengths[number] / present.mean()
    return norms
