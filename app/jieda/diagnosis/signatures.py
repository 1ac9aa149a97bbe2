"""Finds the signatures of all entries in a log: searches for anchors, then matches patterns on lines with an anchor.
Counts in how many logs each was found, and weighs a signature by that."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, product

from jieda.entry import Signature
from jieda.log.formats import Formats, lines_with
from jieda.log.traceback import ParsedLog, parse
from jieda.log_knowledge import SHARED_BY
from jieda.signature import (
    LONGEST_SURE,
    AnchorIndex,
    Shapes,
    SignatureLine,
    SignatureSyntaxError,
    compile_signature_line,
    normalize,
)

MOST_PLACES = 64
"""Most places recorded of a signature line that has to be near others."""
WRAPPED_LINES = 200
"""In pastes of up to this many lines, a signature may continue on the next line, as terminals wrap lines: none as
long as the longest signature."""
WRAPPED_OVER = 3
"""Most lines of a wrapped signature."""
WRAPPED_ANCHOR = 6
"""Least length of an anchor that is searched for across lines."""

# Signatures match without the module of `torch.OutOfMemoryError: …` as well: loggers and people leave it out.
_MODULE = re.compile(r"^(?:[a-z_]\w*\.)+(?=[A-Z]\w*(?:Error|Exception|Failed)\b)")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a log: index of the folded line, and offsets into its text."""

    line: int
    start: int
    end: int

    def covers(self, other: "Place") -> bool:
        return self.line == other.line and self.start <= other.start and other.end <= self.end


HitKey = tuple[str, int, bool]
"""A signature by entry and index in it, and whether it was found with support."""


