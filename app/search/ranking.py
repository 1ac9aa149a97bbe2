"""From scores to answers: tiers, cut-offs, filters and facet counts. Engine-free; arrays in, values out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.entry import FACETS
from app.search.answers import FacetCount, Filters
from app.search.engine import TIER_STEP, Scored
from app.search.scoring import Scores

Mask = NDArray[np.bool_]
"""True for each document that has a property, shape (documents,)."""

ANSWER_COVERAGE = 0.12
"""A document that accounts for less of a query is at best near to an answer."""
ANSWER_SHARE = 0.25
"""So is one that accounts for less than this part of what the best does."""
NEAR_MISSES = 5
"""Shown where nothing is found: more of them would look like results."""

HIGHEST = 0.999 * TIER_STEP
"""What a score above it is shown as: where a query's words are everywhere and what stands for them is rare,
scores know no bound, and tiers must."""


class FacetIndex:
    """Which documents carry which tag, as masks."""

    def __init__(self, facets: Sequence[Mapping[str, Sequence[str]]]) -> None:
        self._size = len(facets)
        self._masks: dict[str, dict[str, Mask]] = {}
        for number, by_facet in enumerate(facets):
            for facet, values in by_facet.items():
                masks = self._masks.setdefault(facet, {})
                for value in values:
                    masks.setdefault(value, np.zeros(self._size, dtype=np.bool_))[number] = True

    def chosen(self, facet: str, values: Sequence[str]) -> Mask:
        """Documents that carry one of `values`; all of them where there is nothing to choose by."""
        if not values:
            return np.ones(self._size, dtype=np.bool_)
        none = np.zeros(self._size, dtype=np.bool_)
        masks = self._masks.get(facet, {})
        mask: Mask = np.logical_or.reduce([masks.get(value, none) for value in values])
        return mask

    def passing(self, filters: Filters, without: str = "") -> Mask:
        """Documents that pass all filters but the one on the facet `without`."""
        passing = self.chosen("edition", (filters.edition,) if filters.edition else ())
        for facet in FACETS:
            if facet != without:
                passing = passing & self.chosen(facet, filters.facet(facet))
        return passing

    def counts(self, answering: Mask, filters: Filters) -> dict[str, tuple[FacetCount, ...]]:
        """For each value of each facet, how many answers there would be with it chosen in that facet."""
        counted = {}
        for facet in FACETS:
            among = answering & self.passing(filters, without=facet)
            counts = [
                (value, int(np.count_nonzero(mask & among)))
                for value, mask in self._masks.get(facet, {}).items()
            ]
            chosen = filters.facet(facet)
            counted[facet] = tuple(
                FacetCount(value, count)
                for value, count in sorted(counts, key=lambda pair: (-pair[1], pair[0]))
                if count or value in chosen
            )
        return counted


@dataclass(frozen=True, slots=True)
class Standings:
    """What every document stands at, each of shape (documents,); see `engine.Scored`."""

    score: Scores
    coverage: Scores
    tiers: NDArray[np.int64]

    def answering(self) -> Mask:
        """Documents that are answers: exact ones, and those whose coverage is neither tiny nor far below the best's."""
        best = float(self.coverage.max(initial=0.0))
        enough = self.coverage >= max(ANSWER_COVERAGE, ANSWER_SHARE * best)
        mask: Mask = ((self.score > 0) & enough) | (self.tiers > 0)
        return mask

    def ranked(self, ids: Sequence[str], chosen: Mask, limit: int | None = None) -> tuple[Scored, ...]:
        """The chosen documents, best tier first, within one best score; equals in the order of `ids`."""
        numbers = np.flatnonzero(chosen)
        lifted = np.minimum(self.score, HIGHEST) + TIER_STEP * self.tiers
        order = numbers[np.lexsort((-self.score[numbers], -self.tiers[numbers]))][:limit]
        return tuple(
            Scored(ids[n], float(lifted[n]), float(self.coverage[n]), int(self.tiers[n])) for n in order
        )
