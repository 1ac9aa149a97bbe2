"""BM25F over numpy arrays, and the tiers that put exact matches first.

The formula is the "simple BM25F" of S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework:
BM25 and Beyond (Foundations and Trends in Information Retrieval 3(4), 2009), section 3.6: term frequencies are
weighted and normalized by length within each zone, summed over zones, and saturated once:

    tf~(t, d) = Σ_z  w_z · tf(t, d, z) / (1 − b_z + b_z · len(d, z) / pivot(z))
    score(t, d) = idf(t) · (k1 + 1) · tf~ / (k1 + tf~)
    idf(t) = ln(1 + (N − n(t) + 0.5) / (n(t) + 0.5))

n(t) counts documents that hold t in any zone. pivot(z) is the mean length of the zone in the paper; here it is a
constant (`weights.ZONE_WEIGHTS` says why), so that a document's tf~ does not depend on other documents. An index
returns tf~ / (k1 + tf~); this module computes the rest.

Beyond the formula: a clause of the query takes the best of its alternatives, and the sum over clauses is scaled by
coverage, the share of the query's idf that a document accounts for, so that one common word, however often it is
repeated, doesn't outweigh the rare ones. The score is divided by the highest one that the query allows. Last, words
that are neighbors in the query and in a document add a part of the idf of the pair, as in the sequential dependence
model of D. Metzler and W. B. Croft, A Markov Random Field Model for Term Dependencies (SIGIR 2005).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jieda.search import weights
from jieda.search.index.document import BODIES, FRONTS, TITLES, Spelled
from jieda.search.index.protocol import SPELLED_BITS, Candidates, Mask, Numbers, Postings, Scores, Variants
from jieda.search.query.words import Alternative, Clause, MatchKind, Neighbors, Query, Spelling, WeightedTerm


def idf(documents: int, doc_frequency: int) -> float:
    """Return the inverse document frequency; positive for every `doc_frequency` up to `documents`."""
    return math.log1p((documents - doc_frequency + 0.5) / (doc_frequency + 0.5))


def weigh(term: WeightedTerm, documents: int, doc_frequency: Callable[[Variants], int]) -> float:
    """Return the weight of a word times its idf; `doc_frequency` counts the documents with any of its variants."""
    count = sum(map(doc_frequency, filter(None, (term.variants, term.also_counted))))
    return term.weight * idf(documents, min(documents, count))


class QueryScorer:
    """Scores candidates by the clauses of a query."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates, self._postings = candidates, candidates.postings
        self._idf = {
            v: idf(candidates.total, postings.doc_frequency) for v, postings in self._postings.items()
        }

    def weight(self, term: WeightedTerm) -> float:
        """Return the score of a word per unit of saturation: its weight times its idf."""
        if not term.also_counted:
            return term.weight * self._idf[term.variants]
        return weigh(term, self._candidates.total, lambda variants: self._postings[variants].doc_frequency)

    def importance(self, clause: Clause) -> float:
        """Return the weight of a clause: that of its literal words."""
        return sum(map(self.weight, clause.alternatives[0].terms))

    def postings(self, term: WeightedTerm) -> Postings:
        """Return the postings of a word, only in documents where it may stand for the word that was typed."""
        postings = self._postings[term.variants]
        if term.only_without is None:
            return postings
        mask = self._candidates.without_edition.get(term.only_without)
        kept = np.zeros(len(postings.documents), np.bool_) if mask is None else mask[postings.documents]
        return Postings(postings.documents[kept], postings.saturation[kept], postings.doc_frequency)

    def doc_frequency(self, term: WeightedTerm) -> int:
        """Count the documents of the whole index that have a word."""
        return self._postings[term.variants].doc_frequency

    def combine(
        self, clauses: Sequence[Clause], neighbors: Sequence[Neighbors] = ()
    ) -> tuple[Scores, Scores]:
        """Return score and coverage (0 to 1) of every document over all clauses, each of shape (size,).

        The score is divided by its limit for a document that repeats every word without end, so that it can be
        compared between queries: about 1 for a perfect match, near 0 for one common word of many. `neighbors` are the
        pairs that were looked up; where they are neighbors, too, they add to the score of a document with some word.
        """
        score, covered = np.zeros(self._candidates.size), np.zeros(self._candidates.size)
        total = 0.0
        for clause in clauses:
            importance = self.importance(clause)
            total += importance
            if len(clause.alternatives) == 1:
                self._add(clause.alternatives[0], score, covered)
            else:
                self._add_best(clause, importance, score, covered)
        if total <= 0:
            return score, covered
        coverage = covered / total
        kept = weights.COVERAGE_FLOOR + (1 - weights.COVERAGE_FLOOR) * coverage**weights.COVERAGE_POWER
        ordered = (score > 0) * self._ordered(neighbors) if neighbors else 0.0
        return (score * kept + ordered) / total, coverage

    def _ordered(self, neighbors: Sequence[Neighbors]) -> Scores:
        """Return what each document earns by the order of the query's words."""
        earned = np.zeros(self._candidates.size)
        for pair, postings in zip(neighbors, self._candidates.neighbors, strict=True):
            earned[postings.documents] += pair.weight * idf(self._candidates.total, postings.doc_frequency)
        return weights.NEIGHBORS * earned

    def _add(self, only: Alternative, score: Scores, covered: Scores) -> None:
        for term in only.terms:
            postings, weight = self.postings(term), self.weight(term)
            score[postings.documents] += only.weight * weight * postings.saturation
            covered[postings.documents] += only.cover * weight

    def _add_best(self, clause: Clause, importance: float, score: Scores, covered: Scores) -> None:
        """Add for each document the best of several alternatives, in score and in coverage."""
        best, share = np.zeros(self._candidates.size), np.zeros(self._candidates.size)
        for way in clause.alternatives:
            total = sum(map(self.weight, way.terms))
            if len(way.terms) == 1:
                self._raise(way, best, share)
                continue
            brought, matched = np.zeros(self._candidates.size), np.zeros(self._candidates.size)
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
        """Apply an alternative of one term, touching only the documents that hold it."""
        postings, weight = self.postings(way.terms[0]), self.weight(way.terms[0])
        held = postings.documents
        best[held] = np.maximum(best[held], way.weight * weight * postings.saturation)
        if weight > 0:
            share[held] = np.maximum(share[held], way.cover)


