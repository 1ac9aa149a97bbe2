"""What the cluster is asked, finished terms in, and the window of candidates that its answers make.

A candidate's score in the cluster is the sum over clauses of the best alternative, without coverage and with features
of nine bits: good enough to choose a window, in which everything is worked out exactly. `rank_feature` with saturation
and the pivot k1 is tf~ / (k1 + tf~); the boosts carry an idf of our own, so that shards don't matter.

The window is scored exactly as the embedded index scores, from what was stored of each document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jieda.cluster.record import ClusterRecord, digests, feature, key_mark, spelled, tag_mark
from jieda.filters import Filters
from jieda.search.index.document import IndexedText, held
from jieda.search.index.fields import EDITION, ELSEWHERE, ZONES, Weighting
from jieda.search.index.protocol import (
    WRITTEN_BITS,
    Columns,
    Lexicon,
    Lookup,
    Mask,
    Numbers,
    Postings,
    Scores,
    Share,
)
from jieda.search.query.types import Alternative, Clause, WeightedTerm
from jieda.search.rank.scoring import idf
from jieda.taxonomy import FACETS

Body = dict[str, Any]
PHRASE = "phrase"
"""The name under which a hit says that it holds the phrase."""
MOST_CLAUSES = 900
"""Words looked up at most: the cluster refuses more than 1,024 parts of a query."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What words weigh in one index: `holders` of each pool as far as is known, `total` documents, and k1."""

    holders: Mapping[tuple[str, ...], int]
    total: int
    k1: float
    lexicon: Lexicon

    def of(self, term: WeightedTerm) -> float:
        """Weight times idf."""
        return term.weight * idf(self.total, self.holders[term.variants])

    def present(self, term: WeightedTerm) -> list[str]:
        """The variants that some document has."""
        return [one for one in dict.fromkeys(term.variants) if self.lexicon.frequency(one)]


def candidates(clauses: Sequence[Clause], worth: Worth) -> list[Body]:
    """A query for each clause: the best of its ways, each the sum of its words."""

    def term(_: Clause, way: Alternative, one: WeightedTerm) -> list[Body]:
        boost = way.weight * worth.of(one)
        saturation = {"pivot": worth.k1}
        fields = (f"features.{feature(variant)}" for variant in worth.present(one))
        return [{"rank_feature": {"field": f, "boost": boost, "saturation": saturation}} for f in fields]

    return _by_clause(clauses, term)


def covered(clauses: Sequence[Clause], worth: Worth) -> tuple[list[Body], float]:
    """Queries whose sum is what a document covers of a query's weight, and that weight."""
    importance = {id(one): sum(map(worth.of, one.alternatives[0].terms)) for one in clauses}

    def term(clause: Clause, way: Alternative, one: WeightedTerm) -> list[Body]:
        variants = worth.present(one)
        total = sum(map(worth.of, way.terms))
        if not variants or total <= 0:
            return []
        boost = importance[id(clause)] * way.cover * worth.of(one) / total
        return [{"constant_score": {"filter": any_of("terms", variants), "boost": boost}}]

    return _by_clause(clauses, term), sum(importance.values())


def _by_clause(
    clauses: Iterable[Clause], term: Callable[[Clause, Alternative, WeightedTerm], list[Body]]
) -> list[Body]:
    """A query for each clause whose words occur, for as many as there is room for; `term` gives those of a word."""
    found = []
    room = MOST_CLAUSES
    for clause in clauses:
        ways = []
        for way in clause.alternatives:
            words = [queries for one in way.terms if (queries := term(clause, way, one))]
            room -= sum(map(len, words))
            parts = [part for queries in words if (part := _best(queries))]
            if parts:
                ways.append(parts[0] if len(parts) == 1 else {"bool": {"should": parts}})
        if room < 0:
            break
        if best := _best(ways):
            found.append(best)
    return found


def _best(queries: Iterable[Body]) -> Body | None:
    some = list(queries)
    if len(some) < 2:
        return some[0] if some else None
    return {"dis_max": {"queries": some}}


def every(queries: Sequence[Body]) -> Body:
    """Documents that pass all of some queries."""
    return {"bool": {"filter": list(queries)}} if queries else {"match_all": {}}


def unscored(query: Body) -> Body:
    """A query that adds nothing to scores."""
    return {"constant_score": {"filter": query, "boost": 0.0}}


