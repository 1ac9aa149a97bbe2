"""What analysis hands on: segments of the text and the tokens they yield."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import NamedTuple


class SegmentKind(Enum):
    """What a stretch of text is, before it is cut any further."""

    HAN = "han"
    WORD = "word"
    CODE = "code"
    GAP = "gap"


class Segment(NamedTuple):
    """A stretch of folded text; joining all segments of a text gives the text back."""

    text: str
    start: int
    kind: SegmentKind

    @property
    def end(self) -> int:
        """Offset behind the last character."""
        return self.start + len(self.text)


class TokenKind(Enum):
    """The spaces that terms live in; the value is the prefix a term carries in an index.

    One piece of text yields tokens of several kinds, so that an exact form can weigh more than its stem,
    an identifier more than its parts, and a Chinese word more than the characters it happens to contain.
    """

    EXACT = "x"
    """The whole word, flag, version or path as written, case folded."""
    TERM = "t"
    """Stem of a word, a Chinese word, or an identifier with `-` and `_` made one."""
    PART = "p"
    """Stem of a word inside an identifier."""
    GRAM = "g"
    """One or two neighboring Han characters."""
    CONCEPT = "c"
    """Number of a glossary group."""
    KEY = "k"
    """A whole title or alias, reduced to its letters, digits and Han characters."""
    SPAN = "s"
    """A whole code span or block, exactly as written."""
    FOLDED_SPAN = "f"
    """The same with case, width and script folded."""

    def term(self, text: str) -> str:
        """`text` as it stands in an index: the kind's prefix and a colon, then the text."""
        return f"{self._value_}:{text}"


def text_of(term: str) -> str:
    """The text of an index term, without the prefix of its kind."""
    return term.partition(":")[2]


class Token(NamedTuple):
    """`start` and `end` are offsets into the original text, whatever folding did to it."""

    text: str
    start: int
    end: int
    kind: TokenKind

    @property
    def term(self) -> str:
        """The token as it stands in an index."""
        return self.kind.term(self.text)


def terms_of(tokens: "Iterable[Token]") -> list[str]:
    """Tokens as they stand in an index."""
    return [f"{kind._value_}:{text}" for text, _, _, kind in tokens]


class Atom(NamedTuple):
    """The smallest part of a text that phrases and the glossary are matched by: a Han character, or a run of
    letters and digits out of a word or identifier. `text` is case folded; `stem` is what inflected forms share;
    `kind` is that of the piece it is part of."""

    text: str
    stem: str
    start: int
    end: int
    kind: SegmentKind

    @property
    def is_han(self) -> bool:
        """Whether this is a Han character."""
        return self.kind is SegmentKind.HAN


class Piece(NamedTuple):
    """A Han run, a word or a piece of code, with everything that was made of it, in the order of the text.

    A word's tokens are its EXACT form and its stem (TERM). Code has its EXACT form, the names in it (TERM, the
    whole one first) and their words (PART). A Han run has the dictionary's words (TERM), shorter ones inside
    longer ones included, and its characters and pairs of characters (GRAM).
    """

    kind: SegmentKind
    tokens: tuple[Token, ...]
    atoms: tuple[Atom, ...]

    def of_kind(self, kind: TokenKind) -> tuple[Token, ...]:
        """Its tokens of one kind."""
        return tuple(token for token in self.tokens if token.kind is kind)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a text consists of: its pieces in order, without overlap, the gaps between them left out."""

    pieces: tuple[Piece, ...]
    atoms: tuple[Atom, ...]
    """The atoms of all pieces."""
    apart: frozenset[int]
    """Numbers of the atoms that punctuation keeps apart from the one before."""

    @classmethod
    def of(cls, pieces: Iterable[Piece], apart: Iterable[int]) -> "Analysis":
        """The analysis of a text that consists of `pieces`."""
        found = tuple(pieces)
        return cls(found, tuple(chain.from_iterable(piece.atoms for piece in found)), frozenset(apart))

    @property
    def tokens(self) -> Iterator[Token]:
        """The tokens of all pieces."""
        return chain.from_iterable(piece.tokens for piece in self.pieces)
