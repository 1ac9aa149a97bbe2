"""Splits a log into lines without decoration, each distinct one once, and takes the text out of records.

Everything here is linear in the length of the text and accepts any string.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

from jieda.log.formats import HEADER, Formats
from jieda.signature import LONGEST_SURE

PIECE = 2000
"""Longer lines are cut into pieces of this many characters, so that no pattern ever runs on an endless line."""
OVERLAP = LONGEST_SURE
"""Characters that neighboring pieces share: a shorter message is whole in one of them."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
# Color codes that lost their escape character, as in many bug reports.
_ANSI_REMAINS = re.compile(r"(?:␛|\^\[|\\x1b|\\u001b|\\033)?\[\d{1,3}(?:;\d{1,3}){0,4}m")
# What web pages put in place of characters reserved in HTML, and of the spaces that indent.
_ENTITY = re.compile(
    r"&(?:[lg]t|quot|amp|apos|nbsp|#(?:3[2489]|47|6[02]|96|160)|#x(?:2[\dF]|3[CE]|60|A0));|\xa0",
    re.IGNORECASE,
)
# Lone surrogates, which no answer could be encoded with, come from escapes in JSON.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff\ud800-\udfff]")
PRIVATE_KEY = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<secret>(?:[^-]++|-(?!----))++(?=-----END)|(?:\s{1,99}[A-Za-z0-9+/=]{16,})+)"
)
"""A private key in lines, perhaps without its end. Each line is secret by itself, so none is read."""
_PRIVATE_KEY = re.compile(PRIVATE_KEY)
_REST_OF_LINE = re.compile(r"[^\r\n]+")
Printed = tuple[str, int, int]
"""A text inside a physical line: the rank or process that printed it, or empty; the index of the text; how often."""
MASK = "***"
"""Replaces a secret of any length."""
_TQDM = re.compile(r"\d%\|[^|]{0,400}\|")
_DECORATION = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "^~`│╭╰╮╯─=*_-"
_AFTER = " \t│"
_TAKEN_APART = re.compile(r"\r|\\n|%\|")

_PROCESS = re.compile(r"(?<!\w)[(\[]{1,2}((?:rank|default)(?=[ \d])|[A-Za-z_]\w{0,80}+(?!/))")
_MOST_PREFIXES = 8
_NUMBERED = re.compile(r"\s{0,9}(\d{1,9})(?=[\s:|.])")
TRIED = 20
"""Lines below the header of a traceback that may have its first frame, and most prefixes that are tried."""


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """A log whose distinct lines are kept once, without decoration. Lines of the paste are counted from 1."""

    physical: Sequence[str]
    """The lines of the paste without codes (`strip_codes`)."""
    texts: Sequence[str]
    """The distinct lines, by first appearance."""
    numbers: Sequence[int]
    """For each text the line of the paste where it first appears."""
    rows: Sequence[int]
    """All printed lines, in order, as indices of `texts`."""
    places: Sequence[int]
    """For each row its line of the paste."""
    printed: Mapping[int, tuple[int, str]]
    """For rows with a prefix or repeats: how often they were printed, and by which rank or process, or empty."""
    processes: Mapping[str, int]
    """For each process named in a prefix the index of its first text."""
    margins: Mapping[int, tuple[int, str]]
    """For lines of the paste with a prefix: its width, and the process that it names, or empty."""


def physical_lines(text: str) -> list[str]:
    """Split a paste into lines as an editor numbers them. A lone carriage return ends a line only if there are no other
    line ends: otherwise it belongs to a progress bar."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
    return text.split("\n")


def strip_codes(text: str) -> str:
    """Return `text` without terminal codes, control characters and private keys, and with HTML entities decoded; line
    ends stay."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "[0m" in text:
        text = _ANSI_REMAINS.sub("", text)
    if "&" in text or "\xa0" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]).replace("\xa0", " "), text)
    text = _CONTROL.sub("", text)
    return _PRIVATE_KEY.sub(_without_key, text) if "PRIVATE KEY" in text else text


def _without_key(found: re.Match[str]) -> str:
    return found[0].removesuffix(found["secret"]) + _REST_OF_LINE.sub(MASK, found["secret"])


