"""The failures of a log: which lines tell of one, which failures are equal, and which are not what went wrong, because
they pass on another or were handled."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from jieda.log.formats import Formats

ABOVE = 3
"""Lines above a traceback that may say that its exception was handled."""
HEAD = 100
"""Most characters in front of the level of a line."""


class Frame(NamedTuple):
    """A stack frame. Unknown values are 0 (`line`) or empty (`function`, `source`). `number`: the line of the paste."""

    path: str
    line: int
    function: str
    source: str
    number: int


class LoggedFailure(NamedTuple):
    """A failure. `type`: the exception as printed (`torch.OutOfMemoryError`), or the family of other failures (`NCCL`).
    `frames` run from the outermost to the innermost; `times` counts occurrences over all ranks."""

    type: str
    message: str
    line: int
    times: int
    frames: tuple[Frame, ...]
    verbatim: bool
    """Whether it begins its line, as programs print it; otherwise it is mentioned inside a line."""
    wraps: bool = False
    """Whether it only passes on, or stands beside, the failure that matters."""

    @property
    def name(self) -> str:
        return self.type.rpartition(".")[2]


class FailurePlace(NamedTuple):
    """One occurrence of a failure: its lines from the outermost frame to the message. `failure` is the index of the
    distinct failure."""

    first: int
    last: int
    failure: int


def mark_wrapping(
    raised: Sequence[LoggedFailure], lines: Sequence[str], formats: Formats
) -> tuple[LoggedFailure, ...]:
    """Mark the wrappers; and, if the log with these lines has another failure, summaries and those that were handled or
    caused by the next one."""
    wrappers = {place for place, one in enumerate(raised) if one.name in formats.wrappers}
    asides = {
        place
        for place, one in enumerate(raised)
        if len(raised) > 1 and (one.type in formats.failures.summaries or _is_handled(one, lines, formats))
    }
    for place, (_, cause) in enumerate(pairwise(raised)):
        if any(words in _before(cause, lines) for words in formats.failures.caused):
            asides.add(place)
    if len(wrappers | asides) < len(raised):
        wrappers |= asides
    return tuple(one._replace(wraps=place in wrappers) for place, one in enumerate(raised))


def _is_handled(one: LoggedFailure, lines: Sequence[str], formats: Formats) -> bool:
    """Whether a line of a level below an error's mentions it, or one above its traceback says that it was handled."""
    if not one.frames:
        level = formats.level.search(_before(one, lines)[:HEAD])
        return level is not None and level[0] not in formats.error_levels
    first = min(one.line, one.frames[0].number) - 1
    above = lines[max(0, first - ABOVE) : first]
    return any(words in line for line in above for words in formats.failures.handled)


def _before(one: LoggedFailure, lines: Sequence[str]) -> str:
    """Return the text in front of the message of a failure in its line."""
    return lines[one.line - 1].partition(one.message[:20] or one.type)[0]


_WITHIN_NAME = re.compile(r"[\w./=-]")
_WITHIN_FIELD = re.compile(r"[\w.]")


def tells_of_error(line: str, formats: Formats) -> bool:
    """Whether a line is of an error by its level, near its head and behind no other level, whatever it says."""
    lowered = line.lower()
    return any(
        found.start() <= HEAD
        and not _is_before(_WITHIN_NAME, line, found.start())
        and not formats.level.search(line, 0, found.start())
        for found in formats.error_level.finditer(line)
    ) or any(
        not _is_before(_WITHIN_FIELD, lowered, found.start())
        for found in formats.error_field.finditer(lowered)
    )


def _is_before(character: re.Pattern[str], text: str, start: int) -> bool:
    return start > 0 and character.match(text, start - 1) is not None


# Order matters: the first matching kind wins.
_VALUES = (
    ("addr", r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b0x[0-9a-fA-F]{1,64}\b"),
    ("hex", r"\b[0-9a-f]{16,128}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("size", r"\b\d{1,20}(?:\.\d{1,20})? ?(?:[KMGT]i?B|[Bb]ytes)\b"),
    ("device", r"\b(?:cuda|npu|cpu):\d{1,4}\b|\b(?:GPU|gpu|[Rr]ank|device|node)[ _:=]\d{1,6}\b"),
    ("shape", r"\[\d{1,9}(?:, ?\d{1,9}){0,8}\]"),
    ("quoted", r"""'[^'\n]{0,300}'|"[^"\n]{0,300}\""""),
    ("path", r"(?<![\w<./])(?:~|\.{1,2})?/[\w.@+-]{1,200}(?:/[\w.@+-]{1,200}){1,40}/?"),
    ("num", r"(?<![\w.])[+-]?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,4})?(?!\w)"),
)
# No value begins with another character, so the regex skips most places of a message.
_BEGINNING = r"(?=[\da-fgnrGR\['\"~./+-])"

_CODE = re.compile(r"(?<!\w)(?<!\+ )0x[0-9a-fA-F]{2,8}\b")
"""More digits make an address, and `+ 0x…` is an offset."""

# Punctuation left over by removed values: `allocate . GPU`, `(, )`.
_LEFT_OVER = re.compile(r"(?<=\s)[.,;:=]{1,3}(?=\s|$)|\([\s,;:]{0,8}\)")


def _pattern(values: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile(
        _BEGINNING + "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in values) + ")"
    )


_ANY_VALUE = _pattern(_VALUES)
_WORDLESS_VALUE = _pattern(tuple(each for each in _VALUES if each[0] not in {"device", "quoted"}))


def mask(message: str) -> str:
    """Return `message` with each value replaced by its kind in braces: `{num}`, `{path}`, `{addr}`, …"""
    return _ANY_VALUE.sub(lambda found: f"{{{found.lastgroup}}}", message)


def without_values(message: str) -> str:
    """Return `message` as words to search for: without values that contain no words, with quoted text."""
    return " ".join(_LEFT_OVER.sub(" ", _WORDLESS_VALUE.sub(" ", message)).split())


def codes_in(message: str) -> tuple[str, ...]:
    """Return the hexadecimal error codes in a message, each once: `0xC0000005`."""
    return tuple(dict.fromkeys(_CODE.findall(message)))
