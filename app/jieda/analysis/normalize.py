"""Folding: width, compatibility forms and Traditional Chinese, with every character's origin kept.

The steps, in order: NFKC on each base character with its combining marks, then Traditional to Simplified
character by character. Case is left alone, because segmentation reads it (`OutOfMemoryError`).
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("simplified.txt")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; its character `i` came from `original[starts[i]:ends[i]]`.

    `starts` and `ends` are ranges where folding kept all lengths, which is nearly always.
    """

    text: str
    starts: range | tuple[int, ...]
    ends: range | tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that the folded span `start:end` (not empty) came from."""
        return self.starts[start], self.ends[end - 1]


class Folder:
    """Folds text. Safe to share between threads."""

    def __init__(self) -> None:
        self._simplified = _simplification_table()

    def fold(self, text: str) -> Folded:
        """Total: any string, lone surrogates and NUL included."""
        size = len(text)
        if text.isascii():
            return Folded(text, range(size), range(1, size + 1))
        if unicodedata.is_normalized("NFKC", text):
            return Folded(text.translate(self._simplified), range(size), range(1, size + 1))
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for start, end in _clusters(text):
            piece = unicodedata.normalize("NFKC", text[start:end])
            pieces.append(piece)
            starts += [start] * len(piece)
            ends += [end] * len(piece)
        return Folded("".join(pieces).translate(self._simplified), tuple(starts), tuple(ends))


def within(text: str, most: int) -> str:
    """As much of a text as folds to at most `most` characters: a ligature of Arabic becomes eighteen."""
    text = text[:most]
    if text.isascii() or len(unicodedata.normalize("NFKC", text)) <= most:
        return text
    size = 0
    for position, character in enumerate(text):
        size += len(unicodedata.normalize("NFKC", character))
        if size > most:
            return text[:position]
    return text


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a character and the combining marks behind it, at most 8 long so that no input is slow."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not unicodedata.combining(text[position]) or position - start >= 8:
            yield start, position
            start = position


def _simplification_table() -> dict[int, str]:
    """Code point to Simplified character, for those that differ: by character, never by phrase, so that
    lengths and offsets stay as they are."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    pairs = (pair for line in lines if not line.startswith("#") for pair in line.split())
    return {ord(pair[0]): pair[1] for pair in pairs}
