"""A paste as lines: decoration taken off, the copies that other ranks print folded into one, first places kept.

Everything here is linear in the length of the text, and total: any string is a log.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from jieda.log.formats import Formats
from jieda.signature import LONGEST_SURE

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
_DECORATION = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "^~`│╭╰╮╯─=*_-"
_AFTER = " \t│"
_TAKEN_APART = re.compile(r"\r|\\n|%\|")

_PROCESS = re.compile(r"[(\[]{1,2}((?:rank|default)(?=[ \d])|[A-Za-z_]\w{0,80})")
_MOST_PREFIXES = 8


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """Lines without decoration: `texts`, each once, in the order in which they first appear, and `numbers`, the lines
    of the paste where they do, counted from 1.

    `rows` are all that was printed, in order, as indexes of `texts`, and `places` their lines of the paste. `printed`
    is about rows that say more, by their index: times printed, and by which rank or process, or empty.

    `processes` are the names in the prefixes of lines, each with the index of the first line below it. `margins` are
    the widths of these prefixes and the processes that they name, or empty, by the line of the paste.
    """

    texts: Sequence[str]
    numbers: Sequence[int]
    rows: Sequence[int]
    places: Sequence[int]
    printed: Mapping[int, tuple[int, str]]
    processes: Mapping[str, int]
    margins: Mapping[int, tuple[int, str]]


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
    """Read a paste: each distinct line once, and who printed what."""
    text = strip_codes(text)
    physical = physical_lines(text)
    decorated = _decorated(dict.fromkeys(physical), text, formats)
    index: dict[str, int] = {}
    numbers: list[int] = []
    rows: list[int] = []
    places: list[int] = []
    printed: dict[int, tuple[int, str]] = {}
    seen: dict[str, tuple[int, list[tuple[str, int, int]]]] = {}
    processes: dict[str, int] = {}
    margins: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(physical, 1):
        if line not in decorated:
            rows.append(index.setdefault(line, len(index)))
            places.append(number)
        else:
            if line not in seen:
                seen[line] = _read(line, index, formats)
            width, read = seen[line]
            if width and read:
                margins[number] = width, read[0][0]
            for source, row, times in read:
                printed[len(rows)] = times, source
                rows.append(row)
                places.append(number)
                if source and (found := _PROCESS.match(source)):
                    processes.setdefault(found[1], row)
        if len(index) > len(numbers):
            numbers += [number] * (len(index) - len(numbers))
    return FoldedLog(tuple(index), numbers, rows, places, printed, processes, margins)


def _decorated(lines: Collection[str], text: str, formats: Formats) -> frozenset[str]:
    """Those of the distinct lines of `text` that are not what they say: most of a long log are, and need no more."""
    prefixed = formats.prefix.match if formats.prefix else lambda _: None
    others = [
        each.search for each in (_TAKEN_APART, formats.repeats) if each is not None and each.search(text)
    ]
    shapes = "\n".join(lines).translate(formats.digits).split("\n")
    odd = {
        shape
        for shape in dict.fromkeys(shapes)
        if not shape.strip(_DECORATION)
        or shape[-1] in _AFTER
        or shape[0] == "{"
        or len(shape) > PIECE
        or prefixed(shape)
    }
    found = [line for line, shape in zip(lines, shapes, strict=True) if shape in odd]
    return frozenset(found).union(line for search in others for line in lines if search(line))


def _read(physical: str, index: dict[str, int], formats: Formats) -> tuple[int, list[tuple[str, int, int]]]:
    """The width of a physical line's prefixes, and source, place in `index` and times printed of all that it holds; new
    texts get a place."""
    rows: list[tuple[str, int, int]] = []
    width = 0
    for written in _unwrapped(physical, formats):
        for piece in _pieces(written):
            source, start = _prefix(piece, formats.prefix)
            if not rows and physical.startswith(piece):
                width = start
            line, times = _without_repeats(piece[start:].rstrip(_AFTER), formats.repeats)
            if line in index or _says_something(line):
                rows.append((source, index.setdefault(line, len(index)), times))
    return width, rows


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
    return bool(line.strip(_DECORATION)) and not ("%|" in line and _TQDM.search(line))
