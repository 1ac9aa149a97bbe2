"""An index that an OpenSearch cluster keeps: asked for a window of candidates, which are judged here."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from jieda.cluster.ask import (
    PHRASE,
    Body,
    CandidateWindow,
    WindowHit,
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
)
from jieda.cluster.door import Cluster, Refused
from jieda.cluster.record import read_record, read_texts
from jieda.cluster.result import ClusterCounts, ClusterResult
from jieda.errors import ClusterUnavailable
from jieda.search.index.array_file import read_signed, write_signed
from jieda.search.index.cache import ByteCache
from jieda.search.index.document import IndexedText
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.fields import Weighting
from jieda.search.index.protocol import Lookup, Numbers, Within

FILE = "cluster.json"


def write_index_name(directory: Path, name: str) -> None:
    """Writes under which name the cluster keeps the index of a directory. Raises OSError."""
    write_signed(directory / FILE, {"index": name})


def read_index_name(directory: Path) -> str:
    """Raises IndexUnreadable where the name is missing or not as it was written."""
    return str(read_signed(directory / FILE).get("index"))


Value = TypeVar("Value")

Ask = Callable[[Sequence[Body]], Sequence[Body]]
"""Asks the cluster for some searches at once. Raises ClusterUnavailable."""


class Kept(Generic[Value]):
    """One field of documents, decoded. Safe to share between threads."""

    def __init__(
        self, field: str, room: int, read: Callable[[str], Value], size: Callable[[Value], int]
    ) -> None:
        """`room` in bytes, as `size` tells them of a value."""
        self._field, self._read = field, read
        self._cache: ByteCache[str, Value] = ByteCache(room, size)

    def known(self, ids: Iterable[str]) -> dict[str, Value]:
        """Of some documents, those that are here."""
        found = ((one, self._cache.find(one)) for one in ids)
        return {one: value for one, value in found if value is not None}

    def asked(self, ids: Sequence[str]) -> Body:
        """A search for the field of some documents."""
        return {
            "query": {"bool": {"filter": {"terms": {"id": list(ids)}}}},
            "size": len(ids),
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["id", self._field],
            "track_total_hits": False,
        }

    def learn(self, answer: Body) -> Mapping[str, Value]:
        """What such a search found, kept from now on. Raises IndexUnreadable."""
        found = {}
        for hit in answer["hits"]["hits"]:
            fields = hit["fields"]
            found[fields["id"][0]] = self._read(fields[self._field][0])
        for one, value in found.items():
            self._cache.put(one, value)
        return found


def fetched(ask: Ask, *wanted: tuple[Kept[Any], Sequence[str]]) -> list[dict[str, Any]]:
    """Of each kind, what is wanted of some documents: at most one request for all. Raises ClusterUnavailable,
    IndexUnreadable."""
    found = [kept.known(ids) for kept, ids in wanted]
    missing = [
        [one for one in ids if one not in known] for (_, ids), known in zip(wanted, found, strict=True)
    ]
    bodies = [kept.asked(ids) for (kept, _), ids in zip(wanted, missing, strict=True) if ids]
    answers = iter(ask(bodies) if bodies else ())
    for (kept, _), ids, known in zip(wanted, missing, found, strict=True):
        if ids:
            known.update(kept.learn(next(answers)))
    return found


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
    """An index in a cluster. Implements `protocol.Index`.

    What every process knows without asking lies in `directory` as an index of the same documents without their
    vectors: terms, keys, tags, what the query language finds, and the words that a diagnosis counts.
    """

    waits = True

    def __init__(self, directory: Path, weighting: Weighting, cluster: Cluster, window: int = WINDOW) -> None:
        """Asks the cluster for nothing yet. Raises IndexUnreadable."""
        self.name = read_index_name(directory)
        self.local = EmbeddedIndex(directory, weighting)
        self.lexicon, self.failure_terms = self.local.lexicon, self.local.failure_terms
        self.is_tagged = self.local.is_tagged
        self._documents = len(self.local.collection)
        self._weighting, self._cluster, self._window = weighting, cluster, window
        self._records = Kept("record", RECORD_ROOM, read_record, lambda one: one.size)
        self._texts = Kept("texts", TEXT_ROOM, read_texts, _size_of_texts)
        self._known: dict[Variants, int] = {}
        self._lock = threading.Lock()

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
        first = self._first(wanted, size)
        answers = iter(self._search([*first.narrowed, *first.wide, *first.counts]))
        narrowed, wide = ([next(answers) for _ in part] for part in (first.narrowed, first.wide))
        counts = [next(answers) for _ in first.counts]
        dropped = bool(wanted.required) and not (counts and _count(counts[0], REQUIRED))
        holders = self._learned(wanted.pools, first.unknown, counts)
        chosen = wide if dropped else narrowed
        window = CandidateWindow(self._hits(_holding(chosen), wanted), wanted, self._weighting)
        columns = window.columns([holders[one] for one in wanted.pools], self._documents)
        if wanted.within and wanted.within.listed:
            places = [bisect_left(self.local.collection.ids, one.id) for one in window.hits]
            columns = replace(columns, recency=wanted.within.recency[places])
        coverage, weight = covered(wanted.clauses, self._worth(holders))
        return ClusterResult(
            wanted,
            window,
            columns,
            ClusterCounts(
                coverage,
                weight,
                self.local.facets.values,
                lambda body: self._search([body])[0],
                self._among(wanted.within),
            ),
            complete=not passing(wanted.filters)
            and wanted.within is None
            and (dropped or not wanted.required)
            and all(len(one["hits"]["hits"]) < size for one in chosen),
            dropped=dropped,
        )

    def _first(self, wanted: Lookup, size: int) -> _First:
        estimate, unknown = self._estimate(wanted.pools)
        worth = self._worth(estimate)
        words = candidates(wanted.clauses, worth)
        groups = [[key for key in group if self.lexicon.has_key(key)] for group in wanted.keys]
        musts = [any_of("keys", keys) for keys in groups if keys]
        musts += [holding(wanted.phrase)] if wanted.phrase else []

        def searches(filters: list[Body]) -> tuple[Body, ...]:
            queries = [matching(words, filters, wanted.phrase)] if words else []
            queries += [matching(words, [must, *filters], wanted.phrase, least=0) for must in musts]
            queries += [every([latest, *filters])] if latest else []
            return tuple(hits(query, size) for query in queries)

        latest = self._latest(wanted, size)
        filters = [*passing(wanted.filters), *self._among(wanted.within)]
        required = [holding(one) for one in wanted.required]
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

    def _among(self, within: Within | None) -> list[Body]:
        """What only documents within some pass, by the fewer ids."""
        if within is None:
            return []
        inside, outside = np.flatnonzero(within.mask), np.flatnonzero(~within.mask)
        if len(inside) <= len(outside):
            return [self._named(inside)]
        return [{"bool": {"must_not": [self._named(outside)]}}]

    def _latest(self, wanted: Lookup, size: int) -> Body | None:
        """The latest documents, where operators alone list them."""
        if wanted.within is None or not wanted.within.listed:
            return None
        passing_here = self.local.facets.passing(wanted.filters)
        mask = wanted.within.mask if passing_here is None else wanted.within.mask & passing_here
        numbers = np.flatnonzero(mask)
        return self._named(numbers[np.argsort(-wanted.within.recency[numbers], kind="stable")][:size])

    def _named(self, numbers: Numbers) -> Body:
        return {"terms": {"id": [self.local.collection.ids[number] for number in numbers.tolist()]}}

    def _worth(self, holders: Mapping[Variants, int]) -> Worth:
        return Worth(holders, self._documents, self._weighting.k1, self.lexicon)

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
            return self._cluster.searches(self.name, bodies)
        except Refused as error:
            if error.status == 404:
                raise ClusterUnavailable("the index is not there") from error
            raise ClusterUnavailable(f"it refuses a search ({error.kind})") from error

    def _hits(self, holding: Mapping[str, bool], wanted: Lookup) -> list[WindowHit]:
        """The documents of a window, of which it is known whether they hold the phrase."""
        written = [one for one, holds in holding.items() if holds] if wanted.writing else []
        records, texts = fetched(self._search, (self._records, list(holding)), (self._texts, written))
        try:
            return [WindowHit(one, records[one], holds, texts.get(one, ())) for one, holds in holding.items()]
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


def _size_of_texts(texts: Sequence[IndexedText]) -> int:
    """Bytes, about: a word is known by its place, and most are shared."""
    return sum(500 + 90 * len(one.atoms) for one in texts)
