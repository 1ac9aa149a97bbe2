"""Words and what may stand for them, to the clauses of a query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.search.query.types import Alternative, Clause, Source, WeightedTerm
from app.search.query.words import Word
from app.search.weights import STAND_IN_GROWTH


@dataclass(frozen=True, slots=True)
class Substitute:
    """Something that may stand for words `first` to `last` (inclusive) of a query."""

    first: int
    last: int
    term: WeightedTerm
    weight: float
    cover: float
    source: Source


def clauses_of(words: Sequence[Word], substitutes: Sequence[Substitute]) -> Iterator[Clause]:
    """A clause for each word, or for the words together that a substitute stands for."""
    joined = {number for one in substitutes for number in range(one.first, one.last)}
    bounds = [0, *(number + 1 for number in range(len(words) - 1) if number not in joined), len(words)]
    for first, end in pairwise(bounds if words else []):
        inside = [one for one in substitutes if first <= one.first and one.last < end]
        yield _clause(
            words[first:end], [replace(one, first=one.first - first, last=one.last - first) for one in inside]
        )


def _clause(words: Sequence[Word], substitutes: Sequence[Substitute]) -> Clause:
    literal = tuple(term for word in words for term in word.alternatives[0].terms)
    first = words[0].alternatives[0]
    alternatives = [Alternative(literal, first.weight if len(words) == 1 else 1.0, source=first.source)]
    if len(words) == 1:
        alternatives += words[0].alternatives[1:]
    for one in substitutes:
        rest = [
            term
            for n, word in enumerate(words)
            if not one.first <= n <= one.last
            for term in word.alternatives[0].terms
        ]
        stands_for = sum(
            term.weight for word in words[one.first : one.last + 1] for term in word.alternatives[0].terms
        )
        term = replace(one.term, weight=min(stands_for, 1 + STAND_IN_GROWTH * (stands_for - 1)))
        alternatives.append(Alternative((term, *rest), one.weight, one.cover, one.source))
    return Clause(tuple(alternatives))
