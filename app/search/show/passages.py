"""The lines of an edition and where index terms stand in them: what snippets and reasons are cut from."""

import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.entry import Edition
from app.search.index.cache import ByteCache

ROOM = 32 << 20
"""Bytes of concordances that are kept, some 100 KiB for an edition: to analyze one takes some milliseconds."""
TERM_SIZE = 200
"""Bytes that a term of a concordance takes beside its places, about."""

TITLE = "title"
"""The section that the first line, the edition's title, is said to stand in."""

PLACE = struct.Struct("III")
"""A place packed: at every edition's thousands of tokens, tuples would take ten times the memory."""


@dataclass(frozen=True, slots=True)
class Line:
    """A block of text, and the key of the section it stands in."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Concordance:
    """The lines of an edition, title first, and the places of every index term in them."""

    lines: tuple[Line, ...]
    packed: Mapping[str, bytes]

    def places(self, term: str) -> Iterator[tuple[int, ...]]:
        """Line number, start and end in that line's text, of each occurrence in order."""
        return PLACE.iter_unpack(self.packed.get(term, b""))

    def present(self, weights: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        """Those of some terms that occur."""
        return (pair for pair in weights.items() if pair[0] in self.packed)

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


Texts = tuple[str, tuple[tuple[str, str], ...]]
"""A title, and the key and text of each section."""


class Passages:
    """Concordances of editions, made when first asked for."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._cached: ByteCache[Texts, Concordance] = ByteCache(ROOM, self._made, _size)

    def of(self, edition: Edition) -> Concordance:
        """The concordance of an edition."""
        return self._cached.get(
            (edition.title, tuple((section.key, section.text) for section in edition.sections))
        )

    def _made(self, texts: Texts) -> Concordance:
        title, sections = texts
        body = [Line(key, text) for key, block in sections for text in block.splitlines() if text.strip()]
        lines = (Line(TITLE, title), *body)
        packed: dict[str, bytearray] = {}
        for number, line in enumerate(lines):
            analysis = self._analyzer.analyze(line.text)
            for token in (*analysis.tokens, *self._glossary.tokens(analysis)):
                packed.setdefault(sys.intern(token.term), bytearray()).extend(
                    PLACE.pack(number, token.start, token.end)
                )
        return Concordance(lines, {term: bytes(places) for term, places in packed.items()})


def _size(concordance: Concordance) -> int:
    places = sum(len(packed) + TERM_SIZE for packed in concordance.packed.values())
    return places + 2 * sum(len(line.text) for line in concordance.lines)