@dataclass(frozen=True, slots=True)
class SignatureHit:
    """A signature whose every `all` line was found at `places` and none of its `unless` lines; `support` is where `any`
    lines were.

    `place` is the index of the signature in its entry. `likely`: its author says that other programs print it too, or
    lists `any` lines that distinguish it, of which none was found.
    """

    entry_id: str
    place: int
    text: str
    places: tuple[Place, ...]
    support: tuple[Place, ...]
    likely: bool

    @property
    def key(self) -> HitKey:
        return self.entry_id, self.place, bool(self.support)

    @property
    def shown(self) -> Sequence[Place]:
        """Its places without the first lines of processes that it names, which may say anything, unless it has only
        these."""
        every = (*self.places, *self.support)
        return [place for place in every if place.end] or every

    def touches(self, lines: Container[int]) -> bool:
        """Whether any of its places is on one of `lines`, given by index."""
        return any(place.line in lines for place in (*self.places, *self.support))

    def covers(self, other: "SignatureHit") -> bool:
        return all(any(mine.covers(place) for mine in self.places) for place in other.places)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A signature whose lines are numbers of the distinct lines in `SignatureIndex`."""

    entry_id: str
    place: int
    all: tuple[int, ...]
    any: tuple[int, ...]
    unless: tuple[int, ...]
    likely: bool
    near: int


class SignatureIndex:
    """All signatures of some entries, each distinct line compiled once."""

    def __init__(self, signatures: Iterable[tuple[str, Sequence[Signature]]]) -> None:
        """`signatures`: ids of entries, each with its signatures."""
        numbers: dict[SignatureLine, int] = {}
        self._signatures = [
            compiled
            for entry_id, own in signatures
            for place, signature in enumerate(own)
            if (compiled := _compile(entry_id, place, signature, numbers))
        ]
        self._lines = tuple(numbers)
        self._numbers: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines):
            self._numbers.setdefault(line.anchor, []).append(number)
        self._anchors = AnchorIndex(self._numbers)
        self._often = frozenset(number for each in self._signatures if each.near for number in each.all)
        # All lines must occur, so it suffices to check the signatures whose first line does.
        self._led_by: dict[int, list[int]] = {}
        for number, signature in enumerate(self._signatures):
            self._led_by.setdefault(signature.all[0], []).append(number)

    def find(self, log: ParsedLog, *, pasted: bool = True) -> tuple[SignatureHit, ...]:
        """Return every signature in a log, each at the first suitable places of its lines.

        Only in a `pasted` log may a line be wrapped. A line of a signature may be the name of a process; its place is
        the first line of that process.
        """
        texts = normalize("\n".join(log.texts)).split("\n")
        before = tuple(log.processes.values())
        places = {
            number: [Place(before[at.line], 0, 0)] for number, at in self._find_places(tuple(log.processes))
        }
        for number, place in self._find_places(texts):
            places.setdefault(number, []).append(place)
        if pasted and 1 < len(texts) <= WRAPPED_LINES:
            for glue in (" ", ""):
                places |= {
                    number: [place] for number, place in self._find_wrapped(places.keys(), texts, glue)
                }
        numbers = sorted(number for line in places for number in self._led_by.get(line, ()))
        hits = (self._hit(self._signatures[number], places, log) for number in numbers)
        return tuple(hit for hit in hits if hit)

    def _hit(
        self, one: _Compiled, places: Mapping[int, Sequence[Place]], log: ParsedLog
    ) -> SignatureHit | None:
        """Return the hit of a signature, given the places of the lines that were found; None if it is not there."""
        if not places.keys() >= {*one.all} or not places.keys().isdisjoint(one.unless):
            return None
        chosen = _choose_places([places[line] for line in one.all], one.near, log)
        if not chosen:
            return None
        support = tuple(places[line][0] for line in one.any if line in places)
        text = " + ".join(self._lines[line].text for line in one.all)
        # The author wrote `any` lines to distinguish the entry's own logs from others.
        likely = one.likely or (bool(one.any) and not support)
        return SignatureHit(one.entry_id, one.place, text, chosen, support, likely)

    def _find_places(self, texts: Sequence[str]) -> Iterator[tuple[int, Place]]:
        """Yield the first place of each line, and further places of lines that have to be near others."""
        joined = "\n".join(texts).casefold()
        anchored = self._anchored_lines(joined)
        starts = [0, *accumulate(len(text) + 1 for text in joined.split("\n"))] if anchored else []
        for number in anchored:
            line = self._lines[number]
            wanted = MOST_PLACES if number in self._often else 1
            each = ((index, line.find(texts[index])) for index in lines_with(line.anchor, joined, starts))
            places = (Place(index, *found.span()) for index, found in each if found)
            yield from ((number, place) for place in islice(places, wanted))

    def _anchored_lines(self, folded: str) -> list[int]:
        """Return the lines whose anchor occurs in a case-folded text, in order."""
        return sorted(number for anchor in self._anchors.find(folded) for number in self._numbers[anchor])

    def _find_wrapped(
        self, known: Container[int], texts: Sequence[str], glue: str
    ) -> Iterator[tuple[int, Place]]:
        """Yield lines other than the `known` ones that match once neighboring lines of the paste are joined."""
        stripped = [text.strip() for text in texts]
        starts = [0, *accumulate(len(text) + len(glue) for text in stripped)]
        joined = glue.join(stripped)
        folded = joined.casefold()
        if len(folded) != len(joined):
            return
        for number in self._anchored_lines(folded):
            line = self._lines[number]
            if number in known or len(line.anchor) < WRAPPED_ANCHOR:
                continue
            for index in lines_with(line.anchor, folded, starts):
                first, last = max(0, index - WRAPPED_OVER + 1), min(index + WRAPPED_OVER, len(texts))
                is_narrow = len(stripped[index]) <= LONGEST_SURE
                if is_narrow and (found := line.find(joined, starts[first], starts[last])):
                    yield number, _place_in(found.span(), starts, texts)
                    break


def _compile(
    entry_id: str, place: int, signature: Signature, numbers: dict[SignatureLine, int]
) -> _Compiled | None:
    """Return None for a signature that `jieda check` rejects: the others must still work."""
    try:
        every = _compile_lines(signature.all, signature.shapes)
        some, against = _compile_lines(signature.any), _compile_lines(signature.unless)
    except SignatureSyntaxError:
        return None
    if not every:
        return None
    likely = signature.likely or not any(line.specific for line in every)
    first, second, third = (
        tuple(numbers.setdefault(line, len(numbers)) for line in lines) for lines in (every, some, against)
    )
    return _Compiled(entry_id, place, first, second, third, likely, signature.near)


def _compile_lines(lines: Iterable[str], shapes: Shapes = ()) -> list[SignatureLine]:
    return [compile_signature_line(_MODULE.sub("", line), shapes) for line in lines]


def _place_in(span: tuple[int, int], starts: Sequence[int], texts: Sequence[str]) -> Place:
    """Return the part of a wrapped signature on its first line."""
    index = bisect_right(starts, span[0]) - 1
    lead = len(texts[index]) - len(texts[index].lstrip())
    begin = span[0] - starts[index] + lead
    return Place(index, begin, min(len(texts[index]), begin + span[1] - span[0]))


def _choose_places(places: Sequence[Sequence[Place]], near: int, log: ParsedLog) -> tuple[Place, ...]:
    """Return one place for each line of a signature: the first ones, or ones near each other or in one traceback; empty
    if none are."""
    if not near:
        return tuple(each[0] for each in places)
    for first in places[0]:
        row = [min(each, key=lambda place: abs(place.line - first.line)) for each in places]
        lines = [place.line for place in row]
        if max(lines) - min(lines) <= near:
            return tuple(row)
    for failure in (one for one in log.raised if one.frames):
        traceback = range(failure.frames[0].number, failure.line + 1)
        inside = [[place for place in each if log.numbers[place.line] in traceback] for each in places]
        if all(inside):
            return tuple(each[0] for each in inside)
    return ()


@dataclass(frozen=True, slots=True)
class SignatureCount:
    """Number of logs with the signature at index `place` of an entry: samples of the entry (`own`) and of `others`, and
    logs of the `background`. `supported`: with one of its `any` lines."""

    entry_id: str
    place: int
    supported: bool
    own: int
    others: int
    background: int


FoundSignatures = frozenset[tuple[Signature, bool]]
"""The signatures that a log has, each with whether one of its `any` lines supports it."""


def signature_finder(signatures: Iterable[Signature], formats: Formats) -> Callable[[str], FoundSignatures]:
    """Return a function that finds `signatures` in a log as a diagnosis does."""
    wanted = tuple(dict.fromkeys(signatures))
    index = SignatureIndex([("", wanted)])

    def find(text: str) -> FoundSignatures:
        hits = index.find(parse(text, formats), pasted=False)
        return frozenset((wanted[hit.place], bool(hit.support)) for hit in hits)

    return find


def signatures_of(found: FoundSignatures) -> frozenset[Signature]:
    """Return the signatures of a log, with support or not."""
    return frozenset(signature for signature, _ in found)


def count_signatures(
    holders: Mapping[str, Sequence[Signature]],
    samples: Iterable[tuple[str, FoundSignatures]],
    background: Iterable[FoundSignatures],
) -> tuple[SignatureCount, ...]:
    """Count the logs that have each signature of `holders`, by entry; `samples`: pairs of an entry and the signatures
    in its log."""
    total: Counter[tuple[Signature, bool]] = Counter()
    behind: Counter[tuple[Signature, bool]] = Counter()
    own: Counter[tuple[str, tuple[Signature, bool]]] = Counter()
    for entry_id, found in samples:
        for each in _with_unsupported(found):
            total[each] += 1
            own[entry_id, each] += 1
    for found in background:
        behind.update(_with_unsupported(found))
    counts = []
    for entry_id, signatures in sorted(holders.items()):
        for (place, signature), supported in product(enumerate(signatures), (False, True)):
            each = signature, supported
            if each in total or each in behind:
                mine = own[entry_id, each]
                others = total[each] - mine
                counts.append(SignatureCount(entry_id, place, supported, mine, others, behind[each]))
    return tuple(counts)


def _with_unsupported(found: FoundSignatures) -> FoundSignatures:
    """Count a signature that was found with support as found without it, too."""
    return found | {(signature, False) for signature, _ in found}


FOUND, SIGNATURE = 0.9, 0.5
"""What it is worth that a signature was found, and the weight of its rates. FOUND is less than the value of a line that
an author chose, as its words count for a second time."""
UNSEEN, RARE = 100.0, 0.005
OTHER_SAMPLES = 0.3
"""Weight of the samples of other entries among logs."""


class SignatureRates:
    """How often signatures occur in samples of their entries and in other logs."""

    def __init__(self, counts: Iterable[SignatureCount], samples: Mapping[str, int], background: int) -> None:
        """`samples`: how many each entry has; `background`: number of background logs."""
        self._own: dict[HitKey, int] = {}
        self._others: dict[HitKey, float] = {}
        for each in counts:
            key = (each.entry_id, each.place, each.supported)
            self._own[key] = each.own
            self._others[key] = each.background + OTHER_SAMPLES * each.others
        self._samples = samples
        self._logs = background + OTHER_SAMPLES * sum(samples.values())

    def is_shared(self, key: HitKey) -> bool:
        """Whether other programs print a signature, with or without support, as well."""
        return self._others.get(key, 0.0) >= SHARED_BY

    def log_odds(self, key: HitKey) -> float:
        """Return the log-odds that a signature found in a log adds to its entry."""
        samples = self._samples.get(key[0], 0)
        own = (self._own.get(key, 0) + 1) / (samples + 2)
        logs = self._logs - OTHER_SAMPLES * samples
        return FOUND + SIGNATURE * math.log(
            own * (logs + UNSEEN) / (self._others.get(key, 0.0) + RARE * UNSEEN)
        )
