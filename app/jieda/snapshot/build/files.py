"""Reads the content files as they are now, opening only those that have changed since the last time, and their
histories.

An unchanged file is recognized by size, times and inode; everything else relies on its hash. A file modified moments
ago is read again next time, because another change might not show in its times.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jieda.content.read.corpus import SampleFile
from jieda.content.read.directory import (
    FoundFile,
    KnownFile,
    Reading,
    SourceFile,
    content_hash,
    list_directory,
    note_of,
    read_file,
    unreadable,
)
from jieda.content.read.history import commit_of, histories
from jieda.entry import Problem
from jieda.errors import ContentError, GitError
from jieda.helpers import Helpers
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FactStore, FileRow, code_version, fact_key, pack
from jieda.snapshot.store.generation import from_json, to_json

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuildResources:
    """Open resources of a build: fact store, analyzers and helper processes. `pause` is called between pieces of work,
    and ends the build by raising an exception. For one thread."""

    data: Path
    facts: FactStore
    analyzers: Analyzers
    helpers: Helpers
    pause: Callable[[], None]


SETTLED_AFTER = 2_000_000_000
"""Nanoseconds after which a file's times are trusted: some file systems count in steps of a second or two."""


class FileReader:
    """Reads content directories incrementally. Not thread-safe."""

    def __init__(self, resources: BuildResources, directories: Sequence[Path]) -> None:
        self._resources = resources
        self._directories = tuple(directories)
        files = map(_from_row, resources.facts.files())
        self._known = {(file.found.root, file.where): file for file in files}
        """Files as last read. An unchanged file stays the same object, so that readings are compared quickly."""
        self._new: list[KnownFile] = []
        self._problems: list[Problem] = []

    def read(self) -> Reading:
        """Read all directories as they are now. Raises FactsUnreadable."""
        self._problems = []
        listings = [list_directory(directory) for directory in self._directories]
        directories = tuple(listing.read(self._read) for listing in listings)
        present = {(listing.root.as_posix(), file.where) for listing in listings for file in listing.files}
        gone = self._known.keys() - present
        for key in gone:
            del self._known[key]
        if self._new or gone:
            self._resources.facts.put_files(map(_to_row, self._new), gone)
        self._new = []
        listing_problems = [problem for listing in listings for problem in listing.problems]
        return Reading(
            directories=directories,
            problems=(*listing_problems, *self._problems),
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
        note = known.note if known and known.content == content else note_of(source)
        result = KnownFile(file, content, note)
        if max(file.modified, file.changed) < now - SETTLED_AFTER:
            self._known[key] = result
            self._new.append(result)
        return result


def _from_row(row: FileRow) -> KnownFile:
    root, where, *stamp, content, note = row
    return KnownFile(FoundFile(root, where, f"{root}/{where}", *stamp), content, note)


def _to_row(file: KnownFile) -> FileRow:
    root, where, _, size, modified, changed, inode = file.found
    # SQLite has no larger integers.
    return root, where, size, modified, changed, inode & (2**63 - 1), file.content, file.note


class ContentMoved(ContentError):
    """A file has changed or disappeared since it was listed: all files must be read again."""


def read_unchanged(file: FoundFile, content: str) -> SourceFile:
    """Read a file. Raises ContentMoved if that fails or its hash is no longer `content`."""
    try:
        source = read_file(file)
    except OSError as error:  # every other OSError of a build is about the data directory
        raise ContentMoved(Path(file.path), 1, error.strerror or "cannot be read") from error
    if content_hash(source.content) != content:
        raise ContentMoved(Path(file.path), 1, "changes while it is read")
    return source


def read_again(path: Path, where: str, content: str) -> SourceFile:
    """Read the file with the hash `content`; `where` is its path below its root. Raises ContentMoved."""
    root = str(path)[: -len(where) - 1]
    return read_unchanged(FoundFile(root, where, str(path)), content)


def sample_text(sample: SampleFile) -> str:
    """Read the text of a sample. Raises ContentMoved."""
    return read_again(sample.path, sample.where, sample.content).content.decode()


class HistoryFacts:
    """The histories of content directories, read again only if another commit is checked out than when any process last
    read them: `git log` takes half as long as checking unchanged content."""

    def __init__(self, facts: FactStore, content: Sequence[Path]) -> None:
        self._facts, self._content = facts, content
        self._keys = lru_cache(len(content))(self._load)

    def of_content(self) -> dict[Path, bytes]:
        """Return the fact keys of the histories of all files. Raises FactsUnreadable."""
        keys: dict[Path, bytes] = {}
        for directory in map(Path.resolve, self._content):
            if commit := commit_of(directory):
                keys |= self._keys(directory, commit)
        return keys

    def _load(self, directory: Path, commit: str) -> dict[Path, bytes]:
        name, version = f"history {directory}", f"{code_version()} {commit}"
        note = self._facts.note(name, version)
        keys = from_json(note, dict[str, bytes]) if note else {}
        needed = frozenset(keys.values())
        # Facts that no entry needed may have been deleted. If there are none, the clone may have been shallow.
        if not keys or self._facts.known(needed) != needed:
            keys = self._read(directory, commit)
            self._facts.put_note(name, version, to_json(keys))
        return {Path(path): key for path, key in keys.items()}

    def _read(self, directory: Path, commit: str) -> dict[str, bytes]:
        try:
            changes_by_path = histories(directory, commit)
        except GitError as error:
            log.warning("cannot read the git history of %s: %s", directory, error)
            return {}
        values = {str(path): to_json(changes) for path, changes in changes_by_path.items()}
        keys = {path: fact_key("history", code_version(), value) for path, value in values.items()}
        self._facts.put_all([{keys[path]: pack(value) for path, value in values.items()}])
        return keys
