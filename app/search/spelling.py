"""Spelling: words that occur nowhere, and the indexed word each was probably meant to be.

Only plain words are ever corrected. What has a digit, `_`, `.` or `-` in it is meant as typed, and so is every word
that a general dictionary knows: that no entry says `fight` does not make it `right`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from app.analysis.pipeline import Analyzer
from app.analysis.token import Analysis, Atom, Token, TokenKind, text_of
from app.search.engine import Engine

SHORTEST = 5
"""Shorter words are too near to too many others."""

MAX_EDITS = ((5, 1), (8, 2))
"""(from this length, edits allowed): a neighbor swap is one edit."""

HAN_WORD = re.compile(r"[^\x00-\x7f〇一二三四五六七八九十百千万两几半每第]{2}")
"""Two characters neither of which counts something."""

MOST_COMPLETIONS = 8
"""Longer words that a half-typed one may stand for."""


@dataclass(frozen=True, slots=True)
class Correction:
    """`text[start:end]` was typed, and `word` is searched."""

    start: int
    end: int
    typed: str
    word: str


class Speller:
    """Corrects words by the vocabulary of an index. Safe to share between threads."""

    def __init__(self, engine: Engine, analyzer: Analyzer) -> None:
        self._frequency = engine.frequency
        self._is_word = analyzer.is_word
        exact = [text_of(term) for term in engine.vocabulary(TokenKind.EXACT.term(""))]
        self._words = [word for word in exact if word.isalpha() and len(word) >= SHORTEST]
        self._exact = exact
        self._han: dict[tuple[int, str], list[str]] = {}
        for word in map(text_of, engine.vocabulary(TokenKind.TERM.term(""))):
            if len(word) == 2 and not word.isascii():
                for place in (0, 1):
                    self._han.setdefault((place, word[place]), []).append(word)

    def corrections(self, analysis: Analysis) -> Iterator[Correction]:
        """A correction for every plain word that occurs nowhere and has a near neighbor that does."""
        stems = {
            (token.start, token.end): token.term for token in analysis.tokens if token.kind is TokenKind.TERM
        }
        for token in analysis.tokens:
            if token.kind is not TokenKind.EXACT:
                continue
            if self._misspelled(token, stems.get((token.start, token.end))) and (
                word := self._nearest(token.text)
            ):
                yield Correction(token.start, token.end, token.text, word)
        yield from self._han_corrections(analysis)

    def completions(self, typed: str) -> Sequence[str]:
        """Indexed words and identifiers that start with `typed`, shortest first."""
        return sorted((word for word in self._exact if word.startswith(typed)), key=len)[:MOST_COMPLETIONS]

    def _misspelled(self, token: Token, stem: str | None) -> bool:
        if len(token.text) < SHORTEST or not token.text.isalpha() or not token.text.isascii():
            return False
        if self._is_word(token.text):
            return False
        part = TokenKind.PART.term(text_of(stem)) if stem else ""
        name = TokenKind.TERM.term(token.text)
        return not any(term and self._frequency(term) for term in (token.term, stem, name, part))

    def _nearest(self, typed: str) -> str:
        allowed = max(edits for length, edits in MAX_EDITS if len(typed) >= length)
        near = process.extract(typed, self._words, scorer=OSA.distance, score_cutoff=allowed, limit=None)
        # Slips in the first letter are rare; of equals, the commoner word. A word with something before or
        # behind it (`uninitialized`, `longcat`) is another word, not a slip.
        ranked = sorted(
            (one for one in near if not (typed.endswith(one[0]) or typed.startswith(one[0]))),
            key=lambda one: (
                one[1],
                one[0][0] != typed[0],
                -self._frequency(TokenKind.EXACT.term(one[0])),
                one[0],
            ),
        )
        return ranked[0][0] if ranked else ""

    def _han_corrections(self, analysis: Analysis) -> Iterator[Correction]:
        """Two characters that belong to no word, of which one occurs nowhere: a word of two that has the other."""
        for left, right in pairwise(analysis.atoms):
            typed = left.text + right.text
            if left.end != right.start or len(typed) != 2 or not HAN_WORD.fullmatch(typed):
                continue
            place = self._known_place(left.text, right.text)
            if place is None or self._in_word(left, analysis) or self._in_word(right, analysis):
                continue
            if near := self._han.get((place, typed[place]), []):
                word = max(near, key=lambda w: (self._frequency(TokenKind.TERM.term(w)), w))
                yield Correction(left.start, right.end, typed, word)

    def _in_word(self, character: Atom, analysis: Analysis) -> bool:
        return any(
            token.kind is TokenKind.TERM and token.start <= character.start < token.end
            for token in analysis.tokens
        )

    def _known_place(self, left: str, right: str) -> int | None:
        """0 or 1, where only the left or only the right character occurs anywhere."""
        known = [bool(self._frequency(TokenKind.GRAM.term(character))) for character in (left, right)]
        return known.index(True) if known.count(True) == 1 else None

    @staticmethod
    def rewrite(text: str, corrections: Sequence[Correction]) -> str:
        """`text` with every correction made, or empty where there is none."""
        if not corrections:
            return ""
        for correction in sorted(corrections, key=lambda one: -one.start):
            text = text[: correction.start] + correction.word + text[correction.end :]
        return text
