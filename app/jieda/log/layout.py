"""The layout of a log for reading: the process of each line, and the failures, which may be folded."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby

from jieda.log.traceback import FailurePlace, ParsedLog


@dataclass(frozen=True, slots=True)
class LogLayout:
    """The layout of a log; lines are those of the paste, counted from 1.

    `margins` are runs of lines with equal prefixes: number of lines, width of the prefix, and the process that it names
    as an index of `sources`, from 1, or 0. `failures` are all occurrences; `wrappers` are the indices of failures that
    only pass on others.
    """

    sources: tuple[str, ...] = ()
    margins: tuple[tuple[int, int, int], ...] = ()
    failures: tuple[FailurePlace, ...] = ()
    wrappers: tuple[int, ...] = ()


NO_LAYOUT = LogLayout()


def layout_of(parsed: ParsedLog, wrappers: Collection[str]) -> LogLayout:
    """Return the layout of a log; `wrappers` are types of failures."""
    named = dict.fromkeys(source for _, source in parsed.margins.values() if source)
    sources = {source: place for place, source in enumerate(named, 1)}
    lines = (parsed.margins.get(line, (0, "")) for line in range(1, max(parsed.margins, default=0) + 1))
    runs = ((len(list(run)), width, sources.get(source, 0)) for (width, source), run in groupby(lines))
    return LogLayout(
        tuple(sources),
        tuple(runs),
        parsed.occurrences,
        tuple(place for place, each in enumerate(parsed.raised) if each.name in wrappers),
    )
