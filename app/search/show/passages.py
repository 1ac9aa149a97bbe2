"""The lines of an edition and where index terms stand in them: what snippets and reasons are cut from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from app.analysis.glossary import Glossary
from app.analysis.token import Piece
from app.entry import Edition, Language
from app.search.index.cache import ByteCache
from app.search.show.places import Places, packed

ROOM = 32 << 20
"""Bytes of concordances that are kept, some 25 KiB for an edition."""

TITLE = "title"
"""The section that the first line, the edition's title, is said to stand in."""


@dataclass(frozen=True, slots=True)
class Line:
    """A block of text, and the key of the section it stands in."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Concordance:
    """The lines of an edition, title first, and the places of every index term in them."""

    lines: tuple[Line, ...]
    places: Places

    def surface(self, term: str) -> str:
        """How an index term first reads; empty where it doesn't occur."""
        place = self.places.first(term)
        return self.lines[place[0]].text[place[1] : place[2]] if place else ""


def lines_of(edition: Edition) -> tuple[Line, ...]:
    """The title and every block of text that is not empty."""
    blocks = ((section.key, text) for section in edition.sections for text in section.text.splitlines())
    return (Line(TITLE, edition.title), *(Line(key, text) for key, text in blocks if text.strip()))


def places_of(lines: Sequence[Line], glossary: Glossary) -> bytes:
    """Where index terms stand in some lines, as `Places` reads it."""
    readings = [glossary.read(line.text) for line in lines]
    pieces = [piece for reading in readings for piece in reading.analysis.pieces]
    counts = [len(piece.parts.terms) for piece in pieces]
    numbers = np.repeat(np.arange(len(lines)), [len(reading.analysis.pieces) for reading in readings])
    starts, ends = _spans(pieces, counts)
    rows = np.column_stack((np.repeat(numbers, counts), starts, ends - starts))
    concepts = [(number, token) for number, reading in enumerate(readings) for token in reading.concepts]
    more = [(number, token.start, token.end - token.start) for number, token in concepts]
    terms = [piece.parts.terms for piece in pieces]
    return packed(
        chain(chain.from_iterable(terms), (token.term for _, token in concepts)),
        np.concatenate((rows, np.array(more, np.intp).reshape(-1, 3))),
    )


def _spans(pieces: Sequence[Piece], counts: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Starts and ends of the tokens of some pieces in their texts; `counts` says how many tokens each has."""
    offsets = np.fromiter(chain.from_iterable([piece.parts.offsets for piece in pieces]), np.intp).reshape(
        -1, 2
    )
    starts, ends = (
        offsets + np.repeat(np.array([piece.start for piece in pieces], np.intp), counts)[:, None]
    ).T
    at = 0
    for piece, count in zip(pieces, counts, strict=True):
        # Where folding kept all lengths, which is nearly always, a place in the folded text is one in the original.
        if not isinstance(piece.starts, range):
            own = slice(at, at + count)
            starts[own] = np.array(piece.starts)[starts[own]]
            ends[own] = np.array(piece.ends)[ends[own] - 1]
        at += count
    return starts, ends


ReadPlaces = Callable[[str, Language], Places | None]
"""The places of an edition, by the id of its entry, where they are kept."""


class Passages:
    """Concordances of the editions of one generation: read where they are kept, otherwise made, when first asked
    for."""

    def __init__(self, glossary: Glossary, read: ReadPlaces | None = None) -> None:
        self._glossary = glossary
        self._read = read
        self._kept: ByteCache[tuple[str, Language], Concordance] = ByteCache(ROOM, _size)

    def of(self, entry_id: str, edition: Edition) -> Concordance:
        """The concordance of an edition."""
        return self._kept.get((entry_id, edition.lang), lambda: self._made(entry_id, edition))

    def _made(self, entry_id: str, edition: Edition) -> Concordance:
        lines = lines_of(edition)
        kept = self._read(entry_id, edition.lang) if self._read else None
        return Concordance(lines, kept or Places(places_of(lines, self._glossary)))


def _size(concordance: Concordance) -> int:
    # A line takes some hundred bytes beside its text.
    return concordance.places.size + sum(100 + 2 * len(line.text) for line in concordance.lines)
