"""Identifiers, flags, dotted names, paths, versions: the whole and its parts."""

import re
from collections.abc import Iterator
from typing import NamedTuple

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
