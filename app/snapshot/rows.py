"""The rows of a generation on disk, each read when it is looked at: a process holds those that it looked at last.

entries.jsonl is the SHA-256 of what follows, a line feed, and the rows, a line of JSON each, in the order of their ids.
"""

import hashlib
import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import overload

import numpy as np

from app.disk import open_plain
from app.search.index.array_file import Array
from app.snapshot.records import EntryRow, RecordUnreadable, from_json

KEPT_ROWS = 4096
"""Rows that stay read; each takes some 3 KB."""
SEAL_LENGTH = 2 * hashlib.sha256().digest_size + 1
DIGEST_SIZE = 8
"""Bytes of the digest of a line, so that a digest is a number of an array."""


def row_arrays(entries: bytes) -> dict[str, Array]:
    """What `StoredRows` reads of rows that are written as `entries`: where each starts, and its digest."""
    lines = entries.split(b"\n") if entries else []
    starts = np.zeros(len(lines) + 1, dtype=np.int64)
    np.cumsum([len(line) + 1 for line in lines], out=starts[1:])
    digests = b"".join(map(_digest, lines))
    return {"rows.starts": starts, "rows.digests": np.frombuffer(digests, dtype=np.int64)}


class StoredRows(Sequence[EntryRow]):
    """Rows in their file. Safe to share between threads."""

    def __init__(self, path: Path, starts: Array, digests: Array) -> None:
        """Raises OSError where the file cannot be opened."""
        self.digests = digests
        """Of each line; equal where two generations have the same row."""
        self._file = _Lines(path, starts, digests)
        self._read = lru_cache(KEPT_ROWS)(self._file.row)

    def __len__(self) -> int:
        return len(self.digests)

    @overload
    def __getitem__(self, place: int) -> EntryRow: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[EntryRow, ...]: ...

    def __getitem__(self, place: int | slice) -> EntryRow | tuple[EntryRow, ...]:
        """Raises RecordUnreadable where the file is not as it was written."""
        if isinstance(place, slice):
            return tuple(map(self._read, range(len(self))[place]))
        return self._read(range(len(self))[place])

    def __iter__(self) -> Iterator[EntryRow]:
        return self.once(range(len(self)))

    def once(self, places: Iterable[int]) -> Iterator[EntryRow]:
        """Some rows, read for this once: they are many, and displace none that is kept. Raises RecordUnreadable."""
        return map(self._file.row, places)


class _Lines:
    """The lines of a file that stays open, also where it is removed."""

    def __init__(self, path: Path, starts: Array, digests: Array) -> None:
        self._starts, self._digests = starts, digests
        self._file = open_plain(path)
        weakref.finalize(self, os.close, self._file)

    def row(self, number: int) -> EntryRow:
        start, end = int(self._starts[number]), int(self._starts[number + 1]) - 1
        line = os.pread(self._file, end - start, SEAL_LENGTH + start)
        if int.from_bytes(_digest(line), "little", signed=True) != int(self._digests[number]):
            raise RecordUnreadable("the row of an entry is damaged")
        return from_json(line, EntryRow)


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=DIGEST_SIZE).digest()
