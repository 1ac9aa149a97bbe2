"""The best of all documents, chosen and counted by arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.filters import Filters
from app.search.index.array_file import Array
from app.search.index.facets import FacetColumns
from app.search.index.pool import Pool
from app.search.index.protocol import Candidate, Columns, Mask, Numbers, Share, Standings, Wanted


@dataclass(frozen=True, slots=True)
class Judged:
    """Every document, as it was looked up and as it stands; `pools` by `Wanted.pools`."""

    pools: Sequence[Pool]
    columns: Columns
    standings: Standings


class EmbeddedFound:
    """What was found, judged and not yet counted. Implements `protocol.Found`."""

    def __init__(
        self, ids: Sequence[str], facets: FacetColumns, wanted: Wanted, judged: Judged, required: Mask | None
    ) -> None:
        """`ids` and `facets` of all documents; `required`: those that hold all required phrases, if any are."""
        self.columns = judged.columns
        self.phrases_dropped = required is not None and not required.any()
        self._ids = ids
        self._facets = facets
        self._pools = judged.pools
        self._standings = standings = judged.standings
        self._filters = wanted.filters
        held = None if self.phrases_dropped else required
        self._answering = standings.answering if held is None else standings.answering & held
        passing = facets.passing(wanted.filters)
        near = standings.near if held is None else standings.near & held
        self.answers = self._best(self._answering, passing, wanted.window)
        self.near = self._best(near, passing, wanted.near)

    def shares(self, pool: int, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """What the terms of a pool brought, zone by zone, for each of some documents."""
        return self._pools[pool].shares(numbers)

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """How many documents answer and pass, for each of some filters."""
        passing = (self._facets.passing(one) for one in filters)
        return tuple(
            int(np.count_nonzero(self._answering if mask is None else self._answering & mask))
            for mask in passing
        )

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Counts by facet and value."""
        return self._facets.all_counts(self._answering, self._filters)

    def _best(self, chosen: Mask, passing: Mask | None, limit: int) -> tuple[Candidate, ...]:
        numbers = np.flatnonzero(chosen if passing is None else chosen & passing)
        if not limit or not len(numbers):
            return ()
        tiers, score = self._standings.tiers, self._standings.score
        if len(numbers) > limit:
            numbers = _leading(numbers, tiers[numbers], score[numbers], limit)
        order = numbers[np.lexsort((-score[numbers], -tiers[numbers]))][:limit]
        ids, coverage, lift = self._ids, self._standings.coverage, self._standings.lift
        return tuple(
            Candidate(ids[n], n, float(score[n]), float(coverage[n]), int(tiers[n]), float(lift[n]))
            for n in order.tolist()
        )


def _leading(numbers: Numbers, tiers: Array, score: Array, limit: int) -> Numbers:
    """At least the first `limit` by tier and score, equals of the last included, and as few others as may be."""
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
