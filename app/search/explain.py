"""Why a document scored what it did, by word and zone."""

from collections.abc import Callable
from functools import partial

from app.search.engine import Alternative, Clause, Contribution, Query
from app.search.scoring import Postings, Scorer, kind_weight

ZonePostingsOf = Callable[[str], tuple[tuple[str, Postings], ...]]


def contributions(
    query: Query, document: int, scorer: Scorer, zone_postings: ZonePostingsOf
) -> tuple[Contribution, ...]:
    """For each clause its best alternative, that one's terms by zone; largest first.

    A term's score is shared among its zones in proportion to what each brought to tf~.
    """
    found: list[Contribution] = []
    for clause in query.clauses:
        best = max(clause.alternatives, key=partial(_score_of, scorer, document), default=None)
        if best is not None:
            found += _of_alternative(clause, best, document, scorer, zone_postings)
    return tuple(sorted(found, key=lambda one: -one.score))


def _score_of(scorer: Scorer, document: int, alternative: Alternative) -> float:
    return float(scorer.alternative(alternative)[0][document])


def _of_alternative(
    clause: Clause, alternative: Alternative, document: int, scorer: Scorer, zone_postings: ZonePostingsOf
) -> list[Contribution]:
    found = []
    for term in alternative.terms:
        alone = Alternative((term,), alternative.weight)
        score = clause.weight * _score_of(scorer, document, alone)
        brought = [
            (kind_weight(variant) * _at(postings, document), zone, variant)
            for variant in term.variants
            for zone, postings in zone_postings(variant)
        ]
        total = sum(amount for amount, _, _ in brought)
        found += [
            Contribution(term.label, alternative.source, zone, variant, score * amount / total)
            for amount, zone, variant in brought
            if amount > 0
        ]
    return found


def _at(postings: Postings, document: int) -> float:
    place = postings.documents.searchsorted(document)
    if place < len(postings.documents) and postings.documents[place] == document:
        return float(postings.frequencies[place])
    return 0.0
