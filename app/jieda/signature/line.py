"""A signature line, compiled, and where it is found in a text."""

import math
import operator
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from jieda.signature.grammar import (
    COMPARISONS,
    CONDITIONED,
    SHAPED,
    SignatureSyntaxError,
    expression,
    parts_of,
    weight_of,
)

SPECIFIC_CHARACTERS = 6
"""How many letters and digits outside `GENERIC_WORDS` make a line specific; a Han character counts three."""

LONGEST_SURE = 400
"""Characters of a line that is found wherever it stands; a longer one is missed where a log's line is cut."""

SHAPE_PARTS: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "first": lambda shape: shape[:1],
    "rest": lambda shape: shape[1:],
}
SHAPE_RELATIONS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "differ": operator.ne,
    "equal": operator.eq,
}
"""What two shapes in a line may have to be, by part."""
PAIR = 2
Shapes = tuple[tuple[str, str], ...]
"""Pairs of a part and a relation."""
MOST_TRIED = 50
"""Places of a line whose numbers are compared before it counts as not found."""
_ALIKE = str.maketrans(
    dict.fromkeys('"`‘’“”', "'") | {"\u00a0": " "} | {chr(n + 0xFEE0): chr(n) for n in range(0x21, 0x7F)}
)


@dataclass(frozen=True, slots=True)
class SignatureLine:
    """A compiled line.

    `pattern` is for `search` on a text or a line of it, and never reaches across a line end; it is compiled when it is
    needed, since few of thousands ever are. `anchor` is the longest literal without white space, case-folded: where the
    case-folded text lacks it, `pattern` finds nothing. `weight` counts the specific characters. `conditions` are what
    the numbers in the groups `condition0`, `condition1`, … of the pattern have to be, `shapes` what its first two
    shapes have to be (see `Signature`).
    """

    text: str
    expression: str
    anchor: str
    weight: int
    conditions: tuple[tuple[str, float], ...] = ()
    shapes: Shapes = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """`expression`, compiled."""
        return _compiled(self.expression)

    @property
    def specific(self) -> bool:
        """Whether there is something in it that not every log has."""
        return self.weight >= SPECIFIC_CHARACTERS

    def matches(self, text: str) -> bool:
        """Whether `text`, one line or many, has this line in it."""
        folded = alike(text)
        return self.anchor in folded.casefold() and self.find(folded) is not None

    def find(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """The first place in `text`, made `alike`, that has this line in it, its numbers and shapes as they must be."""
        if not (self.conditions or self.shapes):
            return self.pattern.search(text, start, end)
        found = zip(range(MOST_TRIED), self.pattern.finditer(text, start, end), strict=False)
        return next((each for _, each in found if self._holds(each)), None)

    def _holds(self, found: re.Match[str]) -> bool:
        numbers = [float(found[f"{CONDITIONED}{number}"]) for number in range(len(self.conditions))]
        pairs = zip(numbers, self.conditions, strict=True)
        return _are_shaped(found, self.shapes) and all(
            math.isfinite(number) and COMPARISONS[sign](number, limit) for number, (sign, limit) in pairs
        )


def _are_shaped(found: re.Match[str], shapes: Shapes) -> bool:
    shaped = [shape for name, shape in found.groupdict().items() if name[:5] == SHAPED][:PAIR]
    given = [tuple(map(int, re.findall(r"\d+", shape))) for shape in shaped]
    return not shapes or all(
        SHAPE_RELATIONS[relation](*map(SHAPE_PARTS[part], given)) for part, relation in shapes
    )


def alike(text: str) -> str:
    """`text` with quotes and widths made one that chats, editors and versions of Python change; its length stays."""
    return text.translate(_ALIKE)


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


@lru_cache(maxsize=4096)
def compile_signature_line(text: str, shapes: Shapes = ()) -> SignatureLine:
    """The matcher of one line; `shapes` count where it has two. Raises SignatureSyntaxError."""
    parts = parts_of(alike(text))
    literals = [part.literal for part in parts if part.literal]
    words = [word for literal in literals for word in literal.split()]
    if not words:
        raise SignatureSyntaxError("has no literal text")
    conditions = tuple(part.condition for part in parts if part.condition)
    return SignatureLine(
        text,
        expression(parts),
        anchor=max(words, key=len).casefold(),
        weight=sum(map(weight_of, literals)),
        conditions=conditions,
        shapes=shapes if text.count("{shape}") >= PAIR else (),
    )
