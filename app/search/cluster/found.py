"""What a search of the cluster found: judged in the window, counted in the cluster."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.search.answers import Filters
from app.search.cluster.ask import Body, any_of, counted, holding, matching, passing
from app.search.cluster.window import Window
from app.search.index.protocol import Candidate, Columns, Mask, Share, Wanted
from app.search.weights import ANSWER_COVERAGE, ANSWER_SHARE
from app.taxonomy import FACETS

ROUNDING = 1 - 1e-6
"""Sums in the cluster are of 32 bits: what is exactly at the bar is to pass it."""

Count = Callable[[Body], Mapping[str, object]]
"""Asks the cluster to count."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How answers are counted where the window has not all of them: `coverage` are queries that sum up to what a
    document covers, `weight` what there is to cover."""

    coverage: Sequence[Body]
    weight: float
    values: Mapping[str, Sequence[str]]
    """Of each facet, those that documents have."""
    ask: Count


class ClusterFound:
    """Implements `protocol.Found`."""

    def __init__(  # noqa: PLR0913 - what was found, and how the rest is counted
        self,
        wanted: Wanted,
        window: Window,
        columns: Columns,
        held: Mask,
        counting: Counting,
        *,
        complete: bool,
        dropped: bool,
    ) -> None:
        """`held`: documents that hold all required phrases, all of them where they were `dropped`; `complete`: no
        document outside the window has anything that was asked for."""
        self.columns = columns
        self.phrases_dropped = dropped
        self._wanted, self._window, self._counting, self._complete = wanted, window, counting, complete
        self._standings = standings = wanted.judge(columns)
        passing_here = window.passing(wanted.filters)
        self._answering: Mask = standings.answering & held
        self.answers = self._best(self._answering & passing_here, wanted.window)
        self.near = self._best(standings.near & held & passing_here, wanted.near)
        self._totals: dict[Filters, int] = {}
        self._facets: dict[str, dict[str, int]] | None = None

    def shares(self, pool: int, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """What the terms of a pool brought, zone by zone, for each of some documents."""
        return [self._window.shares(pool, number) for number in numbers]

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """How many documents answer and pass. Raises ClusterUnavailable."""
        if self._complete:
            return tuple(int((self._answering & self._window.passing(one)).sum()) for one in filters)
        if missing := [one for one in filters if one not in self._totals]:
            self._count(missing)
        return tuple(self._totals[one] for one in filters)

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Counts by facet and value. Raises ClusterUnavailable."""
        if self._complete:
            return {facet: self._counted_here(facet) for facet in FACETS}
        if self._facets is None:
            self._count([self._wanted.filters])
        return self._facets or {}

    def _counted_here(self, facet: str) -> dict[str, int]:
        among = np.flatnonzero(
            self._answering & self._window.passing(self._wanted.filters.without(facet))
        ).tolist()
        counts = dict.fromkeys(self._counting.values[facet], 0)
        for number in among:
            for value in self._window.hits[number].words.facets.get(facet, ()):
                counts[value] += 1
        return counts

    def _count(self, filters: Sequence[Filters]) -> None:
        """All counts that this search may need, in one request."""
        chosen = self._wanted.filters
        without = {facet: chosen.without(facet) for facet in FACETS}
        wanted = list(
            dict.fromkeys((*filters, chosen, *without.values(), chosen.without("edition"), Filters()))
        )
        aggregations: dict[str, Body] = {
            f"total {number}": {"filter": {"bool": {"filter": passing(one)}}}
            for number, one in enumerate(wanted)
        }
        for facet, others in without.items():
            values = {"terms": {"field": facet, "size": max(1, len(self._counting.values[facet]))}}
            aggregations[facet] = {
                "filter": {"bool": {"filter": passing(others)}},
                "aggs": {"values": values},
            }
        answer = self._counting.ask(counted(self._all_answers(), aggregations))
        found: Mapping[str, Body] = answer["aggregations"]  # type: ignore[assignment] # JSON
        self._totals = {one: found[f"total {n}"]["doc_count"] for n, one in enumerate(wanted)}
        self._facets = {}
        for facet in FACETS:
            buckets = {one["key"]: one["doc_count"] for one in found[facet]["values"]["buckets"]}
            self._facets[facet] = {value: buckets.get(value, 0) for value in self._counting.values[facet]}

    def _all_answers(self) -> Body:
        """Every document that answers, as `rank.ranker.judge` says it of a window."""
        best = float(self._standings.coverage.max(initial=0.0))
        least = max(ANSWER_COVERAGE, ANSWER_SHARE * best) * self._counting.weight * ROUNDING
        should: list[Body] = []
        if self._counting.coverage:
            covering = {"bool": {"should": list(self._counting.coverage)}}
            should.append({"function_score": {"query": covering, "min_score": least}})
        titles, phrase = self._wanted.keys[0], self._wanted.phrase
        if titles:
            should.append(any_of("keys", titles))
        if phrase and self._wanted.writing:
            should.append(holding(phrase))
        required = [] if self.phrases_dropped else [holding(one) for one in self._wanted.required]
        return matching(should, required)

    def _best(self, chosen: Mask, limit: int) -> tuple[Candidate, ...]:
        numbers = np.flatnonzero(chosen)
        standings = self._standings
        order = np.lexsort((-standings.score[numbers], -standings.tiers[numbers]))[:limit]
        return tuple(
            Candidate(
                self._window.hits[n].id,
                n,
                float(standings.score[n]),
                float(standings.coverage[n]),
                int(standings.tiers[n]),
                float(standings.lift[n]),
            )
            for n in numbers[order].tolist()
        )
