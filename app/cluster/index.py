"""What a search of the cluster found: judged in the window, counted in the cluster."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.cluster.ask import (
    PHRASE,
    Body,
    Hit,
    Window,
    Worth,
    any_of,
    candidates,
    counted,
    covered,
    every,
    hits,
    holding,
    matching,
    passing,
    unscored,
)
from app.cluster.door import Cluster, Refused
from app.cluster.lexicon import ClusterLexicon, ClusterTelling, Kept, fetched, read_cluster_manifest
from app.cluster.record import read_record, read_texts
from app.errors import ClusterUnavailable
from app.filters import Filters
from app.search.index.document import Passage
from app.search.index.fields import Weighting
from app.search.index.protocol import Candidate, Columns, Mask, Share, Wanted
from app.search.weights import ANSWER_COVERAGE, ANSWER_SHARE
from app.taxonomy import FACETS

ROUNDING = 1 - 1e-6
"""Sums in the cluster are of 32 bits: what is exactly at the bar is to pass it."""

Count = Callable[[Body], Body]
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
        counting: Counting,
        *,
        complete: bool,
        dropped: bool,
    ) -> None:
        """`dropped`: no document holds the required phrases, which those of the window do otherwise; `complete`: no
        document outside the window has anything that was asked for. Raises ClusterUnavailable."""
        self.columns = columns
        self.phrases_dropped = dropped
        self._wanted, self._window, self._counting, self._complete = wanted, window, counting, complete
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
        """Counts by facet and value."""
        if self._complete:
            return {facet: self._counted_here(facet) for facet in FACETS}
        return self._facets

    def _counted_here(self, facet: str) -> dict[str, int]:
        among = self._answering & self._window.passing(self._wanted.filters.without(facet))
        return {
            value: int((among & self._window.tagged(facet, value)).sum())
            for value in self._counting.values[facet]
        }

    def _count(self, filters: Sequence[Filters]) -> float:
        """All counts that this search may need, in one request; the most that any document covers of the query, 0
        where none passes the bar."""
        held = [] if self.phrases_dropped else [holding(one) for one in self._wanted.required]
        aggregations: dict[str, Body] = {
            f"total {number}": {"filter": every([*passing(one), *held])} for number, one in enumerate(filters)
        }
        for facet in FACETS:
            values = {"terms": {"field": facet, "size": max(1, len(self._counting.values[facet]))}}
            others = passing(self._wanted.filters.without(facet))
            aggregations[facet] = {"filter": every([*others, *held]), "aggs": {"values": values}}
        answer = self._counting.ask(counted(self._all_answers(), aggregations, best=True))
        found = answer["aggregations"]
        self._totals.update({one: found[f"total {n}"]["doc_count"] for n, one in enumerate(filters)})
        for facet in FACETS:
            buckets = {one["key"]: one["doc_count"] for one in found[facet]["values"]["buckets"]}
            self._facets[facet] = {value: buckets.get(value, 0) for value in self._counting.values[facet]}
        weight = self._counting.weight
        return float(answer["hits"]["max_score"] or 0.0) / weight if weight > 0 else 0.0

    def _all_answers(self) -> Body:
        """Every document that answers, as `rank.ranker.judge` says it of a window."""
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

    def _chosen(self, chosen: Mask, limit: int) -> tuple[Candidate, ...]:
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


def _asked_for(chosen: Filters) -> list[Filters]:
    """What totals are asked for with some filters: with them, and with one less, or none."""
    less = (chosen.without(facet) for facet in (*FACETS, "edition"))
    return list(dict.fromkeys((chosen, *less, Filters())))


WINDOW = 100
"""Candidates that are judged at least. Over the shipped entries 50 give every judged query the answer that the embedded
index gives; among thousands that are nearly alike, 100 keep more of the first ten as they are."""
WIDEST = 1000
"""And at most: who turns that many pages finds them empty."""
RECORD_ROOM, TEXT_ROOM = 64 << 20, 16 << 20
"""Bytes of documents that are kept: those that are found again and again. A record takes some 20 KB."""
KNOWN_POOLS = 20_000
"""Words in several forms whose holders are remembered."""

REQUIRED = "required"

Variants = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _First:
    """The first request: `searches` for the window, in which the first `narrowed` keep required phrases, as many
    after them do not; `counts` last, where anything is to be counted."""

    narrowed: tuple[Body, ...]
    wide: tuple[Body, ...]
    counts: tuple[Body, ...]
    unknown: tuple[Variants, ...]


class ClusterIndex:
    """An index in a cluster, of the generation whose lexicon lies in `directory`. Implements `protocol.Index`."""

    def __init__(self, directory: Path, weighting: Weighting, cluster: Cluster, window: int = WINDOW) -> None:
        """Asks the cluster for nothing yet. Raises IndexUnreadable."""
        self.manifest = read_cluster_manifest(directory)
        self.lexicon = ClusterLexicon(directory, self.manifest)
        self._weighting, self._cluster, self._window = weighting, cluster, window
        self._records = Kept("record", RECORD_ROOM, read_record, lambda one: one.size)
        self._texts = Kept("texts", TEXT_ROOM, read_texts, _size_of_texts)
        self._known: dict[Variants, int] = {}
        self._lock = threading.Lock()

    @property
    def telling(self) -> ClusterTelling:
        """The words that a diagnosis counts."""
        return self.lexicon.telling

    def tells(self, document_id: str) -> bool:
        """Whether a document is one that a diagnosis looks at."""
        return self.lexicon.tagged.find(document_id) is not None

    def is_there(self) -> bool:
        """Whether the cluster answers from it; False where it has none of that name. Raises ClusterUnavailable."""
        try:
            self._cluster.searches(self.manifest.index, [{"size": 0}])
        except Refused as error:
            return error.status != 404
        return True

    def find(self, wanted: Wanted) -> ClusterFound:
        """Judges a window. Raises ClusterUnavailable, IndexUnreadable."""
        size = min(WIDEST, max(self._window, wanted.window))
        first = self._first(wanted, size)
        answers = iter(self._search([*first.narrowed, *first.wide, *first.counts]))
        narrowed, wide = ([next(answers) for _ in part] for part in (first.narrowed, first.wide))
        counts = [next(answers) for _ in first.counts]
        dropped = bool(wanted.required) and not (counts and _count(counts[0], REQUIRED))
        holders = self._learned(wanted.pools, first.unknown, counts)
        chosen = wide if dropped else narrowed
        window = Window(self._hits(_holding(chosen), wanted), wanted, self._weighting)
        coverage, weight = covered(wanted.clauses, self._worth(holders))
        return ClusterFound(
            wanted,
            window,
            window.columns([holders[one] for one in wanted.pools], self.manifest.documents),
            Counting(coverage, weight, self.manifest.facets, lambda body: self._search([body])[0]),
            complete=not passing(wanted.filters)
            and (dropped or not wanted.required)
            and all(len(one["hits"]["hits"]) < size for one in chosen),
            dropped=dropped,
        )

    def _first(self, wanted: Wanted, size: int) -> _First:
        estimate, unknown = self._estimate(wanted.pools)
        worth = self._worth(estimate)
        words = candidates(wanted.clauses, worth)
        keys = [key for group in wanted.keys for key in group if self.lexicon.has_key(key)]
        musts = [any_of("keys", keys)] if keys else []
        musts += [holding(wanted.phrase)] if wanted.phrase else []

        def searches(filters: list[Body]) -> tuple[Body, ...]:
            queries = [matching(words, filters, wanted.phrase)] if words else []
            queries += [matching(words, [must, *filters], wanted.phrase, least=0) for must in musts]
            return tuple(hits(query, size) for query in queries)

        filters, required = passing(wanted.filters), [holding(one) for one in wanted.required]
        aggregations: dict[str, Body] = {
            f"pool {n}": {"filter": any_of("terms", [v for v in one if self.lexicon.frequency(v)])}
            for n, one in enumerate(unknown)
        }
        if required:
            aggregations[REQUIRED] = {"filter": {"bool": {"filter": required}}}
        return _First(
            searches([*filters, *required]),
            searches(filters) if required else (),
            (counted({"match_all": {}}, aggregations),) if aggregations else (),
            unknown,
        )

    def _worth(self, holders: Mapping[Variants, int]) -> Worth:
        return Worth(holders, self.manifest.documents, self._weighting.k1, self.lexicon)

    def _estimate(self, pools: Sequence[Variants]) -> tuple[dict[Variants, int], tuple[Variants, ...]]:
        """How many documents have each word, for those in several forms at least how many; and which these are."""
        found: dict[Variants, int] = {}
        unknown = []
        for variants in pools:
            counts = [n for one in dict.fromkeys(variants) if (n := self.lexicon.frequency(one))]
            known = self._known.get(variants)
            found[variants] = max(counts, default=0) if known is None else known
            if known is None and len(counts) > 1:
                unknown.append(variants)
        return found, tuple(unknown)

    def _learned(
        self, pools: Sequence[Variants], unknown: Sequence[Variants], counts: Sequence[Body]
    ) -> Mapping[Variants, int]:
        """How many documents have each word."""
        learned = {one: _count(counts[0], f"pool {n}") for n, one in enumerate(unknown)}
        with self._lock:
            if len(self._known) > KNOWN_POOLS:
                self._known.clear()
            self._known |= learned
        return self._estimate(pools)[0] | learned

    def _search(self, bodies: Sequence[Body]) -> list[Body]:
        if not bodies:
            return []
        try:
            return self._cluster.searches(self.manifest.index, bodies)
        except Refused as error:
            if error.status == 404:
                raise ClusterUnavailable("the index is not there") from error
            raise ClusterUnavailable(f"it refuses a search ({error.kind})") from error

    def _hits(self, holding: Mapping[str, bool], wanted: Wanted) -> list[Hit]:
        """The documents of a window, of which it is known whether they hold the phrase."""
        written = [one for one, holds in holding.items() if holds] if wanted.writing else []
        records, texts = fetched(self._search, (self._records, list(holding)), (self._texts, written))
        try:
            return [Hit(one, records[one], holds, texts.get(one, ())) for one, holds in holding.items()]
        except KeyError as error:
            raise ClusterUnavailable("a document that was found is not there") from error


def _holding(answers: Sequence[Body]) -> dict[str, bool]:
    """The documents of some answers, and whether each holds the phrase."""
    return {
        one["fields"]["id"][0]: PHRASE in one.get("matched_queries", ())
        for answer in answers
        for one in answer["hits"]["hits"]
    }


def _count(answer: Body, name: str) -> int:
    return int(answer["aggregations"][name]["doc_count"])


def _size_of_texts(passages: Sequence[Passage]) -> int:
    """Bytes, about: a word is known by its place, and most are shared."""
    return sum(500 + 90 * len(one.atoms) for one in passages)
