"""Parses a log into failures: exceptions with their frames, chained ones too, and failures other than Python's. Selects
the passages whose words are compared with those of entries, and describes the layout of the log for readers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from jieda.han import HAN
from jieda.log.failures import (
    FailurePlace,
    Frame,
    LoggedFailure,
    codes_in,
    mark_wrapping,
    mask,
    tells_of_error,
    without_values,
)
from jieda.log.formats import ASSERTION, TEXT_READ, Formats, LineKind, LineRead, raised_at_the_end, read_lines
from jieda.log.lines import FoldedLog, fold

MOST_FRAMES = 200
"""Most frames kept of one traceback, the innermost ones: an endless recursion has a thousand."""
MOST_RAISED = 200
"""Most distinct failures kept of one log, the first ones."""
SOURCE_LINES = 10
"""Most lines between a `raise` and the exception that it raises."""
BY_LEVEL = "error"
"""The type of a failure that only the level of its line tells of."""
_MESSAGE_LENGTH = 600
_DIGITS = str.maketrans(dict.fromkeys("0123456789", "1"))


@dataclass(frozen=True, slots=True)
class ParsedLog:
    """A parsed paste. `physical`, `texts`, `numbers`, `processes` and `margins` are those of the `FoldedLog`.

    `raised` lists each failure once, in the order of the log; `occurrences` lists all their occurrences.

    `frames` lists all frames, each once, including those of truncated tracebacks.
    """

    physical: Sequence[str]
    texts: Sequence[str]
    numbers: Sequence[int]
    raised: tuple[LoggedFailure, ...]
    frames: tuple[Frame, ...]
    processes: Mapping[str, int]
    margins: Mapping[int, tuple[int, str]]
    occurrences: tuple[FailurePlace, ...]


def parse(text: str, formats: Formats) -> ParsedLog:
    """Parse a paste. Never raises; linear in the length of `text`."""
    folded = fold(text, formats)
    reads = read_lines(folded.texts, formats)
    readers: dict[str, _StreamReader] = {}
    # A byte for each row, 1 if it is more than text: the next such row is found without a loop.
    is_read = bytes(map(reads.__contains__, folded.rows))
    row, listening = is_read.find(1), 0
    while 0 <= row < len(is_read):
        times, source = folded.printed.get(row, (1, ""))
        reader = readers.get(source)
        if reader is None:
            reader = readers[source] = _StreamReader(folded.texts, reads, formats.wrappers)
        if is_read[row] or reader.listening:
            listening -= reader.listening
            reader.feed(folded.places[row], folded.rows[row], times)
            listening += reader.listening
        # While no reader is listening, lines of plain text are skipped.
        row = row + 1 if listening else is_read.find(1, row + 1)
    raised: list[LoggedFailure] = []
    frames: dict[tuple[str, int, str], Frame] = {}
    for reader in readers.values():
        reader.end()
        raised.extend(reader.raised)
        for frame in reader.all_frames:
            frames.setdefault((frame.path, frame.line, frame.function), frame)
    raised = raised or _lines_of_errors(folded, formats)
    once, occurrences = _merge_occurrences(raised)
    return ParsedLog(
        folded.physical,
        folded.texts,
        folded.numbers,
        mark_wrapping(once, folded.physical, formats),
        tuple(frames.values()),
        folded.processes,
        folded.margins,
        occurrences,
    )


def _lines_of_errors(folded: FoldedLog, formats: Formats) -> list[LoggedFailure]:
    """Return the lines of errors by their level: all that some logs say of a failure."""
    lines, text = folded.physical, "\n".join(folded.physical)
    if not (formats.error_level.search(text) or formats.error_field.search(text.lower())):
        return []
    telling = {line for line in dict.fromkeys(lines) if tells_of_error(line, formats)}
    rows = {place: row for row, place in reversed([*enumerate(folded.places)]) if lines[place - 1] in telling}
    return [
        LoggedFailure(
            BY_LEVEL, folded.texts[folded.rows[row]], place, folded.printed.get(row, (1, ""))[0], (), False
        )
        for place, row in rows.items()
    ]


def _merge_occurrences(
    raised: Iterable[LoggedFailure],
) -> tuple[tuple[LoggedFailure, ...], tuple[FailurePlace, ...]]:
    """Return each failure once, and all occurrences: failures that differ only in values and ranks are one. A repeated
    message without its traceback, as Ray shortens repeated output, counts as the same failure."""
    folded: dict[tuple[str, str, str], LoggedFailure] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    last: dict[tuple[str, str], str] = {}
    masked: dict[str, str] = {}
    places: dict[tuple[str, str, str], int] = {}
    occurrences: list[FailurePlace] = []
    for one in sorted(raised, key=attrgetter("line")):
        message = one.message[:200]
        if (text := masked.get(message)) is None:
            # Messages that differ only in digits have the same mask.
            shape = message.replace("0x", "\0").translate(_DIGITS)
            if (text := masked.get(shape)) is None:
                text = masked[shape] = mask(message)
            masked[message] = text
        said = (one.type, text)
        inner = one.frames[-1].function if one.frames else last.get(said, "")
        last[said] = inner
        key = (*said, inner)
        if key in folded or len(folded) < MOST_RAISED:
            folded.setdefault(key, one)
            counts[key] += one.times
            first = one.frames[0].number if one.frames else one.line
            occurrences.append(
                FailurePlace(min(first, one.line), one.line, places.setdefault(key, len(places)))
            )
    return tuple(one._replace(times=counts[key]) for key, one in folded.items()), tuple(occurrences)


def _named(type_: str, line: int, times: int) -> LoggedFailure:
    return LoggedFailure(type_, "", line, times, (), verbatim=True)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


class _StreamReader:
    """The state of reading one process's lines: the open traceback, and the failures found so far."""

    def __init__(self, texts: Sequence[str], reads: Mapping[int, LineRead], wrappers: frozenset[str]) -> None:
        self.raised: list[LoggedFailure] = []
        self.all_frames: list[Frame] = []
        self.listening = False
        """Whether a line of plain text could belong to a failure."""
        self._texts = texts
        self._reads = reads
        self._wrappers = wrappers
        self._frames: list[Frame] = []
        # What a header of another process and a line of source name, perhaps all that the log says of a failure.
        self._remote: LoggedFailure | None = None
        self._raising: LoggedFailure | None = None
        self._after_frame = False
        self._indent = 0

    def feed(self, number: int, place: int, times: int) -> None:
        """Take the next line: `number` in the paste, `place` among the folded lines, printed `times` times."""
        read, after_frame = self._reads.get(place, TEXT_READ), self._after_frame
        self._after_frame = read.kind is LineKind.FRAME
        if read.kind is LineKind.FRAME:
            self._raising, self._indent = None, _indent(self._texts[place])
            self._frames.append(Frame(read.name, read.line, read.detail, "", number))
            self.all_frames.append(self._frames[-1])
        elif after_frame and self._is_source(read, self._texts[place]):
            self._raising = _named(read.name, number, times) if read.kind is LineKind.RAISING else None
            frame = self._frames[-1]._replace(source=self._texts[place].strip())
            self._frames[-1] = self.all_frames[-1] = frame
        elif read.kind is LineKind.HEADER or read.kind is LineKind.REMOTE:
            self._begin_traceback(read, number, times)
        elif read.kind is LineKind.TEXT:
            self._add_text(self._texts[place], number, times)
        elif read.kind is LineKind.RAISING:
            self._raising = _named(read.name, number, times)
        elif read.kind is not LineKind.CHAIN:
            self._add_exception(read, number, times)
        self.listening = bool(self._frames) or self._unfinished()

    def end(self) -> None:
        """Finish reading: a truncated traceback still counts as a failure if it names the exception."""
        if self._remote is not None and self._remote.type:
            self._add(self._remote._replace(frames=self._take_frames()))
        elif self._frames:
            self._add_raising()
        self._remote = None

    def _is_source(self, read: LineRead, text: str) -> bool:
        return _indent(text) > self._indent or (
            read.kind is LineKind.TEXT and raised_at_the_end(text) is None
        )

    def _begin_traceback(self, read: LineRead, number: int, times: int) -> None:
        if self._frames:
            self.end()
        self._frames = []
        if read.kind is LineKind.REMOTE:
            before = self._remote.type if self._remote else ""
            self._remote = _named(read.name or before, number, times)

    def _add_text(self, text: str, number: int, times: int) -> None:
        if self._frames and (read := raised_at_the_end(text)):
            self._add_exception(read, number, times)
        elif self._unfinished():
            last = self.raised[-1]
            self.raised[-1] = last._replace(
                message=f"{last.message} {text.strip()}".strip()[:_MESSAGE_LENGTH]
            )

    def _unfinished(self) -> bool:
        """Whether the last failure's message continues on the next line."""
        return not self._frames and bool(self.raised) and self.raised[-1].message[-1:] in {"", ":"}

    def _add_exception(self, read: LineRead, number: int, times: int) -> None:
        type_, message = read.name, read.detail[:_MESSAGE_LENGTH]
        is_wrapper = type_.rpartition(".")[2] in self._wrappers
        if is_wrapper and self._raising and number <= self._raising.line + SOURCE_LINES:
            self._add_raising()
        self._raising = None
        frames = self._take_frames()
        if not message and type_ == "AssertionError":
            message = self._find_condition(frames)
        self._add(LoggedFailure(type_, message, number, times, frames, read.verbatim))

    def _add_raising(self) -> None:
        if self._raising and self._raising.name not in self._wrappers:
            self._add(self._raising._replace(frames=self._take_frames()))
        self._raising = None

    def _find_condition(self, frames: tuple[Frame, ...]) -> str:
        """Return the condition of a bare AssertionError, if the log shows it."""
        if frames:
            return frames[-1].source
        if self.raised and self.raised[-1].type == ASSERTION:
            return self.raised.pop().message
        return ""

    def _take_frames(self) -> tuple[Frame, ...]:
        frames, self._frames = tuple(self._frames[-MOST_FRAMES:]), []
        return frames

    def _add(self, raised: LoggedFailure) -> None:
        self.raised.append(raised)
        self._remote = None