def any_of(field: str, values: Iterable[str]) -> Body:
    """Documents with any of some terms or keys."""
    return {"terms": {field: [spelled(value) for value in values]}}


def holding(phrase: Sequence[str]) -> Body:
    """Documents that hold atoms one behind the other."""
    atoms = [{"span_term": {"atoms": spelled(atom)}} for atom in phrase]
    if len(atoms) == 1:
        return atoms[0]
    return {"span_near": {"clauses": atoms, "slop": 0, "in_order": True}}


def passing(filters: Filters) -> list[Body]:
    """Filters as queries; none where everything passes."""
    found: list[Body] = [
        {"terms": {facet: list(filters.facet(facet))}} for facet in FACETS if filters.facet(facet)
    ]
    if filters.edition:
        found.append({"term": {EDITION: str(filters.edition)}})
    return found


def hits(query: Body, size: int) -> Body:
    """A search for the ids of the best `size` documents."""
    return {
        "query": query,
        "size": size,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["id"],
        "track_total_hits": False,
    }


def counted(query: Body, aggregations: Mapping[str, Body], *, best: bool = False) -> Body:
    """A search that only counts, and tells the `best` score if it is to."""
    size = {"size": 1, "_source": False, "stored_fields": "_none_"} if best else {"size": 0}
    return {"query": query, **size, "track_total_hits": False, "aggs": aggregations}


def matching(
    should: Sequence[Body], filters: Sequence[Body], phrase: Sequence[str] = (), *, least: int = 1
) -> Body:
    """Documents that pass and match `least` of some queries, ranked by these; each says whether it holds the phrase."""
    found: Body = {"bool": {"should": list(should), "minimum_should_match": least, "filter": list(filters)}}
    if not phrase:
        return found
    holds = {"bool": {"must": [holding(phrase)], "_name": PHRASE}}
    return {"bool": {"must": [found], "should": [unscored(holds)]}}


@dataclass(frozen=True, slots=True)
class WindowHit:
    """A document of the window. `holds` says whether the phrase is in it; `texts` are there where the writing
    matters, of documents that hold it."""

    id: str
    record: ClusterRecord
    holds: bool
    texts: Sequence[IndexedText] = ()


@dataclass(frozen=True, slots=True)
class WindowRows:
    """Each occurrence of a term of the query in a zone of a document, by pool, document, term and zone: arrays of one
    length, of which `terms` are places in `CandidateWindow._terms`."""

    pools: NDArray[np.int64]
    documents: NDArray[np.int64]
    terms: NDArray[np.int64]
    zones: NDArray[np.uint8]
    amounts: Scores


