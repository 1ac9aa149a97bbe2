"""The end of a log or an output of any length."""

from dataclasses import dataclass, field
from typing import BinaryIO


@dataclass(slots=True)
class Tail:
    """The last `limit` bytes, from the start of a line; `copy`, if given, receives everything."""

    limit: int
    copy: BinaryIO | None = None
    kept: bytearray = field(default_factory=bytearray)
    dropped_lines: int = 0

    def add(self, chunk: bytes) -> None:
        if self.copy:
            self.copy.write(chunk)
        self.kept += chunk
        if len(self.kept) > 2 * self.limit:
            self._drop_beginning()

    def text(self) -> bytes:
        if len(self.kept) > self.limit:
            self._drop_beginning()
        return bytes(self.kept)

    def _drop_beginning(self) -> None:
        cut = self.kept.find(b"\n", len(self.kept) - self.limit) + 1 or len(self.kept) - self.limit
        self.dropped_lines += self.kept.count(b"\n", 0, cut)
        del self.kept[:cut]
