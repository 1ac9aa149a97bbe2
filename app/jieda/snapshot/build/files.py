"""Reads the content files as they are now, opening only those that changed since the last time.

An unchanged file is recognized by size, times and inode; everything else relies on its hash. A file modified within
the last moments is read again next time: it could change once more without its times showing it.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from jieda.content.read.corpus import SampleFile
from jieda.content.read.directory import (
    FoundFile,
    KnownFile,
    Reading,
    Stamp,
    content_hash,
    list_directory,
    note_of,
    read_file,
    unreadable,
)
from jieda.content.read.parse import SourceFile
from jieda.disk import make_room, set_aside
from jieda.entry import Problem
from jieda.snapshot.build.helpers import Helpers
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FILE_NAME, FactStore, FileRow

Value = TypeVar("Value")

SUFFIXES = ("", "-wal", "-shm")
"""Suffixes of the files that make up a fact store."""


@dataclass(frozen=True, slots=True)
class BuildResources:
    """Open resources of a build: fact store, analyzers and helper processes. `pause` is called between pieces of work;
    an exception that it raises ends the build. For one thread."""

    data: Path
    facts: FactStore
    analyzers: Analyzers
    helpers: Helpers
    pause: Callable[[], None]

    @classmethod
    def open(
        cls, data: Path, analyzers: Analyzers, helpers: Helpers, pause: Callable[[], None]
    ) -> "BuildResources":
        """Open the fact store of a data directory. Raises FactsUnreadable, OSError."""
        for suffix in SUFFIXES:
            make_room(data / f"{FILE_NAME}{suffix}")
        return cls(data, FactStore(data / FILE_NAME, writable=True), analyzers, helpers, pause)

    @property
    def is_current(self) -> bool:
        """Whether the store is still the one in the data directory."""
        return self.facts.is_at(self.data / FILE_NAME)


def discard_facts(data: Path) -> None:
    """Set a damaged store aside. Raises OSError."""
    for suffix in SUFFIXES:
        path = data / f"{FILE_NAME}{suffix}"
        if os.path.lexists(path):
            set_aside(path)


class LastValue(Generic[Value]):
    """Cache of one value and its inputs. Not safe to share between threads."""

    def __init__(self) -> None:
        self._made: tuple[tuple[object, ...], Value] | None = None

    def of(self, make: Callable[[], Value], *inputs: object) -> Value:
        """Return the cached value if `inputs` equal those of last time, which is fast for identical objects; otherwise
        call `make`. Raises what `make` raises.
        """
        if self._made is None or self._made[0] != inputs:
            self._made = (inputs, make())
        return self._made[1]


SETTLED = 2_000_000_000
"""Nanoseconds after which a file's times are trusted: some file systems count in steps of one or two seconds."""
BATCH = 500
"""Files read between two writes to the store."""


class FileReader:
    """Reads content directories incrementally. Not safe to share between threads."""

    def __init__(self, resources: BuildResources, directories: Sequence[Path]) -> None:
        self._resources = resources
        self._directories = tuple(directories)
        files = map(_from_row, resources.facts.files())
        self._known = {(file.found.root, file.where): file for file in files}
        """Files as last read: an unchanged file stays the same object, which makes comparing readings fast."""
        self._new: list[KnownFile] = []
        self._problems: list[Problem] = []

    def read(self) -> Reading:
        """Read all directories as they are now. Raises FactsUnreadable."""
        self._problems = []
        listings = [list_directory(directory) for directory in self._directories]
        directories = tuple(listing.read(self._read) for listing in listings)
        present = {(listing.root.as_posix(), file.where) for listing in listings for file in listing.files}
        self._flush(self._known.keys() - present)
        passed_over = [problem for listing in listings for problem in listing.problems]
        return Reading(
            directories=directories,
            problems=(*passed_over, *self._problems),
            folders=frozenset(folder for listing in listings for folder in listing.folders),
        )

    def _read(self, file: FoundFile) -> KnownFile | None:
        key = (file.root, file.where)
        known = self._known.get(key)
        if known and known.found == file:
            return known
        self._resources.pause()
        now = time.time_ns()
        try:
            source = read_file(file)
        except OSError as error:
            self._problems.append(unreadable(file, error))
            return None
        content = content_hash(source.content)
        fresh = KnownFile(
            file, content, known.note if known and known.content == content else note_of(source)
        )
        if max(file.stamp.modified, file.stamp.changed) < now - SETTLED:
            self._known[key] = fresh
            self._new.append(fresh)
            if len(self._new) >= BATCH:
                self._flush(())
        return fresh

    def _flush(self, gone: Iterable[tuple[str, str]]) -> None:
        gone = list(gone)
        for key in gone:
            del self._known[key]
        if self._new or gone:
            self._resources.facts.put_files(map(_to_row, self._new), gone)
        self._new = []


def _from_row(row: FileRow) -> KnownFile:
    root, where, *stamp, content, note = row
    return KnownFile(FoundFile(root, where, f"{root}/{where}", Stamp(*stamp)), content, note)


def _to_row(file: KnownFile) -> FileRow:
    found, stamp = file.found, file.found.stamp
    # SQLite has no larger numbers.
    inode = stamp.inode & (2**63 - 1)
    return found.root, found.where, stamp.size, stamp.modified, stamp.changed, inode, file.content, file.note


class ContentMoved(Exception):
    """A file changed since it was listed: all files must be read again."""


def same(source: SourceFile, content: str) -> SourceFile:
    """Return the source. Raises ContentMoved if its hash is not `content`."""
    if content_hash(source.content) != content:
        raise ContentMoved
    return source


def read_again(path: Path, where: str, content: str) -> SourceFile:
    """Read a file with the hash `content`, `where` below its root. Raises ContentMoved, OSError."""
    root = str(path)[: -len(where) - 1]
    return same(read_file(FoundFile(root, where, str(path), Stamp(0, 0, 0, 0))), content)


def sample_text(sample: SampleFile) -> str:
    """Read the text of a sample. Raises ContentMoved, OSError."""
    return read_again(sample.path, sample.where, sample.content).content.decode()
