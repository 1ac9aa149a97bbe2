"""Whether the best answer is one: what of a query it accounts for, what nobody knows, and how alike it is."""

from collections.abc import Sequence

import numpy as np

from jieda.entry import Language
from jieda.search.index.protocol import Columns, ScoredDocument
from jieda.search.query.types import Alternative, Clause, ClauseKind, Query
from jieda.search.rank.scoring import QueryScorer, prose_in, weighed
from jieda.search.weights import (
    BY_FOREIGN,
    BY_LEAD,
    BY_LIKENESS,
    BY_SCORE,
    BY_UNKNOWN,
    MEANING_WEIGHT,
    UNLIKE,
)


def telling(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses that say what is asked about: no words that only serve the sentence, and beside code no numbers,
    which are the part of an error message that varies. All of them where nothing else is said."""
    has_code = any(clause.kind is ClauseKind.CODE for clause in clauses)
    silent = {ClauseKind.SERVING, *([ClauseKind.NUMBER] if has_code else [])}
    return [clause for clause in clauses if clause.kind not in silent] or clauses


def evidence(query: Query, columns: Columns, scorer: QueryScorer, first: Sequence[ScoredDocument]) -> float:
    """About 0.3 for a stranger and 1 for a right answer; `first` are the best one or two.

        evidence = coverage + BY_SCORE · words − BY_UNKNOWN · unknown + BY_FOREIGN · foreign
                 + prose · (BY_LIKENESS · likeness + BY_LEAD · lead − UNLIKE)

    `coverage` is the share of the telling clauses' weight that the best accounts for, `words` what it scores by words
    alone. `unknown` is the share in names that no entry has, code or words that no dictionary has: what is asked is
    about something else. `foreign` is the share in words that no entry has because entries lack the language they are
    asked in. `lead` is how far the best is ahead of the second, in parts of its score. The second line counts where
    meaning does: there an answer is to be alike.
    """
    best, clauses = first[0], telling(weighed(query.clauses, scorer))
    weights = np.array([sum(map(scorer.weight, clause.alternatives[0].terms)) for clause in clauses])
    weights /= weights.sum() or 1.0
    missing = weights * [1 - max(_known(way, scorer) for way in clause.meant) for clause in clauses]
    coverage = float(weights @ [_held(clause, scorer, best.number) for clause in clauses])
    unsaid = columns.lacking.get(Language.ZH if query.writing.has_han else Language.EN)
    lacking = float(unsaid.mean()) if unsaid is not None and len(unsaid) else 0.0
    unknown = float(
        missing @ [_is_name(clause) * (1 - lacking * (not _is_code(clause))) for clause in clauses]
    )
    foreign = lacking * float(missing @ [not _is_code(clause) for clause in clauses])
    lead = 1 - first[1].score / best.score if len(first) > 1 and best.score > 0 else 1.0
    by_words = coverage + BY_SCORE * (best.score - best.lift) - BY_UNKNOWN * unknown + BY_FOREIGN * foreign
    # `prose` is in the lift (`scoring.lift_of`).
    by_meaning = BY_LIKENESS * best.lift / MEANING_WEIGHT
    return by_words + by_meaning + prose_in(query, columns) * (BY_LEAD * lead - UNLIKE)


def _is_code(clause: Clause) -> bool:
    return clause.kind is ClauseKind.CODE


def _is_name(clause: Clause) -> bool:
    return clause.kind in {ClauseKind.CODE, ClauseKind.NAME}


def _known(way: Alternative, scorer: QueryScorer) -> float:
    """The share of a way's words that some entry has."""
    total = sum(term.weight for term in way.terms) or 1.0
    return sum(term.weight for term in way.terms if scorer.holders(term)) / total


def _held(clause: Clause, scorer: QueryScorer, number: int) -> float:
    """The share of a clause that a document accounts for, in the way that suits it best."""
    return max(_share(way, scorer, number) for way in clause.alternatives)


def _share(way: Alternative, scorer: QueryScorer, number: int) -> float:
    total = sum(map(scorer.weight, way.terms))
    if total <= 0:
        return 0.0
    held = 0.0
    for term in way.terms:
        documents = scorer.postings(term).documents
        place = int(np.searchsorted(documents, number))
        if place < len(documents) and documents[place] == number:
            held += scorer.weight(term)
    return way.cover * held / total
