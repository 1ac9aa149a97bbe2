"""A log of any size, as it arrives: its end is kept, and what stands around the first failure."""

from dataclasses import dataclass

from jieda.log.formats import Formats
from jieda.log.line_kinds import LineKind, read_lines
from jieda.log.lines import fold

GAP = ("", "[...]", "")
"""Lines that stand where a part of a log was left out."""
SEARCHED = 64 << 20
"""Bytes at the beginning of a log in which its first failure is looked for."""
LONGEST_LINE = 4096
"""Bytes of a line by which it is told whether it is a failure."""
MOST_SHAPES = 20_000
"""Lines, digits aside, that are looked at for it: with more of them that only look like failures, it is given up."""
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


@dataclass(frozen=True, slots=True)
class LogExtract:
    """What is read of a log, as text. `parts` are the first and the last line of each part of it, counted from 1 in the
    whole log; empty where nothing was left out."""

    text: str
    parts: tuple[tuple[int, int], ...] = ()

    def line(self, number: int) -> int:
        """The line of the log that a line of the text is."""
        for first, last in self.parts:
            if number <= last - first + 1:
                return first + max(0, number - 1)
            number -= last - first + 1 + len(GAP)
        return self.parts[-1][1] if self.parts else number


class LogWindow:
    """Takes a log block by block and never holds more than about twice `limit` bytes of it.

    Lines end with `\\n`, in any encoding that writes it as one byte.
    """

    def __init__(self, limit: int, formats: Formats) -> None:
        self.size = 0
        """Bytes taken so far."""
        self._limit = limit
        self._formats = formats
        self._words = tuple(word.encode() for word in formats.failing)
        self._held = bytearray()
        self._gone = 0
        self._lines_gone = 0
        self._searched = 0
        self._shapes: set[bytes] = set()
        self._failure: int | None = None
        self._head = b""
        self._head_line = 0

    def feed(self, block: bytes) -> None:
        """Take the next bytes; the larger the blocks are, the less work they make."""
        self._held += block
        self.size += len(block)
        if self.size <= self._limit:
            return
        if self._failure is None and self._searched < SEARCHED and len(self._shapes) < MOST_SHAPES:
            self._search()
        if len(self._held) > 2 * self._limit:
            self._cut(len(self._held) - self._limit)

    def extract(self, encoding: str = "utf-8") -> LogExtract:
        """What is read of all that was taken. To be asked once."""
        if self.size <= self._limit:
            return LogExtract(self._held.decode(encoding, "replace"))
        least = len(self._held) - self._limit
        # What stands around the first failure needs some of the room.
        room = self._limit // 8 + len("\n".join(("", *GAP, "")))
        self._cut(least if self._failure is None else least + room)
        end = self._held.rstrip(b"\n")
        tail = (self._lines_gone + 1, self._lines_gone + 1 + end.count(b"\n"))
        if not self._head:
            return LogExtract(end.decode(encoding, "replace"), (tail,))
        head = (self._head_line, self._head_line + self._head.count(b"\n"))
        gap = "\n".join(("", *GAP, ""))
        text = self._head.decode(encoding, "replace") + gap + end.decode(encoding, "replace")
        return LogExtract(text, (head, tail))

    def _cut(self, least: int) -> None:
        """Forget what is before the line that begins at `least` or behind it, but for the first failure."""
        cut = self._held.find(b"\n", least - 1, least + LONGEST_LINE) + 1 or least if least > 0 else 0
        if self._failure is not None and not self._head and self._failure < self._gone + cut:
            around = self._limit // 8
            at = self._failure - self._gone
            start = self._held.find(b"\n", max(0, at - around // 4 - 1), at) + 1 if at > around // 4 else 0
            start = start or max(0, at - around // 4)
            end = self._held.rfind(b"\n", at, min(start + around, cut))
            self._head = bytes(self._held[start : end if end > at else min(start + around, cut)])
            self._head_line = self._lines_gone + self._held.count(b"\n", 0, start) + 1
        self._lines_gone += self._held.count(b"\n", 0, cut)
        del self._held[:cut]
        self._gone += cut

    def _search(self) -> None:
        """Look for the first failure among the lines that were not looked at yet."""
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
        found = self._first_failing(tuple(fresh))
        if found is not None:
            self._failure = self._gone + begin + fresh[found]

    def _first_failing(self, lines: tuple[bytes, ...]) -> bytes | None:
        texts = [line.decode("utf-8", "replace").replace("\r", " ") for line in lines]
        log = fold("\n".join(texts), self._formats)
        reads = read_lines(log.texts, self._formats)
        for place in sorted(reads):
            read = reads[place]
            name = read.first.rpartition(".")[2]
            failed = read.kind is LineKind.FAMILY or (read.kind is LineKind.EXCEPTION and read.verbatim)
            if failed and name not in self._formats.wrappers:
                return lines[log.numbers[place] - 1]
        return None