OPEN = frozenset({MatchKind.TRANSLATION, MatchKind.SIMILAR})
"""Alternatives that fill what a query's own words leave open."""

LEAST_OPEN = 1 / 3
"""Least share of its weight that a translation keeps, so that its hits are still answers (ANSWER_SHARE)."""


def weigh_translations(clauses: Sequence[Clause], scorer: QueryScorer) -> Sequence[Clause]:
    """Return the clauses with the weights of translations. The first alternative of a clause is always the word itself.

        weight(translation) = weight · max(LEAST_OPEN, 1 − g)

    g is the highest coverage that any document reaches without translations. If an entry covers the whole query as
    typed, entries in the other language rank behind it; if no entry has a word of it, only translations find anything.
    In a test set with half of the entries in each language, 2.3% of the questions lost the first place to an entry of
    the other language without this, and 0.5% do with it.
    """
    if not any(way.source in OPEN for clause in clauses for way in clause.alternatives[1:]):
        return clauses
    as_asked = [clause.without(OPEN) for clause in clauses]
    left_open = max(LEAST_OPEN, 1 - float(scorer.combine(as_asked)[1].max(initial=0.0)))

    def weighed(way: Alternative) -> Alternative:
        if way.source not in OPEN:
            return way
        return replace(way, weight=way.weight * left_open, cover=way.cover * left_open)

    return [replace(clause, alternatives=tuple(map(weighed, clause.alternatives))) for clause in clauses]


Tiers = NDArray[np.int64]

TITLE_KEYS, SPAN_KEYS, FRAMEWORK_KEYS, ANYWHERE_KEYS = range(4)
"""The groups of `Lookup.keys`."""


def tiers_of(query: Query, candidates: Candidates) -> Tiers:
    """Return the tier of each document: 0 unless an exact match ranks it before all merely relevant ones."""
    tiers = np.zeros(candidates.size, dtype=np.int64)
    if query.exact_first and len(candidates.phrase):
        tiers[candidates.phrase] = _tiers_by_spelling(query.spelling, candidates)
    tiers[candidates.key_matches[TITLE_KEYS]] = weights.EXACT_TIER
    return tiers


