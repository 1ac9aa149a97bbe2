"""A file of named arrays, memory-mapped when opened: nothing is decoded, and processes share the pages.

    JIEDAIX1 · length of the header, 8 bytes little-endian · header, JSON · arrays, each at a multiple of ALIGNMENT

The header lists each array with its type, length and offset, and has a CRC-32 of all that follows. The file name is the
digest of the header: any change of a file is detected, and two files of one name are equal.
"""

import errno
import hashlib
import json
import logging
import mmap
import os
import shutil
import stat
import tempfile
import time
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jieda.disk import BUILDING, temporary_folders
from jieda.errors import IndexUnreadable, JiedaError

Array = NDArray[Any]

MAGIC = b"JIEDAIX1"
LENGTH_BYTES = 8
ALIGNMENT = 64
PIECE = 1 << 20
"""Bytes read at once."""
SUFFIX = ".seg"
TYPES = {"|i1", "|u1", "<u2", "<u4", "<i4", "<i8"}
"""Types of arrays: integers only, so that any bytes are a valid array."""


def write_arrays(directory: Path, arrays: Mapping[str, Array]) -> str:
    """Write one-dimensional arrays to a new file in `directory`; return its name without SUFFIX. Raises OSError."""
    places: dict[str, tuple[str, int, int]] = {}
    pieces: list[bytes] = []
    place = checksum = 0
    for key, array in arrays.items():
        data = array.tobytes()
        padded = data + bytes(-len(data) % ALIGNMENT)
        places[key] = array.dtype.str, array.size, place
        checksum = zlib.crc32(padded, checksum)
        place += len(padded)
        pieces.append(padded)
    encoded = json.dumps({"arrays": places, "checksum": checksum}, sort_keys=True).encode()
    encoded += b" " * (-(len(MAGIC) + LENGTH_BYTES + len(encoded)) % ALIGNMENT)
    name = _digest(encoded)
    with (directory / f"{name}{SUFFIX}").open("wb") as file:
        file.write(MAGIC + len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded)
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
    return name


def read_arrays(directory: Path, name: str, *, verified: bool = True) -> dict[str, Array]:
    """Return the arrays of a file, read-only. Raises IndexUnreadable if anything in it differs from what was written.

    Without `verified` the checksum is not computed: for files that this process has verified before.
    """
    path = directory / f"{name}{SUFFIX}"
    try:
        if not path.is_file():  # to open a pipe would take for ever
            raise IndexUnreadable(f"{path}: there is no such file")
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        start = len(MAGIC) + LENGTH_BYTES
        length = int.from_bytes(mapped[len(MAGIC) : start], "little")
        encoded = mapped[start : start + length]
        if mapped[: len(MAGIC)] != MAGIC or _digest(encoded) != name:
            raise IndexUnreadable(f"{path}: the header differs from what was written")
        header, start = json.loads(encoded), start + length
        if verified and _checksum(path, start) != header["checksum"]:
            raise IndexUnreadable(f"{path}: the checksum differs")
        return {key: _array(mapped, start, row) for key, row in header["arrays"].items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise IndexUnreadable(f"{path}: {error}") from error


def _checksum(path: Path, start: int) -> int:
    """Compute the checksum of a file from `start` on. Reads piece by piece: pages read through a mapping would stay in
    memory."""
    total = 0
    with path.open("rb") as file:
        file.seek(start)
        while piece := file.read(PIECE):
            total = zlib.crc32(piece, total)
    return total


def _array(mapped: mmap.mmap, start: int, row: list[Any]) -> Array:
    kind, size, place = row
    if kind not in TYPES:
        raise ValueError(f"an array of {kind}")
    return np.frombuffer(mapped, dtype=kind, count=size, offset=start + place)


def _digest(header: bytes) -> str:
    return hashlib.sha256(header).hexdigest()[:16]


def narrow(values: Array) -> Array:
    """Return non-negative integers in the smallest type that holds them all."""
    most = int(values.max(initial=0))
    return values.astype("|u1" if most < 1 << 8 else "<u2" if most < 1 << 16 else "<u4")


def ranges(starts: Array, sizes: Array) -> Array:
    """Return the numbers of several ranges, one range after another."""
    found: Array = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return found + np.arange(len(found))


def firsts(numbers: Array) -> Array:
    """Return the mask of the first of each run of equal numbers."""
    mask = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=mask[1:])
    return mask