class CandidateWindow:
    """Documents in the order of their ids."""

    def __init__(self, hits: Sequence[WindowHit], wanted: Lookup, weighting: Weighting) -> None:
        self.hits = sorted(hits, key=lambda one: one.id)
        self._wanted, self._weighting = wanted, weighting
        self._terms = [(pool, term) for pool, some in enumerate(wanted.pools) for term in dict.fromkeys(some)]

    def columns(self, holders: Sequence[int], total: int) -> Columns:
        """`holders` of each pool in the whole index, which has `total` documents."""
        holding = [number for number, one in enumerate(self.hits) if one.holds]
        return Columns(
            size=len(self.hits),
            total=total,
            pools=tuple(self._postings(pool, count) for pool, count in enumerate(holders)),
            keyed=tuple(self._marked([key_mark(key) for key in keys]) for keys in self._wanted.keys),
            phrase=np.array(holding, np.intp),
            written=np.array([self._written(self.hits[number]) for number in holding], np.uint16),
        )

    def shares(self, pool: int, number: int) -> list[Share]:
        """What each term of a pool brought in each zone of a document."""
        rows = self._rows
        start, end = np.searchsorted(rows.pools, (pool, pool + 1)).tolist()
        first, last = (start + np.searchsorted(rows.documents[start:end], (number, number + 1))).tolist()
        return [
            Share(self._terms[term][1], ZONES[zone], amount)
            for term, zone, amount in zip(
                rows.terms[first:last].tolist(),
                rows.zones[first:last].tolist(),
                rows.amounts[first:last].tolist(),
                strict=True,
            )
        ]

    def passing(self, filters: Filters) -> Mask:
        """Which documents pass."""
        passing = np.ones(len(self.hits), np.bool_)
        chosen = {facet: filters.facet(facet) for facet in FACETS}
        chosen[EDITION] = (str(filters.edition),) if filters.edition else ()
        for facet, values in chosen.items():
            if values:
                passing &= self.tagged(facet, *values)
        return passing

    def tagged(self, facet: str, *values: str) -> Mask:
        """Which documents have any of some tags."""
        found = np.zeros(len(self.hits), np.bool_)
        found[self._marked([tag_mark(facet, value) for value in values])] = True
        return found

    @cached_property
    def _marks(self) -> tuple[NDArray[np.uint64], Numbers]:
        """The marks of all documents, and whose they are."""
        marks = [one.record.marks for one in self.hits]
        owners = np.repeat(np.arange(len(marks), dtype=np.intp), [len(each) for each in marks])
        return np.concatenate([digests(()), *marks]), owners

    def _marked(self, wanted: Sequence[str]) -> Numbers:
        marks, owners = self._marks
        return np.unique(owners[np.isin(marks, digests(wanted))])

    @cached_property
    def _rows(self) -> WindowRows:
        """What of the documents the query asks for."""
        wanted = digests(term for _, term in self._terms)
        pieces = [_occurrences(one.record, wanted, number) for number, one in enumerate(self.hits)]
        terms, documents, zones, counts = (
            np.concatenate([np.zeros(0, np.int64), *(piece[part] for piece in pieces)]).astype(np.int64)
            for part in range(4)
        )
        pools = np.array([pool for pool, _ in self._terms], np.int64)[terms]
        order = np.lexsort((zones, terms, documents, pools))
        terms, documents, zones, counts = terms[order], documents[order], zones[order], counts[order]
        weights = np.array([self._weighting.zones[zone].weight for zone in ZONES])
        kinds = np.array([self._weighting.kinds.get(term[0], 1.0) for _, term in self._terms])
        amounts = weights[zones] * kinds[terms] * counts / self._norms[documents, zones]
        return WindowRows(pools[order], documents, terms, zones.astype(np.uint8), amounts)

    @property
    def _norms(self) -> Scores:
        """`Weighting.norms`, shape (documents, zones)."""
        lengths = np.array([one.record.lengths for one in self.hits], np.float64).reshape(-1, len(ZONES))
        return self._weighting.norms(lengths)

    def _postings(self, pool: int, holders: int) -> Postings:
        rows = self._rows
        start, end = np.searchsorted(rows.pools, (pool, pool + 1)).tolist()
        documents, amounts = rows.documents[start:end], rows.amounts[start:end]
        first = np.flatnonzero(np.diff(documents, prepend=-1))
        frequencies = np.add.reduceat(amounts, first) if len(first) else amounts
        return Postings(
            documents[first].astype(np.intp), frequencies / (self._weighting.k1 + frequencies), holders
        )

    def _written(self, one: WindowHit) -> int:
        """How a document holds the phrase as typed, by region."""
        phrase, typed, found = self._wanted.phrase, self._wanted.writing, 0
        if not typed:
            return 0
        size = len(phrase)
        for text in one.texts:
            if text.region == ELSEWHERE:
                continue
            for at in range(len(text.atoms) - size + 1):
                if text.atoms[at : at + size] == phrase:
                    separators = text.separators[at : at + size + 1]
                    found |= held(typed, separators) << (WRITTEN_BITS * text.region)
        return found


def _occurrences(
    record: ClusterRecord, wanted: NDArray[np.uint64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint32]]:
    """Of the document `number`, each row of a wanted term: the term's place, the document, zone and count."""
    if not len(record.terms):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, record.zones, record.counts
    places = np.minimum(np.searchsorted(record.terms, wanted), len(record.terms) - 1)
    present = np.flatnonzero(record.terms[places] == wanted)
    places = places[present]
    sizes = record.starts[places + 1] - record.starts[places]
    ends = np.cumsum(sizes)
    rows = np.arange(int(sizes.sum())) + np.repeat(record.starts[places] - (ends - sizes), sizes)
    return (
        np.repeat(present, sizes),
        np.full(len(rows), number, np.int64),
        record.zones[rows],
        record.counts[rows],
    )
