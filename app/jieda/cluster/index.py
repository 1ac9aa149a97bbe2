"""An index in an OpenSearch cluster: asked for a window of candidates, which are judged by what lies here."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from jieda.cluster.ask import Body, Worth, any_of, candidates, covered, hits, holding, matching, passing
from jieda.cluster.door import Cluster, Refused
from jieda.cluster.result import CandidateWindow, ClusterCounts, ClusterResult
from jieda.errors import ClusterUnavailable
from jieda.search.index.array_file import read_signed, write_signed
from jieda.search.index.embedded import EmbeddedIndex, Pool, pool_rows
from jieda.search.index.fields import Weighting
from jieda.search.index.protocol import Columns, Lookup, Numbers, Postings, Within

FILE = "cluster.json"
WINDOW = 100
"""Candidates that are judged at least. Over the shipped entries 50 give every judged query the answer that the embedded
index gives; among thousands that are nearly alike, 100 keep more of the first ten as they are."""
WIDEST = 1000
"""And at most: who turns that many pages finds them empty."""
KNOWN_POOLS = 20_000
"""Words in several forms whose holders are remembered."""


def write_index_name(directory: Path, name: str) -> None:
    """Writes under which name the cluster keeps the index of a directory. Raises OSError."""
    write_signed(directory / FILE, {"index": name})


def read_index_name(directory: Path) -> str:
    """Raises IndexUnreadable where the name is missing or not as it was written."""
    return str(read_signed(directory / FILE).get("index"))


class ClusterIndex(EmbeddedIndex):
    """An index of which a cluster chooses the candidates; `directory` has the same documents without their vectors."""

    waits = True

    def __init__(self, directory: Path, weighting: Weighting, cluster: Cluster, window: int = WINDOW) -> None:
        """Asks the cluster for nothing yet. Raises IndexUnreadable."""
        super().__init__(directory, weighting)
        self.name = read_index_name(directory)
        self._cluster = cluster
        self._window = window
        holders = lru_cache(KNOWN_POOLS)(self._holders)
        self._worth = Worth(holders, len(self.collection), weighting.k1, self.lexicon)

    def is_there(self) -> bool:
        """Whether the cluster answers from it; False where it has none of that name. Raises ClusterUnavailable."""
        try:
            self._cluster.searches(self.name, [{"size": 0}])
        except Refused as error:
            return error.status != 404
        return True

    def find(self, wanted: Lookup) -> ClusterResult:
        """Judges a window. Raises ClusterUnavailable, IndexUnreadable."""
        size = min(WIDEST, max(self._window, wanted.window))
        required = self._required(wanted.required)
        dropped = required is not None and not required.any()
        held = [] if dropped else [holding(one) for one in wanted.required]
        among = self._among(wanted.within)
        asked = self._searches(wanted, size, [*passing(wanted.filters), *among, *held])
        answers = [answer["hits"]["hits"] for answer in self._search(asked)]
        latest = self._latest(wanted, size)
        found = [bisect_left(self.collection.ids, hit["fields"]["id"][0]) for some in answers for hit in some]
        window = CandidateWindow(
            self.collection.ids, self.facets, np.unique([*latest.tolist(), *found]).astype(np.intp)
        )
        pools = [self._pool_among(variants, window.numbers) for variants in wanted.pools]
        coverage, weight = covered(wanted.clauses, self._worth)
        return ClusterResult(
            wanted,
            window,
            pools,
            self._columns(wanted, window.numbers, pools),
            ClusterCounts(coverage, weight, lambda body: self._search([body])[0], [*among, *held]),
            complete=not passing(wanted.filters)
            and wanted.within is None
            and not held
            and all(len(some) < size for some in answers),
            dropped=dropped,
        )

    def _searches(self, wanted: Lookup, size: int, filters: list[Body]) -> list[Body]:
        """The window: what has the words, and what has a key or the phrase."""
        words = candidates(wanted.clauses, self._worth)
        groups = [[key for key in group if self.lexicon.has_key(key)] for group in wanted.keys]
        musts = [any_of("keys", keys) for keys in groups if keys]
        musts += [holding(wanted.phrase)] if wanted.phrase else []
        queries = [matching(words, filters)] if words else []
        queries += [matching(words, [must, *filters], least=0) for must in musts]
        return [hits(query, size) for query in queries]

    def _among(self, within: Within | None) -> list[Body]:
        """What only documents within some pass, by the fewer ids."""
        if within is None:
            return []
        inside, outside = (
            {"terms": {"id": [self.collection.ids[number] for number in np.flatnonzero(mask).tolist()]}}
            for mask in (within.mask, ~within.mask)
        )
        if 2 * int(within.mask.sum()) <= len(within.mask):
            return [inside]
        return [{"bool": {"must_not": [outside]}}]

    def _latest(self, wanted: Lookup, size: int) -> Numbers:
        """The latest documents, where operators alone list them."""
        if wanted.within is None or not wanted.within.listed:
            return np.zeros(0, np.intp)
        passing_here = self.facets.passing(wanted.filters)
        mask = wanted.within.mask if passing_here is None else wanted.within.mask & passing_here
        numbers = np.flatnonzero(mask)
        return numbers[np.argsort(-wanted.within.recency[numbers], kind="stable")][:size]

    def _columns(self, wanted: Lookup, numbers: Numbers, pools: Sequence[Pool]) -> Columns:
        """What lies here of the documents of a window."""
        phrase, written = self._phrase(wanted.phrase, wanted.writing)
        inside = np.isin(phrase, numbers)
        listed = wanted.within is not None and wanted.within.listed
        return Columns(
            size=len(numbers),
            total=len(self.collection),
            pools=tuple(pool.postings for pool in pools),
            keyed=tuple(np.flatnonzero(np.isin(numbers, self._keyed(keys))) for keys in wanted.keys),
            phrase=np.searchsorted(numbers, phrase[inside]),
            written=written[inside],
            recency=wanted.within.recency[numbers] if wanted.within and listed else None,
        )

    def _pool_among(self, variants: tuple[str, ...], numbers: Numbers) -> Pool:
        """The pool of some terms in a window: its postings count the window's documents from 0."""
        terms = tuple(dict.fromkeys(variants))
        rows = pool_rows(self.collection, self._weighting, terms, numbers).ordered()
        frequencies = np.bincount(np.searchsorted(numbers, rows.documents), rows.amounts, len(numbers))
        found = np.flatnonzero(frequencies)
        saturation = frequencies[found] / (self._weighting.k1 + frequencies[found])
        return Pool(terms, Postings(found, saturation, self._worth.holders(terms)), lambda _: rows, 0)

    def _holders(self, variants: tuple[str, ...]) -> int:
        """How many documents have any of some terms."""
        holding_any = np.zeros(len(self.collection), np.bool_)
        for place, segment in enumerate(self.collection.segments):
            for term in variants:
                if (rows := segment.terms.rows(term)) is not None:
                    holding_any[self.collection.renumbered(place, segment.terms.columns[0][rows])] = True
        return int(np.count_nonzero(holding_any))

    def _search(self, bodies: Sequence[Body]) -> list[Body]:
        if not bodies:
            return []
        try:
            return self._cluster.searches(self.name, bodies)
        except Refused as error:
            if error.status == 404:
                raise ClusterUnavailable("the index is not there") from error
            raise ClusterUnavailable(f"it refuses a search ({error.kind})") from error