def link_arrays(source: Path, name: str, target: Path) -> None:
    """Link or copy a file of `source` into the directory `target`. Raises OSError, also if it is not a plain file."""
    place = source / f"{name}{SUFFIX}"
    if not stat.S_ISREG(place.lstat().st_mode):
        raise OSError(errno.EINVAL, "is no plain file", str(place))
    try:
        os.link(place, target / place.name)
    except OSError:  # a file system without links, or another one
        shutil.copy2(place, target / place.name)


def write_signed(path: Path, content: Mapping[str, object]) -> None:
    """Write JSON with a checksum. Raises OSError."""
    signed = {**content, "checksum": _signature_of(content)}
    path.write_text(json.dumps(signed, sort_keys=True), encoding="utf-8")


def read_signed(path: Path) -> dict[str, Any]:
    """Read JSON, without its checksum. Raises IndexUnreadable if it is missing or differs from what was written."""
    try:
        if not path.is_file():  # to open a pipe would take for ever
            raise IndexUnreadable(f"{path.parent}: there is no {path.name}")
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("checksum") != _signature_of(content):
            raise IndexUnreadable(f"{path}: checksum differs")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{path.parent}: {error}") from error
    return content


def _signature_of(content: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# LAST sorts after any UTF-8 text. Lone surrogates, which a query may have, are kept as they are.
LAST = b"\xff"
ERRORS = "surrogatepass"


def encoded(text: str) -> bytes:
    """Encode as UTF-8, which sorts like the characters."""
    return text.encode("utf-8", ERRORS)


class Strings:
    """Sorted strings, kept as bytes and decoded on access."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self._text = arrays[f"{name}.text"].data
        self._offsets = arrays[f"{name}.offsets"].data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def bytes_at(self, number: int) -> bytes:
        return bytes(self._text[self._offsets[number] : self._offsets[number + 1]])

    def at(self, number: int) -> str:
        return self.bytes_at(number).decode("utf-8", ERRORS)

    def find(self, text: str) -> int | None:
        wanted = encoded(text)
        number = self._place(wanted)
        return number if number < len(self) and self.bytes_at(number) == wanted else None

    def prefixed(self, prefix: str) -> range:
        wanted = encoded(prefix)
        return range(self._place(wanted), self._place(wanted + LAST))

    def slice(self, numbers: range) -> list[str]:
        if not numbers:
            return []
        offsets = self._offsets[numbers.start : numbers.stop + 1].tolist()
        text = bytes(self._text[offsets[0] : offsets[-1]])
        return [
            text[start - offsets[0] : end - offsets[0]].decode("utf-8", ERRORS)
            for start, end in pairwise(offsets)
        ]

    def all(self) -> list[str]:
        return self.slice(range(len(self)))

    def _place(self, wanted: bytes) -> int:
        return bisect_left(range(len(self)), wanted, key=self.bytes_at)


def string_arrays(name: str, strings: Sequence[str]) -> dict[str, Array]:
    """Return the arrays that `Strings` reads, of sorted strings."""
    pieces = list(map(encoded, strings))
    offsets = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return {
        f"{name}.text": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        f"{name}.offsets": narrow(offsets),
    }


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Strings, in any order, and their occurrences: by row i, `strings[numbers[i]]` occurs at `columns[0][i]`,
    `columns[1][i]` …; all arrays have one length."""

    strings: Sequence[str]
    numbers: Array
    columns: tuple[Array, ...]


class Table:
    """Sorted strings, and the rows of each."""

    def __init__(self, arrays: Mapping[str, Array], name: str, columns: int) -> None:
        self.strings = Strings(arrays, name)
        self.starts = arrays[f"{name}.starts"]
        self.columns = tuple(arrays[f"{name}.{number}"] for number in range(columns))

    def rows(self, text: str) -> slice | None:
        number = self.strings.find(text)
        return None if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))

    def occurrences(self) -> Occurrences:
        starts = self.starts.astype(np.int64)
        counts = starts[1:] - starts[:-1]
        return Occurrences(self.strings.all(), np.repeat(np.arange(len(self.strings)), counts), self.columns)