def fold(text: str, formats: Formats) -> FoldedLog:
    """Read a paste: each distinct line once, and the process that printed each row."""
    text = strip_codes(text)
    physical = physical_lines(text)
    if HEADER in text:
        formats = _learn_prefixes(physical, formats)
    decorated = _find_decorated(dict.fromkeys(physical), text, formats)
    index: dict[str, int] = {}
    rows: list[int] = []
    places: list[int] = []
    printed: dict[int, tuple[int, str]] = {}
    seen: dict[str, tuple[int, str, list[Printed]]] = {}
    sources: dict[str, int] = {}
    margins: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(physical, 1):
        if line not in decorated:
            rows.append(index.setdefault(line, len(index)))
            places.append(number)
        else:
            if line not in seen:
                seen[line] = _read_line(line, index, formats)
            width, source, read = seen[line]
            if width:
                margins[number] = width, source
            for printer, text_index, times in read:
                printed[len(rows)] = times, printer
                rows.append(text_index)
                places.append(number)
                sources.setdefault(printer, text_index)
    processes: dict[str, int] = {}
    for source, text_index in sources.items():
        for found in _PROCESS.finditer(source):  # an actor's prefix may stand behind a launcher's
            processes.setdefault(found[1], text_index)
    first = dict(zip(reversed(rows), reversed(places), strict=True))
    numbers = [first[row] for row in range(len(index))]
    return FoldedLog(physical, tuple(index), numbers, rows, places, printed, processes, margins)


def _learn_prefixes(lines: Sequence[str], formats: Formats) -> Formats:
    """Return the formats with what this log has before the lines of tracebacks: names of containers, or line numbers.
    A number alone may be a known prefix, of a rank, but ranks do not count up from the header to the source."""
    known, names, numbers, tried = formats.prefix, list[str](), list[str](), set[str]()
    headers = {lines[at]: at for at in reversed(range(len(lines))) if HEADER in lines[at][:PIECE]}
    for place in sorted(headers.values()):  # each distinct one where it comes first
        counted = [found for each in lines[place : place + 3] if (found := _NUMBERED.match(each))]
        steps = [int(found[1]) - int(counted[0][1]) for found in counted]
        framed = ['File "' in each for each in lines[place + 1 : place + 3]]
        numbered = steps == [0, 1, 2] and framed == [True, False]
        start = counted[0].end() if numbered else _find_prefix(lines[place], known)[1]
        head = lines[place][start:].partition(HEADER)[0].removesuffix(" ")
        shape = re.sub(r"\d{1,9}", r"\\d{1,9}", re.escape(head))
        if len(tried) == TRIED or shape in tried or not (numbered or head.strip()):
            continue
        tried.add(shape)
        if numbered:
            numbers.append(rf"\s{{0,9}}\d{{1,9}}{shape}")
            continue
        frame = re.compile(rf'{shape}\s{{0,6}}File "')
        below = (frame.match(each, _find_prefix(each, known)[1]) for each in lines[place + 1 : place + TRIED])
        if frames := [found[0] for found in below if found]:
            # Lines that differ in a number, as of `grep -Hn`, are from one process.
            (names if any(each.startswith(head) for each in frames) else numbers).append(shape)
    if not (names or numbers):
        return formats
    learned = "|".join((*numbers, f"(?P<source>{'|'.join((*names, ''))}"))
    return replace(formats, prefix=re.compile(known.pattern.replace("(?P<source>", learned, 1)))


def _find_decorated(lines: Collection[str], text: str, formats: Formats) -> frozenset[str]:
    """Return the distinct lines of `text` that need processing; most lines of a long log are plain and do not."""
    others = [each.search for each in (_TAKEN_APART, formats.repeats) if each.search(text)]
    shapes = "\n".join(lines).translate(formats.digits).split("\n")
    odd = {
        shape
        for shape in dict.fromkeys(shapes)
        if not shape.strip(_DECORATION)
        or shape[-1] in _AFTER
        or shape[0] == "{"
        or _PAIR.match(shape)
        or len(shape) > PIECE
        or formats.prefix.match(shape)
    }
    found = [line for line, shape in zip(lines, shapes, strict=True) if shape in odd]
    return frozenset(found).union(line for search in others for line in lines if search(line))


