"""What analysis hands on: the runs of a text, how they come apart, and the tokens they yield."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain
from typing import NamedTuple

from jieda.han import HAN

# What binds names to one another, in contrast to `-` and `_`, which bind the words of one name.
# A dot between digits belongs to a version or an address, which has no parts worth finding.


class RunKind(Enum):
    """What a stretch of text is, before it is cut any further."""

    HAN = "han"
    WORD = "word"
    CODE = "code"


class Run(NamedTuple):
    """A stretch of folded text that says something; between two of them stands a separator."""

    text: str
    start: int
    kind: RunKind

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
    FRAMEWORK = "w"
    """The id of a framework that an entry is written for."""

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


def terms_of(texts: Iterable[str], kinds: Iterable[TokenKind]) -> tuple[str, ...]:
    """Tokens as they stand in an index."""
    return tuple([f"{kind._value_}:{text}" for text, kind in zip(texts, kinds, strict=True)])


class Atom(NamedTuple):
    """The smallest part of a text that phrases and the glossary are matched by: a Han character, or a run of
    letters and digits out of a word or identifier. `text` is case folded; `stem` is what inflected forms share;
    `kind` is that of the piece it is part of."""

    text: str
    stem: str
    start: int
    end: int
    kind: RunKind

    @property
    def is_han(self) -> bool:
        return self.kind is RunKind.HAN


# As calls of the classes do it, in half the time.
make_token: Callable[[tuple[str, int, int, TokenKind]], Token] = partial(tuple.__new__, Token)
make_atom: Callable[[tuple[str, str, int, int, RunKind]], Atom] = partial(tuple.__new__, Atom)

Origins = range | tuple[int, ...]
"""Where in the original each character of a folded text starts, or ends."""


class Parts(NamedTuple):
    """What is made of a Han run, a word or a piece of code, wherever it stands: places are counted from its start.

    A word's tokens are its EXACT form and its stem (TERM). Code has its EXACT form, the names in it (TERM, the
    whole one first) and their words (PART). A Han run has the dictionary's words (TERM), shorter ones inside
    longer ones included, and its characters and pairs of characters (GRAM).
    """

    kind: RunKind
    texts: tuple[str, ...]
    kinds: tuple[TokenKind, ...]
    terms: tuple[str, ...]
    """Text and kind of each token, and how it stands in an index."""
    offsets: tuple[int, ...]
    """Start and end of each token, one behind the other."""
    words: tuple[str, ...]
    stems: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Text, stem and place of each atom."""

    @property
    def tokens(self) -> Iterator[Token]:
        starts, ends = self.offsets[::2], self.offsets[1::2]
        return map(make_token, zip(self.texts, starts, ends, self.kinds, strict=True))


