"""Which files of a content directory `jieda load` wrote, and what it wrote: all others it leaves alone.

The record lies beside the content, `imports/load.jsonl`, and belongs with it wherever it is kept. A line is added
before its file is written, and all are put in order at the end: where a load was killed between the two, a file has one
of the digests that the record knows of it.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from app.content.authoring.place import digest_of
from app.disk import write_aside
from app.errors import LoadingError

NAME = "load.jsonl"
_STAMP = re.compile(rb"^synced_with:.*\n", re.MULTILINE)
_FRONT = re.compile(rb"---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def loaded_digest(content: bytes) -> str:
    """What tells one content of an edition from another. `synced_with` is left out: `jieda sync` writes it."""
    front = _FRONT.match(content)
    end = front.end() if front else 0
    return digest_of(_STAMP.sub(b"", content[:end], count=1) + content[end:])[:32]


class Record:
    """The digests that the file of each path may have, the last one written last."""

    def __init__(self, path: Path, digests: dict[str, tuple[str, ...]]) -> None:
        self._path = path
        self._digests = digests
        self._journal: BinaryIO | None = None
        self._changed = False

    def __contains__(self, where: object) -> bool:
        return where in self._digests

    def wheres(self) -> list[str]:
        """The paths that it has, sorted."""
        return sorted(self._digests)

    def has(self, where: str, found: str) -> bool:
        """Whether a load has written a file of this digest there."""
        return found in self._digests.get(where, ())

    def announce(self, where: str, wanted: str) -> None:
        """Says what is about to be written, on disk. Raises OSError."""
        if self._journal is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._journal = self._path.open("ab")
        self._journal.write(_line(where, wanted))
        self._journal.flush()
        self._digests[where] = (*self._digests.get(where, ()), wanted)

    def settle(self, where: str, wanted: str) -> None:
        """Says what is there now."""
        if self._digests.get(where) != (wanted,):
            self._digests[where], self._changed = (wanted,), True

    def forget(self, where: str) -> None:
        """Says that nothing of ours is there any more."""
        self._changed |= self._digests.pop(where, None) is not None

    def close(self) -> None:
        """Puts the record in order on disk, unless nothing has changed. Raises OSError."""
        if self._journal is not None:
            self._journal.close()
        if self._changed:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = (_line(where, each) for where in self.wheres() for each in self._digests[where])
            write_aside(self._path, b"".join(lines))


@contextmanager
def recorded(directory: Path, *, dry_run: bool) -> Iterator[Record]:
    """The record of a content directory, put in order at the end; no other load comes in between. With `dry_run`
    nothing is written. Raises LoadingError, OSError."""
    path = directory / "imports" / NAME
    if dry_run:
        yield Record(path, _read(path)[0])
        return
    path.parent.mkdir(exist_ok=True)
    with _alone(path.parent):
        digests, end = _read(path)
        if path.exists() and path.stat().st_size > end:
            os.truncate(path, end)
        record = Record(path, digests)
        yield record
        record.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LoadingError(
            f"{folder.parent}: another `jieda load` is at work there: wait for its end"
        ) from error


def _read(path: Path) -> tuple[dict[str, tuple[str, ...]], int]:
    """Digests by path, and how many bytes say so: what follows is a line that a killed load had not finished."""
    digests: dict[str, tuple[str, ...]] = {}
    end = 0
    if not path.exists():
        return digests, end
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            where, found = _said(line, f"{path}:{number}")
            end += len(line)
            if found not in digests.get(where, ()):
                digests[where] = (*digests.get(where, ()), found)
    return digests, end


def _said(line: bytes, place: str) -> tuple[str, str]:
    try:
        said = json.loads(line)
        return str(said["file"]), str(said["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise LoadingError(
            f"{place}: cannot be read: restore the file, or delete it, and then no file that is there counts as loaded"
        ) from error


def _line(where: str, found: str) -> bytes:
    return json.dumps({"file": where, "digest": found}, ensure_ascii=False).encode() + b"\n"
