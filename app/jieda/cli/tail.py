"""The end of a log or an output of any length."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Tail:
    """The last `limit` bytes, from the start of a line, or part of the last line if that is longer."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    dropped_lines: int = 0

    def add(self, chunk: bytes) -> None:
        self.kept += chunk
        if len(self.kept) > 2 * self.limit:
            self._drop_beginning()

    def text(self) -> bytes:
        if len(self.kept) > self.limit:
            self._drop_beginning()
        return bytes(self.kept)

    def _drop_beginning(self) -> None:
        start, end = len(self.kept) - self.limit, len(self.kept) - 1
        cut = self.kept.find(b"\n", start, end) + 1 or start
        self.dropped_lines += self.kept.count(b"\n", 0, cut)
        del self.kept[:cut]
