"""BM25F over numpy arrays, and the order that its promises demand.

The formula is the "simple BM25F" of S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework:
BM25 and Beyond (Foundations and Trends in Information Retrieval 3(4), 2009), section 3.6: term frequencies are
weighted and normalized by length within each zone, summed over zones, and saturated once:

    tf~(t, d) = Σ_z  w_z · tf(t, d, z) / (1 − b_z + b_z · len(d, z) / pivot(z))
    score(t, d) = idf(t) · (k1 + 1) · tf~ / (k1 + tf~)
    idf(t) = ln(1 + (N − n(t) + 0.5) / (n(t) + 0.5))

n(t) counts documents that hold t in any zone. pivot(z) is the mean length of the zone there; here it is a constant
(`weights.ZONE_WEIGHTS` says why), so that a document's tf~ is its own. An index answers tf~ / (k1 + tf~); the rest is
here.

Beyond the formula: a clause of the query takes the best of its alternatives, and the sum over clauses is scaled by
coverage, the share of the query's idf that a document accounts for, so that one common word, however often it is
repeated, doesn't outweigh the rare ones. Last, it is divided by the most that the query could bring.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.search.index.protocol import Columns, Postings, Scores
from app.search.query.types import Alternative, Clause, WeightedTerm
from app.search.weights import COVERAGE_FLOOR, COVERAGE_POWER

Variants = tuple[str, ...]


def idf(documents: int, holders: int) -> float:
    """Inverse document frequency; positive for every `holders` up to `documents`."""
    return math.log1p((documents - holders + 0.5) / (holders + 0.5))


def pools_of(clauses: Sequence[Clause]) -> dict[Variants, int]:
    """Every distinct word of a query, and its place among `Columns.pools`."""
    distinct = dict.fromkeys(
        term.variants for clause in clauses for way in clause.alternatives for term in way.terms
    )
    return {variants: number for number, variants in enumerate(distinct)}


@dataclass(frozen=True, slots=True)
class Scored:
    """`score` and `coverage` of each document, shape (size,)."""

    score: Scores
    coverage: Scores


class Scorer:
    """Scores the clauses of one query over the columns that were found for it."""

    def __init__(self, columns: Columns, pools: Mapping[Variants, int]) -> None:
        """`pools` as `pools_of` tells them."""
        self._size = columns.size
        self._total = columns.total
        self._lacking = columns.lacking
        self._postings = {variants: columns.pools[number] for variants, number in pools.items()}
        self._idf = {v: idf(columns.total, postings.holders) for v, postings in self._postings.items()}

    def weight(self, term: WeightedTerm) -> float:
        """What a document's holding a word is worth at most per unit of saturation: its weight times its idf."""
        return term.weight * (self._idf[term.variants] if not term.beside else self._idf_beside(term))

    def _idf_beside(self, term: WeightedTerm) -> float:
        holders = self._postings[term.variants].holders + self._postings[term.beside].holders
        return idf(self._total, min(self._total, holders))

    def postings(self, term: WeightedTerm) -> Postings:
        """Where a word occurs, and stands for what was asked."""
        postings = self._postings[term.variants]
        if term.lacking is None:
            return postings
        mask = self._lacking.get(term.lacking)
        kept = np.zeros(len(postings.documents), np.bool_) if mask is None else mask[postings.documents]
        return Postings(postings.documents[kept], postings.saturation[kept], postings.holders)

    def absent(self, clauses: Sequence[Clause]) -> float:
        """The share of a query's weight, 0 to 1, that lies in clauses of which no document holds anything."""
        weights = [sum(map(self.weight, clause.alternatives[0].terms)) for clause in clauses]
        missing = (
            weight
            for weight, clause in zip(weights, clauses, strict=True)
            if not any(
                self._postings[term.variants].holders for way in clause.alternatives for term in way.terms
            )
        )
        return sum(missing) / (sum(weights) or 1.0)

    def combine(self, clauses: Sequence[Clause]) -> Scored:
        """Score and coverage (0 to 1) of every document over all clauses.

        The score is divided by what a document would get in which every word occurs without end, so that it
        can be compared between queries: about 1 for a perfect match, near 0 for one common word of many.
        """
        score, covered = np.zeros(self._size), np.zeros(self._size)
        total = 0.0
        for clause in clauses:
            importance = sum(map(self.weight, clause.alternatives[0].terms))
            total += importance
            if len(clause.alternatives) == 1:
                self._add(clause.alternatives[0], score, covered)
            else:
                self._add_best(clause, importance, score, covered)
        if total <= 0:
            return Scored(score, covered)
        coverage = covered / total
        return Scored(
            score / total * (COVERAGE_FLOOR + (1 - COVERAGE_FLOOR) * coverage**COVERAGE_POWER), coverage
        )

    def _add(self, only: Alternative, score: Scores, covered: Scores) -> None:
        """A clause that can be satisfied in one way only."""
        for term in only.terms:
            postings, weight = self.postings(term), self.weight(term)
            score[postings.documents] += only.weight * weight * postings.saturation
            covered[postings.documents] += only.cover * weight

    def _add_best(self, clause: Clause, importance: float, score: Scores, covered: Scores) -> None:
        """Of several ways the best for each document, in score and in coverage."""
        best, share = np.zeros(self._size), np.zeros(self._size)
        for way in clause.alternatives:
            total = sum(map(self.weight, way.terms))
            if len(way.terms) == 1:
                self._raise(way, best, share)
                continue
            brought, matched = np.zeros(self._size), np.zeros(self._size)
            for term in way.terms:
                postings, weight = self.postings(term), self.weight(term)
                brought[postings.documents] += way.weight * weight * postings.saturation
                matched[postings.documents] += weight
            np.maximum(best, brought, out=best)
            if total > 0:
                np.maximum(share, matched * (way.cover / total), out=share)
        score += best
        covered += importance * share

    def _raise(self, way: Alternative, best: Scores, share: Scores) -> None:
        """A way of one term: only documents that hold it are touched."""
        postings, weight = self.postings(way.terms[0]), self.weight(way.terms[0])
        held = postings.documents
        best[held] = np.maximum(best[held], way.weight * weight * postings.saturation)
        if weight > 0:
            share[held] = np.maximum(share[held], way.cover)
