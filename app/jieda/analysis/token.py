"""The result of analysis: the runs of a text and their tokens; and the rules that split text into runs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import NamedTuple

from jieda.han import HAN


class RunKind(Enum):
    """The kind of a run, before it is split any further."""

    HAN = "han"
    WORD = "word"
    CODE = "code"


class TokenKind(Enum):
    """Namespaces of index terms; the value is the prefix of a term in an index.

    One piece of text yields tokens of several kinds, so that an exact form can weigh more than its stem,
    an identifier more than its parts, and a Chinese word more than the characters it happens to contain.
    """

    EXACT = "x"
    """The whole word, flag, version or path as written, case folded."""
    TERM = "t"
    """Stem of a word, a Chinese word, or an identifier with `-` and `_` unified."""
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
        """Return the index term of `text`: the kind's prefix, a colon, the text."""
        return f"{self._value_}:{text}"


def text_of(term: str) -> str:
    """Return the text of an index term, without the prefix of its kind."""
    return term.partition(":")[2]


class Token(NamedTuple):
    """A token; `start` and `end` are offsets into the original, unfolded text."""

    text: str
    start: int
    end: int
    kind: TokenKind

    @property
    def term(self) -> str:
        return self.kind.term(self.text)


def terms_of(texts: Iterable[str], kinds: Iterable[TokenKind]) -> tuple[str, ...]:
    """Return the index terms of tokens."""
    return tuple([f"{kind._value_}:{text}" for text, kind in zip(texts, kinds, strict=True)])


class Atom(NamedTuple):
    """The smallest unit that phrases and the glossary match: a Han character, or a run of letters and digits in a word
    or identifier. `text` is case folded; `kind` is that of its run."""

    text: str
    stem: str
    start: int
    end: int
    kind: RunKind


Origins = range | tuple[int, ...]
"""Offset in the original at which each character of a folded text starts, or ends."""


class RunAnalysis(NamedTuple):
    """The tokens and atoms of a run, wherever it stands; offsets are relative to its start.

    A word's tokens are its EXACT form and its stem (TERM). Code has its EXACT form, the names in it (TERM, the
    whole one first) and their words (PART). A Han run has the dictionary's words (TERM), shorter ones inside
    longer ones included, and its characters and pairs of characters (GRAM).
    """

    kind: RunKind
    texts: tuple[str, ...]
    kinds: tuple[TokenKind, ...]
    terms: tuple[str, ...]
    """Text, kind and index term of each token."""
    offsets: tuple[int, ...]
    """Start and end of each token, flattened."""
    words: tuple[str, ...]
    stems: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Text, stem and span of each atom."""

    @property
    def tokens(self) -> Iterator[Token]:
        starts, ends = self.offsets[::2], self.offsets[1::2]
        return map(Token, self.texts, starts, ends, self.kinds)


class Run(NamedTuple):
    """A stretch of Han text, a word or a piece of code that starts at `start` of a folded text. `starts` and `ends` map
    offsets of the folded text to the original."""

    analysis: RunAnalysis
    start: int
    starts: Origins
    ends: Origins

    @property
    def kind(self) -> RunKind:
        return self.analysis.kind

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self._in_original(self.analysis.tokens)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        analysis, at, starts, ends = self
        return tuple(
            [
                Atom(word, stem, starts[at + start], ends[at + end - 1], analysis.kind)
                for word, stem, (start, end) in zip(
                    analysis.words, analysis.stems, analysis.spans, strict=True
                )
            ]
        )

    def of_kind(self, kind: TokenKind) -> tuple[Token, ...]:
        return self._in_original(token for token in self.analysis.tokens if token.kind is kind)

    def _in_original(self, tokens: Iterable[Token]) -> tuple[Token, ...]:
        _, at, starts, ends = self
        return tuple(
            [Token(text, starts[at + start], ends[at + end - 1], kind) for text, start, end, kind in tokens]
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """The runs of a text in order, without overlap and without the separators between them."""

    runs: tuple[Run, ...]
    breaks: frozenset[int]
    """Numbers of the atoms with punctuation before them: no phrase continues there."""

    @property
    def tokens(self) -> Iterator[Token]:
        return chain.from_iterable(run.tokens for run in self.runs)

    # The atoms as columns: for many texts, creating thousands of objects one by one costs too much.

    @property
    def terms(self) -> Iterator[str]:
        return chain.from_iterable([run.analysis.terms for run in self.runs])

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the atoms."""
        return tuple(chain.from_iterable([run.analysis.words for run in self.runs]))

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable([run.analysis.stems for run in self.runs]))

    @property
    def spans(self) -> list[tuple[int, int]]:
        return [
            (starts[at + start], ends[at + end - 1])
            for analysis, at, starts, ends in self.runs
            for start, end in analysis.spans
        ]


