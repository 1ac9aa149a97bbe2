"""How a log is laid out for reading: whose lines they are, and what of it may be folded."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby

from jieda.log.traceback import FailurePlace, ParsedLog

NO_MARGIN = (0, "")


@dataclass(frozen=True, slots=True)
class LogLayout:
    """By the lines of the paste, counted from 1.

    `margins` are runs of lines whose prefixes are alike: how many lines, the width of the prefix, and the place in
    `sources`, from 1, of the process that it names, or 0. `failures` is where each is told,
    and `wrappers` are those that only pass others on.
    """

    sources: tuple[str, ...] = ()
    margins: tuple[tuple[int, int, int], ...] = ()
    failures: tuple[FailurePlace, ...] = ()
    wrappers: tuple[int, ...] = ()


NO_LAYOUT = LogLayout()


def layout_of(parsed: ParsedLog, wrappers: Collection[str]) -> LogLayout:
    """The layout of a log; `wrappers` are types of failures."""
    named = dict.fromkeys(source for _, source in parsed.margins.values() if source)
    sources = {source: place for place, source in enumerate(named, 1)}
    lines = (parsed.margins.get(line, NO_MARGIN) for line in range(1, max(parsed.margins, default=0) + 1))
    runs = ((len(list(run)), width, sources.get(source, 0)) for (width, source), run in groupby(lines))
    return LogLayout(
        tuple(sources),
        tuple(runs),
        parsed.occurrences,
        tuple(place for place, each in enumerate(parsed.raised) if each.name in wrappers),
    )
