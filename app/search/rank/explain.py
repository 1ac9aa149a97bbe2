"""Why documents scored what they did, by word and zone: read from the columns that they were scored from."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from app.search.index.protocol import Candidate, Found, Postings, Scores, Share
from app.search.query.types import Alternative, Clause, Source, WeightedTerm
from app.search.rank.scoring import Scorer, Variants
from app.search.rank.translated import weighed
from app.search.weights import K1


class Contribution(NamedTuple):
    """Why a document scored: what a term of an alternative brought in a zone of `fields.ZONES`."""

    label: str
    source: Source
    zone: str
    term: str
    score: float


class _Part(NamedTuple):
    """What a word brought to one document."""

    score: float
    term: WeightedTerm
    source: Source


def contributions(
    clauses: Sequence[Clause],
    found: Found,
    candidates: Sequence[Candidate],
    pools: Mapping[Variants, int],
    least: float = 0.0,
) -> list[tuple[Contribution, ...]]:
    """For each document and each clause its best alternative, that one's terms by zone; largest first.

    A term's score is shared among its zones in proportion to what each brought to tf~. Terms that bring less
    than the share `least` of a document's score, what meaning lifts it by included, are left out.
    """
    numbers = np.array([one.number for one in candidates], dtype=np.intp)
    parts: list[list[_Part]] = [[] for _ in candidates]
    scorer = Scorer(found.columns, pools)
    for clause in weighed(clauses, scorer):
        _add_best(clause, scorer, numbers, parts)
    kept = [_worth(of_document, least, one) for of_document, one in zip(parts, candidates, strict=True)]
    asked: dict[Variants, list[int]] = {}
    for row, of_document in enumerate(kept):
        for part in of_document:
            asked.setdefault(part.term.variants, []).append(row)
    shares: dict[tuple[Variants, int], Sequence[Share]] = {}
    for variants, rows in asked.items():
        of_rows = found.shares(pools[variants], [candidates[row].number for row in rows])
        shares |= {(variants, row): share for row, share in zip(rows, of_rows, strict=True)}
    return [
        tuple(
            sorted(
                (each for part in of_document for each in _by_zone(part, shares[part.term.variants, row])),
                key=lambda one: -one.score,
            )
        )
        for row, of_document in enumerate(kept)
    ]


def _add_best(
    clause: Clause, scorer: Scorer, numbers: "np.typing.NDArray[np.intp]", parts: Sequence[list[_Part]]
) -> None:
    """The terms of the clause's best alternative, document by document."""
    ways = [_term_scores(way, scorer, numbers) for way in clause.alternatives]
    whole = [reduce(add, scores) for scores in ways]
    best = np.argmax(whole, axis=0).tolist() if len(whole) > 1 else [0] * len(parts)
    brought = [[scores.tolist() for scores in of_way] for of_way in ways]
    for row, way in enumerate(best):
        alternative = clause.alternatives[way]
        for term, scores in zip(alternative.terms, brought[way], strict=True):
            if scores[row] > 0:
                parts[row].append(_Part(scores[row], term, alternative.source))


def _term_scores(
    alternative: Alternative, scorer: Scorer, numbers: "np.typing.NDArray[np.intp]"
) -> list[Scores]:
    return [
        (K1 + 1) * alternative.weight * scorer.weight(term) * saturation_at(scorer.postings(term), numbers)
        for term in alternative.terms
    ]


def saturation_at(postings: Postings, numbers: "np.typing.NDArray[np.intp]") -> Scores:
    """The saturation of a word in some documents, 0 where it does not occur."""
    if not len(postings.documents):
        return np.zeros(len(numbers))
    places = np.minimum(np.searchsorted(postings.documents, numbers), len(postings.documents) - 1)
    return np.where(postings.documents[places] == numbers, postings.saturation[places], 0.0)


def _worth(parts: Sequence[_Part], least: float, candidate: Candidate) -> list[_Part]:
    by_words = candidate.score - candidate.lift
    whole = candidate.score / by_words if by_words > 0 else 1.0
    enough = least * whole * sum(part.score for part in parts)
    return [part for part in parts if part.score >= enough]


def _by_zone(part: _Part, shares: Sequence[Share]) -> list[Contribution]:
    total = sum(share.amount for share in shares)
    label, source, score = part.term.label, part.source, part.score
    return [Contribution(label, source, zone, term, score * amount / total) for term, zone, amount in shares]
