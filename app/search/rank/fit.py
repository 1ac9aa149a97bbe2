"""Whether the best answer to a query is one: what speaks for it, in one sum.

    evidence = coverage + BY_SCORE · words + BY_ABSENT · absent
             + prose · (BY_LIKENESS · max(0, likeness − UNRELATED) + BY_OPEN · absent + BY_LEAD · lead − UNLIKE)

`coverage` and `words` are the best answer's, by words alone. `absent` is the share of the query that no entry has a
word for: it is missing from every coverage, and says less against an answer than words that other entries do have.
`lead` is how far the best is ahead of the second, in parts of its score. The second line counts where meaning does:
there an answer is to be alike, and absent words are most likely said in others.
"""

from app.search.weights import (
    BY_ABSENT,
    BY_LEAD,
    BY_LIKENESS,
    BY_OPEN,
    BY_SCORE,
    MEANING_WEIGHT,
    UNLIKE,
)


def evidence(  # noqa: PLR0913 - the terms of one sum
    *, coverage: float, words: float, absent: float, prose: float, lift: float, lead: float
) -> float:
    """About 0.2 for a stranger and 0.9 for a right answer; `lift` is what meaning added to the score."""
    by_words = coverage + BY_SCORE * words + BY_ABSENT * absent
    # `prose` is in the lift (rank/meaning.py).
    return (
        by_words + BY_LIKENESS * lift / MEANING_WEIGHT + prose * (BY_OPEN * absent + BY_LEAD * lead - UNLIKE)
    )
