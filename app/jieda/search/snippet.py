"""Cuts snippets for a query: from the lines of an edition, by the places of its index terms in them.

These places are kept in a form that is searched without being decoded:

    number of terms · digest of each term, ascending · first occurrence of each term, and the end of the last one ·
    line, start and length of each occurrence

Little-endian, numbers of 4 bytes and digests of 8. An edition has a thousand terms and more, and a search looks up some
twenty in each of its ten hits.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from string import ascii_letters, digits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Glossary
from jieda.analysis.token import Run
from jieda.byte_cache import ByteCache, cache_short
from jieda.entry import Edition, Language, Section
from jieda.han import EAST_ASIAN
from jieda.search.answers import Snippet, Span

NUMBER, DIGEST_SIZE = 4, 8
"""Bytes of a number and of a term's digest: among a million terms, a collision has odds below one in ten million."""
KEPT = 1 << 14
"""Terms in the cache of digests: editions share most of theirs."""

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


class TermPlaces:
    """The places of all terms of an edition."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError if `data` is not a result of `pack_places`."""
        self._data = data
        (count,) = np.frombuffer(data, "<u4", 1).tolist()
        starts = NUMBER + DIGEST_SIZE * count
        self._digests = np.frombuffer(data, "<u8", count, NUMBER)
        self._starts = np.frombuffer(data, "<u4", count + 1, starts)
        self._rows = np.frombuffer(data, "<u4", -1, starts + NUMBER * (count + 1)).reshape(-1, 3)

    @property
    def size(self) -> int:
        return len(self._data)

    def find(self, wanted: MarkedTerms) -> Iterator[tuple[float, list[Place]]]:
        """Yield weight and places, in order, of each term that occurs."""
        if not len(self._digests):
            return
        at = np.minimum(self._digests.searchsorted(wanted.digests), len(self._digests) - 1)
        for number in np.flatnonzero(self._digests[at] == wanted.digests).tolist():
            first, end = self._starts[at[number] : at[number] + 2].tolist()
            rows: list[Any] = self._rows[first:end].tolist()
            yield wanted.weights[number], [(line, start, start + length) for line, start, length in rows]


def pack_places(terms: Iterable[str], rows: NDArray[np.integer]) -> bytes:
    """Return the bytes that `TermPlaces` reads: `rows` has line, start and length of each occurrence of `terms`, shape
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


def _make_digest(term: str) -> bytes:
    # A query may hold half of a surrogate pair.
    return hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=DIGEST_SIZE).digest()


_digest = cache_short(KEPT, _make_digest)


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
    places: TermPlaces

    def surface(self, term: str) -> str:
        """Return the text of the first occurrence of an index term; empty if it doesn't occur."""
        for _, ((line, start, end), *_) in self.places.find(MarkedTerms.of({term: 1.0})):
            return self.lines[line].text[start:end]
        return ""


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
    """Return the places of index terms in some lines as bytes that `TermPlaces` reads."""
    glossed = [glossary.read(line.text) for line in lines]
    runs = [run for one in glossed for run in one.analysis.runs]
    counts = [len(run.analysis.terms) for run in runs]
    numbers = np.repeat(np.arange(len(lines)), [len(one.analysis.runs) for one in glossed])
    starts, ends = _spans(runs, counts)
    rows = np.column_stack((np.repeat(numbers, counts), starts, ends - starts))
    concepts = [(number, token) for number, one in enumerate(glossed) for token in one.concepts]
    more = [(number, token.start, token.end - token.start) for number, token in concepts]
    terms = [run.analysis.terms for run in runs]
    return pack_places(
        chain(chain.from_iterable(terms), (token.term for _, token in concepts)),
        np.concatenate((rows, np.array(more, np.intp).reshape(-1, 3))),
    )


