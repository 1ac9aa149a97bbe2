"""A question as it was kept, what was taken out of it apart; and how often it was asked, as a small drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from app.day_file import first_day
from app.usecases.gaps.grouping import GapGroup
from app.usecases.gaps.redact import PLACEHOLDER

BARS = 30
"""Bars of a gap's course at most: the last days, or weeks where the period has more days."""
BAR_HEIGHT = 20
BAR_WIDTH = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of a question; `hole` where something was taken out of it."""

    text: str
    hole: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a drawing, in its own units, from the top left."""

    x: int
    y: int
    height: int


def words_of(text: str) -> tuple[Word, ...]:
    """The text in pieces, what was taken out apart."""
    words, end = [], 0
    for hole in PLACEHOLDER.finditer(text):
        words += [Word(text[end : hole.start()], hole=False), Word(hole[0][1:-1], hole=True)]
        end = hole.end()
    return tuple(word for word in (*words, Word(text[end:], hole=False)) if word.text)


def spans_of(days: int) -> Sequence[tuple[str, str]]:
    """The first and the last day of each bar, oldest first: equally long but for the oldest."""
    length = -(-days // BARS)
    last = date.fromisoformat(first_day(1))
    spans = [
        (last - timedelta(days=end + length - 1), last - timedelta(days=end))
        for end in range(0, days, length)
    ]
    return [(first.isoformat(), end.isoformat()) for first, end in reversed(spans)]


def bars_of(group: GapGroup, days: int) -> tuple[Bar, ...]:
    """How often something was asked, oldest first; the highest bar is as high as the drawing."""
    counts = [
        sum(count for day, count in group.days.items() if first <= day <= last)
        for first, last in spans_of(days)
    ]
    most = max(counts, default=0) or 1
    heights = [-(-count * BAR_HEIGHT // most) for count in counts]
    return tuple(
        Bar(place * BAR_WIDTH, BAR_HEIGHT - height, height) for place, height in enumerate(heights) if height
    )
