"""A query to the documents that answer it, best first: everything that ranks, once, above any index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from app.filters import Filters
from app.search.answers import FacetCount, Fit
from app.search.index.protocol import Candidate, Columns, Found, Index, Standings, Wanted
from app.search.meaning.embedder import Vector
from app.search.query.types import Query
from app.search.rank.explain import Contribution, contributions
from app.search.rank.fit import evidence
from app.search.rank.meaning import answering as answering_alike
from app.search.rank.meaning import lift_of, prose_in
from app.search.rank.scoring import Scorer, Variants, pools_of
from app.search.rank.tiers import tiers_of
from app.search.rank.translated import weighed
from app.search.weights import (
    ANSWER_COVERAGE,
    ANSWER_SHARE,
    HIGHEST,
    NEAR_MISSES,
    PHRASE_BONUS,
    TIER_STEP,
    WEAK,
)
from app.taxonomy import FACETS


@dataclass(frozen=True, slots=True)
class Scored:
    """A document that answers a query. `coverage`, 0 to 1, is the part of the query's weight it accounts for;
    `tier` is 0 unless an exact form puts it before all that are merely relevant, and is in the score. `lift` is what
    came into the score by meaning."""

    id: str
    score: float
    coverage: float
    tier: int
    lift: float = 0.0


class Ranking:
    """The answers to one query. Counts and explanations are worked out when they are asked for."""

    def __init__(self, query: Query, found: Found, pools: Mapping[Variants, int], window: int) -> None:
        self._query = query
        self._found = found
        self._pools = pools
        self.ranked = tuple(map(_lifted, found.answers[:window]))
        """As many as were asked for, best first."""
        self.near = tuple(map(_lifted, found.near))
        """Documents that share something with the query, and too little to be answers; best first, a handful."""
        self.phrase_dropped = found.phrases_dropped
        """No document holds the required phrases."""

    def fit(self) -> Fit:
        """How well the best answer fits."""
        first = [*map(_lifted, self._found.answers[:2])]
        if not first:
            return Fit.NOTHING
        best = first[0]
        if best.tier:
            return Fit.GOOD
        columns = self._found.columns
        speaking = evidence(
            coverage=best.coverage,
            words=best.score - best.lift,
            absent=Scorer(columns, self._pools).absent(self._query.clauses),
            prose=prose_in(self._query, columns),
            lift=best.lift,
            lead=1 - first[1].score / best.score if len(first) > 1 and best.score > 0 else 1.0,
        )
        return Fit.WEAK if speaking < WEAK else Fit.GOOD

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """How many documents answer, with each of these filters in place of the query's."""
        return self._found.totals(filters)

    def facets(self) -> dict[str, tuple[FacetCount, ...]]:
        """How many answers there would be with a value chosen, most first, for values with any or chosen already."""
        counted = self._found.facets()
        return {facet: tuple(_counts(counted[facet], self._query.filters.facet(facet))) for facet in FACETS}

    def contributions(self, start: int, end: int, least: float = 0.0) -> list[tuple[Contribution, ...]]:
        """What made up the scores of `ranked[start:end]`; see `explain.contributions`."""
        shown = self._found.answers[start:end]
        return contributions(self._query.clauses, self._found, shown, self._pools, least)


def _counts(counts: Mapping[str, int], chosen: Sequence[str]) -> list[FacetCount]:
    shown = [(value, count) for value, count in counts.items() if count or value in chosen]
    return [FacetCount(value, count) for value, count in sorted(shown, key=lambda pair: (-pair[1], pair[0]))]


def _lifted(one: Candidate) -> Scored:
    """With a score that falls from the first answer to the last: where a query's words are everywhere and what
    stands for them is rare, scores know no bound, and tiers must."""
    return Scored(one.id, min(one.score, HIGHEST) + TIER_STEP * one.tier, one.coverage, one.tier, one.lift)


class Ranker:
    """Ranks what an index finds. Safe to share between threads."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def rank(self, query: Query, window: int, meaning: Vector | None = None) -> Ranking:
        """The best `window` answers; `meaning` is what is asked, embedded, where anybody embeds. Raises IndexUnreadable
        where the index is damaged."""
        pools = pools_of(query.clauses)
        # A phrase of one word says nothing that its term does not, unless its writing matters.
        phrase = query.phrase if query.literal or len(query.phrase) > 1 else ()
        wanted = Wanted(
            judge=partial(judge, query, pools),
            pools=tuple(pools),
            clauses=query.clauses,
            keys=(query.keys, query.writing.spans if query.literal else ()),
            phrase=phrase,
            writing=query.writing.gaps if query.literal else (),
            required=query.required,
            filters=query.filters,
            # How well the first one fits is told by the second as well.
            window=max(window, 2),
            near=NEAR_MISSES,
            meaning=meaning,
        )
        return Ranking(query, self._index.find(wanted), pools, window)


def judge(query: Query, pools: Mapping[Variants, int], columns: Columns) -> Standings:
    """Where each document of some columns stands in the answer to a query.

    Those that are exact answer, and those whose coverage is neither tiny nor far below the best's,
    and those that mean nearly the same.
    """
    scorer = Scorer(columns, pools)
    scored = scorer.combine(weighed(query.clauses, scorer))
    score = scored.score
    if len(query.phrase) > 1:
        score[columns.phrase] *= 1 + PHRASE_BONUS
    tiers = tiers_of(query, columns)
    best = max(columns.best_coverage, float(scored.coverage.max(initial=0.0)))
    enough = scored.coverage >= max(ANSWER_COVERAGE, ANSWER_SHARE * best)
    lift = lift_of(query, columns, score, tiers)
    answering = ((score > 0) & enough) | (tiers > 0) | answering_alike(lift)
    near = (score > 0) & ~answering
    return Standings(score + lift, scored.coverage, tiers, answering, near, lift)
