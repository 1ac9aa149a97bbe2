"""What the cluster is sent of a document, and what it is asked, finished terms in.

A candidate's score in the cluster is the sum over clauses of the best alternative, without coverage and with features
of nine bits: good enough to choose a window, in which everything is worked out exactly. `rank_feature` with saturation
and the pivot k1 is tf~ / (k1 + tf~); the boosts carry an idf of our own, so that shards don't matter.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from jieda.search.index.document import EDITION, ZONES, Document, Weighting
from jieda.search.index.protocol import Lexicon
from jieda.search.query.words import Alternative, Clause, WeightedTerm
from jieda.search.rank.scoring import idf
from jieda.taxonomy import FACETS, HOLDS, Filters

LONGEST = 256
"""Bytes of a term that are sent as they are. The cluster refuses whole documents for terms of 32,766 bytes."""
DIGESTED = "\x01"
"""Starts the digest of a term that is too long or no valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Stands between two texts among the atoms, so that no phrase is found across them; no atom contains it."""
REMEMBERED = 1 << 16
"""Terms: most are in many documents."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})
FORM = 4
"""Raise it when the same document makes other features: then no index is taken over."""
MOST_HITS = 10_000
SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and floats of 32 bits end here."""


@lru_cache(REMEMBERED)
def spelled(term: str) -> str:
    """A term as the cluster keeps it."""
    try:
        if len(term.encode()) <= LONGEST:
            return term
    except UnicodeEncodeError:  # a lone surrogate, which no other program takes
        pass
    return DIGESTED + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def feature(term: str) -> str:
    """A term as the name of a feature: with a dot in it, it would be indexed and never found."""
    return spelled(term).translate(ESCAPES)


@dataclass(frozen=True, slots=True)
class Shape:
    """How an index is spread over the nodes."""

    shards: int
    replicas: int


def index_body(shape: Shape) -> dict[str, object]:
    """What an index is created with. It has its replicas from the start: a node may be lost while it is loaded."""
    plain = {"type": "keyword", "doc_values": False}
    return {
        "settings": {
            "number_of_shards": shape.shards,
            "number_of_replicas": shape.replicas,
            "refresh_interval": "-1",
            "max_result_window": MOST_HITS,
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_meta": {"form": FORM},
            "properties": {
                "features": {"type": "rank_features"},
                "terms": plain,
                "keys": plain,
                "atoms": {
                    "type": "text",
                    "analyzer": "keyword",
                    "index_options": "positions",
                    "position_increment_gap": 0,
                    "norms": False,
                },
                **{facet: {"type": "keyword"} for facet in (*FACETS, EDITION, HOLDS)},
                "id": {"type": "keyword"},
            },
        },
    }


def source_of(document: Document, weighting: Weighting) -> str:
    """The JSON that is sent of a document: its terms by weighted frequency, as precise as the cluster keeps it."""
    zones = [document.zones.get(zone, {}) for zone in ZONES]
    norms = weighting.norms([sum(counts.values()) for counts in zones])
    worth = (np.array([weighting.zones[zone].weight for zone in ZONES]) / norms).tolist()
    frequencies: defaultdict[str, float] = defaultdict(float)
    for counts, each in zip(zones, worth, strict=True):
        for term, count in counts.items():
            frequencies[term] += each * count
    kinds = weighting.kinds
    fields = {
        "id": document.id,
        "features": {
            feature(term): float(f"{max(found * kinds.get(term[0], 1.0), SMALLEST):.4g}")
            for term, found in frequencies.items()
        },
        "terms": list(map(spelled, frequencies)),
        "keys": list(map(spelled, document.keys)),
        "atoms": list(map(spelled, chain.from_iterable((*text.atoms, BREAK) for text in document.texts))),
        **{facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION, HOLDS)},
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


Body = dict[str, Any]
MOST_CLAUSES = 900
"""Words looked up at most: the cluster refuses more than 1,024 parts of a query."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What words weigh in one index: how many documents are `holders` of some variants, of `total`, and k1."""

    holders: Callable[[tuple[str, ...]], int]
    total: int
    k1: float
    lexicon: Lexicon

    def of(self, term: WeightedTerm) -> float:
        """Weight times idf."""
        return term.weight * idf(self.total, self.holders(term.variants))

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
    if filters.ruled_out:
        found.append({"bool": {"must_not": {"terms": {HOLDS: list(filters.ruled_out)}}}})
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


def matching(should: Sequence[Body], filters: Sequence[Body], least: int = 1) -> Body:
    """Documents that pass and match `least` of some queries, ranked by these."""
    return {"bool": {"should": list(should), "minimum_should_match": least, "filter": list(filters)}}