SHORT_PASTE = 12
"""A paste of up to this many lines is one passage: a person chose or wrote these lines."""
EDGE_LINES = 400
"""Lines at either end of a log that are searched for words of trouble."""
LONGEST_PASSAGE = 600
LONGEST_QUERY = 200
LOUDEST = 5
MOST_FAILURES = 6
"""Most failures that become passages: the root, and the last ones, as those between mostly have another cause."""

UNREADABLE = "\ufffd"
"""Replacement for bytes that are not UTF-8."""
MOST_UNREADABLE = 0.1
"""With a larger share of replacements, the paste is not text, or has another encoding."""

_CUT_WORD = re.compile(rf"[^\s{HAN}]+$")
"""The word at the end of a text that was cut; a Han character is whole."""
MOST_CODES = 2
"""Most error codes of a passage that are searched for: a dump is full of them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text without values, from the folded lines with the indices `lines`; `failure`: a program printed it."""

    text: str
    lines: tuple[int, ...]
    failure: bool
    codes: tuple[str, ...] = ()
    """Error codes, which were removed from `text` with the values."""


@dataclass(frozen=True, slots=True)
class LogPassages:
    """The passages of a log, the last failure first; `troubled`: the log reports some trouble."""

    passages: tuple[Passage, ...]
    troubled: bool

    @property
    def query(self) -> str:
        """A search query for the log, the root first: a few words, or empty if the log is not text."""
        shown = dict.fromkeys((*self.passages[-1:], *self.passages[:1]))
        text = " ".join(" ".join((passage.text, *passage.codes)) for passage in shown)
        unread = text.count(UNREADABLE)
        if unread > MOST_UNREADABLE * len(text):
            return ""
        text = " ".join(text.replace(UNREADABLE, " ").split())
        if len(text) <= LONGEST_QUERY:
            return text
        return _CUT_WORD.sub("", text[: LONGEST_QUERY + 1])[:LONGEST_QUERY].rstrip() or text[:LONGEST_QUERY]


