"""An index in an OpenSearch cluster, which selects a window of candidates; local segments score them."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from jieda.cluster.bodies import (
    Body,
    WordWeights,
    all_of,
    any_of,
    candidate_queries,
    count_body,
    coverage_queries,
    filter_queries,
    phrase_query,
    ranked_query,
    search_body,
    unscored,
)
from jieda.cluster.client import Cluster, Refused
from jieda.errors import ClusterUnavailable
from jieda.search.index.array_file import read_signed, write_signed
from jieda.search.index.embedded import (
    EmbeddedIndex,
    Pool,
    best_documents,
    count_passing,
    of_phrase,
    pool_rows,
)
from jieda.search.index.protocol import (
    AdmittedDocuments,
    Candidates,
    Lookup,
    Mask,
    Numbers,
    Postings,
    ScoredDocument,
    Share,
    Variants,
)
from jieda.search.weights import K1
from jieda.taxonomy import FACETS, Filters

ROUNDING = 1 - 1e-6
"""Tolerance for the cluster's 32-bit sums: a document exactly at the threshold has to pass."""


@dataclass(frozen=True, slots=True)
class CandidateWindow:
    """The documents that the cluster selected for a lookup, by their ascending `numbers` in the whole index."""

    numbers: Numbers
    among: Sequence[Body]
    """Filters of the query language and of required phrases."""
    complete: bool
    """Whether no document outside the window matches anything."""
    dropped: bool
    """Whether no document has the required phrases; otherwise all in the window do."""


