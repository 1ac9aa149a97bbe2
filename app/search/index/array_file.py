"""One file of named arrays, mapped into memory when opened: nothing is decoded, and processes share the pages.

    JIEDAIX1 · length of the header, 8 bytes little-endian · header, JSON · arrays, each at a multiple of ALIGNMENT

The header names each array with its type, length and place, and has a CRC-32 of all that follows. The file is named by
the digest of its header: a file that has been changed anywhere is noticed, and two files of one name are the same.
"""

import errno
import hashlib
import json
import mmap
import os
import shutil
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import IndexUnreadable

Array = NDArray[Any]

MAGIC = b"JIEDAIX1"
LENGTH_BYTES = 8
ALIGNMENT = 64
PIECE = 1 << 20
"""Bytes that are read at once."""
SUFFIX = ".seg"
TYPES = {"|i1", "|u1", "<u2", "<u4", "<i4", "<i8"}
"""What an array may be of: whole numbers, so that any bytes are some array."""


def write_arrays(directory: Path, arrays: Mapping[str, Array]) -> str:
    """Writes one-dimensional arrays to a new file below `directory`; its name, without SUFFIX. Raises OSError."""
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
    """The arrays of a file, read-only. Raises IndexUnreadable where anything in it is not as it was written.

    Without `verified` the checksum is not worked out: for files that this process has verified before.
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
    """Of a file, from a place on. It is read piece by piece: pages that were looked at in a mapping stay in memory."""
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
    """Whole numbers, none negative, in the smallest type that holds them all."""
    most = int(values.max(initial=0))
    return values.astype("|u1" if most < 1 << 8 else "<u2" if most < 1 << 16 else "<u4")


def link_arrays(source: Path, name: str, target: Path) -> None:
    """Has the directory `target` hold a file that `source` has, by a hard link where that works. Raises OSError, also
    where something else stands in the file's place."""
    place = source / f"{name}{SUFFIX}"
    if not stat.S_ISREG(place.lstat().st_mode):
        raise OSError(errno.EINVAL, "is no plain file", str(place))
    try:
        os.link(place, target / place.name)
    except OSError:  # a file system without links, or another one
        shutil.copy2(place, target / place.name)
