"""Finds the signatures of all entries in a log: anchors by plain search, patterns on the lines that hold one."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.diagnosis.generic import is_generic, is_unmistakable
from app.entry import Entry, Signature
from app.signature import SignatureLine, SignatureSyntaxError, compile_signature_line

WRAPPED_LINES = 200
"""In pastes of up to so many lines, a signature may run over the end of a line: a terminal has wrapped it."""
WRAPPED_OVER = 3
"""How many lines a wrapped signature may take."""
WRAPPED_ANCHOR = 6
"""Shorter anchors are not looked for across lines."""

# Quotes and widths that a chat window, an editor or another Python version changes; all keep their length.
_ALIKE = str.maketrans(
    dict.fromkeys('"`‘’“”', "'") | {"\u00a0": " "} | {chr(n + 0xFEE0): chr(n) for n in range(0x21, 0x7F)}
)

# `torch.OutOfMemoryError: …` is found without its module as well, as loggers and people leave it out.
_MODULE = re.compile(r"^(?:[a-z_]\w*\.)+(?=[A-Z]\w*(?:Error|Exception|Failed)\b)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: index of the folded line, and offsets into its text."""

    line: int
    start: int
    end: int

    def covers(self, other: "Place") -> bool:
        """True where it is the same line, and as much of it or more."""
        return self.line == other.line and self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class SignatureHit:
    """A signature whose every `all` line was found at `places`; `support` is where `any` lines were.

    `generic`: it consists of what anybody's program prints. `unmistakable`: that means the same in all of them.
    """

    entry_id: str
    places: tuple[Place, ...]
    support: tuple[Place, ...]
    generic: bool
    unmistakable: bool

    def covers(self, other: "SignatureHit") -> bool:
        """True where it accounts for all that `other` is about."""
        return all(any(mine.covers(place) for mine in self.places) for place in other.places)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A signature as numbers of lines."""

    entry_id: str
    all: tuple[int, ...]
    any: tuple[int, ...]
    generic: bool
    unmistakable: bool


class SignatureIndex:
    """All signatures of some entries, each distinct line compiled once."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        numbers: dict[str, int] = {}
        self._lines: list[SignatureLine] = []
        self._signatures: list[_Compiled] = []
        for entry in entries:
            for signature in entry.signatures:
                compiled = self._compile(entry.id, signature, numbers)
                if compiled is not None:
                    self._signatures.append(compiled)

    def find(self, texts: Sequence[str], processes: Mapping[str, int]) -> tuple[SignatureHit, ...]:
        """Every signature that the lines of a log have, by the first place of each of its lines.

        A line of a signature may be the name of one of `processes`, which stands before the line of that index.
        """
        alike = [text.translate(_ALIKE) for text in texts]
        before = tuple(processes.values())
        named = {number: Place(before[at.line], 0, 0) for number, at in self._places(tuple(processes))}
        places = named | dict(self._places(alike))
        if len(texts) <= WRAPPED_LINES:
            for glue in (" ", ""):
                missing = [number for number in range(len(self._lines)) if number not in places]
                places |= dict(self._wrapped(missing, alike, glue))
        return tuple(
            SignatureHit(
                signature.entry_id,
                tuple(places[number] for number in signature.all),
                tuple(places[number] for number in signature.any if number in places),
                signature.generic,
                signature.unmistakable,
            )
            for signature in self._signatures
            if all(number in places for number in signature.all)
        )

    def _compile(self, entry_id: str, signature: Signature, numbers: dict[str, int]) -> _Compiled | None:
        """None for a signature that `jieda check` complains of: it must not take the others down."""
        try:
            every = tuple(self._number(line, numbers) for line in signature.all)
            some = tuple(self._number(line, numbers) for line in signature.any)
        except SignatureSyntaxError:
            return None
        if not every:
            return None
        specific = any(self._lines[number].specific for number in every)
        generic = not specific or is_generic(signature.all)
        return _Compiled(entry_id, every, some, generic, is_unmistakable(signature.all))

    def _number(self, line: str, numbers: dict[str, int]) -> int:
        if line not in numbers:
            self._lines.append(compile_signature_line(_MODULE.sub("", line).translate(_ALIKE)))
            numbers[line] = len(self._lines) - 1
        return numbers[line]

    def _places(self, texts: Sequence[str]) -> Iterator[tuple[int, Place]]:
        folded = [text.casefold() for text in texts]
        starts = [0, *accumulate(len(text) + 1 for text in folded)]
        joined = "\n".join(folded)
        for number, line in enumerate(self._lines):
            at = joined.find(line.anchor)
            while at >= 0:
                index = bisect_right(starts, at) - 1
                if found := line.pattern.search(texts[index]):
                    yield number, Place(index, found.start(), found.end())
                    break
                at = joined.find(line.anchor, starts[index + 1])

    def _wrapped(
        self, numbers: Iterable[int], texts: Sequence[str], glue: str
    ) -> Iterator[tuple[int, Place]]:
        """Lines that are found once neighboring lines of the paste are put together."""
        stripped = [text.strip() for text in texts]
        starts = [0, *accumulate(len(text) + len(glue) for text in stripped)]
        joined = glue.join(stripped)
        folded = joined.casefold()
        if len(folded) != len(joined):
            return
        for number in numbers:
            line = self._lines[number]
            at = folded.find(line.anchor) if len(line.anchor) >= WRAPPED_ANCHOR else -1
            while at >= 0:
                index = bisect_right(starts, at) - 1
                first, last = max(0, index - WRAPPED_OVER + 1), min(index + WRAPPED_OVER, len(texts))
                found = line.pattern.search(joined, starts[first], starts[last])
                if found:
                    yield number, _place_in(found.span(), starts, texts)
                    break
                at = folded.find(line.anchor, starts[index + 1])


def _place_in(span: tuple[int, int], starts: Sequence[int], texts: Sequence[str]) -> Place:
    """The first line that a wrapped signature stands in, from where it begins."""
    index = bisect_right(starts, span[0]) - 1
    lead = len(texts[index]) - len(texts[index].lstrip())
    begin = span[0] - starts[index] + lead
    return Place(index, begin, min(len(texts[index]), begin + span[1] - span[0]))


def owners(hits: Iterable[SignatureHit]) -> Mapping[str, list[SignatureHit]]:
    """Hits by the entry they belong to."""
    by_entry: dict[str, list[SignatureHit]] = {}
    for hit in hits:
        by_entry.setdefault(hit.entry_id, []).append(hit)
    return by_entry
