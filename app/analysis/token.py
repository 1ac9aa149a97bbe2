"""What analysis hands on: segments of the text and the tokens they yield."""

from dataclasses import dataclass
from enum import Enum


class SegmentKind(Enum):
    """What a stretch of text is, before it is cut any further."""

    HAN = "han"
    WORD = "word"
    CODE = "code"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class Segment:
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

    def term(self, text: str) -> str:
        """`text` as it stands in an index: the kind's prefix and a colon, then the text."""
        return f"{self.value}:{text}"


def text_of(term: str) -> str:
    """The text of an index term, without the prefix of its kind."""
    return term.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Token:
    """`start` and `end` are offsets into the original text, whatever folding did to it."""

    text: str
    start: int
    end: int
    kind: TokenKind

    @property
    def term(self) -> str:
        """The token as it stands in an index."""
        return self.kind.term(self.text)


@dataclass(frozen=True, slots=True)
class Atom:
    """The smallest piece that phrases and the glossary are matched by: a Han character, or a run of letters
    and digits out of a word or identifier. `text` is case folded; `stem` is what inflected forms share."""

    text: str
    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that search needs to know of a text. Tokens and atoms are in the order of the text."""

    tokens: tuple[Token, ...]
    atoms: tuple[Atom, ...]