# BETWEEN_NAMES joins names to one another, in contrast to `-` and `_`, which join the words of one name.
# A dot between digits belongs to a version or an address, which has no parts worth finding.
BETWEEN_NAMES = re.compile(r"::|->|==|//|\]\[|[:/\\=+@#\[\]*$~]|(?<!\d)\.|(?<=[a-zA-Z_]\d)\.(?!\d)")
WORDS = re.compile(
    r"\d+(?:\.\d+)+\w*"  # a version stays whole
    r"|[A-Z]{2,}(?=[A-Z][a-z]{2})"  # JSON in JSONDecodeError
    r"|[A-Z]?[a-z]+(?=[A-Z][a-z])"  # Out, Of in OutOfMemory
    r"|[^\W_]+"
)
NAME_SEPARATORS = re.compile(r"[-_]+")
COUNTED = re.compile(r"(?:[A-Za-z]{2,3}\d{1,6})+")
"""`tp8`, `tp8pp2`, `gb28181`: short names, each with its number."""
LETTERS_OR_DIGITS = re.compile(r"[A-Za-z]+|\d+")

WORTH_FINDING = re.compile(r"[^\W_]")
MARKS = "[]#*$@/~"
"""Signs around a name that do not belong to it."""
MOST_ENDINGS = 4
"""Most endings of a dotted name that are names themselves, apart from its last part: `cuda.OutOfMemoryError`."""


def canonical(name: str) -> str:
    """Return a name case-folded, without leading dashes, and with `-` turned into `_`."""
    return NAME_SEPARATORS.sub("_", name.casefold()).strip("_.")


def name_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield canonical names with start and end in `text`: the whole, each name in it, the endings of dotted names.

    `torch.cuda.OutOfMemoryError` yields itself, `torch`, `cuda`, `OutOfMemoryError` and `cuda.OutOfMemoryError`.
    """
    pieces = [(start, end) for start, end in _name_pieces(text) if WORTH_FINDING.search(text[start:end])]
    whole = canonical(text.strip(MARKS))
    if whole:
        yield whole, 0, len(text)
    if len(pieces) == 1 and canonical(text[slice(*pieces[0])]) == whole:
        return
    for start, end in pieces:
        if name := canonical(text[start:end]):
            yield name, start, end
    for start, _ in pieces[1:-1][-MOST_ENDINGS:]:
        end = pieces[-1][1]
        if (name := canonical(text[start:end].strip(MARKS))) != whole:
            yield name, start, end


def _name_pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for separator in BETWEEN_NAMES.finditer(text):
        if separator.start() > start:
            yield start, separator.start()
        start = separator.end()
    if start < len(text):
        yield start, len(text)


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words in a piece of code: `max`, `tokens`, `per`, `gpu`; `Out`, `Of`, `Memory`, `Error`.
    Capitals split a name only into words of two letters or more (`NaN` and `vLLM` stay whole)."""
    for run in re.finditer(r"\d+(?:\.\d+)+\w*|[^\W_]+", text):
        pieces = LETTERS_OR_DIGITS if COUNTED.fullmatch(run.group()) else WORDS
        spans = [match.span() for match in pieces.finditer(text, *run.span())]
        if all(end - start >= 2 or text[start:end].isdigit() for start, end in spans):
            yield from spans
        else:
            yield run.span()


WORD_CHARACTER = rf"[^\W{HAN}]"

# `--flag`, `self.node2pg[node_rank]`, `torch.cuda.OutOfMemoryError`, `vllm==0.6.3.post1`, `~/.cache`,
# `$CHATLEARN`, `C++`: letters and digits, connected by joiners that are followed by a letter or digit.
START = rf"(?:--?|[$@]|~?\.{{0,2}}/{{1,3}}|\.)?{WORD_CHARACTER}+"
# A closing bracket belongs to the word only if the word has the opening one, unlike in `[WARNING]`.
CODE_OR_WORD = (
    rf"{START}"
    rf"(?:(?:::|->|==|//|(?P<open>\[)|[-.:/\\=+@#*]|\]\[|\]\.){WORD_CHARACTER}+|'[a-z]{{1,2}}(?!{WORD_CHARACTER}))*"
    r"(?:(?(open)\]|(?!))|\+\+|#)?"
)
RUN = re.compile(rf"(?P<HAN>[{HAN}]+)|(?P<TEXT>{CODE_OR_WORD})")
SEPARATING = re.compile(r"[^\s_`*\-\u00ad\u200b-\u2015]")
"""A character that separates the words around it: anything but space, marks that join words (dashes, invisible
characters) and markup (`code`, *emphasis*)."""
PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")


def split_runs(text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield text, start and whether it is Han for each run of a folded text: Han characters, a word or code."""
    for match in RUN.finditer(text):
        yield match.group(), match.start(), match.lastgroup == "HAN"


def separates(separator: str) -> bool:
    """Whether a separator has punctuation, so that the words around it do not form a phrase."""
    return bool(separator) and separator != " " and SEPARATING.search(separator) is not None


def is_code(text: str) -> bool:
    """Whether a word is code: has digits, joiners or inner capitals."""
    return not PLAIN_WORD.fullmatch(text) or bool(INNER_CAPITAL.search(text))
