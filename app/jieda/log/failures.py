"""The failures of a log, and which of them are not what went wrong: they pass on another, or were dealt with."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from jieda.log.formats import Formats
from jieda.log.lines import physical_lines

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


def mark_wrapping(raised: Sequence[LoggedFailure], text: str, formats: Formats) -> tuple[LoggedFailure, ...]:
    """Mark the wrappers; and, if the log has another failure, those that were handled or caused by the next one."""
    lines = physical_lines(text) if len(raised) > 1 else []
    wrappers = {place for place, one in enumerate(raised) if one.name in formats.wrappers}
    asides = {place for place, one in enumerate(raised) if lines and _is_handled(one, lines, formats)}
    for place, (_, cause) in enumerate(pairwise(raised)):
        if any(words in _before(cause, lines) for words in formats.caused):
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
    return any(words in line for line in lines[max(0, first - ABOVE) : first] for words in formats.handled)


def _before(one: LoggedFailure, lines: Sequence[str]) -> str:
    """Return the text in front of the message of a failure in its line."""
    return lines[one.line - 1].partition(one.message[:20] or one.type)[0]