def _spans(runs: Sequence[Run], counts: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return starts and ends of the tokens of some runs in their texts; `counts`: number of tokens of each run."""
    offsets = np.fromiter(chain.from_iterable([run.analysis.offsets for run in runs]), np.intp).reshape(-1, 2)
    starts, ends = (offsets + np.repeat(np.array([run.start for run in runs], np.intp), counts)[:, None]).T
    at = 0
    for run, count in zip(runs, counts, strict=True):
        # If folding kept all lengths, which is nearly always, offsets in the folded text are those in the original.
        if not isinstance(run.starts, range):
            own = slice(at, at + count)
            starts[own] = np.array(run.starts)[starts[own]]
            ends[own] = np.array(run.ends)[ends[own] - 1]
        at += count
    return starts, ends


ReadPlaces = Callable[[str, Language], TermPlaces | None]
"""Returns the stored places of an edition by entry id and language, if there are any."""


class Concordances:
    """Concordances of the editions of one generation, read if stored, otherwise made, on first use."""

    def __init__(self, glossary: Glossary, read: ReadPlaces | None = None) -> None:
        self._glossary = glossary
        self._read = read
        self._kept: ByteCache[tuple[str, Language], Concordance] = ByteCache(ROOM, _size)

    def of(self, entry_id: str, edition: Edition) -> Concordance:
        def make() -> Concordance:
            lines = lines_of(edition)
            stored = self._read(entry_id, edition.lang) if self._read else None
            return Concordance(lines, stored or TermPlaces(places_of(lines, self._glossary)))

        return self._kept.get((entry_id, edition.lang), make)


def _size(concordance: Concordance) -> int:
    # A line takes some hundred bytes beside its text.
    return concordance.places.size + sum(100 + 2 * len(line.text) for line in concordance.lines)


LENGTH = 200
"""Approximate characters of a snippet; a word or identifier is never cut."""

ENOUGH = 120
"""A shorter passage is followed by the next line of its section."""

SECTION_WEIGHTS = {"fix": 1.5, "answer": 1.5, "steps": 1.5, "cause": 1.1, "symptom": 0.9, "see-also": 0.3}

ANSWERS = frozenset({"fix", "answer", "steps"})

SEPARATORS = dict.fromkeys("。！？：；，、）」”", "") | dict.fromkeys(".!?:;,…\\", " ")
"""The text between two blocks, by the last character of the first. Full-width punctuation includes its space."""
OTHER_SEPARATOR = " · "

BREAKABLE = re.compile(rf"[\s{EAST_ASIAN}]")


MarkedPlaces = Sequence[tuple[float, Sequence[Place]]]
"""Weight and places, in order, of each index term of the query that occurs."""


def snippet(lines: Sequence[EditionLine], marked: MarkedPlaces) -> Snippet:
    """Cut a snippet from the line of the body that has most of the query, where a fix counts more than a preamble; from
    the first line of the answer if nothing matches."""
    worth = [0.0] * len(lines)
    spans: dict[int, list[Span]] = {}
    for weight, places in marked:
        for number, start, end in places:
            spans.setdefault(number, []).append((start, end))
        for number in {place[0] for place in places}:
            worth[number] += weight * SECTION_WEIGHTS.get(lines[number].section, 1.0)
    parts: list[Snippet] = []
    length = 0
    for number in _passage(lines, worth):
        if length >= ENOUGH:
            break
        parts.append(_cut(lines[number], spans.get(number, ()), LENGTH - length))
        length += len(lines[number].text)
    return join_blocks(parts)


def opening(edition: Edition, room: int) -> Snippet:
    """Return the beginning of an edition's answer: the snippet where there is no query."""
    lines = lines_of_section(edition.answer) if edition.answer else ()
    whole = join_blocks(Snippet(line.text, code=line.code) for line in lines)
    if len(whole.text) <= room:
        return whole
    text = whole.text[: room - 1].rstrip()
    return Snippet(f"{text}…", code=_within(whole.code, 0, len(text)))


def marked_title(title: str, marked: MarkedPlaces) -> str:
    """Return the title, which is line 0, as HTML with matches marked."""
    spans = (place[1:] for _, places in marked for place in takewhile(lambda place: not place[0], places))
    return _cut(EditionLine(TITLE, title), spans, len(title)).html


def join_blocks(parts: Iterable[Snippet]) -> Snippet:
    """Join blocks of text in one line. A dot separates a block that ends without punctuation, such as code, from the
    next."""
    text, marks, code = "", [], []
    for part in parts:
        text += SEPARATORS.get(text[-1], OTHER_SEPARATOR) if text else ""
        marks += _shift(part.marks, len(text))
        code += _shift(part.code, len(text))
        text += part.text
    return Snippet(text, tuple(marks), tuple(code))


def _shift(spans: Iterable[Span], by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in spans]


def _within(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the parts of `spans` between two offsets."""
    return tuple((max(left, start), min(right, end)) for left, right in spans if left < end and start < right)


def _passage(lines: Sequence[EditionLine], worth: Sequence[float]) -> range:
    """Return the numbers of the best line of the body and those after it in its section."""
    body = range(1, len(lines))
    if not body:
        return body
    best = worth.index(max(worth[1:]), 1)
    if not worth[best]:
        best = next((number for number in body if lines[number].section in ANSWERS), 1)
    end = best
    while end < len(lines) and lines[end].section == lines[best].section:
        end += 1
    return range(best, end)


def _cut(line: EditionLine, found: Iterable[Span], room: int) -> Snippet:
    text = line.text
    spans = merge_spans(extend_to_name(text, *span) for span in found)
    start, end = _window(text, spans, room)
    before = "… " if start else ""
    by = len(before) - start
    return Snippet(
        f"{before}{text[start:end]}{' …' if end < len(text) else ''}",
        tuple(_shift([span for span in spans if start <= span[0] and span[1] <= end], by)),
        tuple(_shift(_within(line.code, start, end), by)),
    )


_LETTERS = frozenset(ascii_letters + digits + "_")
_FLAG_BEFORE = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]*-)?$", re.ASCII)
_FLAG_BEHIND = re.compile(r"[\w-]*", re.ASCII)
LONGEST_FLAG = 80


def extend_to_name(text: str, start: int, end: int) -> Span:
    """Extend a span that begins or ends inside a name to the whole name; in a path, to the path's part."""
    while 0 < start < end and text[start] in _LETTERS and text[start - 1] in _LETTERS:
        start -= 1
    while start < end < len(text) and text[end - 1] in _LETTERS and text[end] in _LETTERS:
        end += 1
    if text[start - 1 : start] == "-" and (
        flag := _FLAG_BEFORE.search(text, max(0, start - LONGEST_FLAG), start)
    ):
        start = flag.start()
    if text.startswith("-", start) and (rest := _FLAG_BEHIND.match(text, end)):
        end = rest.end()
    return start, end


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, overlapping and touching ones merged."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _window(text: str, spans: Sequence[Span], room: int) -> Span:
    """Return the earliest span of about `room` characters with the most of `spans`, which are in order, without
    overlap."""
    if len(text) <= room:
        return 0, len(text)
    ends = [end for _, end in spans]
    marks = [bisect_right(ends, start + room) - number for number, (start, _) in enumerate(spans)]
    best = spans[marks.index(max(marks))][0] if spans else 0
    start = max(0, min(best - room // 4, len(text) - room))
    return _outward(text, start, -1), _outward(text, start + room, 1)


def _outward(text: str, place: int, step: int) -> int:
    """Return the nearest offset in a direction at which no word or identifier is cut."""
    while 0 < place < len(text) and not (BREAKABLE.match(text[place - 1]) or BREAKABLE.match(text[place])):
        place += step
    return max(0, min(place, len(text)))
