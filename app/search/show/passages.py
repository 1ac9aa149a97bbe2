"""The lines of an edition and where index terms stand in them: what snippets and reasons are cut from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from app.analysis.glossary import Glossary
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
    tokens = [*chain.from_iterable(reading.tokens for reading in readings)]
    numbers = np.repeat(np.arange(len(lines)), [len(reading.tokens) for reading in readings])
    starts, ends = (np.array([token[place] for token in tokens], np.intp) for place in (1, 2))
    terms = chain.from_iterable(reading.terms for reading in readings)
    return packed(terms, np.column_stack((numbers, starts, ends - starts)))


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
