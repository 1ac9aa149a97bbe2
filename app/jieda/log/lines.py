"""Splits a log into lines: without decoration, with the copies of other ranks folded into one, first line numbers kept;
and reduces a log of any size, as it arrives, to its end and the surroundings of the first failure.

Everything here is linear in the length of the text and accepts any string.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jieda.log.encoding import Utf8Writer
from jieda.log.formats import Formats, LineKind, read_lines
from jieda.log.records import may_be_record, text_of_record
from jieda.signature import LONGEST_SURE

PIECE = 2000
"""Longer lines are cut into pieces of this many characters, so that no pattern ever runs on an endless line."""
OVERLAP = LONGEST_SURE
"""Characters that neighboring pieces share: a shorter message is whole in one of them."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
# Color codes that lost their escape character, as in many bug reports.
_ANSI_REMAINS = re.compile(r"(?:␛|\^\[|\\x1b|\\u001b|\\033)?\[\d{1,3}(?:;\d{1,3}){0,4}m")
# Entities that issue trackers and chats put in place of characters reserved in HTML.
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
# Lone surrogates, which no answer could be encoded with, come from escapes in JSON.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff\ud800-\udfff]")
PRIVATE_KEY = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<secret>(?:[^-]++|-(?!----))++(?=-----END)|(?:\s{1,99}[A-Za-z0-9+/=]{16,})+)"
)
"""A private key in lines, perhaps without its end. Each line is secret by itself, so none is read."""
_PRIVATE_KEY = re.compile(PRIVATE_KEY)
_REST_OF_LINE = re.compile(r"[^\r\n]+")
MASK = "***"
"""Replaces a secret of any length."""
_TQDM = re.compile(r"\d%\|[^|]{0,400}\|")
_DECORATION = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "^~`│╭╰╮╯─=*_-"
_AFTER = " \t│"
_TAKEN_APART = re.compile(r"\r|\\n|%\|")

_PROCESS = re.compile(r"[(\[]{1,2}((?:rank|default)(?=[ \d])|[A-Za-z_]\w{0,80})")
_MOST_PREFIXES = 8


@dataclass(frozen=True, slots=True)
class FoldedLog:
    """Lines without decoration: `texts`, each once, by first appearance, and `numbers`, the lines of the paste where
    each first appears, counted from 1.

    `rows` are all printed lines, in order, as indices of `texts`, and `places` their lines of the paste. `printed` maps
    the index of a row with a prefix or repeats to times printed, and the rank or process, or empty.

    `processes` maps the names in prefixes of lines to the index of their first text. `margins` maps a line of the
    paste to the width of its prefix and the process that it names, or empty.
    """

    texts: Sequence[str]
    numbers: Sequence[int]
    rows: Sequence[int]
    places: Sequence[int]
    printed: Mapping[int, tuple[int, str]]
    processes: Mapping[str, int]
    margins: Mapping[int, tuple[int, str]]


class _PrintedText(NamedTuple):
    """A text inside a physical line: the rank or process that printed it, or empty, the index of the text, and how
    often it was printed."""

    source: str
    text: int
    times: int


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
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    text = _CONTROL.sub("", text)
    return _PRIVATE_KEY.sub(_without_key, text) if "PRIVATE KEY" in text else text


def _without_key(found: re.Match[str]) -> str:
    return found[0].removesuffix(found["secret"]) + _REST_OF_LINE.sub(MASK, found["secret"])


def fold(text: str, formats: Formats) -> FoldedLog:
    """Read a paste: each distinct line once, and the process that printed each row."""
    text = strip_codes(text)
    physical = physical_lines(text)
    decorated = _find_decorated(dict.fromkeys(physical), text, formats)
    index: dict[str, int] = {}
    rows: list[int] = []
    places: list[int] = []
    printed: dict[int, tuple[int, str]] = {}
    seen: dict[str, tuple[int, str, list[_PrintedText]]] = {}
    processes: dict[str, int] = {}
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
            for one in read:
                printed[len(rows)] = one.times, one.source
                rows.append(one.text)
                places.append(number)
                if one.source and (found := _PROCESS.match(one.source)):
                    processes.setdefault(found[1], one.text)
    first = dict(zip(reversed(rows), reversed(places), strict=True))
    numbers = [first[row] for row in range(len(index))]
    return FoldedLog(tuple(index), numbers, rows, places, printed, processes, margins)


