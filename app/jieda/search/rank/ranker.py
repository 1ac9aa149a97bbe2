"""Ranking, independent of the index: finds the documents that answer a query, orders and explains them, and decides
whether the best one is an answer at all."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from jieda.analysis.token import TokenKind
from jieda.entry import Language
from jieda.search import weights
from jieda.search.answers import FacetCount
from jieda.search.index.document import ANYWHERE
from jieda.search.index.protocol import (
    AdmittedDocuments,
    Candidates,
    CandidateScores,
    Index,
    Lookup,
    LookupResult,
    Numbers,
    Postings,
    ScoredDocument,
    Scores,
    Share,
    Variants,
)
from jieda.search.meaning.embedder import Vector
from jieda.search.query.words import Alternative, Clause, ClauseKind, MatchKind, Query, WeightedTerm
from jieda.search.rank.scoring import (
    ANYWHERE_KEYS,
    FRAMEWORK_KEYS,
    QueryScorer,
    answers_by_meaning,
    put_behind,
    select_fitting,
    semantic_scores,
    semantic_weight,
    tiers_of,
    weigh_translations,
)
from jieda.taxonomy import FACETS, Filters

RIVALS = 10
"""Best answers among which the one that comes next is sought, to judge how well the first one fits."""


def informative_clauses(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses without function words and, in a query with code, without numbers, which are the part of an
    error message that varies. Return all clauses if none is left."""
    has_code = any(clause.kind is ClauseKind.CODE for clause in clauses)
    silent = {ClauseKind.FUNCTION, *([ClauseKind.NUMBER] if has_code else [])}
    return [clause for clause in clauses if clause.kind not in silent] or clauses


def evidence(
    query: Query, candidates: Candidates, scorer: QueryScorer, first: Sequence[ScoredDocument]
) -> float:
    """Rate how well the best of `first`, the best few, answers: about 0.3 if it is unrelated, 1 if it is right.

        evidence = coverage + BY_SCORE · words − BY_UNKNOWN · unknown + BY_FOREIGN · foreign
                 + prose · (BY_SIMILARITY · similarity + BY_LEAD · lead − UNLIKE)

    `coverage` is the share of the informative clauses' weight that the best document accounts for, `words` its score
    by words alone. `unknown` is the share of names that no entry has, that is code or words that no dictionary has:
    the question is about something else. `foreign` is the share of words that no entry has because entries lack the
    query's language. `lead`: see `_lead`. The second line counts where similarity does: there an answer has to be
    similar.
    """
    best = first[0]
    # Words of similar meaning say too little of whether an answer fits.
    sure = [clause.without({MatchKind.SIMILAR}) for clause in query.clauses]
    clauses = informative_clauses(weigh_translations(sure, scorer))
    total = sum(map(scorer.importance, clauses)) or 1.0
    unsaid = candidates.without_edition.get(Language.ZH if query.spelling.has_han else Language.EN)
    lacking = float(unsaid.mean()) if unsaid is not None and len(unsaid) else 0.0
    unknown = foreign = 0.0
    for clause in clauses:
        share = scorer.importance(clause) / total
        missing = share * (1 - max(_known(way, scorer) for way in clause.meant))
        # Code is the same in every language.
        translatable = 0.0 if clause.kind is ClauseKind.CODE else lacking
        foreign += missing * translatable
        if clause.kind in {ClauseKind.CODE, ClauseKind.NAME}:
            unknown += missing * (1 - translatable)
    coverage, *next_best = (_coverage(clauses, scorer, one.number) for one in first[:2])
    by_words = coverage + weights.BY_SCORE * (best.score - best.semantic)
    by_words += weights.BY_FOREIGN * foreign - weights.BY_UNKNOWN * unknown
    # The semantic score has the factor `prose` already (`scoring.semantic_scores`).
    by_similarity = weights.BY_SIMILARITY * best.semantic / weights.TEXT_SIMILARITY_WEIGHT
    # Of two that say the same, that of another framework is no rival.
    alike = coverage >= weights.OWN_BEFORE_ANY * max(next_best, default=0.0)
    lead = _lead(candidates, first if alike else first[:2])
    by_similarity += semantic_weight(query, candidates) * (weights.BY_LEAD * lead - weights.UNLIKE)
    return by_words + by_similarity


def _coverage(clauses: Sequence[Clause], scorer: QueryScorer, number: int) -> float:
    """Return the share of the clauses' weight that a document accounts for."""
    total = sum(map(scorer.importance, clauses)) or 1.0
    held = [max(_held(way, scorer, number) for way in one.alternatives) for one in clauses]
    return sum(share * scorer.importance(one) for share, one in zip(held, clauses, strict=True)) / total


def _lead(candidates: Candidates, first: Sequence[ScoredDocument]) -> float:
    """Return the distance from the best document to the next one, as a share of the best score: to the next one of the
    requested frameworks, if the best one is of these."""
    best, *others = first
    if not others or best.score <= 0:
        return 1.0
    requested = np.union1d(*candidates.key_matches[FRAMEWORK_KEYS:])
    rivals = (one for one in others if one.number in requested or best.number not in requested)
    return 1 - next(rivals, others[-1]).score / best.score


