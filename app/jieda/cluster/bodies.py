"""JSON bodies of documents and requests for the cluster, built from finished terms.

The cluster scores a candidate by the sum over clauses of the best alternative, without coverage and with features of
nine bits: good enough to select a window, which is then scored exactly. `rank_feature` with saturation and the pivot k1
is tf~ / (k1 + tf~). The boosts include our own idf, so that shards do not matter.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from jieda.search.index.document import EDITION, Document
from jieda.search.index.protocol import Lexicon
from jieda.search.query.words import Alternative, Clause, WeightedTerm
from jieda.search.rank.scoring import weigh
from jieda.search.weights import K1, weighted_frequencies
from jieda.taxonomy import FACETS, HOLDS, Filters

LONGEST = 256
"""Bytes of the longest term; longer ones become digests. For a term of 32,766 bytes the cluster refuses a document."""
DIGESTED = "\x01"
"""Prefix of the digest of a term that is too long or not valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Separates texts among the atoms, so that no phrase matches across them. No atom contains it."""
REMEMBERED = 1 << 16
"""Entries of the caches of terms, most of which are in many documents."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})
FORM = 4
"""Version of the features. Raise it when documents get other features, so that no index is cloned."""
MOST_HITS = 10_000
SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0 and stores 32-bit floats."""


@lru_cache(REMEMBERED)
def stored_term(term: str) -> str:
    """Return a term as the cluster stores it."""
    try:
        if len(term.encode()) <= LONGEST:
            return term
    except UnicodeEncodeError:  # a lone surrogate, which no other program accepts
        pass
    return DIGESTED + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def feature_name(term: str) -> str:
    """Return a term as the escaped name of a feature: a name with a dot would be indexed but never found."""
    return stored_term(term).translate(ESCAPES)


@dataclass(frozen=True, slots=True)
class Shape:
    """Number of shards and replicas of an index."""

    shards: int
    replicas: int


def index_body(shape: Shape) -> dict[str, object]:
    """Return the settings and mappings of a new index, with replicas from the start, as a node may fail meanwhile."""
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


def source_of(document: Document) -> str:
    """Return the JSON of a document, with weighted term frequencies in the precision of the cluster."""
    frequencies = weighted_frequencies(document.zones)
    fields = {
        "id": document.id,
        "features": {
            feature_name(term): float(f"{max(frequency, SMALLEST):.4g}")
            for term, frequency in frequencies.items()
        },
        "terms": list(map(stored_term, frequencies)),
        "keys": list(map(stored_term, document.keys)),
        "atoms": list(map(stored_term, chain.from_iterable((*text.atoms, BREAK) for text in document.texts))),
        **{facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION, HOLDS)},
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


Body = dict[str, Any]
MOST_CLAUSES = 900
"""Most words looked up: the cluster refuses more than 1,024 parts of a query."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The weights of words in an index of `total` documents; `doc_frequency` counts those with any variant."""

    doc_frequency: Callable[[tuple[str, ...]], int]
    total: int
    lexicon: Lexicon

    def weigh(self, term: WeightedTerm) -> float:
        return weigh(term, self.total, self.doc_frequency)

    def existing_variants(self, term: WeightedTerm) -> list[str]:
        return [each for each in dict.fromkeys(term.variants) if self.lexicon.doc_frequency(each)]


def candidate_queries(clauses: Sequence[Clause], weights: WordWeights) -> list[Body]:
    """Return a query for each clause: the best of its alternatives, each the sum of its words."""

    def term_queries(_: Clause, alternative: Alternative, term: WeightedTerm) -> list[Body]:
        scoring = {"boost": alternative.weight * weights.weigh(term), "saturation": {"pivot": K1}}
        fields = (f"features.{feature_name(variant)}" for variant in weights.existing_variants(term))
        return [{"rank_feature": {"field": field, **scoring}} for field in fields]

    return _clause_queries(clauses, term_queries)


def coverage_queries(clauses: Sequence[Clause], weights: WordWeights) -> tuple[list[Body], float]:
    """Return queries whose scores add up to the weight that a document covers, and the query's total weight."""
    importance = {id(clause): sum(map(weights.weigh, clause.alternatives[0].terms)) for clause in clauses}

    def term_queries(clause: Clause, alternative: Alternative, term: WeightedTerm) -> list[Body]:
        variants = weights.existing_variants(term)
        total = sum(map(weights.weigh, alternative.terms))
        if not variants or total <= 0:
            return []
        boost = importance[id(clause)] * alternative.cover * weights.weigh(term) / total
        return [{"constant_score": {"filter": any_of("terms", variants), "boost": boost}}]

    return _clause_queries(clauses, term_queries), sum(importance.values())


def _clause_queries(
    clauses: Iterable[Clause], term_queries: Callable[[Clause, Alternative, WeightedTerm], list[Body]]
) -> list[Body]:
    """Return a query for each clause whose words occur, up to MOST_CLAUSES words."""
    result = []
    left = MOST_CLAUSES
    for clause in clauses:
        alternatives = []
        for alternative in clause.alternatives:
            words = [term_queries(clause, alternative, term) for term in alternative.terms]
            left -= sum(map(len, words))
            parts = [_best_of(queries) for queries in words if queries]
            if parts:
                alternatives.append(parts[0] if len(parts) == 1 else {"bool": {"should": parts}})
        if left < 0:
            break
        if alternatives:
            result.append(_best_of(alternatives))
    return result


def _best_of(queries: Sequence[Body]) -> Body:
    return queries[0] if len(queries) == 1 else {"dis_max": {"queries": queries}}


def all_of(queries: Sequence[Body]) -> Body:
    """Return a query for documents that match all of some queries."""
    return {"bool": {"filter": list(queries)}} if queries else {"match_all": {}}


def unscored(query: Body) -> Body:
    """Return a query that adds nothing to scores."""
    return {"constant_score": {"filter": query, "boost": 0.0}}


def any_of(field: str, values: Iterable[str]) -> Body:
    """Return a query for documents with any of some terms or keys."""
    return {"terms": {field: [stored_term(value) for value in values]}}


def phrase_query(phrase: Sequence[str]) -> Body:
    """Return a query for documents with consecutive atoms."""
    atoms = [{"span_term": {"atoms": stored_term(atom)}} for atom in phrase]
    if len(atoms) == 1:
        return atoms[0]
    return {"span_near": {"clauses": atoms, "slop": 0, "in_order": True}}


def filter_queries(filters: Filters) -> list[Body]:
    """Return filters as queries; none if everything passes."""
    queries: list[Body] = [
        {"terms": {facet: list(filters.facet(facet))}} for facet in (*FACETS, EDITION) if filters.facet(facet)
    ]
    if filters.ruled_out:
        queries.append({"bool": {"must_not": {"terms": {HOLDS: list(filters.ruled_out)}}}})
    return queries


def search_body(query: Body, size: int) -> Body:
    """Return a search for the ids of the best `size` documents."""
    return {
        "query": query,
        "size": size,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["id"],
        "track_total_hits": False,
    }


def count_body(query: Body, aggregations: Mapping[str, Body]) -> Body:
    """Return a search for counts and the highest score."""
    options = {"size": 1, "_source": False, "stored_fields": "_none_", "track_total_hits": False}
    return {"query": query, **options, "aggs": aggregations}


def ranked_query(should: Sequence[Body], filters: Sequence[Body], least: int = 1) -> Body:
    """Return a query for documents that pass `filters` and match `least` of the `should` queries, which rank them."""
    return {"bool": {"should": list(should), "minimum_should_match": least, "filter": list(filters)}}
