"""Spelling: words that occur nowhere, and the indexed word each was probably meant to be.

Only plain words are ever corrected. What has a digit, `_`, `.` or `-` in it is meant as typed, and so is every word
that a general dictionary knows: that no entry says `fight` does not make it `right`. A name that is written with
capitals inside may be a slip for another name, never for a word of the dictionary (`InternVL` for `interval`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rapidfuzz import process
from rapidfuzz.distance import OSA

from app.analysis.pipeline import Analyzer
from app.analysis.readings import homophones
from app.analysis.token import Analysis, Piece, SegmentKind, Token, TokenKind, text_of
from app.search.index.protocol import Lexicon

SHORTEST = 5
"""Shorter words are too near to too many others."""

MAX_EDITS = ((5, 1), (8, 2))
"""(from this length, edits allowed): a neighbor swap is one edit."""

LONG = 7
"""From this length on a word says enough to be known by all but its last letter."""

COUNTING = frozenset("〇一二三四五六七八九十百千万两几半每第")
"""Characters that count: what stands beside one is counted, not misspelled."""

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

    def __init__(self, lexicon: Lexicon, analyzer: Analyzer) -> None:
        self._frequency = lexicon.frequency
        self._vocabulary = lexicon.vocabulary
        self._is_word = analyzer.is_word

    def corrections(self, analysis: Analysis) -> Iterator[Correction]:
        """A correction for every plain word that occurs nowhere and has a near neighbor that does."""
        for piece in analysis.pieces:
            if piece.kind is SegmentKind.HAN:
                yield from self._han_corrections(piece)
                continue
            exact, whole = piece.tokens[0], next(iter(piece.of_kind(TokenKind.TERM)), None)
            if self._misspelled(exact, whole) and (
                word := self._nearest(exact.text, is_name=piece.kind is SegmentKind.CODE)
            ):
                yield Correction(exact.start, exact.end, exact.text, word)

    def completions(self, typed: str) -> Sequence[str]:
        """Indexed words and identifiers that start with `typed`, shortest first."""
        found = map(text_of, self._vocabulary(TokenKind.EXACT.term(typed)))
        return sorted(found, key=len)[:MOST_COMPLETIONS]

    @cached_property
    def _words(self) -> list[str]:
        """Words that something may have been meant to be. Few readers slip, so nobody waits for this at a start."""
        exact = map(text_of, self._vocabulary(TokenKind.EXACT.term("")))
        return [word for word in exact if word.isalpha() and len(word) >= SHORTEST]

    def _misspelled(self, token: Token, whole: Token | None) -> bool:
        if len(token.text) < SHORTEST or not token.text.isalpha():
            return False
        if self._is_word(token.text):
            return False
        forms = [token.term, TokenKind.TERM.term(token.text)]
        if whole is not None:
            forms += [whole.term, TokenKind.PART.term(whole.text)]
        return not any(self._frequency(form) for form in forms)

    def _nearest(self, typed: str, *, is_name: bool) -> str:
        allowed = max(edits for length, edits in MAX_EDITS if len(typed) >= length)
        near = process.extract(typed, self._words, scorer=OSA.distance, score_cutoff=allowed, limit=None)
        # Of equals, the commoner word. A word with something before or behind it (`uninitialized`, `longcat`) is
        # another word, not a slip.
        ranked = sorted(
            (edits, -self._frequency(TokenKind.EXACT.term(word)), word)
            for word, edits, _ in near
            if _same_start(typed, word)
            and (_same_end(typed, word) or (edits == 1 and len(typed) >= LONG))
            and not (typed.endswith(word) or typed.startswith(word))
            and not (is_name and self._is_word(word))
        )
        return ranked[0][-1] if ranked else ""

    def _han_corrections(self, run: Piece) -> Iterator[Correction]:
        """For two neighbors outside any word, one of which occurs nowhere: the commonest indexed word of two
        characters that has the other one in the same place and sounds as typed, since input methods err by sound."""
        in_words = {at for word in run.of_kind(TokenKind.TERM) for at in range(word.start, word.end)}
        for left, right in pairwise(run.atoms):
            typed = left.text + right.text
            if left.start in in_words or right.start in in_words or COUNTING.intersection(typed):
                continue
            if near := self._heard_as(typed):
                word = max(near, key=lambda w: (self._frequency(TokenKind.TERM.term(w)), w))
                yield Correction(left.start, right.end, typed, word)

    def _heard_as(self, typed: str) -> list[str]:
        """Indexed words that sound like two characters, and keep the only one of them that occurs anywhere."""
        known = [bool(self._frequency(TokenKind.GRAM.term(character))) for character in typed]
        if known.count(True) != 1:
            return []
        place = known.index(True)
        near = (_with(typed, 1 - place, character) for character in homophones(typed[1 - place]))
        return [word for word in near if self._frequency(TokenKind.TERM.term(word))]

    @staticmethod
    def rewrite(text: str, corrections: Sequence[Correction]) -> str:
        """`text` with every correction made, or empty where there is none."""
        if not corrections:
            return ""
        for correction in sorted(corrections, key=lambda one: -one.start):
            text = text[: correction.start] + correction.word + text[correction.end :]
        return text


def _with(word: str, place: int, character: str) -> str:
    """A word with another character in a place."""
    return word[:place] + character + word[place + 1 :]


def _same_start(typed: str, word: str) -> bool:
    """Whether a slip may have made `typed` of `word`: hardly anybody slips in the first letter, unless it is swapped
    with the second; `segfault` is not `default`."""
    return typed[0] == word[0] or typed[:2] == word[1::-1]


def _same_end(typed: str, word: str) -> bool:
    """Whether the last letter is as meant, swapped with the one before, or left off: short words with another last
    letter are seldom slips of one another (`httpx` is not `https`), and names are made of words with other endings."""
    return typed[-1] == word[-1] or typed[-2:] == word[:-3:-1] or typed == word[:-1]