def _known(way: Alternative, scorer: QueryScorer) -> float:
    """Return the share of an alternative's words that some entry has, by weight."""
    total = sum(term.weight for term in way.terms) or 1.0
    return sum(term.weight for term in way.terms if scorer.doc_frequency(term)) / total


def _held(way: Alternative, scorer: QueryScorer, number: int) -> float:
    """Return the share of a clause that a document accounts for by one of its alternatives."""
    total = sum(map(scorer.weight, way.terms))
    if total <= 0:
        return 0.0
    held = 0.0
    for term in way.terms:
        documents = scorer.postings(term).documents
        place = int(np.searchsorted(documents, number))
        if place < len(documents) and documents[place] == number:
            held += scorer.weight(term)
    return way.cover * held / total


class Contribution(NamedTuple):
    """The part of a document's score that one term of an alternative earned in one zone of `document.ZONES`."""

    label: str
    source: MatchKind
    zone: str
    term: str
    score: float


class _Part(NamedTuple):
    """The part of one document's score that a word earned."""

    score: float
    term: WeightedTerm
    source: MatchKind


def _add_best(clause: Clause, scorer: QueryScorer, numbers: Numbers, parts: Sequence[list[_Part]]) -> None:
    """Add to each document's parts the terms of the clause's best alternative."""
    scored = [_score_terms(way, scorer, numbers) for way in clause.alternatives]
    best = np.argmax([scores.sum(axis=0) for scores in scored], axis=0)
    for row, number in enumerate(best.tolist()):
        way = clause.alternatives[number]
        for term, score in zip(way.terms, scored[number][:, row].tolist(), strict=True):
            if score > 0:
                parts[row].append(_Part(score, term, way.source))


def _score_terms(way: Alternative, scorer: QueryScorer, numbers: Numbers) -> Scores:
    """Return the score of each term of an alternative in each of some documents, shape (terms, documents)."""
    unit = (weights.K1 + 1) * way.weight
    return np.array(
        [unit * scorer.weight(term) * _saturation_at(scorer.postings(term), numbers) for term in way.terms]
    )


def _saturation_at(postings: Postings, numbers: Numbers) -> Scores:
    """Return the saturation of a word in each of some documents, 0 where it does not occur."""
    if not len(postings.documents):
        return np.zeros(len(numbers))
    places = np.minimum(np.searchsorted(postings.documents, numbers), len(postings.documents) - 1)
    return np.where(postings.documents[places] == numbers, postings.saturation[places], 0.0)


def _drop_small(parts: Sequence[_Part], least: float, candidate: ScoredDocument) -> list[_Part]:
    """Return the parts with at least the share `least` of a document's whole score."""
    by_words = candidate.score - candidate.semantic
    whole = candidate.score / by_words if by_words > 0 else 1.0
    enough = least * whole * sum(part.score for part in parts)
    return [part for part in parts if part.score >= enough]


def _split_by_zone(part: _Part, shares: Sequence[Share]) -> list[Contribution]:
    total = sum(share.amount for share in shares)
    label, source, score = part.term.label, part.source, part.score
    return [Contribution(label, source, zone, term, score * amount / total) for term, zone, amount in shares]


class Ranking:
    """The ranked answers to one query. Counts and explanations are computed on demand."""

    def __init__(self, query: Query, found: LookupResult, window: int) -> None:
        self._query = query
        self._found = found
        self.ranked = tuple(map(_with_tier, found.answers[:window]))
        """The best `window` answers, best first."""
        self.near = tuple(map(_with_tier, found.near))
        """A few documents that share something with the query, but too little to be answers; best first."""
        self.phrase_dropped = found.phrases_dropped
        """Whether the required phrases were ignored because no document holds them."""

    def is_weak(self) -> bool:
        """Whether there is a best answer and it fits badly."""
        first, candidates = [*map(_with_tier, self._found.answers[:RIVALS])], self._found.candidates
        if not first or first[0].tier or candidates.recency is not None:
            return False
        return evidence(self._query, candidates, QueryScorer(candidates), first) < weights.WEAK

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """Count the answers under each of `filters`, which replace the query's own."""
        return self._found.totals(filters)

    def facets(self) -> dict[str, tuple[FacetCount, ...]]:
        """Count the answers for each facet value that has any or is chosen already, most first."""
        counted, facets = self._found.facets(), {}
        for facet in FACETS:
            chosen = self._query.filters.facet(facet)
            shown = [FacetCount(*pair) for pair in counted[facet].items() if pair[1] or pair[0] in chosen]
            facets[facet] = tuple(sorted(shown, key=lambda one: (-one.count, one.value)))
        return facets

    def contributions(self, start: int, end: int, least: float = 0.0) -> list[tuple[Contribution, ...]]:
        """Return for each of `ranked[start:end]`, clause by clause, the terms of the best alternative by zone; largest
        first. Terms below the share `least` of its score are left out.

        A term's score is split among its zones in proportion to their part of tf~.
        """
        shown = self._found.answers[start:end]
        numbers = np.array([one.number for one in shown], dtype=np.intp)
        parts: list[list[_Part]] = [[] for _ in shown]
        scorer = QueryScorer(self._found.candidates)
        for clause in weigh_translations(self._query.clauses, scorer):
            _add_best(clause, scorer, numbers, parts)
        kept = [_drop_small(of_document, least, one) for of_document, one in zip(parts, shown, strict=True)]
        rows: dict[Variants, list[int]] = {}
        for row, of_document in enumerate(kept):
            for part in of_document:
                rows.setdefault(part.term.variants, []).append(row)
        shares: dict[tuple[Variants, int], Sequence[Share]] = {}
        for variants, asked in rows.items():
            found = self._found.shares(variants, [shown[row].number for row in asked])
            shares |= {(variants, row): share for row, share in zip(asked, found, strict=True)}
        split = (
            [each for part in of_document for each in _split_by_zone(part, shares[part.term.variants, row])]
            for row, of_document in enumerate(kept)
        )
        return [tuple(sorted(each, key=lambda one: -one.score)) for each in split]


