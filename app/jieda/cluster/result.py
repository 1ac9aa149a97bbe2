"""What a search of the cluster found: judged in the window, counted in the cluster."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jieda.cluster.ask import Body, any_of, counted, every, holding, matching, passing, unscored
from jieda.filters import Filters
from jieda.search.index.collection import FacetColumns
from jieda.search.index.embedded import Pool
from jieda.search.index.protocol import Columns, Lookup, Mask, Numbers, ScoredDocument, Share
from jieda.search.weights import ANSWER_COVERAGE, ANSWER_SHARE
from jieda.taxonomy import FACETS

ROUNDING = 1 - 1e-6
"""Sums in the cluster are of 32 bits: what is exactly at the bar is to pass it."""

Count = Callable[[Body], Body]
"""Asks the cluster to count."""


@dataclass(frozen=True, slots=True)
class ClusterCounts:
    """How answers are counted where the window has not all of them: `coverage` are queries that sum up to what a
    document covers, `weight` what there is to cover."""

    coverage: Sequence[Body]
    weight: float
    ask: Count
    among: Sequence[Body]
    """What only documents pass that the query language admits and that hold required phrases."""


@dataclass(frozen=True, slots=True)
class CandidateWindow:
    """The documents that were chosen, by ascending `numbers` of the whole index, whose `ids` and `facets` these are."""

    ids: Sequence[str]
    facets: FacetColumns
    numbers: Numbers

    def passing(self, filters: Filters, without: str = "") -> Mask:
        """Which of them pass all filters but the one on the facet `without`."""
        mask = self.facets.passing(filters, without)
        return np.ones(len(self.numbers), np.bool_) if mask is None else mask[self.numbers]

    def counts(self, facet: str, among: Mask) -> dict[str, int]:
        """How many of those `among` them carry each value of a facet."""
        mask = np.zeros(self.facets.size, np.bool_)
        mask[self.numbers[among]] = True
        return self.facets.counts(facet, mask)


class ClusterResult:
    """Implements `protocol.Found`."""

    def __init__(  # noqa: PLR0913 - what was found, and how the rest is counted
        self,
        wanted: Lookup,
        window: CandidateWindow,
        pools: Sequence[Pool],
        columns: Columns,
        counting: ClusterCounts,
        *,
        complete: bool,
        dropped: bool,
    ) -> None:
        """`dropped`: no document holds the required phrases, which those of the window do otherwise; `complete`: no
        document outside the window has anything that was asked for. Raises ClusterUnavailable."""
        self.columns = columns
        self.phrases_dropped = dropped
        self._wanted, self._window, self._pools = wanted, window, pools
        self._counting, self._complete = counting, complete
        self._totals: dict[Filters, int] = {}
        self._facets: dict[str, dict[str, int]] = {}
        self._standings = wanted.judge(columns)
        self._best = float(self._standings.coverage.max(initial=0.0))
        if not complete:
            self._see_beyond()
        passing_here = window.passing(wanted.filters)
        self._answering: Mask = self._standings.answering
        self.answers = self._chosen(self._answering & passing_here, wanted.window)
        self.near = self._chosen(self._standings.near & passing_here, wanted.near)

    def _see_beyond(self) -> None:
        """Counts everywhere, and judges anew where some document outside the window covers more of the query, which
        sets the bar for what answers."""
        best = self._count(_asked_for(self._wanted.filters))
        if best > self._best / ROUNDING and ANSWER_SHARE * best > ANSWER_COVERAGE:
            self._best = best
            self.columns = replace(self.columns, best_coverage=best)
            self._standings = self._wanted.judge(self.columns)
            self._count(_asked_for(self._wanted.filters))

    def shares(self, pool: int, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        return self._pools[pool].shares(self._window.numbers[list(numbers)].tolist())

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """How many documents answer and pass. Raises ClusterUnavailable."""
        if self._complete:
            return tuple(int((self._answering & self._window.passing(one)).sum()) for one in filters)
        if missing := [one for one in filters if one not in self._totals]:
            self._count(missing)
        return tuple(self._totals[one] for one in filters)

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Counts by facet and value."""
        if not self._complete:
            return self._facets
        chosen = self._wanted.filters
        return {
            facet: self._window.counts(facet, self._answering & self._window.passing(chosen, facet))
            for facet in FACETS
        }

    def _count(self, filters: Sequence[Filters]) -> float:
        """All counts that this search may need, in one request; the most that any document covers of the query, 0
        where none passes the bar."""
        held, known = self._counting.among, self._window.facets.values
        aggregations: dict[str, Body] = {
            f"total {number}": {"filter": every([*passing(one), *held])} for number, one in enumerate(filters)
        }
        for facet in FACETS:
            values = {"terms": {"field": facet, "size": max(1, len(known[facet]))}}
            others = passing(self._wanted.filters.without(facet))
            aggregations[facet] = {"filter": every([*others, *held]), "aggs": {"values": values}}
        answer = self._counting.ask(counted(self._all_answers(), aggregations, best=True))
        found = answer["aggregations"]
        self._totals.update({one: found[f"total {n}"]["doc_count"] for n, one in enumerate(filters)})
        for facet in FACETS:
            buckets = {one["key"]: one["doc_count"] for one in found[facet]["values"]["buckets"]}
            self._facets[facet] = {value: buckets.get(value, 0) for value in known[facet]}
        weight = self._counting.weight
        return float(answer["hits"]["max_score"] or 0.0) / weight if weight > 0 else 0.0

    def _all_answers(self) -> Body:
        """Every document that answers, as `rank.ranker.judge` says it of a window."""
        if self.columns.recency is not None:
            return {"match_all": {}}
        least = max(ANSWER_COVERAGE, ANSWER_SHARE * self._best) * self._counting.weight * ROUNDING
        should: list[Body] = []
        if self._counting.coverage:
            covering = {"bool": {"should": list(self._counting.coverage)}}
            should.append({"function_score": {"query": covering, "min_score": least}})
        titles, phrase = self._wanted.keys[0], self._wanted.phrase
        if titles:
            should.append(unscored(any_of("keys", titles)))
        if phrase and self._wanted.writing:
            should.append(unscored(holding(phrase)))
        return matching(should, ()) if should else {"match_none": {}}

    def _chosen(self, chosen: Mask, limit: int) -> tuple[ScoredDocument, ...]:
        numbers = np.flatnonzero(chosen)
        standings = self._standings
        order = np.lexsort((-standings.score[numbers], -standings.tiers[numbers]))[:limit]
        return tuple(
            ScoredDocument(
                self._window.ids[self._window.numbers[n]],
                n,
                float(standings.score[n]),
                float(standings.coverage[n]),
                int(standings.tiers[n]),
                float(standings.lift[n]),
            )
            for n in numbers[order].tolist()
        )


def _asked_for(chosen: Filters) -> list[Filters]:
    """What totals are asked for with some filters: with them, and with one less, or none."""
    less = (chosen.without(facet) for facet in (*FACETS, "edition"))
    return list(dict.fromkeys((chosen, *less, Filters())))