def table_arrays(name: str, found: Occurrences) -> dict[str, Array]:
    """Return the arrays that `Table` reads: strings that occur, sorted; rows by string, then by columns in order."""
    order = sorted(range(len(found.strings)), key=found.strings.__getitem__)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    counts = np.bincount(found.numbers, minlength=len(order)) if order else np.zeros(0, np.int64)
    present = [number for number in order if counts[number]]
    rows = np.lexsort((*reversed(found.columns), ranks[found.numbers]))
    starts = np.zeros(len(present) + 1, dtype=np.int64)
    np.cumsum(counts[present], out=starts[1:])
    columns = {f"{name}.{number}": narrow(column[rows]) for number, column in enumerate(found.columns)}
    return {
        **string_arrays(name, [found.strings[number] for number in present]),
        f"{name}.starts": narrow(starts),
        **columns,
    }


log = logging.getLogger(__name__)

UNUSED = 7 * 24 * 3600
"""Seconds after which a cache that nobody has opened is removed."""


def cached_arrays(
    folders: Sequence[Path], key: str, make: Callable[[], Mapping[str, Array]]
) -> dict[str, Array]:
    """Return the arrays cached in one of `folders` under `key`. If there are none, or damaged ones, make them and cache
    them in the first writable folder, from which unused ones are removed: several versions of the code may share it.
    Raises JiedaError if nothing can be cached, and what `make` raises."""
    found = (arrays for folder in folders if (arrays := _read_cached(folder / key)))
    return next(found, None) or _write_cached(folders, key, make())


def _read_cached(folder: Path) -> dict[str, Array]:
    """Return the arrays in a folder; empty if there are none, or damaged ones."""
    for file in folder.glob(f"*{SUFFIX}"):
        try:
            with suppress(OSError):  # it may be one that this user cannot write
                os.utime(folder)  # tells others that it is in use
            return read_arrays(folder, file.stem)
        except IndexUnreadable as error:
            log.warning("the cache in %s is unreadable and is made again: %s", folder.parent.name, error)
    return {}


def _write_cached(folders: Sequence[Path], key: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    for place in chain(folders, temporary_folders()):
        try:
            written = _write_aside(place, key, arrays)
        except OSError as error:
            level = logging.DEBUG if place in folders[:-1] else logging.WARNING
            log.log(level, "cannot write a cache to %s: %s", place, error)
            continue
        # Mapped files stay readable: a temporary folder goes at once.
        for stale in _unused(place) if place in folders else [place]:
            shutil.rmtree(stale, ignore_errors=True)
        return written
    raise JiedaError(f"{folders[-1]}: cannot write a cache there or to a temporary directory")


def _unused(folder: Path) -> Iterator[Path]:
    """Yield the caches of a folder that nobody has opened lately, and what a killed process has left."""
    for cache in folder.iterdir():
        with suppress(OSError):  # another process may have removed it
            if cache.stat().st_mtime < time.time() - UNUSED:
                yield cache


def _write_aside(folder: Path, key: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Write the arrays, renamed into place when complete: others may read, or write the same. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=BUILDING, dir=folder) as aside:
        name = write_arrays(Path(aside), arrays)
        (folder / key).mkdir(exist_ok=True)
        Path(aside, f"{name}{SUFFIX}").replace(folder / key / f"{name}{SUFFIX}")
    return read_arrays(folder / key, name)
