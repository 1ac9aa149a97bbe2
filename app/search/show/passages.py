"""The lines of an edition and where index terms stand in them: what snippets and reasons are cut from."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.analysis.glossary import Glossary
from app.entry import Edition, Language
from app.search.index.cache import ByteCache

ROOM = 32 << 20
"""Bytes of concordances that are kept, some 70 KiB for an edition."""
TERM_SIZE, PLACE_SIZE = 180, 24
"""Bytes that a term of a concordance takes beside its places, and each place, about."""

TITLE = "title"
"""The section that the first line, the edition's title, is said to stand in."""

Places = Mapping[str, tuple[int, ...]]
"""Where each index term of an edition stands, in order: line, start and length in that line's text, one occurrence
behind the other."""


@dataclass(frozen=True, slots=True)
class Line:
    """A block of text, and the key of the section it stands in."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Concordance:
    """The lines of an edition, title first, and the places of every index term in them."""

    lines: tuple[Line, ...]
    found: Places

    def places(self, term: str) -> Iterator[tuple[int, int, int]]:
        """Line number, start and end in that line's text, of each occurrence in order."""
        numbers = iter(self.found.get(term, ()))
        return ((line, start, start + length) for line, start, length in zip(*[numbers] * 3, strict=True))

    def present(self, weights: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """Those of some terms that occur."""
        return (pair for pair in weights.items() if pair[0] in self.found)

    def in_title(self, term: str) -> Iterator[tuple[int, int]]:
        """Start and end of each occurrence in the title, whose line is the first."""
        for number, start, end in self.places(term):
            if number:
                break
            yield start, end

    def surface(self, term: str) -> str:
        """How an index term first reads; empty where it doesn't occur."""
        place = next(self.places(term), None)
        return self.lines[place[0]].text[place[1] : place[2]] if place else ""


def lines_of(edition: Edition) -> tuple[Line, ...]:
    """The title and every block of text that is not empty."""
    blocks = ((section.key, text) for section in edition.sections for text in section.text.splitlines())
    return (Line(TITLE, edition.title), *(Line(key, text) for key, text in blocks if text.strip()))


def places_of(lines: Sequence[Line], glossary: Glossary) -> Places:
    """Where index terms stand in some lines."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        reading = glossary.read(line.text)
        for term, (_, start, end, _) in zip(reading.terms, reading.tokens, strict=True):
            found[term] += (number, start, end - start)
    return {term: tuple(numbers) for term, numbers in found.items()}


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
        return Concordance(lines, places_of(lines, self._glossary) if kept is None else kept)


def _size(concordance: Concordance) -> int:
    places = sum(TERM_SIZE + PLACE_SIZE * len(numbers) // 3 for numbers in concordance.found.values())
    return places + 2 * sum(len(line.text) for line in concordance.lines)
