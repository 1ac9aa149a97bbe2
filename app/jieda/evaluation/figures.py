"""Judged queries, run through the same search and diagnosis that every surface offers, and what came of them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.errors import JudgedFileError
from jieda.search.answers import SearchAnswer, SearchRequest

SEARCHED_KINDS = ("question", "error", "paraphrase")
DIAGNOSED_KINDS = ("error", "traceback", "negative")
FIRST_FIVE = 5
DEPTH = 50


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with the ids of the entries that answer it: any of them is right, none means no entry does."""

    id: str
    kind: str
    lang: str
    """`en`, `zh` or `mixed`."""
    query: str
    expected: tuple[str, ...]
    cross: bool = False
    """Asked in one language of what an entry says in the other: measured with the first hidden, too."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What came of a query: `rank` of the first right entry from 1, or 0; `found` ids best first."""

    judged: Judged
    rank: int
    found: tuple[str, ...]
    best: float
    """Score of the first hit, 0 where there is none."""
    weak: bool


@dataclass(frozen=True, slots=True)
class DiagnosedQuery:
    """What came of a log: as `Ranked`; `confidence` is the first match's."""

    judged: Judged
    rank: int
    found: tuple[str, ...]
    confidence: Confidence | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares between 0 and 1, over `queries` queries."""

    queries: int
    right_first: float
    in_five: float
    mrr: float
    """Mean of 1/rank of the first right entry, 0 where there is none."""
    zero_results: float


def read_judged(path: Path) -> tuple[Judged, ...]:
    """The queries of a file of JSON lines. Raises JudgedFileError, OSError."""
    judged = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = json.loads(line)
            judged.append(
                Judged(
                    str(one["id"]),
                    str(one["kind"]),
                    str(one["lang"]),
                    str(one["query"]),
                    tuple(one["expected"]),
                    bool(one.get("cross", False)),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            message = f"is not a judged query ({{id, kind, lang, query, expected}}): {error!r}"
            raise JudgedFileError(f"{path}:{number}: {message}") from error
    return tuple(judged)


def display_language(judged: Judged) -> Language:
    """The language a query is searched in: its own; mixed ones as a Chinese reader would."""
    return Language.EN if judged.lang == "en" else Language.ZH


def rank_of(found: Sequence[str], expected: Iterable[str]) -> int:
    """Place of the first id that is among `expected`, from 1; 0 where none is."""
    wanted = set(expected)
    return next((place for place, one in enumerate(found, 1) if one in wanted), 0)


def search_all(
    judged: Iterable[Judged], search_for: Callable[[Judged], Callable[[SearchRequest], SearchAnswer]]
) -> tuple[Ranked, ...]:
    """Every query through the search that `search_for` picks for it."""
    results = []
    for one in judged:
        answer = search_for(one)(SearchRequest(one.query, display_language(one), limit=DEPTH))
        found = tuple(hit.entry.id for hit in answer.hits)
        best = answer.hits[0].score if answer.hits else 0.0
        results.append(Ranked(one, rank_of(found, one.expected), found, best, answer.weak))
    return tuple(results)


def diagnose_all(
    judged: Iterable[Judged], diagnose: Callable[[Judged], DiagnosedQuery]
) -> tuple[DiagnosedQuery, ...]:
    """Every error, traceback and negative through diagnosis."""
    return tuple(diagnose(one) for one in judged if one.kind in DIAGNOSED_KINDS)


def figures(results: Sequence[Ranked | DiagnosedQuery]) -> Figures:
    """The figures of some results; all zero for none."""
    count = len(results) or 1
    return Figures(
        queries=len(results),
        right_first=sum(one.rank == 1 for one in results) / count,
        in_five=sum(1 <= one.rank <= FIRST_FIVE for one in results) / count,
        mrr=sum(1 / one.rank for one in results if one.rank) / count,
        zero_results=sum(not one.found for one in results) / count,
    )


def by(results: Sequence[Ranked], key: Callable[[Judged], str]) -> dict[str, Figures]:
    """Figures by `key` of the query, in alphabetical order."""
    values = sorted({key(one.judged) for one in results})
    return {value: figures([one for one in results if key(one.judged) == value]) for value in values}


def negatives_rejected(positive: Sequence[Ranked], negative: Sequence[Ranked], kept: float = 0.95) -> float:
    """The share of negatives that score below the threshold that `kept` of the true matches reach."""
    scores = sorted(one.best for one in positive if one.rank == 1)
    if not scores or not negative:
        return 0.0
    threshold = scores[int((1 - kept) * len(scores))]
    return sum(one.best < threshold for one in negative) / len(negative)