class Piece(NamedTuple):
    """A Han run, a word or a piece of code in a text: its parts, in the order of the text, and its `start` in the
    folded text, whose characters came from `starts` and `ends` of the original."""

    parts: Parts
    start: int
    starts: Origins
    ends: Origins

    @property
    def kind(self) -> RunKind:
        return self.parts.kind

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self._moved(self.parts.tokens)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        parts, at, starts, ends = self
        return tuple(
            [
                make_atom((word, stem, starts[at + start], ends[at + end - 1], parts.kind))
                for word, stem, (start, end) in zip(parts.words, parts.stems, parts.spans, strict=True)
            ]
        )

    def of_kind(self, kind: TokenKind) -> tuple[Token, ...]:
        return self._moved(token for token in self.parts.tokens if token.kind is kind)

    def _moved(self, tokens: Iterable[Token]) -> tuple[Token, ...]:
        _, at, starts, ends = self
        return tuple(
            [
                make_token((text, starts[at + start], ends[at + end - 1], kind))
                for text, start, end, kind in tokens
            ]
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a text consists of: its pieces in order, without overlap, the separators between them left out."""

    pieces: tuple[Piece, ...]
    apart: frozenset[int]
    """Numbers of the atoms that punctuation keeps apart from the one before."""

    @property
    def tokens(self) -> Iterator[Token]:
        return chain.from_iterable(piece.tokens for piece in self.pieces)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(chain.from_iterable(piece.atoms for piece in self.pieces))

    # Columns of these: where there are many texts, values by the thousand are not made one by one.

    @property
    def terms(self) -> Iterator[str]:
        """The tokens as they stand in an index."""
        return chain.from_iterable([piece.parts.terms for piece in self.pieces])

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the atoms."""
        return tuple(chain.from_iterable([piece.parts.words for piece in self.pieces]))

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable([piece.parts.stems for piece in self.pieces]))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each atom."""
        return [
            (starts[at + start], ends[at + end - 1])
            for parts, at, starts, ends in self.pieces
            for start, end in parts.spans
        ]


BETWEEN_NAMES = re.compile(r"::|->|==|//|\]\[|[:/\\=+@#\[\]*$~]|(?<!\d)\.|(?<=[a-zA-Z_]\d)\.(?!\d)")
WORDS = re.compile(
    r"\d+(?:\.\d+)+\w*"  # a version stays whole
    r"|[A-Z]{2,}(?=[A-Z][a-z]{2})"  # JSON in JSONDecodeError
    r"|[A-Z]?[a-z]+(?=[A-Z][a-z])"  # Out, Of in OutOfMemory
    r"|[^\W_]+"
)
NAME_SEPARATORS = re.compile(r"[-_]+")
COUNTED = re.compile(r"(?:[A-Za-z]{2,3}\d{1,6})+")
"""`tp8`, `tp8pp2`, `gb28181`: short names each with its number."""
LETTERS_OR_DIGITS = re.compile(r"[A-Za-z]+|\d+")

WORTH_FINDING = re.compile(r"[^\W\d_]|\d")


class Name(NamedTuple):
    """A name inside a piece of code; `canonical` is the same for `max-tokens` and `--MAX_TOKENS`."""

    canonical: str
    start: int
    end: int


def canonical(name: str) -> str:
    """A name with case, leading dashes and the choice between `-` and `_` taken away."""
    return NAME_SEPARATORS.sub("_", name.casefold()).strip("_.")


def name_spans(text: str) -> Iterator[Name]:
    """The whole of `text`, then each name in it, then each dotted name's endings.

    `torch.cuda.OutOfMemoryError` yields itself, `torch`, `cuda`, `OutOfMemoryError` and
    `cuda.OutOfMemoryError`. Spans are offsets into `text`.
    """
    pieces = [(start, end) for start, end in _pieces(text) if WORTH_FINDING.search(text[start:end])]
    whole = canonical(text.strip("[]#*$@/~"))
    if whole:
        yield Name(whole, 0, len(text))
    if len(pieces) < 2 and pieces and canonical(text[slice(*pieces[0])]) == whole:
        return
    for start, end in pieces:
        if name := canonical(text[start:end]):
            yield Name(name, start, end)
    last = pieces[-1][1] if pieces else 0
    for start, _ in pieces[1:-1][-4:]:
        if (name := canonical(text[start:last].strip("[]#*$@/~"))) != whole:
            yield Name(name, start, last)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for separator in BETWEEN_NAMES.finditer(text):
        if separator.start() > start:
            yield start, separator.start()
        start = separator.end()
    if start < len(text):
        yield start, len(text)


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the words in a piece of code: `max`, `tokens`, `per`, `gpu`; `Out`, `Of`, `Memory`, `Error`.

    Capitals split a name only where that leaves words of two letters or more (`NaN` and `vLLM` stay whole).
    """
    for run in re.finditer(r"\d+(?:\.\d+)+\w*|[^\W_]+", text):
        pieces = LETTERS_OR_DIGITS if COUNTED.fullmatch(run.group()) else WORDS
        spans = [match.span() for match in pieces.finditer(text, *run.span())]
        if all(end - start >= 2 or text[start:end].isdigit() for start, end in spans):
            yield from spans
        else:
            yield run.span()


WORD_CHARACTER = rf"[^\W{HAN}]"

# `--flag`, `self.node2pg[node_rank]`, `torch.cuda.OutOfMemoryError`, `vllm==0.6.3.post1`, `~/.cache`,
# `$CHATLEARN`, `C++`: letters and digits, held together by joiners that have a letter or digit behind them.
START = rf"(?:--?|[$@]|~?\.{{0,2}}/{{1,3}}|\.)?{WORD_CHARACTER}+"
# A bracket is closed only where it was opened: the one after `[WARNING]` does not belong to the word.
CODE_OR_WORD = (
    rf"{START}"
    rf"(?:(?:::|->|==|//|(?P<open>\[)|[-.:/\\=+@#*]|\]\[|\]\.){WORD_CHARACTER}+|'[a-z]{{1,2}}(?!{WORD_CHARACTER}))*"
    r"(?:(?(open)\]|(?!))|\+\+|#)?"
)
SAYING = rf"(?P<HAN>[{HAN}]+)|(?P<TEXT>{CODE_OR_WORD})"
SAID = re.compile(SAYING)
SEPARATING = re.compile(r"[^\s_`*\-\u00ad\u200b-\u2015]")
"""What a separator has that keeps the words around it apart: anything but space, marks that hold words together
(dashes, what is not seen) and marks that dress them (`code`, *emphasis*)."""
PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")


def runs_of(text: str) -> Iterator[Run]:
    """The runs of a folded text, in order."""
    for found, start, is_han in saying(text):
        yield Run(found, start, RunKind.HAN if is_han else RunKind.CODE if is_code(found) else RunKind.WORD)


def saying(text: str) -> Iterator[tuple[str, int, bool]]:
    """The same, words and code not told apart: what stands where, and whether it is Han."""
    for match in SAID.finditer(text):
        yield match.group(), match.start(), match.lastgroup == "HAN"


def separates(separator: str) -> bool:
    """Whether the words on both sides of a separator are not said together: punctuation stands between them."""
    return bool(separator) and separator != " " and SEPARATING.search(separator) is not None


def is_code(text: str) -> bool:
    """Whether a word is written as code: digits, joiners or capitals inside."""
    return not PLAIN_WORD.fullmatch(text) or bool(INNER_CAPITAL.search(text))