def _tiers_by_spelling(spelling: Spelling, candidates: Candidates) -> Tiers:
    """Return the tiers of the documents that hold a query word for word, by how each spells it.

    Analysis reduces `--load`, `load` and the `load` of `load_dir` to one word, so that each finds the others.
    """
    title, body, front = (
        candidates.spelled >> (SPELLED_BITS * region) for region in (TITLES, BODIES, FRONTS)
    )
    # Chinese words have no space around them.
    in_title = (title & (Spelled.ALONE | Spelled.INSIDE if spelling.has_han else Spelled.ALONE)) > 0
    alone = in_title | ((body & Spelled.ALONE) > 0)
    if not spelling.is_code and not spelling.is_span:
        # For an identifier, visible text ranks before text that only search sees, so fronts do not count.
        alone |= (front & Spelled.ALONE) > 0
    seen = title | body
    rules = [
        (
            np.isin(candidates.phrase, candidates.key_matches[SPAN_KEYS]) & spelling.is_code,
            weights.CODE_SPAN_TIER,
        ),
        (in_title, weights.IN_TITLE_TIER),
        (alone, weights.WHOLE_TIER),
        ((seen & Spelled.JOINED) > 0, weights.ALIKE_TIER),
        ((seen & Spelled.INSIDE) > 0, weights.INSIDE_TIER),
    ]
    return np.select([held for held, _ in rules], [tier for _, tier in rules], weights.HOLDER_TIER)


def semantic_scores(query: Query, candidates: Candidates, words: Scores, tiers: Tiers) -> Scores:
    """Return what the similarity of vectors adds to each score; zeros where words alone decide.

        score(d)    = words(d) + semantic(d)
        semantic(d) = prose · (TEXT_SIMILARITY_WEIGHT · max(0, text(d) − UNRELATED)
                               + TITLE_SIMILARITY_WEIGHT · max(0, title(d) − SAME_QUESTION))

    `words` is the score of `QueryScorer`, 0 to about 1; `text` and `title` are the similarities that the index returns
    (`protocol.Similarity`). `prose` falls with the share of the query that is code (`words.prose_of`): an error line
    names its error, and whatever resembles it is another error.

    Words come first. If some entry contains the query word for word, or is it (a tier), similarity adds nothing, so a
    title, an alias, an identifier, a phrase or a copied error line never loses to a text that merely means the same.
    Otherwise the weight decides: a word that only the right entry has outweighs any similarity. An entry that shares
    no word with the query is an answer if its semantic score is close to the highest one (ANSWER_SHARE, as for words);
    its reason says so.
    """
    prose = semantic_weight(query, candidates)
    if candidates.similarity is None or prose <= 0 or tiers.any():
        return np.zeros(candidates.size)
    text, title = candidates.similarity(words)
    by_text = weights.TEXT_SIMILARITY_WEIGHT * np.maximum(0, text - weights.UNRELATED)
    by_title = weights.TITLE_SIMILARITY_WEIGHT * np.maximum(0, title - weights.SAME_QUESTION)
    return prose * (by_text + by_title)


def semantic_weight(query: Query, candidates: Candidates) -> float:
    """Return the weight of similarity, 0 to 1, for a query for which no entry has a tier."""
    held = len(query.phrase) > 1 and len(candidates.phrase) > 0
    return 0.0 if candidates.similarity is None or held else query.prose


def select_fitting(
    documents: Numbers, least: float, coverage: Scores, semantic: Scores, tiers: Tiers
) -> Numbers:
    """Return those of `documents`, of the requested frameworks, that rank before all others: by an exact match, by a
    coverage of at least `least`, or as the most similar of all."""
    enough = coverage[documents] >= max(weights.ANSWER_COVERAGE, least)
    alike = (semantic[documents] > 0) & (semantic[documents] >= semantic.max(initial=0.0))
    fitting: Numbers = documents[enough | (tiers[documents] > 0) | alike]
    return fitting


def put_behind(first: Numbers, others: Numbers, score: Scores, semantic: Scores) -> None:
    """Scale the scores of `others` in place, so that they rank behind all of `first`."""
    whole = score + semantic
    least, most = float(whole[first].min(initial=math.inf)), float(whole[others].max(initial=0.0))
    if 0 < most >= least:
        behind = weights.BEHIND * least / most
        score[others] *= behind
        semantic[others] *= behind


def answers_by_meaning(semantic: Scores) -> Mask:
    """Return the mask of the documents that are similar enough to answer, whatever words they have."""
    alike: Mask = (semantic > 0) & (semantic >= weights.ANSWER_SHARE * semantic.max(initial=0.0))
    return alike
