"""The JSON of documents and requests for the cluster, made of finished terms.

A candidate's score in the cluster is the sum over clauses of the best alternative, without coverage and with features
of nine bits: good enough to select a window, which is then scored exactly. `rank_feature` with saturation and the pivot
k1 is tf~ / (k1 + tf~); the boosts include our own idf, so that shards don't matter.
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
"""Longer terms, in bytes, are replaced by digests. The cluster refuses whole documents for terms of 32,766 bytes."""
DIGESTED = "\x01"
"""Prefix of the digest of a term that is too long or not valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Separates two texts among the atoms, so that no phrase matches across them; no atom contains it."""
REMEMBERED = 1 << 16
"""Entries of the caches of terms: most are in many documents."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})
FORM = 4
"""Version of the features. Raise it when the same document gets other features: then no index is cloned."""
MOST_HITS = 10_000
SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and 32-bit floats end here."""


@lru_cache(REMEMBERED)
def spelled(term: str) -> str:
    """Return a term as the cluster stores it."""
    try:
        if len(term.encode()) <= LONGEST:
            return term
    except UnicodeEncodeError:  # a lone surrogate, which no other program takes
        pass
    return DIGESTED + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def feature(term: str) -> str:
    """Return a term as the name of a feature, escaped: a name with a dot would be indexed but never found."""
    return spelled(term).translate(ESCAPES)


@dataclass(frozen=True, slots=True)
class Shape:
    """Number of shards and replicas of an index."""

    shards: int
    replicas: int


def index_body(shape: Shape) -> dict[str, object]:
    """Return the settings and mappings of a new index. It has replicas from the start, as a node may fail meanwhile."""
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
    """Return the JSON of a document, with terms by weighted frequency in the precision of the cluster."""
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
"""Most words looked up: the cluster refuses more than 1,024 parts of a query."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The weights of words in one index: `holders` counts the documents with any of some variants, of `total`."""

    holders: Callable[[tuple[str, ...]], int]
    total: int
    k1: float
    lexicon: Lexicon

    def of(self, term: WeightedTerm) -> float:
        """Return weight times idf."""
        return term.weight * idf(self.total, self.holders(term.variants))

    def present(self, term: WeightedTerm) -> list[str]:
        """Return the variants that some document has."""
        return [one for one in dict.fromkeys(term.variants) if self.lexicon.frequency(one)]


def candidates(clauses: Sequence[Clause], worth: WordWeights) -> list[Body]:
    """Return a query for each clause: the best of its alternatives, each the sum of its words."""

    def term(_: Clause, way: Alternative, one: WeightedTerm) -> list[Body]:
        boost = way.weight * worth.of(one)
        saturation = {"pivot": worth.k1}
        fields = (f"features.{feature(variant)}" for variant in worth.present(one))
        return [{"rank_feature": {"field": f, "boost": boost, "saturation": saturation}} for f in fields]

    return _by_clause(clauses, term)


def covered(clauses: Sequence[Clause], worth: WordWeights) -> tuple[list[Body], float]:
    """Return queries whose scores add up to the weight that a document covers, and the query's total weight."""
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
    """Return a query for each clause whose words occur, up to MOST_CLAUSES words; `term` returns those of a word."""
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
    """Return a query for documents that match all of some queries."""
    return {"bool": {"filter": list(queries)}} if queries else {"match_all": {}}


def unscored(query: Body) -> Body:
    """Return a query that adds nothing to scores."""
    return {"constant_score": {"filter": query, "boost": 0.0}}


def any_of(field: str, values: Iterable[str]) -> Body:
    """Return a query for documents with any of some terms or keys."""
    return {"terms": {field: [spelled(value) for value in values]}}


def holding(phrase: Sequence[str]) -> Body:
    """Return a query for documents with consecutive atoms."""
    atoms = [{"span_term": {"atoms": spelled(atom)}} for atom in phrase]
    if len(atoms) == 1:
        return atoms[0]
    return {"span_near": {"clauses": atoms, "slop": 0, "in_order": True}}


def passing(filters: Filters) -> list[Body]:
    """Return filters as queries; none if everything passes."""
    found: list[Body] = [
        {"terms": {facet: list(filters.facet(facet))}} for facet in FACETS if filters.facet(facet)
    ]
    if filters.edition:
        found.append({"term": {EDITION: str(filters.edition)}})
    if filters.ruled_out:
        found.append({"bool": {"must_not": {"terms": {HOLDS: list(filters.ruled_out)}}}})
    return found


def hits(query: Body, size: int) -> Body:
    """Return a search for the ids of the best `size` documents."""
    return {
        "query": query,
        "size": size,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["id"],
        "track_total_hits": False,
    }


def counted(query: Body, aggregations: Mapping[str, Body], *, best: bool = False) -> Body:
    """Return a search that only counts; with `best` it also returns the highest score."""
    size = {"size": 1, "_source": False, "stored_fields": "_none_"} if best else {"size": 0}
    return {"query": query, **size, "track_total_hits": False, "aggs": aggregations}


def matching(should: Sequence[Body], filters: Sequence[Body], least: int = 1) -> Body:
    """Return a query for documents that pass `filters` and match `least` of the `should` queries, which rank them."""
    return {"bool": {"should": list(should), "minimum_should_match": least, "filter": list(filters)}}