def _read_line(physical: str, index: dict[str, int], formats: Formats) -> tuple[int, str, list[Printed]]:
    """Return the width of a physical line's prefixes, the process that they name (or empty), and the texts in it; adds
    new ones to `index`."""
    found: list[Printed] = []
    width, printer = 0, ""
    for written in _unwrap(physical, formats):
        for piece in _cut_long(written):
            source, start = _find_prefix(piece, formats.prefix)
            if not found and physical.startswith(piece):
                width, printer = start, source
            line, times = _split_repeats(piece[start:].rstrip(_AFTER), formats.repeats)
            if line in index or _has_text(line):
                found.append((source, index.setdefault(line, len(index)), times))
    return width, printer, found


def _unwrap(line: str, formats: Formats) -> list[str]:
    """Unpack a physical line: the states of a progress bar, or the text inside a record."""
    if "\r" in line:
        return [state for state in line.split("\r") if state]
    head, start = "", _find_prefix(line, formats.prefix)[1]
    if text := _text_of_record(line[start:], formats):
        head, line = line[:start], strip_codes(text)
    if "\\n" in line and HEADER in line:
        line = line.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
    return [head + part for part in re.split(r"[\r\n]+", line) if part]


def _cut_long(line: str) -> Sequence[str]:
    if len(line) <= PIECE:
        return (line,)
    return [line[start : start + PIECE] for start in range(0, len(line) - OVERLAP, PIECE - OVERLAP)]


def _find_prefix(line: str, prefix: re.Pattern[str]) -> tuple[str, int]:
    """Return the process that printed a line (empty if unknown), and the offset of its text. Indentation is kept."""
    source, start, tried = "", 0, 0
    while tried < _MOST_PREFIXES and (found := prefix.match(line, start)):
        tried += 1
        source = f"{source} {found['source'] or ''}".strip()
        start = found.end()
        if line[start : start + 1] in {" ", "\t"}:
            start += 1
    return source, start


def _split_repeats(line: str, repeats: re.Pattern[str]) -> tuple[str, int]:
    if (found := repeats.search(line)) is None:
        return line, 1
    return line[: found.start()].rstrip(), int(found[found.lastindex]) if found.lastindex else 1


def _has_text(line: str) -> bool:
    return bool(line.strip(_DECORATION)) and not ("%|" in line and _TQDM.search(line))


# Records: JSON, and logfmt (`level=error msg="…"`).

_PAIR = re.compile(r'([\w.@/-]{1,80}+)=("(?:[^"\\]|\\.){0,9999}+"|[^\s"]{0,9999}+)(?:\s{1,8}+|$)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}


def _text_of_record(line: str, formats: Formats) -> str:
    """Return the message and the error of a record, after its level if only that reports trouble; empty if the line is
    none, or has neither."""
    names = formats.failures
    if not (record := _fields_of(line, formats)):
        return ""
    text = _field(record, names.message_fields)
    errors = [each for name in names.error_fields if (each := _field(record, (name,)))]
    stack = next((each for each in errors if "\n" in each), "")
    said = (each for each in errors if "\n" not in each and each not in text and each not in stack)
    text = ": ".join(filter(None, (text, *dict.fromkeys(said))))
    if stack and stack not in text:
        return f"{text}\n{stack}"
    level = _field(record, names.level_fields)
    alarming = text and formats.tells_of_trouble(level) and level.casefold() not in text.casefold()
    return f"{level.upper()}: {text}" if alarming else text


def _fields_of(line: str, formats: Formats) -> Mapping[str, Any]:
    """Return the fields of a record; in logfmt its message must be in quotes, as any program prints `a=1 b=2`."""
    if line[:1] == "{":
        with suppress(ValueError, RecursionError):
            return dict(json.loads(line))
        return {}
    found, at = {}, 0
    while pair := _PAIR.match(line, at):
        found[pair[1]], at = pair[2], pair.end()
    if at < len(line) or not _field(found, formats.failures.message_fields).startswith('"'):
        return {}
    plain = {name: value[value[:1] == '"' :].removesuffix('"') for name, value in found.items()}
    return {
        name: _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), value)
        for name, value in plain.items()
    }


def _field(record: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the first of these fields that is a text, or an empty text."""
    for name in names:
        outer, _, inner = name.partition(".")
        nested = record.get(outer)
        value = record.get(name, nested.get(inner) if isinstance(nested, dict) else None)
        if isinstance(value, str):
            return value
    return ""
