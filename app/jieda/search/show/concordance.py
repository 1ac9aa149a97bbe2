"""The lines of an edition and the places of index terms in them, for snippets and reasons.

Places are kept in a form that is searched without being decoded:

    number of terms · digest of each term, ascending · first occurrence of each term, and the end of the last one ·
    line, start and length of each occurrence

Little-endian, numbers of 4 bytes and digests of 8. An edition has a thousand terms and more, and a search looks up some
twenty in each of its ten hits.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Glossary
from jieda.analysis.token import Piece
from jieda.byte_cache import ByteCache
from jieda.entry import Edition, Language, Section

NUMBER, DIGEST_SIZE = 4, 8
"""Bytes of a number and of a term's digest: among a million terms, a collision has odds below one in ten million."""
KEPT = 1 << 14
"""Entries of the cache of digests: editions share most of their terms."""

Place = tuple[int, int, int]
"""Number of a line, and start and end in its text, in characters."""


@dataclass(frozen=True, slots=True)
class MarkedTerms:
    """Terms to mark, with their weights; `digests` of shape (terms,)."""

    weights: Sequence[float]
    digests: NDArray[np.uint64]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> "MarkedTerms":
        return cls(tuple(weights.values()), _digests(weights))


class Places:
    """The places of all terms of an edition."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError if `data` is not a result of `packed`."""
        self._data = data
        (count,) = np.frombuffer(data, "<u4", 1).tolist()
        starts = NUMBER + DIGEST_SIZE * count
        self._digests = np.frombuffer(data, "<u8", count, NUMBER)
        self._starts = np.frombuffer(data, "<u4", count + 1, starts)
        self._rows = np.frombuffer(data, "<u4", -1, starts + NUMBER * (count + 1)).reshape(-1, 3)

    @property
    def size(self) -> int:
        return len(self._data)

    def standing(self, wanted: MarkedTerms) -> Iterator[tuple[float, list[Place]]]:
        """Yield weight and places, in order, of each term that occurs."""
        if not len(self._digests):
            return
        at = np.minimum(self._digests.searchsorted(wanted.digests), len(self._digests) - 1)
        for number in np.flatnonzero(self._digests[at] == wanted.digests).tolist():
            yield wanted.weights[number], self._of(int(at[number]))

    def first(self, term: str) -> Place | None:
        found = next(self.standing(MarkedTerms.of({term: 1.0})), None)
        return found[1][0] if found else None

    def _of(self, number: int) -> list[Place]:
        rows: list[Any] = self._rows[self._starts[number] : self._starts[number + 1]].tolist()
        return [(line, start, start + length) for line, start, length in rows]


def packed(terms: Iterable[str], rows: NDArray[np.integer]) -> bytes:
    """Return the bytes that `Places` reads: `rows` has line, start and length of each occurrence of `terms`, shape
    (occurrences, 3), in the order of the text."""
    digests = _digests(terms)
    order = np.argsort(digests, kind="stable")
    distinct, starts = np.unique(digests[order], return_index=True)
    pieces = (
        np.array([len(distinct)], "<u4"),
        distinct,
        np.append(starts, len(digests)).astype("<u4"),
        rows[order].astype("<u4"),
    )
    return b"".join(piece.tobytes() for piece in pieces)


def _digests(terms: Iterable[str]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(map(_digest, terms)), "<u8")


@lru_cache(KEPT)
def _digest(term: str) -> bytes:
    # A query may hold half of a surrogate pair.
    return hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=DIGEST_SIZE).digest()


ROOM = 32 << 20
"""Bytes of the cache of concordances, some 25 KiB for an edition."""

TITLE = "title"
"""The section of the first line, the edition's title."""


@dataclass(frozen=True, slots=True)
class EditionLine:
    """A block of text, the key of its section, and the spans of code in it."""

    section: str
    text: str
    code: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Concordance:
    """The lines of an edition, title first, and the places of every index term in them."""

    lines: tuple[EditionLine, ...]
    places: Places

    def surface(self, term: str) -> str:
        """Return the text of the first occurrence of an index term; empty if it doesn't occur."""
        place = self.places.first(term)
        return self.lines[place[0]].text[place[1] : place[2]] if place else ""


