"""BM25F over numpy arrays, and the order that its promises demand.

The formula is the "simple BM25F" of S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework:
BM25 and Beyond (Foundations and Trends in Information Retrieval 3(4), 2009), section 3.6: term frequencies are
weighted and normalized by length within each zone, summed over zones, and saturated once:

    tf~(t, d) = Σ_z  w_z · tf(t, d, z) / (1 − b_z + b_z · len(d, z) / avglen(z))
    score(t, d) = idf(t) · (k1 + 1) · tf~ / (k1 + tf~)
    idf(t) = ln(1 + (N − n(t) + 0.5) / (n(t) + 0.5))

n(t) counts documents that hold t in any zone. Whoosh's class of the same name sums BM25 over fields, each with an
idf of its own, and so counts a word that stands in five fields five times.

Beyond the formula: a clause of the query takes the best of its alternatives, and the sum over clauses is scaled by
coverage, the share of the query's idf that a document accounts for, so that one common word, however often it is
repeated, doesn't outweigh the rare ones. Last, it is divided by the most that the query could bring.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from app.search.engine import Alternative, Clause, WeightedTerm
from app.search.fields import K1, KIND_WEIGHTS

Scores = NDArray[np.float64]
"""A number for every document, shape (documents,)."""

Frequency = TypeVar("Frequency", float, Scores)

COVERAGE_FLOOR = 0.33
COVERAGE_POWER = 0.75
"""A document of coverage c keeps COVERAGE_FLOOR + (1 − COVERAGE_FLOOR) · c^COVERAGE_POWER of its score; tuned on
judged queries."""

KIND_WEIGHT_BY_PREFIX = {kind.value: weight for kind, weight in KIND_WEIGHTS.items()}


@dataclass(frozen=True, slots=True)
class Postings:
    """Where an index term occurs: document numbers, ascending, and tf~ of each, both of shape (n,)."""

    documents: NDArray[np.int64]
    frequencies: Scores


PostingsOf = Callable[[str], Postings]


def kind_weight(term: str) -> float:
    """What an occurrence of an index term counts, by the kind its prefix names."""
    return KIND_WEIGHT_BY_PREFIX.get(term[0], 1.0)


def idf(documents: int, holders: int) -> float:
    """Inverse document frequency; positive for every `holders` up to `documents`."""
    return math.log1p((documents - holders + 0.5) / (holders + 0.5))


def saturated(frequency: Frequency) -> Frequency:
    """(k1 + 1) · tf~ / (k1 + tf~), of a number or of an array element by element."""
    return (K1 + 1) * frequency / (K1 + frequency)


@dataclass(frozen=True, slots=True)
class ClauseScores:
    """`score` and `coverage` of every document for one clause; `importance` is the coverage of a full match."""

    score: Scores
    coverage: Scores
    importance: float


CACHED_POOLS = 20_000
"""Words of queries whose pooled postings are kept."""


class Scorer:
    """Scores clauses over a collection of `documents` documents."""

    def __init__(self, documents: int, postings_of: PostingsOf) -> None:
        self._documents = documents
        self._postings_of = postings_of
        self._pooled = lru_cache(CACHED_POOLS)(self._pool)

    def pooled(self, term: WeightedTerm) -> Postings:
        """tf~ of a word, its variants taken together."""
        return self._pooled(term.variants)

    def weight(self, term: WeightedTerm) -> float:
        """What a document's holding a word is worth at most per unit of saturation: its weight times its idf."""
        return term.weight * idf(self._documents, len(self.pooled(term).documents))

    def alternative(self, alternative: Alternative) -> tuple[Scores, Scores, float]:
        """Score and matched idf of every document, and the idf of all its terms together."""
        score = np.zeros(self._documents)
        matched = np.zeros(self._documents)
        total = 0.0
        for term in alternative.terms:
            postings, weight = self.pooled(term), self.weight(term)
            score[postings.documents] += weight * saturated(postings.frequencies)
            matched[postings.documents] += weight
            total += weight
        return score * alternative.weight, matched, total

    def _pool(self, variants: tuple[str, ...]) -> Postings:
        frequencies = np.zeros(self._documents)
        for variant in variants:
            postings = self._postings_of(variant)
            frequencies[postings.documents] += kind_weight(variant) * postings.frequencies
        documents = np.flatnonzero(frequencies)
        return Postings(documents, frequencies[documents])

    def clause(self, clause: Clause) -> ClauseScores:
        """Best alternative per document; `importance` is the literal alternative's idf."""
        score = np.zeros(self._documents)
        share = np.zeros(self._documents)
        importance = 0.0
        for number, alternative in enumerate(clause.alternatives):
            scores, matched, total = self.alternative(alternative)
            if number == 0:
                importance = total
            np.maximum(score, scores, out=score)
            if total > 0:
                np.maximum(share, alternative.cover * matched / total, out=share)
        return ClauseScores(score, importance * share, importance)

    def combine(self, clauses: Sequence[Clause]) -> tuple[Scores, Scores]:
        """Score and coverage (0 to 1) of every document over all clauses.

        The score is divided by what a document would get in which every word occurs without end, so that it
        can be compared between queries: about 1 for a perfect match, near 0 for one common word of many.
        """
        score = np.zeros(self._documents)
        coverage = np.zeros(self._documents)
        total = 0.0
        for clause in clauses:
            result = self.clause(clause)
            score += result.score
            coverage += result.coverage
            total += result.importance
        if total > 0:
            coverage /= total
            score /= total * (K1 + 1)
        return score * (COVERAGE_FLOOR + (1 - COVERAGE_FLOOR) * coverage**COVERAGE_POWER), coverage