class ClusterResult:
    """Implements `protocol.LookupResult`."""

    def __init__(self, index: "ClusterIndex", wanted: Lookup, window: CandidateWindow) -> None:
        """Raises ClusterUnavailable."""
        self._index, self._wanted, self._window = index, wanted, window
        self._pools = {variants: index.pool_among(variants, window.numbers) for variants in wanted.words}
        self.candidates = index.candidates(wanted, window.numbers, self._pools)
        self.phrases_dropped = window.dropped
        self._totals: dict[Filters, int] = {}
        self._facets: dict[str, dict[str, int]] = {}
        self._scores = wanted.score(self.candidates)
        if not window.complete:
            self._coverage, self._weight = coverage_queries(wanted.clauses, index.word_weights)
            self._count_beyond_window()
        self._answering = np.zeros(len(index.collection), np.bool_)
        self._answering[window.numbers] = self._scores.answering
        passing = index.facets.passing(wanted.filters)
        inside = True if passing is None else passing[window.numbers]
        self.answers = self._take_best(self._scores.answering & inside, wanted.window)
        self.near = self._take_best(self._scores.near & inside, wanted.near)

    def _count_beyond_window(self) -> None:
        """Count in the whole index. If a document outside the window has a higher coverage, and so raises the threshold
        of answers, judge and count again."""
        filters, least = _filters_to_count(self._wanted.filters), self._scores.least
        best = self._count(filters)
        if best > float(self._scores.coverage.max(initial=0.0)) / ROUNDING:
            self.candidates = replace(self.candidates, best_coverage=best)
            self._scores = self._wanted.score(self.candidates)
            if self._scores.least > least:
                self._count(filters)

    def shares(self, word: Variants, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        return self._pools[word].shares(self._window.numbers[list(numbers)].tolist())

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """Count the answers that pass each of `filters`. Raises ClusterUnavailable."""
        if self._window.complete:
            return count_passing(self._answering, map(self._index.facets.passing, filters))
        if missing := [each for each in filters if each not in self._totals]:
            self._count(missing)
        return tuple(self._totals[each] for each in filters)

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        if self._window.complete:
            return self._index.facets.all_counts(self._answering, self._wanted.filters)
        return self._facets

    def _count(self, filters: Sequence[Filters]) -> float:
        """Fetch all counts of this search in one request; return the highest coverage, 0 if there is no answer."""
        among, known = self._window.among, self._index.facets.values
        aggregations: dict[str, Body] = {
            f"total {number}": {"filter": all_of([*filter_queries(each), *among])}
            for number, each in enumerate(filters)
        }
        for facet in FACETS:
            values = {"terms": {"field": facet, "size": max(1, len(known[facet]))}}
            others = filter_queries(self._wanted.filters.without(facet))
            aggregations[facet] = {"filter": all_of([*others, *among]), "aggs": {"values": values}}
        answer = self._index.search([count_body(self._answers_query(), aggregations)])[0]
        counted = answer["aggregations"]
        for number, each in enumerate(filters):
            self._totals[each] = counted[f"total {number}"]["doc_count"]
        for facet in FACETS:
            buckets = {bucket["key"]: bucket["doc_count"] for bucket in counted[facet]["values"]["buckets"]}
            self._facets[facet] = {value: buckets.get(value, 0) for value in known[facet]}
        return float(answer["hits"]["max_score"] or 0.0) / self._weight if self._weight > 0 else 0.0

    def _answers_query(self) -> Body:
        """Return the query for all answers, by the rules of `rank.ranker.score_candidates`."""
        if self.candidates.recency is not None:
            return {"match_all": {}}
        least = self._scores.least * self._weight * ROUNDING
        should: list[Body] = []
        if self._coverage:
            covering = {"bool": {"should": self._coverage}}
            should.append({"function_score": {"query": covering, "min_score": least}})
        titles, phrase = self._wanted.keys[0], self._wanted.phrase
        if titles:
            should.append(unscored(any_of("keys", titles)))
        if phrase and self._wanted.separators:
            should.append(unscored(phrase_query(phrase)))
        return ranked_query(should, ()) if should else {"match_none": {}}

    def _take_best(self, chosen: Mask, limit: int) -> tuple[ScoredDocument, ...]:
        ids, numbers = self._index.collection.ids, self._window.numbers
        return best_documents(self._scores, chosen, limit, lambda place: ids[numbers[place]])


def _filters_to_count(chosen: Filters) -> list[Filters]:
    """Return the filters whose totals a search may need: `chosen`, those without one facet, and none at all."""
    less = map(chosen.without, (*FACETS, "edition", "version"))
    return list(dict.fromkeys((chosen, *less, Filters())))


FILE = "cluster.json"
WINDOW = 100
"""Least number of candidates. With the shipped entries, 50 give every judged query the answer of the embedded index;
among thousands of nearly equal entries, 100 keep more of its first ten."""
WIDEST = 1000
"""Most candidates; pages beyond them are empty."""
KNOWN_POOLS = 20_000
"""Entries of the cache of document frequencies."""


def write_index_name(directory: Path, name: str) -> None:
    """Write the name of the index in the cluster to its local directory. Raises OSError."""
    write_signed(directory / FILE, {"index": name})


def read_index_name(directory: Path) -> str:
    """Read the name. Raises IndexUnreadable if it is missing or not as written."""
    return str(read_signed(directory / FILE).get("index"))


class ClusterIndex(EmbeddedIndex):
    """An index whose candidates a cluster selects; `directory` has the same documents without their vectors."""

    is_remote = True

    def __init__(self, directory: Path, cluster: Cluster, window: int = WINDOW) -> None:
        """Sends no request yet. Raises IndexUnreadable."""
        super().__init__(directory)
        self.name = read_index_name(directory)
        self._cluster = cluster
        self._window = window
        holders = lru_cache(KNOWN_POOLS)(self._doc_frequency)
        self.word_weights = WordWeights(holders, len(self.collection), self.lexicon)

    def is_there(self) -> bool:
        """Whether the cluster has an index of that name. Raises ClusterUnavailable."""
        try:
            self._cluster.searches(self.name, [{"size": 0}])
        except Refused as error:
            return error.code != 404
        return True

    def find(self, wanted: Lookup) -> ClusterResult:
        """Fetch and score a window. Raises ClusterUnavailable, IndexUnreadable."""
        size = min(WIDEST, max(self._window, wanted.window))
        holding = self.holding_all(wanted.required)
        dropped = bool(wanted.required) and not holding.any()
        phrases = [] if dropped else [phrase_query(phrase) for phrase in wanted.required]
        among = [*self._admitted_queries(wanted.admitted), *phrases]
        filters = [*filter_queries(wanted.filters), *among]
        searches = self._window_searches(wanted, size, filters)
        answers = [answer["hits"]["hits"] for answer in self.search(searches)]
        latest = self._latest(wanted, size, holding | dropped)
        found = [bisect_left(self.collection.ids, hit["fields"]["id"][0]) for hits in answers for hit in hits]
        numbers = np.unique([*latest.tolist(), *found]).astype(np.intp)
        complete = not filters and all(len(hits) < size for hits in answers)
        return ClusterResult(self, wanted, CandidateWindow(numbers, among, complete, dropped))

    def _window_searches(self, wanted: Lookup, size: int, filters: list[Body]) -> list[Body]:
        """Return the searches for the window: for documents with the words, and for those with a key or the phrase."""
        words = candidate_queries(wanted.clauses, self.word_weights)
        groups = [[key for key in group if self.lexicon.has_key(key)] for group in wanted.keys]
        musts = [any_of("keys", keys) for keys in groups if keys]
        musts += [phrase_query(wanted.phrase)] if wanted.phrase else []
        queries = [ranked_query(words, filters)] if words else []
        queries += [ranked_query(words, [must, *filters], least=0) for must in musts]
        return [search_body(query, size) for query in queries]

    def _admitted_queries(self, admitted: AdmittedDocuments | None) -> list[Body]:
        """Return a filter for the documents of `admitted`: by their ids, or those of all others if that is shorter."""
        if admitted is None:
            return []
        inside, outside = (
            {"terms": {"id": [self.collection.ids[number] for number in np.flatnonzero(mask).tolist()]}}
            for mask in (admitted.mask, ~admitted.mask)
        )
        if 2 * int(admitted.mask.sum()) <= len(admitted.mask):
            return [inside]
        return [{"bool": {"must_not": [outside]}}]

    def _latest(self, wanted: Lookup, size: int, holding: Mask) -> Numbers:
        """Return the latest documents of `holding` if the query has only operators, which list them."""
        if wanted.admitted is None or not wanted.admitted.listed:
            return np.zeros(0, np.intp)
        passing = self.facets.passing(wanted.filters)
        mask = wanted.admitted.mask & holding
        numbers = np.flatnonzero(mask if passing is None else mask & passing)
        return numbers[np.argsort(-wanted.admitted.recency[numbers], kind="stable")][:size]

    def candidates(self, wanted: Lookup, numbers: Numbers, pools: Mapping[Variants, Pool]) -> Candidates:
        """Return what the local segments have of the documents of a window."""
        phrase, written = self._phrase(wanted.phrase, wanted.separators)
        inside, keyed = np.isin(phrase, numbers), [self._keyed(keys) for keys in wanted.keys]
        listed = wanted.admitted is not None and wanted.admitted.listed
        return Candidates(
            size=len(numbers),
            total=len(self.collection),
            postings={variants: pool.postings for variants, pool in pools.items()},
            key_matches=tuple(np.flatnonzero(np.isin(numbers, each)) for each in keyed),
            phrase=np.searchsorted(numbers, phrase[inside]),
            neighbors=tuple(
                of_phrase(np.flatnonzero(np.isin(numbers, holders)), len(holders))
                for holders in map(self.holders_of, wanted.neighbors)
            ),
            spelled=written[inside],
            exact_outside=bool(len(keyed[0]) or (wanted.separators and len(phrase))),
            recency=wanted.admitted.recency[numbers] if wanted.admitted and listed else None,
        )

    def pool_among(self, variants: tuple[str, ...], numbers: Numbers) -> Pool:
        """Return the pool of some terms in a window; its postings number the window's documents from 0."""
        terms = tuple(dict.fromkeys(variants))
        rows = pool_rows(self.collection, terms, numbers).ordered()
        frequencies = np.bincount(np.searchsorted(numbers, rows.documents), rows.amounts, len(numbers))
        found = np.flatnonzero(frequencies)
        saturation = frequencies[found] / (K1 + frequencies[found])
        return Pool(
            terms, Postings(found, saturation, self.word_weights.doc_frequency(terms)), lambda _: rows, 0
        )

    def _doc_frequency(self, variants: tuple[str, ...]) -> int:
        holding_any = np.zeros(len(self.collection), np.bool_)
        for place, segment in enumerate(self.collection.segments):
            for term in variants:
                if (rows := segment.terms.rows(term)) is not None:
                    holding_any[self.collection.renumbered(place, segment.terms.columns[0][rows])] = True
        return int(np.count_nonzero(holding_any))

    def search(self, bodies: Sequence[Body]) -> list[Body]:
        """Return the answers of the cluster to some searches. Raises ClusterUnavailable."""
        if not bodies:
            return []
        try:
            return self._cluster.searches(self.name, bodies)
        except Refused as error:
            if error.code == 404:
                raise ClusterUnavailable("the index is not there") from error
            raise
