"""The index in a cluster: one request for a window of candidates, one for counts where the window has not all."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import ClusterUnavailable
from app.search.cluster.ask import (
    PHRASE,
    Body,
    Worth,
    any_of,
    candidates,
    counted,
    covered,
    hits,
    holding,
    matching,
    passing,
)
from app.search.cluster.door import Cluster, Refused
from app.search.cluster.found import ClusterFound, Counting
from app.search.cluster.lexicon import ClusterLexicon, ClusterTelling, read_cluster_manifest
from app.search.cluster.record import read_record, read_texts
from app.search.cluster.store import Kept, fetched
from app.search.cluster.window import Hit, Window
from app.search.index.fields import Weighting
from app.search.index.protocol import Wanted
from app.search.index.writing import Passage

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