def _find_decorated(lines: Collection[str], text: str, formats: Formats) -> frozenset[str]:
    """Return the distinct lines of `text` that need processing; most lines of a long log are plain and do not."""
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
        or may_be_record(shape)
        or len(shape) > PIECE
        or prefixed(shape)
    }
    found = [line for line, shape in zip(lines, shapes, strict=True) if shape in odd]
    return frozenset(found).union(line for search in others for line in lines if search(line))


def _read_line(physical: str, index: dict[str, int], formats: Formats) -> tuple[int, str, list[_PrintedText]]:
    """Return the width of a physical line's prefixes, the process that they name (or empty), and the texts in it; adds
    new ones to `index`."""
    found: list[_PrintedText] = []
    width, printer = 0, ""
    for written in _unwrap(physical, formats):
        for piece in _cut_long(written):
            source, start = _find_prefix(piece, formats.prefix)
            if not found and physical.startswith(piece):
                width, printer = start, source
            line, times = _split_repeats(piece[start:].rstrip(_AFTER), formats.repeats)
            if line in index or _has_text(line):
                found.append(_PrintedText(source, index.setdefault(line, len(index)), times))
    return width, printer, found


def _unwrap(line: str, formats: Formats) -> list[str]:
    """Unpack a physical line: the states of a progress bar, or the text inside a record."""
    if "\r" in line:
        return [state for state in line.split("\r") if state]
    head, start = "", _find_prefix(line, formats.prefix)[1]
    if text := text_of_record(line[start:], formats):
        head, line = line[:start], strip_codes(text)
    if "\\n" in line and "Traceback (most recent call last)" in line:
        line = line.replace("\\\\n", "\n").replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
    return [head + part for part in re.split(r"[\r\n]+", line) if part]


def _cut_long(line: str) -> Sequence[str]:
    if len(line) <= PIECE:
        return (line,)
    return [line[start : start + PIECE] for start in range(0, len(line) - OVERLAP, PIECE - OVERLAP)]


def _find_prefix(line: str, prefix: re.Pattern[str] | None) -> tuple[str, int]:
    """Return the process that printed a line (empty if unknown), and the offset of its text. Indentation is kept."""
    source, start, tried = "", 0, 0
    while prefix and tried < _MOST_PREFIXES and (found := prefix.match(line, start)):
        tried += 1
        source += found["source"] or ""
        start = found.end()
        if line[start : start + 1] in {" ", "\t"}:
            start += 1
    return source, start


def _split_repeats(line: str, repeats: re.Pattern[str] | None) -> tuple[str, int]:
    found = repeats.search(line) if repeats else None
    if found is None:
        return line, 1
    return line[: found.start()].rstrip(), int(found[found.lastindex]) if found.lastindex else 1


def _has_text(line: str) -> bool:
    return bool(line.strip(_DECORATION)) and not ("%|" in line and _TQDM.search(line))


GAP = ("", "[...]", "")
"""Lines in place of a part of a log that was left out."""
SEARCHED = 64 << 20
"""Bytes at the beginning of a log that are searched for its first failure."""
LONGEST_LINE = 4096
"""Bytes of a line that are checked for a failure."""
MOST_SHAPES = 20_000
"""Most candidate lines, digits aside, that are checked; the search stops after as many false candidates."""
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


@dataclass(frozen=True, slots=True)
class LineRange:
    """A range of lines in a log, counted from 1; `last` is inclusive."""

    first: int
    last: int
    in_part: bool = False
    """The first or the last one is so long that only a part of it was read."""


@dataclass(frozen=True, slots=True)
class LogExtract:
    """The text read of a log. `parts` are empty if nothing was left out."""

    text: str
    parts: tuple[LineRange, ...] = ()

    def line(self, number: int) -> int:
        """Map a line of the text to its line of the log."""
        for part in self.parts:
            if number <= part.last - part.first + 1:
                return part.first + max(0, number - 1)
            number -= part.last - part.first + 1 + len(GAP)
        return self.parts[-1].last if self.parts else number


