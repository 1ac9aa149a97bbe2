"""A paste as lines: decoration taken off, the copies that other ranks print folded into one, first places kept.

Everything here is linear in the length of the text, and total: any string is a log.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jieda.log.formats import Formats
from jieda.signature.line import LONGEST_SURE

PIECE = 2000
"""Longer lines are cut into pieces of so many characters, so that no pattern ever sees an endless line."""
OVERLAP = LONGEST_SURE
"""What neighboring pieces share: a message shorter than this is whole in one of them."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
# Color codes whose escape character was lost on the way, as they stand in many a bug report.
_ANSI_REMAINS = re.compile(r"(?:␛|\^\[|\\x1b|\\u001b|\\033)?\[\d{1,3}(?:;\d{1,3}){0,4}m")
# What an issue tracker or a chat makes of the characters that HTML reserves.
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff]")
_TQDM = re.compile(r"\d%\|[^|]{0,400}\|")
_DECORATION_ONLY = re.compile(r"[\s^~`│╭╰╮╯─=*_-]*")

_PROCESS = re.compile(r"[(\[]{1,2}((?:rank|default)(?=[ \d])|[A-Za-z_]\w{0,80})")
_MOST_PREFIXES = 8


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without decoration. `number` counts from 1 in the paste, where it first stands; `count` is how often."""

    number: int
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """`lines`, each once, in the order of their first appearance, and who wrote what in which order.

    A stream belongs to one rank or process: (line number in the paste, index in `lines`, times printed).
    `processes` are the names in the prefixes of lines, each with the index of the first line below it.
    """

    lines: tuple[LogLine, ...]
    streams: tuple[tuple[tuple[int, int, int], ...], ...]
    processes: Mapping[str, int]


def physical_lines(text: str) -> list[str]:
    """The lines of a paste as an editor numbers them.

    A lone carriage return ends a line only where nothing else does: otherwise it is a progress bar's.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return text.split("\n")


def strip_codes(text: str) -> str:
    """`text` without terminal codes, control characters and HTML's way to write some; line ends stay."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "[0m" in text:
        text = _ANSI_REMAINS.sub("", text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    return _CONTROL.sub("", text)


def fold(text: str, formats: Formats) -> FoldedLog:
    """Read a paste: each distinct line once, and the streams it came in."""
    index: dict[str, int] = {}
    numbers: list[int] = []
    counts: list[int] = []
    streams: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    seen: dict[str, list[tuple[str, int, int]]] = {}
    for number, physical in enumerate(physical_lines(strip_codes(text)), 1):
        rows = seen.get(physical)
        if rows is None:
            rows = seen[physical] = _read(physical, index, formats)
            while len(numbers) < len(index):
                numbers.append(number)
                counts.append(0)
        for source, place, times in rows:
            counts[place] += times
            streams[source].append((number, place, times))
    lines = tuple(map(LogLine, numbers, index, counts))
    processes: dict[str, int] = {}
    for source, stream in streams.items():
        if found := _PROCESS.match(source):
            processes.setdefault(found[1], stream[0][1])
    return FoldedLog(lines, tuple(map(tuple, streams.values())), processes)


def _read(physical: str, index: dict[str, int], formats: Formats) -> list[tuple[str, int, int]]:
    """Source, place in `index` and times printed of all that a physical line holds; new texts get a place."""
    rows: list[tuple[str, int, int]] = []
    for written in _unwrapped(physical, formats):
        for piece in _pieces(written):
            source, start = _prefix(piece, formats.prefix)
            line, times = _without_repeats(piece[start:].rstrip(" \t│"), formats.repeats)
            if line in index or _says_something(line):
                rows.append((source, index.setdefault(line, len(index)), times))
    return rows


def _unwrapped(line: str, formats: Formats) -> list[str]:
    """What a physical line holds: the states of a progress bar, or the text inside a JSON log record."""
    if "\r" in line:
        return [state for state in line.split("\r") if state]
    if line[:1] == "{" and line.rstrip()[-1] == "}":
        line = _json_text(line, formats)
    if "\\n" in line and "Traceback (most recent call last)" in line:
        line = line.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
    return [part for part in re.split(r"[\r\n]+", line) if part] if "\n" in line else [line]


def _json_text(line: str, formats: Formats) -> str:
    """The message of a record, behind its level where that tells of trouble and the message may not."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    texts = (record[key] for key in formats.message_fields if isinstance(record.get(key), str))
    text = next(texts, "")
    if not text:
        return strip_codes(line)
    levels = (record[key] for key in formats.level_fields if isinstance(record.get(key), str))
    level = next(levels, "")
    alarming = formats.tells_of_trouble(level) and level.casefold() not in text.casefold()
    return strip_codes(f"{level.upper()}: {text}" if alarming else text)


def _pieces(line: str) -> Sequence[str]:
    if len(line) <= PIECE:
        return (line,)
    return [line[start : start + PIECE] for start in range(0, len(line) - OVERLAP, PIECE - OVERLAP)]


def _prefix(line: str, prefix: re.Pattern[str] | None) -> tuple[str, int]:
    """Who printed a line (empty where it does not say), and where its text begins. Indentation is kept."""
    source, start, tried = "", 0, 0
    while prefix and tried < _MOST_PREFIXES and (found := prefix.match(line, start)):
        tried += 1
        source += found["source"] or ""
        start = found.end()
        if line[start : start + 1] in {" ", "\t"}:
            start += 1
    return source, start


def _without_repeats(line: str, repeats: re.Pattern[str] | None) -> tuple[str, int]:
    found = repeats.search(line) if repeats else None
    if found is None:
        return line, 1
    return line[: found.start()].rstrip(), int(found[found.lastindex]) if found.lastindex else 1


def _says_something(line: str) -> bool:
    return not _DECORATION_ONLY.fullmatch(line) and not ("%|" in line and _TQDM.search(line))
