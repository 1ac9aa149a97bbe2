"""The documents of a window as columns: scored exactly as the embedded index scores, from what was stored of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.search.answers import Filters
from app.search.cluster.record import EDITION, Averages, Words, norms
from app.search.index.fields import ELSEWHERE, ZONES, Weighting
from app.search.index.protocol import WRITTEN_BITS, Columns, Mask, Postings, Share, Wanted
from app.search.index.writing import Passage, held
from app.taxonomy import FACETS


@dataclass(frozen=True, slots=True)
class Hit:
    """A document of the window. `holds` says whether the phrase is in it; `passages` are there where the writing
    matters."""

    id: str
    words: Words
    holds: bool
    passages: Sequence[Passage] = ()


class Window:
    """Documents in the order of their ids."""

    def __init__(self, hits: Sequence[Hit], wanted: Wanted, averages: Averages, weighting: Weighting) -> None:
        self.hits = sorted(hits, key=lambda one: one.id)
        self._wanted = wanted
        self._weighting = weighting
        self._divisors = [norms(one.words.lengths, averages, weighting) for one in self.hits]
        self._shares: dict[tuple[int, int], list[Share]] = {}

    def columns(self, holders: Sequence[int], total: int) -> Columns:
        """`holders` of each pool in the whole index, which has `total` documents."""
        wanted = self._wanted
        holding = [number for number, one in enumerate(self.hits) if one.holds]
        return Columns(
            size=len(self.hits),
            total=total,
            pools=tuple(self._postings(pool, count) for pool, count in enumerate(holders)),
            keyed=tuple(
                np.array([n for n, one in enumerate(self.hits) if one.words.keys & set(keys)], np.intp)
                for keys in wanted.keys
            ),
            phrase=np.array(holding, np.intp),
            written=np.array([self._written(self.hits[number]) for number in holding], np.uint16),
        )

    def shares(self, pool: int, number: int) -> list[Share]:
        """What each term of a pool brought in each zone of a document."""
        if (known := self._shares.get((pool, number))) is None:
            known = self._shares[pool, number] = self._worked_out(pool, number)
        return known

    def passing(self, filters: Filters) -> Mask:
        """Which documents pass."""
        chosen = {facet: set(filters.facet(facet)) for facet in FACETS if filters.facet(facet)}
        if filters.edition:
            chosen[EDITION] = {str(filters.edition)}
        return np.array(
            [
                all(one.words.facets.get(facet, frozenset()) & values for facet, values in chosen.items())
                for one in self.hits
            ],
            np.bool_,
        )

    def _postings(self, pool: int, holders: int) -> Postings:
        terms = dict.fromkeys(self._wanted.pools[pool])
        found = [
            (number, sum(share.amount for share in self.shares(pool, number)))
            for number, one in enumerate(self.hits)
            if not one.words.terms.keys().isdisjoint(terms)
        ]
        amounts = np.array([amount for _, amount in found])
        numbers = np.array([number for number, _ in found], np.intp)
        return Postings(numbers, amounts / (self._weighting.k1 + amounts), holders)

    def _worked_out(self, pool: int, number: int) -> list[Share]:
        terms, divisors = self.hits[number].words.terms, self._divisors[number]
        weighting = self._weighting
        return [
            Share(
                term,
                ZONES[zone],
                weighting.zones[ZONES[zone]].weight
                * weighting.kinds.get(term[0], 1.0)
                * count
                / divisors[zone],
            )
            for term in dict.fromkeys(self._wanted.pools[pool])
            for zone, count in terms.get(term, ())
        ]

    def _written(self, one: Hit) -> int:
        """How a document holds the phrase as typed, by region."""
        phrase, typed, found = self._wanted.phrase, self._wanted.writing, 0
        if not typed:
            return 0
        size = len(phrase)
        for passage in one.passages:
            if passage.region == ELSEWHERE:
                continue
            for at in range(len(passage.atoms) - size + 1):
                if passage.atoms[at : at + size] == phrase:
                    gaps = passage.gaps[at : at + size + 1]
                    found |= held(typed, gaps) << (WRITTEN_BITS * passage.region)
        return found