class LogWindow:
    """Reads a log block by block and never holds more than about twice `limit` bytes of it.

    Lines end with `\\n`, in any encoding that `Utf8Writer` takes.
    """

    def __init__(self, limit: int, formats: Formats, encoding: str = "utf-8") -> None:
        self.size = 0
        """Bytes read so far, as UTF-8."""
        self._utf8 = Utf8Writer(encoding)
        self._limit = limit
        self._formats = formats
        self._words = tuple(word.encode() for word in formats.failure_words)
        self._held = bytearray()
        self._gone = 0
        self._lines_gone = 0
        self._searched = 0
        self._shapes: set[bytes] = set()
        self._failure: int | None = None
        self._broken = False
        """Whether what is held begins within a line."""
        self._head = b""
        self._head_line = 0
        self._head_broken = False

    def feed(self, block: bytes) -> None:
        """Read the next bytes, the first two at once; larger blocks cost less work."""
        block = self._utf8(block)
        self._held += block
        self.size += len(block)
        if self.size <= self._limit:
            return
        if self._failure is None and self._searched < SEARCHED and len(self._shapes) < MOST_SHAPES:
            self._search()
        if len(self._held) > 2 * self._limit:
            self._cut(len(self._held) - self._limit)

    def extract(self) -> LogExtract:
        """Return the extract of all bytes read. Call it once."""
        if self.size <= self._limit:
            return LogExtract(self._held.decode("utf-8", "replace"))
        least = len(self._held) - self._limit
        # The surroundings of the first failure take part of the limit.
        room = self._limit // 8 + len("\n".join(("", *GAP, "")))
        self._cut(least if self._failure is None else least + room)
        end = self._held.rstrip(b"\n")
        tail = LineRange(self._lines_gone + 1, self._lines_gone + 1 + end.count(b"\n"), self._broken)
        if not self._head:
            return LogExtract(end.decode("utf-8", "replace"), (tail,))
        head = LineRange(self._head_line, self._head_line + self._head.count(b"\n"), self._head_broken)
        gap = "\n".join(("", *GAP, ""))
        text = self._head.decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")
        return LogExtract(text, (head, tail))

    def _cut(self, least: int) -> None:
        """Drop everything before the first line that begins at `least` or later, except the first failure."""
        cut = self._held.find(b"\n", least - 1, least + LONGEST_LINE) + 1 or least if least > 0 else 0
        if self._failure is not None and not self._head and self._failure < self._gone + cut:
            around = self._limit // 8
            at = self._failure - self._gone
            start = self._held.find(b"\n", max(0, at - around // 4 - 1), at) + 1 if at > around // 4 else 0
            start = start or max(0, at - around // 4)
            end = self._held.rfind(b"\n", at, min(start + around, cut))
            self._head = bytes(self._held[start : end if end > at else min(start + around, cut)])
            self._head_broken = end <= at or self._is_within_line(start)
            self._head_line = self._lines_gone + self._held.count(b"\n", 0, start) + 1
        self._broken = self._is_within_line(cut)
        self._lines_gone += self._held.count(b"\n", 0, cut)
        del self._held[:cut]
        self._gone += cut

    def _is_within_line(self, offset: int) -> bool:
        return self._held[offset - 1] != ord("\n") if offset else self._broken

    def _search(self) -> None:
        """Search the lines not yet searched for the first failure."""
        begin, end = max(0, self._searched - self._gone), self._held.rfind(b"\n") + 1
        if end <= begin:
            return
        self._searched = self._gone + end
        folded = bytes(self._held[begin:end]).lower()
        starts: set[int] = set()
        for word in self._words:
            at = folded.find(word)
            while at >= 0:
                starts.add(folded.rfind(b"\n", 0, at) + 1)
                at = folded.find(word, folded.find(b"\n", at))  # a line once, however often it says the word
        fresh: dict[bytes, int] = {}
        for start in sorted(starts):
            line = bytes(self._held[begin + start : begin + folded.find(b"\n", start)][:LONGEST_LINE])
            shape = line.translate(_DIGITS)
            if shape not in self._shapes:
                self._shapes.add(shape)
                fresh.setdefault(line, start)
        found = self._find_failure(tuple(fresh))
        if found is not None:
            self._failure = self._gone + begin + fresh[found]

    def _find_failure(self, lines: tuple[bytes, ...]) -> bytes | None:
        texts = [line.decode("utf-8", "replace").replace("\r", " ") for line in lines]
        log = fold("\n".join(texts), self._formats)
        reads = read_lines(log.texts, self._formats)
        for place in sorted(reads):
            read = reads[place]
            name = read.name.rpartition(".")[2]
            failed = read.kind is LineKind.FAMILY or (read.kind is LineKind.EXCEPTION and read.verbatim)
            if failed and name not in self._formats.wrappers:
                return lines[log.numbers[place] - 1]
        return None
