"""Which documents of a segment hold a phrase, atoms one behind the other, and how exactly."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from app.search.index.array_file import Array
from app.search.index.fields import ELSEWHERE
from app.search.index.protocol import WRITTEN_BITS
from app.search.index.segment import Segment
from app.search.index.writing import SEPARATORS, Held, between, flags, left_edge, right_edge

NO_SLOTS = np.zeros(0, dtype=np.int64)
FLAGS = np.array(
    [int(flags(fits=bool(n & 1), alone=bool(n & 2), same=bool(n & 4), alike=bool(n & 8))) for n in range(16)],
    dtype=np.uint16,
)
"""`writing.Held` by what is true: 1 edges fit, 2 stand free, 4 gaps are the same, 8 alike."""


def phrase_starts(segment: Segment, atoms: Sequence[str]) -> Array:
    """The slots, ascending, at which a phrase starts. The rarest atom leads, so that a common one costs little."""
    rows = [segment.atoms.rows(atom) for atom in atoms]
    if not rows or any(row is None for row in rows):
        return NO_SLOTS
    places = [(segment.atoms.columns[0][row], offset) for offset, row in enumerate(rows)]
    places.sort(key=lambda place: len(place[0]))
    rarest, first = places[0]
    # Slots behind the first atoms of a segment may be fewer than the offset: negative starts match nothing.
    starts = rarest.astype(np.int64) - first
    for slots, offset in places[1:]:
        wanted = starts + offset
        wanted, starts = wanted[wanted >= 0], starts[wanted >= 0]
        wanted = wanted.astype(slots.dtype)
        found = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
        starts = starts[slots[found] == wanted]
        if not len(starts):
            break
    return starts


def apart_starts(segment: Segment, first: str, second: str) -> Array:
    """The slots, ascending, at which an atom has another one behind it with nothing but a space or a hyphen between."""
    starts = phrase_starts(segment, (first, second))
    gaps = segment.slot_gaps[starts + 1]
    joining = [gap for gap in np.unique(gaps).tolist() if SEPARATORS.fullmatch(segment.gaps.at(gap))]
    return starts[np.isin(gaps, joining)]


def documents_of(segment: Segment, starts: Array) -> Array:
    """The number of the document that each of some slots, ascending, is in."""
    return np.searchsorted(segment.slot_starts, starts.astype(segment.slot_starts.dtype), side="right") - 1


def held_at(segment: Segment, starts: Array, typed: Sequence[str]) -> Array:
    """How each place at which a phrase starts holds it as `typed`: `writing.Held`, shifted by its region's bits."""
    gaps = segment.slot_gaps
    last = len(typed) - 1
    left = _looked_up(segment, gaps[starts], partial(left_edge, typed[0]))
    right = _looked_up(segment, gaps[starts + last], partial(right_edge, typed[last]))
    edges = left & right
    inner = np.full(len(starts), 3, dtype=np.uint16)
    for number in range(1, last):
        inner &= _looked_up(segment, gaps[starts + number], partial(between, typed[number]))
    regions = segment.slot_regions[starts]
    held = FLAGS[edges | inner << 2] << (WRITTEN_BITS * regions).astype(np.uint16)
    return np.where(regions == ELSEWHERE, np.uint16(Held.NONE), held)


def _looked_up(segment: Segment, gaps: Array, judge: Callable[[str], tuple[bool, bool]]) -> Array:
    """What `judge` says of each gap as 1 and 2, asked once for each that differs."""
    bits = np.zeros(len(segment.gaps), dtype=np.uint16)
    occurs = np.zeros(len(segment.gaps), dtype=np.bool_)
    occurs[gaps] = True
    for gap in np.flatnonzero(occurs).tolist():
        first, second = judge(segment.gaps.at(gap))
        bits[gap] = first | second << 1
    return bits[gaps]
