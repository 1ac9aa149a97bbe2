"""Exact writing: what stands between and around the words of a text, so that `--load`, `load` and `load_dir` differ.

Analysis makes one word of many writings, so that each finds the others. A document keeps, beside the words, the gaps
between them; which writing it has is read from these, without its text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntFlag

from app.analysis.token import Analysis

START = END = "\n"
"""Stands for the start and the end of a text: something that is part of no name."""

LONGEST_GAP = 16
"""Of a longer gap both ends are kept; nobody types one."""

LEFT_OPEN = re.compile(r"(?<!\w)(?<!\w-)\Z")
RIGHT_OPEN = re.compile(r"(?![\w-])")
PLAIN = frozenset({"", " "})
"""What most gaps are."""
SEPARATORS = re.compile(r"[-_ ]+")
WORD = "x"


class Held(IntFlag):
    """How a text holds a writing, beyond its words."""

    NONE = 0
    INSIDE = 1
    """As written, perhaps as a part of a longer name."""
    ALIKE = 2
    """By itself, with `-`, `_` and space exchanged."""
    ALONE = 4
    """As written and by itself: leading dashes are not part of a longer name."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text as atoms and gaps: `gaps[i]` stands before atom i, the last gap behind the last atom."""

    region: int
    """TITLES, BODIES, FRONTS or ELSEWHERE of `fields`."""
    atoms: tuple[str, ...]
    gaps: tuple[str, ...]


def gaps_of(text: str, analysis: Analysis, fold: Callable[[str], str]) -> tuple[str, ...]:
    """What stands before each atom of an analyzed text, and behind the last; folded and cut to `LONGEST_GAP`."""
    found, last = [], 0
    for start, end in analysis.spans:
        found.append(text[last:start])
        last = end
    found.append(text[last:])
    return tuple([gap if gap in PLAIN else _cut(gap if gap.isascii() else fold(gap)) for gap in found])


def passage_of(region: int, text: str, analysis: Analysis, fold: Callable[[str], str]) -> Passage:
    """An analyzed text that has an atom, as a document keeps it."""
    first, *inner, last = gaps_of(text, analysis, fold)
    return Passage(region, tuple(analysis.words), (START + first, *inner, last + END))


def _cut(gap: str) -> str:
    half = LONGEST_GAP // 2
    return gap if len(gap) <= LONGEST_GAP else gap[:half] + gap[-half:]


def left_edge(typed: str, gap: str) -> tuple[bool, bool]:
    """Whether the start of a writing fits the gap that it stands behind, and whether a name can start there."""
    fits = gap.endswith(typed)
    return fits, fits and LEFT_OPEN.search(WORD + gap[: len(gap) - len(typed)]) is not None


def right_edge(typed: str, gap: str) -> tuple[bool, bool]:
    """Whether the end of a writing fits the gap behind it, and whether a name can end there."""
    fits = gap.startswith(typed)
    return fits, fits and RIGHT_OPEN.match(gap[len(typed) :] + WORD) is not None


def between(typed: str, gap: str) -> tuple[bool, bool]:
    """Whether a gap inside a writing is as typed, and whether it is so apart from the separator used."""
    same = typed == gap
    return same, same or bool(SEPARATORS.fullmatch(typed) and SEPARATORS.fullmatch(gap))


def held(typed: Sequence[str], gaps: Sequence[str]) -> Held:
    """How a place at which all words of a writing stand holds it; `typed` and `gaps` are of the same length."""
    (left, starts), (right, ends) = left_edge(typed[0], gaps[0]), right_edge(typed[-1], gaps[-1])
    inner = [between(one, other) for one, other in zip(typed[1:-1], gaps[1:-1], strict=True)]
    return flags(
        fits=left and right,
        alone=starts and ends,
        same=all(same for same, _ in inner),
        alike=all(alike for _, alike in inner),
    )


def flags(*, fits: bool, alone: bool, same: bool, alike: bool) -> Held:
    """Edges that fit, edges that stand free, and gaps that are the same or alike, as one value."""
    found = Held.NONE
    if fits and same:
        found |= Held.INSIDE
    if alone and alike:
        found |= Held.ALIKE
    if alone and same:
        found |= Held.ALONE
    return found
