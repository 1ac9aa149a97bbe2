"""An engine that is nothing but its promises: every document looked at for every question, no index, no arrays.

It is what the scores of every other engine are compared with, so it writes the formulas of `app.search.scoring`
out term by term instead of sharing code with it. Weights and thresholds are taken from where they are tuned.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

from app.entry import FACETS
from app.search.answers import FacetCount, Filters
from app.search.embedded import PHRASE_BONUS
from app.search.engine import (
    EXACT_TIER,
    HOLDER_TIER,
    TIER_STEP,
    Alternative,
    Clause,
    Contribution,
    Document,
    Query,
    Results,
    Scored,
    Source,
    WeightedTerm,
)
from app.search.fields import K1, KIND_WEIGHTS, ZONES, Zone
from app.search.ranking import ANSWER_COVERAGE, ANSWER_SHARE, HIGHEST, NEAR_MISSES
from app.search.scoring import COVERAGE_FLOOR, COVERAGE_POWER

WEIGHT_OF_KIND = {kind.value: weight for kind, weight in KIND_WEIGHTS.items()}


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one document stands in the answer to a query."""

    document: Document
    score: float
    coverage: float
    tier: int

    def scored(self) -> Scored:
        """As an engine answers it."""
        lifted = min(self.score, HIGHEST) + TIER_STEP * self.tier
        return Scored(self.document.id, lifted, self.coverage, self.tier)


