"""What the cluster is asked, finished terms in.

A candidate's score in the cluster is the sum over clauses of the best alternative, without coverage and with features
of nine bits: good enough to choose a window, in which everything is worked out exactly. `rank_feature` with saturation
and the pivot k1 is tf~ / (k1 + tf~); the boosts carry an idf of our own, so that shards don't matter.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jieda.cluster.source import feature, spelled
from jieda.search.index.fields import EDITION
from jieda.search.index.protocol import Lexicon
from jieda.search.query.types import Alternative, Clause, WeightedTerm
from jieda.search.rank.scoring import idf
from jieda.taxonomy import FACETS, Filters

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