def lines_of(edition: Edition) -> tuple[EditionLine, ...]:
    """Return the title and every block of text that is not empty."""
    return (EditionLine(TITLE, edition.title), *chain.from_iterable(map(lines_of_section, edition.sections)))


def lines_of_section(section: Section) -> Iterator[EditionLine]:
    """Yield every block of a section's text that is not empty."""
    starts, ends = [start for start, _ in section.code], [end for _, end in section.code]
    at = 0
    for line in section.text.splitlines(keepends=True):
        text = line.splitlines()[0]
        if text.strip():
            code = section.code[bisect_right(ends, at) : bisect_left(starts, at + len(text))]
            spans = tuple((max(start - at, 0), min(end - at, len(text))) for start, end in code)
            yield EditionLine(section.key, text, spans)
        at += len(line)


def places_of(lines: Sequence[EditionLine], glossary: Glossary) -> bytes:
    """Return the places of index terms in some lines as bytes that `Places` reads."""
    glossed = [glossary.read(line.text) for line in lines]
    pieces = [piece for one in glossed for piece in one.analysis.pieces]
    counts = [len(piece.parts.terms) for piece in pieces]
    numbers = np.repeat(np.arange(len(lines)), [len(one.analysis.pieces) for one in glossed])
    starts, ends = _spans(pieces, counts)
    rows = np.column_stack((np.repeat(numbers, counts), starts, ends - starts))
    concepts = [(number, token) for number, one in enumerate(glossed) for token in one.concepts]
    more = [(number, token.start, token.end - token.start) for number, token in concepts]
    terms = [piece.parts.terms for piece in pieces]
    return packed(
        chain(chain.from_iterable(terms), (token.term for _, token in concepts)),
        np.concatenate((rows, np.array(more, np.intp).reshape(-1, 3))),
    )


def _spans(pieces: Sequence[Piece], counts: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return starts and ends of the tokens of some pieces in their texts; `counts`: number of tokens of each piece."""
    offsets = np.fromiter(chain.from_iterable([piece.parts.offsets for piece in pieces]), np.intp).reshape(
        -1, 2
    )
    starts, ends = (
        offsets + np.repeat(np.array([piece.start for piece in pieces], np.intp), counts)[:, None]
    ).T
    at = 0
    for piece, count in zip(pieces, counts, strict=True):
        # If folding kept all lengths, which is nearly always, offsets in the folded text are those in the original.
        if not isinstance(piece.starts, range):
            own = slice(at, at + count)
            starts[own] = np.array(piece.starts)[starts[own]]
            ends[own] = np.array(piece.ends)[ends[own] - 1]
        at += count
    return starts, ends


ReadPlaces = Callable[[str, Language], Places | None]
"""Returns the stored places of an edition by entry id and language, if there are any."""


class Concordances:
    """Concordances of the editions of one generation, read if stored, otherwise made, on first use."""

    def __init__(self, glossary: Glossary, read: ReadPlaces | None = None) -> None:
        self._glossary = glossary
        self._read = read
        self._kept: ByteCache[tuple[str, Language], Concordance] = ByteCache(ROOM, _size)

    def of(self, entry_id: str, edition: Edition) -> Concordance:
        return self._kept.get((entry_id, edition.lang), lambda: self._made(entry_id, edition))

    def _made(self, entry_id: str, edition: Edition) -> Concordance:
        lines = lines_of(edition)
        kept = self._read(entry_id, edition.lang) if self._read else None
        return Concordance(lines, kept or Places(places_of(lines, self._glossary)))


def _size(concordance: Concordance) -> int:
    # A line takes some hundred bytes beside its text.
    return concordance.places.size + sum(100 + 2 * len(line.text) for line in concordance.lines)
