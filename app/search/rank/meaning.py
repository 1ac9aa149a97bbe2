"""How meaning joins words: what an entry's likeness to the query adds to its score.

    score(d) = words(d) + lift(d)
    lift(d)  = MEANING_WEIGHT · prose · max(0, likeness(d) − UNRELATED)

`words` is what `rank.scoring` makes of the query's words, 0 to about 1, and `likeness` what the index tells of the
vectors (`index.protocol.Likeness`). `prose` falls with the share of the query that is code (`query.prose`): an error
line names what it is about, and whatever resembles it is another error.

Words come first. Where some entry holds the query word for word, or is it (a tier), nobody is lifted at all, so a
title, an alias, an identifier, a phrase or a copied error line never loses to what merely means the same. Elsewhere
the weight decides: a word that only the right entry has outweighs any likeness. An entry that shares no word with the
query answers where its lift is not far below the highest one (ANSWER_SHARE, as for words); its reason says so.
"""

import numpy as np

from app.search.index.protocol import Columns, Mask, Scores
from app.search.query.types import Query
from app.search.rank.tiers import Tiers
from app.search.weights import ANSWER_SHARE, MEANING_WEIGHT, UNRELATED


def lift_of(query: Query, columns: Columns, words: Scores, tiers: Tiers) -> Scores:
    """What each document's score gains; zeros where words alone decide."""
    prose = prose_in(query, columns)
    if columns.likeness is None or prose <= 0 or tiers.any():
        return np.zeros(columns.size)
    return MEANING_WEIGHT * prose * np.maximum(0, columns.likeness(words) - UNRELATED)


def prose_in(query: Query, columns: Columns) -> float:
    """How far meaning counts where no entry has a tier, 0 to 1."""
    held = len(query.phrase) > 1 and len(columns.phrase) > 0
    return 0.0 if columns.likeness is None or held else query.prose


def answering(lift: Scores) -> Mask:
    """Documents that are alike enough to answer, whatever words they share."""
    alike: Mask = (lift > 0) & (lift >= ANSWER_SHARE * lift.max(initial=0.0))
    return alike
