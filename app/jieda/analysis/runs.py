"""Folded text to runs of Han, words and code; and code to the names and words in it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jieda.analysis.token import Run, RunKind
from jieda.han import HAN

# What binds names to one another, in contrast to `-` and `_`, which bind the words of one name.
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


def names(text: str) -> Iterator[Name]:
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


def words(text: str) -> Iterator[tuple[int, int]]:
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
