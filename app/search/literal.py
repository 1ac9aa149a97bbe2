"""Among entries that hold a one-word or code query word for word, the order that its exact writing demands.

Analysis makes `--load`, `load` and the `load` of `load_dir` one word, so that each finds the others. Which of them
an entry says can only be read from its text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.search.engine import HOLDER_TIER, TIER_STEP, Scored

CODE_SPAN, IN_TITLE, WHOLE, ALIKE, INSIDE = 5, 5, 4, 3, 2
"""Tiers, up to `engine.EXACT_TIER`: the query is one of the entry's code spans, or a word of a title; stands in its
text by itself; does so with `-`, `_` and space exchanged; stands inside a longer name. HOLDER_TIER is for the rest."""

CODE_MARKS = re.compile(r"[^\w\s]|_|\w[A-Z]|\d", re.ASCII)
ESCAPED_SEPARATORS = re.compile(r"(?<=\w)(?:\\?[-_ ])+(?=\w)")
CACHED_ENTRIES = 4096


@dataclass(frozen=True, slots=True)
class Typed:
    """A query as it is compared: as typed, folded, and as patterns of itself with nothing attached."""

    text: str
    folded: str
    alone: re.Pattern[str]
    alike: re.Pattern[str]
    is_code: bool
    is_span: bool
    """It is a code span of some entry."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The folded texts of an entry's editions; `front`: aliases, symptoms and signatures."""

    titles: str
    bodies: str
    front: str


class Literals:
    """Reads the entries of a library for exact writings."""

    def __init__(self, library: Library, analyzer: Analyzer) -> None:
        self._library = library
        self._fold = analyzer.fold
        self._texts = lru_cache(CACHED_ENTRIES)(self._folded)
        editions = [edition for entry in library.entries.values() for edition in entry.editions.values()]
        self._spans = frozenset(self._fold(span) for edition in editions for span in edition.code)

    def is_span(self, text: str) -> bool:
        """Whether `text` is a code span of some entry."""
        return self._fold(text.strip()) in self._spans

    def promote(self, ranked: Sequence[Scored], text: str) -> tuple[Scored, ...]:
        """`ranked` with holders of `text` in the order of how exactly they hold it."""
        if not any(one.tier == HOLDER_TIER for one in ranked):
            return tuple(ranked)
        typed = self._typed(text.strip())
        promoted = []
        for one in ranked:
            tier = self._tier(one.id, typed) if one.tier == HOLDER_TIER else one.tier
            promoted.append(replace(one, tier=tier, score=one.score + TIER_STEP * (tier - one.tier)))
        return tuple(sorted(promoted, key=lambda one: -one.score))

    def _typed(self, text: str) -> Typed:
        folded = self._fold(text)
        escaped = re.escape(folded)
        return Typed(
            text=text,
            folded=folded,
            alone=_by_itself(escaped),
            alike=_by_itself(ESCAPED_SEPARATORS.sub("[-_ ]+", escaped)),
            is_code=bool(CODE_MARKS.search(text)) and text.isascii(),
            is_span=self.is_span(text),
        )

    def _tier(self, entry_id: str, typed: Typed) -> int:
        texts = self._texts(entry_id)
        editions = self._library.entries[entry_id].editions.values()
        if typed.is_code and any(typed.text in edition.code for edition in editions):
            return CODE_SPAN
        is_word_of_title = typed.alone.search(texts.titles) or (
            typed.folded in texts.titles and not typed.folded.isascii()
        )
        if is_word_of_title and not typed.is_code:
            return IN_TITLE
        if is_word_of_title or typed.alone.search(texts.bodies):
            return WHOLE
        # What a reader sees counts before what only we see, where it is a question of who writes an identifier.
        if not typed.is_code and not typed.is_span and typed.alone.search(texts.front):
            return WHOLE
        if typed.alike.search(texts.titles) or typed.alike.search(texts.bodies):
            return ALIKE
        return INSIDE if typed.folded in texts.titles or typed.folded in texts.bodies else HOLDER_TIER

    def _folded(self, entry_id: str) -> Texts:
        entry = self._library.entries[entry_id]
        editions = entry.editions.values()
        front = [text for edition in editions for text in (*edition.aliases, *edition.symptoms)]
        return Texts(
            titles=self._fold("\n".join(edition.title for edition in editions)),
            bodies=self._fold("\n".join(edition.markdown for edition in editions)),
            front=self._fold("\n".join([*front, *entry.signature_lines])),
        )


def _by_itself(pattern: str) -> re.Pattern[str]:
    """`pattern` with no word character around it; leading dashes are no part of a longer name."""
    return re.compile(rf"(?<!\w)(?<!\w-){pattern}(?![\w-])")
