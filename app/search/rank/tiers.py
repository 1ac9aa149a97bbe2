"""Tiers: what comes first however relevant the rest is, by how exactly a document holds what was asked."""

import numpy as np
from numpy.typing import NDArray

from app.search.index.fields import BODIES, FRONTS, TITLES
from app.search.index.protocol import WRITTEN_BITS, Columns
from app.search.index.writing import Held
from app.search.query.types import Query, Writing
from app.search.weights import (
    ALIKE_TIER,
    CODE_SPAN_TIER,
    EXACT_TIER,
    HOLDER_TIER,
    IN_TITLE_TIER,
    INSIDE_TIER,
    WHOLE_TIER,
)

Tiers = NDArray[np.int64]

TITLE_KEYS, SPAN_KEYS = range(2)
"""The groups of `Wanted.keys`."""


def tiers_of(query: Query, columns: Columns) -> Tiers:
    """The tier of each document: 0 unless an exact form puts it before all that are merely relevant."""
    tiers = np.zeros(columns.size, dtype=np.int64)
    if query.literal and len(columns.phrase):
        tiers[columns.phrase] = _of_writing(query.writing, columns)
    tiers[columns.keyed[TITLE_KEYS]] = EXACT_TIER
    return tiers


def _of_writing(writing: Writing, columns: Columns) -> Tiers:
    """By the exact writing of a query that a document holds word for word.

    Analysis makes `--load`, `load` and the `load` of `load_dir` one word, so that each finds the others.
    """
    title, body, front = (columns.written >> (WRITTEN_BITS * region) for region in (TITLES, BODIES, FRONTS))
    in_title = (title & _word_of_title(writing)) > 0
    alone = in_title | ((body & Held.ALONE) > 0)
    if not writing.is_code and not writing.is_span:
        # What a reader sees counts before what only search sees, where it is a question of who writes an identifier.
        alone |= (front & Held.ALONE) > 0
    seen = title | body
    rules = [
        (np.isin(columns.phrase, columns.keyed[SPAN_KEYS]) & writing.is_code, CODE_SPAN_TIER),
        (in_title, IN_TITLE_TIER),
        (alone, WHOLE_TIER),
        ((seen & Held.ALIKE) > 0, ALIKE_TIER),
        ((seen & Held.INSIDE) > 0, INSIDE_TIER),
    ]
    chosen: Tiers = np.select([held for held, _ in rules], [tier for _, tier in rules], HOLDER_TIER)
    return chosen


def _word_of_title(writing: Writing) -> Held:
    """What makes a query a word of a title; Chinese words have no space around them."""
    return Held.ALONE | Held.INSIDE if writing.has_han else Held.ALONE