class ListScanEngine:
    """Implements `engine.Engine` over a list."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)
        self._average = {zone.name: self._average_length(zone) for zone in ZONES}

    def search(self, query: Query) -> Results:
        """Ranks all documents that answer."""
        standings = self.standings(query)
        required = [one for one in standings if all(holds(one.document, p) for p in query.required)]
        dropped = bool(query.required) and not required
        allowed = standings if dropped else required
        threshold = answer_threshold(standings)
        answering = [one for one in allowed if one.tier > 0 or (one.score > 0 and one.coverage >= threshold)]
        near = [one for one in allowed if one.score > 0 and one not in answering]
        return Results(
            ranked=tuple(ranked(one for one in answering if passes(one.document, query.filters))),
            facets={facet: tuple(self._counts(facet, answering, query.filters)) for facet in FACETS},
            near=tuple(ranked(one for one in near if passes(one.document, query.filters)))[:NEAR_MISSES],
            phrase_dropped=dropped,
        )

    def explain(self, query: Query, document_id: str, least: float = 0.0) -> tuple[Contribution, ...]:
        """For each clause what its best alternative brought, by term and zone."""
        document = next(one for one in self._documents if one.id == document_id)
        found: list[list[Contribution]] = []
        for clause in query.clauses:
            best = max(clause.alternatives, key=lambda one: self._alternative(one, document))
            found += [self._by_zone(term, best.weight, best.source, document) for term in best.terms]
        brought = [sum(part.score for part in parts) for parts in found]
        enough = [parts for parts, score in zip(found, brought, strict=True) if score >= least * sum(brought)]
        return tuple(sorted(chain.from_iterable(enough), key=lambda one: -one.score))

    def frequency(self, term: str) -> int:
        """How many documents hold an index term in any zone."""
        return sum(any(term in terms for terms in one.zones.values()) for one in self._documents)

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix`, sorted."""
        terms = {term for one in self._documents for zone in one.zones.values() for term in zone}
        return sorted(term for term in terms if term.startswith(prefix))

    def standings(self, query: Query) -> list[Standing]:
        """Every document with its score, answering or not, in the order they were given."""
        return [self._standing(query, document) for document in self._documents]

    def _standing(self, query: Query, document: Document) -> Standing:
        importances = [self._importance(clause) for clause in query.clauses]
        shares = [self._share(clause, document) for clause in query.clauses]
        covered = sum(i * share for i, share in zip(importances, shares, strict=True))
        coverage = covered / sum(importances) if sum(importances) > 0 else 0.0
        score = sum(
            max(self._alternative(one, document) for one in clause.alternatives) for clause in query.clauses
        )
        if sum(importances) > 0:
            score /= sum(importances) * (K1 + 1)
        score *= COVERAGE_FLOOR + (1 - COVERAGE_FLOOR) * coverage**COVERAGE_POWER
        whole = holds(document, query.phrase)
        if whole and len(query.phrase) > 1:
            score *= 1 + PHRASE_BONUS
        tier = HOLDER_TIER if query.literal and whole else 0
        if set(query.keys) & set(document.keys):
            tier = EXACT_TIER
        return Standing(document, score, coverage, tier)

    def _alternative(self, alternative: Alternative, document: Document) -> float:
        terms = ((term, self._weighted_frequency(term, document)) for term in alternative.terms)
        return alternative.weight * sum(
            term.weight * self._idf(term) * (K1 + 1) * frequency / (K1 + frequency)
            for term, frequency in terms
        )

    def _share(self, clause: Clause, document: Document) -> float:
        """The part of a clause that a document accounts for, 0 to 1."""
        shares = [0.0]
        for one in clause.alternatives:
            total = sum(term.weight * self._idf(term) for term in one.terms)
            held = [term for term in one.terms if self._weighted_frequency(term, document) > 0]
            if total > 0:
                shares.append(one.cover * sum(term.weight * self._idf(term) for term in held) / total)
        return max(shares)

    def _importance(self, clause: Clause) -> float:
        return sum(term.weight * self._idf(term) for term in clause.alternatives[0].terms)

    def _idf(self, term: WeightedTerm) -> float:
        holders = sum(self._weighted_frequency(term, one) > 0 for one in self._documents)
        return log(1 + (len(self._documents) - holders + 0.5) / (holders + 0.5))

    def _weighted_frequency(self, term: WeightedTerm, document: Document) -> float:
        return sum(self._in_zone(variant, zone, document) for variant in set(term.variants) for zone in ZONES)

    def _in_zone(self, variant: str, zone: Zone, document: Document) -> float:
        terms = document.zones.get(zone.name, ())
        if variant not in terms:
            return 0.0
        norm = 1 - zone.b + zone.b * len(terms) / self._average[zone.name]
        return WEIGHT_OF_KIND[variant[0]] * zone.weight * list(terms).count(variant) / norm

    def _average_length(self, zone: Zone) -> float:
        """Over the documents that have anything in a zone."""
        lengths = [len(one.zones[zone.name]) for one in self._documents if one.zones.get(zone.name)]
        return sum(lengths) / len(lengths) if lengths else 1.0

    def _by_zone(
        self, term: WeightedTerm, weight: float, source: Source, document: Document
    ) -> list[Contribution]:
        """A term's score, shared among the zones that brought it."""
        frequency = self._weighted_frequency(term, document)
        score = weight * term.weight * self._idf(term) * (K1 + 1) * frequency / (K1 + frequency)
        return [
            Contribution(term.label, source, zone.name, variant, score * brought / frequency)
            for variant in dict.fromkeys(term.variants)
            for zone in ZONES
            if (brought := self._in_zone(variant, zone, document))
        ]

    def _counts(self, facet: str, answering: Sequence[Standing], filters: Filters) -> Iterator[FacetCount]:
        """How many answers there would be for each value, were it the one chosen in its facet."""
        among = [one.document for one in answering if passes(one.document, filters.without(facet))]
        values = {value for one in self._documents for value in one.facets.get(facet, ())}
        counts = {value: sum(value in one.facets.get(facet, ()) for one in among) for value in values}
        for value in sorted(values, key=lambda value: (-counts[value], value)):
            if counts[value] or value in filters.facet(facet):
                yield FacetCount(value, counts[value])


def answer_threshold(standings: Iterable[Standing]) -> float:
    """The coverage from which a document is an answer."""
    best = max((one.coverage for one in standings), default=0.0)
    return max(ANSWER_COVERAGE, ANSWER_SHARE * best)


def holds(document: Document, phrase: Sequence[str]) -> bool:
    """Whether the atoms of a phrase stand in a document one behind the other."""
    atoms, size = tuple(document.atoms), len(phrase)
    return size > 0 and any(atoms[at : at + size] == tuple(phrase) for at in range(len(atoms) - size + 1))


def passes(document: Document, filters: Filters) -> bool:
    """Whether a document carries a chosen value in every facet that has one chosen."""
    wanted = {facet: filters.facet(facet) for facet in FACETS}
    wanted["edition"] = (filters.edition,) if filters.edition else ()
    return all(
        not values or bool(set(values) & set(document.facets.get(facet, ())))
        for facet, values in wanted.items()
    )


def ranked(standings: Iterable[Standing]) -> list[Scored]:
    """Best first, every tier before all below it; equals in the order they come in."""
    return [one.scored() for one in sorted(standings, key=lambda one: (-one.tier, -one.score))]