def find_passages(parsed: ParsedLog, formats: Formats) -> LogPassages:
    """Return the passages of a log: a short paste as a whole, else its failures, else its loudest lines."""
    meanings = " ".join(dict.fromkeys(formats.meanings.get(one.type, "") for one in parsed.raised))
    if len(parsed.texts) <= SHORT_PASTE and not any(one.frames for one in parsed.raised):
        text = "\n".join((*parsed.texts, meanings))
        verbatim = any(one.verbatim for one in parsed.raised)
        passages = [_passage(text, tuple(range(len(parsed.texts))), failure=verbatim)]
    elif parsed.raised:
        causes = [one for one in parsed.raised if not one.wraps] or parsed.raised
        passages = [
            _passage(_failure_text(one, formats), _indexes(parsed, one.line), failure=True)
            for one in (*causes[1:][:-MOST_FAILURES:-1], causes[0])
        ]
    else:
        loud = _loudest_lines(parsed, formats)
        text = "\n".join(parsed.texts[index] for index in loud)
        passages = [_passage(text, loud, failure=False)]
    looked_at = (*parsed.texts[:EDGE_LINES], *parsed.texts[-EDGE_LINES:])
    troubled = bool(parsed.raised) or any(map(formats.tells_of_trouble, looked_at))
    return LogPassages(tuple(passages), troubled)


def _passage(text: str, lines: tuple[int, ...], *, failure: bool) -> Passage:
    begins = text[: 4 * LONGEST_PASSAGE]
    return Passage(without_values(begins)[:LONGEST_PASSAGE], lines, failure, codes_in(begins)[:MOST_CODES])


def _failure_text(one: LoggedFailure, formats: Formats) -> str:
    inner = one.frames[-1] if one.frames else None
    place = f"{inner.function} {inner.source}" if inner and not inner.source.startswith("raise") else ""
    return f"{one.name} {one.message} {place} {formats.meanings.get(one.type, '')}"


def _loudest_lines(parsed: ParsedLog, formats: Formats) -> tuple[int, ...]:
    """Return the last lines with words of trouble, or just the last lines if there are none."""
    last = range(len(parsed.texts))[-EDGE_LINES:]
    loud = [index for index in last if formats.tells_of_trouble(parsed.texts[index])]
    return tuple(loud[-LOUDEST:]) or tuple(last[-LOUDEST:])


def _indexes(parsed: ParsedLog, line: int) -> tuple[int, ...]:
    return tuple(index for index, number in enumerate(parsed.numbers) if number == line)


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


def layout_of(parsed: ParsedLog) -> LogLayout:
    """Return the layout of a log."""
    named = dict.fromkeys(source for _, source in parsed.margins.values() if source)
    sources = {source: place for place, source in enumerate(named, 1)}
    lines = (parsed.margins.get(line, (0, "")) for line in range(1, max(parsed.margins, default=0) + 1))
    runs = ((len(list(run)), width, sources.get(source, 0)) for (width, source), run in groupby(lines))
    return LogLayout(
        tuple(sources),
        tuple(runs),
        parsed.occurrences,
        tuple(place for place, each in enumerate(parsed.raised) if each.wraps),
    )