def _with_tier(one: ScoredDocument) -> ScoredDocument:
    """Return the document with its tier added to its score, so that scores fall from the first answer to the last.

    Where the words of a query are common and their substitutes rare, a score has no bound, so it is capped first.
    """
    return replace(one, score=min(one.score, weights.HIGHEST) + weights.TIER_STEP * one.tier)


def rank(
    index: Index,
    query: Query,
    window: int,
    query_vector: Vector | None = None,
    admitted: AdmittedDocuments | None = None,
) -> Ranking:
    """Return the best `window` answers among the admitted documents. Raises IndexUnreadable if the index is damaged."""
    words = (term.variants for clause in query.clauses for way in clause.alternatives for term in way.terms)
    # A phrase of one word adds nothing to its term, unless the exact spelling matters.
    phrase = query.phrase if query.exact_first or len(query.phrase) > 1 else ()
    wanted = Lookup(
        score=partial(score_candidates, query),
        words=tuple(dict.fromkeys(words)),
        clauses=query.clauses,
        keys=(
            query.keys,
            query.spelling.spans if query.exact_first else (),
            tuple(map(TokenKind.FRAMEWORK.term, query.frameworks)),
            (TokenKind.FRAMEWORK.term(ANYWHERE),) if query.frameworks else (),
        ),
        phrase=phrase,
        neighbors=tuple(pair.atoms for pair in query.neighbors),
        separators=query.spelling.separators if query.exact_first else (),
        required=query.required,
        filters=query.filters,
        # Further answers help to judge how well the first one fits.
        window=max(window, RIVALS),
        near=weights.NEAR_MISSES,
        query_vector=query_vector,
        admitted=admitted,
    )
    return Ranking(query, index.find(wanted), window)


def score_candidates(query: Query, candidates: Candidates) -> CandidateScores:
    """Return scores and tiers of the documents in `candidates`, and which of them answer the query.

    Exact matches answer, documents whose coverage is neither tiny nor far below the best one (by HELD_SHARE where code
    matches exactly), and documents of nearly the same meaning; where operators list documents, all of them.
    """
    scorer = QueryScorer(candidates)
    score, coverage = scorer.combine(weigh_translations(query.clauses, scorer), query.neighbors)
    tiers = tiers_of(query, candidates)
    if candidates.recency is not None:
        latest = score + weights.LATEST * candidates.recency
        everything, nothing = np.ones(candidates.size, np.bool_), np.zeros(candidates.size)
        return CandidateScores(
            latest, coverage, tiers, answering=everything, near=~everything, semantic=nothing
        )
    is_held = query.spelling.is_code and (candidates.exact_outside or bool(tiers.any()))
    best = max(candidates.best_coverage, float(coverage.max(initial=0.0)))
    own, anywhere = candidates.key_matches[FRAMEWORK_KEYS], candidates.key_matches[ANYWHERE_KEYS]
    owned = np.union1d(own, anywhere)
    semantic = semantic_scores(query, candidates, score, tiers[owned] if len(owned) else tiers)
    # Which documents fit is decided by what they are before any is put behind others.
    fit = partial(select_fitting, coverage=coverage, semantic=semantic.copy(), tiers=tiers.copy())
    fitting = fit(owned, weights.OWN_SHARE * best)
    if len(fitting):
        others = np.delete(np.arange(candidates.size), fitting)
        tiers[others] = 0
        put_behind(fitting, others, score, semantic)
        general = np.setdiff1d(anywhere, own)
        put_behind(fit(own, weights.OWN_BEFORE_ANY * best), general[tiers[general] == 0], score, semantic)
    elif tiers.any():
        semantic = np.zeros(candidates.size)
    least = max(weights.ANSWER_COVERAGE, best * (weights.HELD_SHARE if is_held else weights.ANSWER_SHARE))
    answering = ((score > 0) & (coverage >= least)) | (tiers > 0) | answers_by_meaning(semantic)
    near = (score > 0) & ~answering
    return CandidateScores(score + semantic, coverage, tiers, answering, near, semantic, least)
