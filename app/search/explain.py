"""Why a document scored what it did, by word and zone."""

from collections.abc import Callable

from app.search.engine import Alternative, Contribution, Query, Source, WeightedTerm
from app.search.scoring import Postings, Scorer, kind_weight, saturated

ZonePostingsOf = Callable[[str], tuple[tuple[str, Postings], ...]]


def contributions(
    query: Query, document: int, scorer: Scorer, zone_postings: ZonePostingsOf, least: float = 0.0
) -> tuple[Contribution, ...]:
    """For each clause its best alternative, that one's terms by zone; largest first.

    A term's score is shared among its zones in proportion to what each brought to tf~. Terms that bring less
    than the share `least` of the score are left out.
    """
    scored: list[tuple[float, WeightedTerm, Source]] = []
    for clause in query.clauses:
        ways = [(_term_scores(one, document, scorer), one.source) for one in clause.alternatives]
        terms, source = max(ways, key=lambda way: sum(score for score, _ in way[0]))
        scored += [(score, term, source) for score, term in terms]
    enough = least * sum(score for score, _, _ in scored)
    found: list[Contribution] = []
    for score, term, source in scored:
        if score > 0 and score >= enough:
            found += _by_zone(score, term, source, document, zone_postings)
    return tuple(sorted(found, key=lambda one: -one.score))


def _term_scores(alternative: Alternative, document: int, scorer: Scorer) -> list[tuple[float, WeightedTerm]]:
    return [
        (alternative.weight * scorer.weight(term) * saturated(_at(scorer.pooled(term), document)), term)
        for term in alternative.terms
    ]


def _by_zone(
    score: float, term: WeightedTerm, source: Source, document: int, zone_postings: ZonePostingsOf
) -> list[Contribution]:
    brought = [
        (kind_weight(variant) * _at(postings, document), zone, variant)
        for variant in term.variants
        for zone, postings in zone_postings(variant)
    ]
    total = sum(amount for amount, _, _ in brought)
    return [
        Contribution(term.label, source, zone, variant, score * amount / total)
        for amount, zone, variant in brought
        if amount > 0
    ]


def _at(postings: Postings, document: int) -> float:
    place = postings.documents.searchsorted(document)
    if place < len(postings.documents) and postings.documents[place] == document:
        return float(postings.frequencies[place])
    return 0.0
