"""Reads a log of any size as it arrives: tells text from other files by its first bytes, rewrites it as UTF-8, and
reduces it to its end and the surroundings of its first failure.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

from jieda.log.formats import Formats, LineKind, read_lines
from jieda.log.lines import fold

BEGINNING = 1 << 12
"""Bytes by which text is told from other files."""

_UNPACKERS = {
    b"\x1f\x8b": "zcat",
    b"BZh": "bzcat",
    b"\xfd7zXZ": "xzcat",
    b"\x28\xb5\x2f\xfd": "zstdcat",
    b"PK\x03\x04": "unzip -p",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16
_NO_ASCII = bytes(range(128, 256))
# The marks and characters of GB 2312, the last one perhaps cut.
_GB_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+(?:[\xa1-\xf7]\Z)?")
_LEAST_PAIRED = 0.7  # of bytes that are not ASCII; German in Latin-1 has two fifths
_NO_TEXT = bytes(set(range(32)) - set(b"\0\a\b\t\n\f\r\x1b"))
_MOST_NO_TEXT = 0.02  # the share of control bytes that text may have; binaries have 4 to 15 hundredths


def unpacker_of(beginning: bytes) -> str:
    """Return the program that decompresses a file that begins so; empty if the file is not compressed."""
    return next((program for magic, program in _UNPACKERS.items() if beginning.startswith(magic)), "")


def is_binary(beginning: bytes) -> bool:
    """Return whether a file that begins so is no text, in any encoding."""
    head = beginning[:BEGINNING]
    controls = len(head) - len(head.translate(None, _NO_TEXT))
    return controls > _MOST_NO_TEXT * len(head) and not head.startswith(_WIDE)


class Utf8Writer:
    """Rewrites a log as UTF-8, block by block.

    UTF-16, as PowerShell writes it, begins with a mark. Unless another encoding than UTF-8 is declared, GB 18030, as
    Windows in Chinese writes it, is told by the first block that is not ASCII.
    """

    def __init__(self, declared: str = "utf-8") -> None:
        self._declared = declared
        self._begun = b""
        """The first byte that is not ASCII, if a block ends with it: it says nothing of the encoding."""
        self._write: Callable[[bytes], bytes] | None = None

    def __call__(self, block: bytes) -> bytes:
        if self._write is None and self._declared == "utf-8":
            block = self._begun + block
            self._begun = b"" if block.isascii() or not block[:-1].isascii() else block[-1:]
            block = block.removesuffix(self._begun)
        if self._write is None and (self._declared != "utf-8" or not block.isascii()):
            encoding = _encoding_of(block, self._declared)
            decoder = codecs.getincrementaldecoder(encoding)("replace")
            self._write = bytes if encoding == "utf-8" else lambda block: decoder.decode(block).encode()
        return self._write(block) if self._write else block


def _encoding_of(block: bytes, declared: str) -> str:
    """Return the encoding of a log that has `block`: in GB 18030 most bytes that are not ASCII come in pairs, which are
    no UTF-8; in Latin-1 they stand alone."""
    if block.startswith(_WIDE):
        return "utf-16"
    read, _ = codecs.utf_8_decode(block, "replace")  # without a character whose end is in the next block
    lost = read.count("\ufffd")
    is_utf8 = len(read) - len(read.encode("ascii", "ignore")) >= 3 * lost  # twice as many are characters
    if declared != "utf-8" or is_utf8:
        return declared
    high = len(block) - len(block.translate(None, _NO_ASCII))
    paired = sum(map(len, _GB_PAIRS.findall(block)))
    return "gb18030" if paired > _LEAST_PAIRED * high else declared


GAP = "\n\n[...]\n\n"
"""Replaces a part of a log that was left out, by three lines."""
SEARCHED = 64 << 20
"""Bytes at the beginning of a log that are searched for its first failure."""
LONGEST_LINE = 4096
"""Bytes of a line that are checked for a failure."""
MOST_SHAPES = 20_000
"""Most candidate lines, digits aside, that are checked; the search stops after as many false candidates."""
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_QUOTES = bytes.maketrans(b'"`', b"''")


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
            number -= part.last - part.first + GAP.count("\n")
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
        """Read the next bytes; larger blocks cost less work."""
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
        room = self._limit // 8 + len(GAP)
        self._cut(least if self._failure is None else least + room)
        end = self._held.rstrip(b"\n")
        tail = LineRange(self._lines_gone + 1, self._lines_gone + 1 + end.count(b"\n"), self._broken)
        if not self._head:
            return LogExtract(end.decode("utf-8", "replace"), (tail,))
        head = LineRange(self._head_line, self._head_line + self._head.count(b"\n"), self._head_broken)
        text = self._head.decode("utf-8", "replace") + GAP + end.decode("utf-8", "replace")
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
        folded = bytes(self._held[begin:end]).lower().translate(_QUOTES)
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
