"""Among entries that hold a one-word or code query word for word, the order that its exact writing demands.

Analysis makes `--load`, `load` and the `load` of `load_dir` one word, so that each finds the others. Which of them
an entry says can only be read from its text.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.search.engine import HOLDER_TIER, TIER_STEP, Scored

CODE_SPAN, IN_TITLE, WHOLE, INSIDE = 4, 4, 3, 2
"""Tiers: the query is one of its code spans, or a word of a title; stands in the text by itself; inside a longer
name. Otherwise the entry holds its words with other separators, or in its front matter only: HOLDER_TIER."""

CODE_MARKS = re.compile(r"[^\w\s]|_|\w[A-Z]|\d", re.ASCII)
CACHED_ENTRIES = 4096


class Literals:
    """Reads the entries of a library for exact writings."""

    def __init__(self, library: Library, analyzer: Analyzer) -> None:
        self._library = library
        self._fold = analyzer.fold
        self._texts = lru_cache(CACHED_ENTRIES)(self._folded)

    def promote(self, ranked: Sequence[Scored], text: str) -> tuple[Scored, ...]:
        """`ranked` with holders of `text` in the order of how exactly they hold it."""
        if not any(one.tier == HOLDER_TIER for one in ranked):
            return tuple(ranked)
        typed = text.strip()
        word = self._fold(typed)
        alone = re.compile(rf"(?<!\w)(?<!\w-){re.escape(word)}(?![\w-])")
        is_code = bool(CODE_MARKS.search(typed)) and typed.isascii()
        promoted = []
        for one in ranked:
            tier = (
                self._tier(one.id, typed, word, alone, is_code=is_code)
                if one.tier == HOLDER_TIER
                else one.tier
            )
            promoted.append(replace(one, tier=tier, score=one.score + TIER_STEP * (tier - one.tier)))
        return tuple(sorted(promoted, key=lambda one: -one.score))

    def _tier(self, entry_id: str, typed: str, word: str, alone: re.Pattern[str], *, is_code: bool) -> int:
        entry = self._library.entries[entry_id]
        titles, bodies = self._texts(entry_id)
        if is_code and any(typed in edition.code for edition in entry.editions.values()):
            return CODE_SPAN
        if not is_code and (alone.search(titles) or (word in titles and not word.isascii())):
            return IN_TITLE
        if alone.search(titles) or alone.search(bodies):
            return WHOLE
        return INSIDE if word in titles or word in bodies else HOLDER_TIER

    def _folded(self, entry_id: str) -> tuple[str, str]:
        editions = self._library.entries[entry_id].editions.values()
        titles = "\n".join(edition.title for edition in editions)
        return self._fold(titles), self._fold("\n".join(edition.markdown for edition in editions))
