"""What each line of a log is, whatever stands around it: words that tell it, then tables of patterns."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import accumulate
from typing import NamedTuple

from jieda.log.formats import MODULE, FamilyLine, Formats

ASSERTION = "assertion"
"""The family of a line of source that asserts something."""


class LineKind(Enum):
    """The parts that tracebacks are made of; what `LineRead.first` and `.second` hold stands in brackets."""

    HEADER = auto()
    REMOTE = auto()
    """A traceback carried over from another process (its exception's name, or empty)."""
    CHAIN = auto()
    """What Python writes between two tracebacks, the second of which came of the first: no part of either."""
    FRAME = auto()
    """(path, function)"""
    RAISING = auto()
    """A line of source that raises an exception (its type): what broke off may have no other trace of it."""
    EXCEPTION = auto()
    """(type, message)"""
    FAMILY = auto()
    """A failure that is not a Python exception (family, message)."""
    TEXT = auto()


class LineRead(NamedTuple):
    """A line, classified. `line` is the line of the source file that a frame names, otherwise 0."""

    kind: LineKind
    first: str = ""
    second: str = ""
    line: int = 0
    verbatim: bool = False
    """True for an exception that begins its line."""


_LOWERED = re.compile(r"\s{0,40}((?:\w{1,40}\.){1,10}\w{0,80}error): (.*)$")
_ANYTHING_RAISED = re.compile(rf"\s{{0,4}}({MODULE}[A-Z]\w{{0,80}})(?::\s(.*)|:?\s*)$")
_INLINE = re.compile(
    rf"(?<![\w.])({MODULE}[A-Z]\w{{0,80}}?(?:Error|Exception))\b(?![(\w])(?!\.__)[:`]?\s?(.*)"
)
_NOT_RAISED_HERE = re.compile(r"\b(?:raise|except|catch|import|class|isinstance)\b")
_ASSERTION = re.compile(r"\s{0,40}(assert\s.{1,300})")
_FRAMES = (
    re.compile(r'\s{0,40}File "([^"]{1,600})", line (\d{1,9})(?:, in (.{1,200}))?'),
    re.compile(r"\s{0,8}File (\S{1,600}):(\d{1,9}), in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}):? {1,4}in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}(\S{1,600}\.py):(\d{1,9}): (?:in )?()"),
    re.compile(r"\s{0,8}(\S{1,600}\.py),() in ([\w.<>]{1,200})"),
    re.compile(r"\s{0,8}frame #\d{1,4}: ()()(.{1,400}?) \+ 0x"),
)
_HEADER = "Traceback (most recent call last)"
_CHAINS = ("During handling of the above exception", "was the direct cause of the following")


def read_lines(texts: Sequence[str], formats: Formats) -> Mapping[int, LineRead]:
    """Those of some lines that are not only text, by index. What tells one is looked for in all of them at once."""
    folded = "\n".join(texts).casefold()
    found = formats.anchors.find(folded)
    families = [each for each in formats.families if each.line.anchor in found]
    telling = {words for words, anchor in formats.telling.items() if anchor in found}
    lines = folded.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    places = {
        place
        for words in telling.union(each.line.anchor for each in families)
        for place in _holding(words, folded, starts)
    }
    reads = ((place, _classify(texts[place], lines[place], formats, families)) for place in sorted(places))
    return {place: read for place, read in reads if read.kind is not LineKind.TEXT}


def _holding(words: str, folded: str, starts: Sequence[int]) -> Iterator[int]:
    at = folded.find(words)
    while at >= 0:
        place = bisect_right(starts, at) - 1
        yield place
        at = folded.find(words, starts[place + 1])


def _classify(line: str, folded: str, formats: Formats, families: Sequence[FamilyLine]) -> LineRead:
    """What `line` is, which is `folded` without case; `families` are those that the log can hold."""
    if _HEADER in line:
        return _HEADER_READ
    if ("File " in line or ".py" in line or "frame #" in line) and (frame := _frame(line)):
        return frame
    if formats.remote and "(" in line and (found := formats.remote.match(line)):
        return LineRead(LineKind.REMOTE, found[found.lastindex] if found.lastindex else "")
    if " raise " in line and (found := formats.raises.match(line)):
        return LineRead(LineKind.RAISING, found[1])
    if " of the " in line and any(words in line for words in _CHAINS):
        return _CHAIN_READ
    return _exception(line, formats) or _of_family(line, folded, families) or _inline(line) or TEXT_READ


_HEADER_READ, _CHAIN_READ, TEXT_READ = map(LineRead, (LineKind.HEADER, LineKind.CHAIN, LineKind.TEXT))


def raised_at_the_end(line: str) -> LineRead | None:
    """Read the line below the last frame of a traceback, where whatever stands is an exception."""
    found = _ANYTHING_RAISED.match(line)
    return LineRead(LineKind.EXCEPTION, found[1], found[2] or "", verbatim=True) if found else None


def _frame(line: str) -> LineRead | None:
    for pattern in _FRAMES:
        if found := pattern.match(line):
            return LineRead(LineKind.FRAME, found[1], (found[3] or "").strip(), int(found[2] or 0))
    return None


def _exception(line: str, formats: Formats) -> LineRead | None:
    found = formats.exception.match(line) or (_LOWERED.match(line) if "error: " in line else None)
    if found is None:
        return None
    type_, message = found.groups("")
    return LineRead(LineKind.EXCEPTION, type_, message.strip(), 0, True)


def _of_family(line: str, folded: str, families: Sequence[FamilyLine]) -> LineRead | None:
    for family in families:
        if family.line.anchor in folded and (message := family.find(line)):
            return LineRead(LineKind.FAMILY, family.name, message)
    if "assert " in line and (found := _ASSERTION.match(line)):
        return LineRead(LineKind.FAMILY, ASSERTION, found[1].strip())
    return None


def _inline(line: str) -> LineRead | None:
    """An exception named in the middle of a line, as in prose or in a message of another system."""
    if ("Error" in line or "Exception" in line) and not _NOT_RAISED_HERE.search(line):
        found = _INLINE.search(line)
        if found:
            return LineRead(LineKind.EXCEPTION, found[1], found[2].strip())
    return None
