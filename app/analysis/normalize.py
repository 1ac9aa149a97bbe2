"""Folding: width, compatibility forms and Traditional Chinese, with every character's origin kept.

The steps, in order: NFKC on each base character with its combining marks, then Traditional to Simplified
character by character. Case is left alone, because segmentation reads it (`OutOfMemoryError`).
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import opencc

HAN_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))


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
    """Folds text. Building one takes some 20 ms for the table of Traditional characters."""

    def __init__(self) -> None:
        self._simplified = _simplification_table()

    def fold(self, text: str) -> Folded:
        """Total: any string, lone surrogates and NUL included."""
        if text.isascii() or unicodedata.is_normalized("NFKC", text):
            size = len(text)
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
    characters = [chr(point) for first, last in HAN_BLOCKS for point in range(first, last + 1)]
    # A line each, so that OpenCC's phrase dictionary has nothing to match.
    converted = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    return {
        ord(old): new for old, new in zip(characters, converted, strict=True) if old != new and len(new) == 1
    }
