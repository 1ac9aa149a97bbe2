"""Loads editions into a content directory, with a record of the files that `jieda load` wrote: it changes no others.

The record, `imports/load.jsonl`, is kept with the content. A line is appended before its file is written, and the
record is rewritten at the end: if a load was killed in between, a file has one of its recorded digests.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from jieda.content.authoring.edition_text import edition_text
from jieda.content.authoring.source_text import values_of
from jieda.content.authoring.writing import ContentFolder, digest_of, lock_directory
from jieda.content.read.directory import SourceFile
from jieda.content.read.forms import FrontMatter
from jieda.content.read.parse import parse_file
from jieda.disk import write_aside
from jieda.errors import AuthoringError, JiedaError
from jieda.importing.lines import RefusedLine, read_edition, read_lines, read_object, read_path
from jieda.taxonomy import Taxonomy

NAME = "load.jsonl"
_STAMP = re.compile(rb"^synced_with:.*\n", re.MULTILINE)
_FRONT = re.compile(rb"---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def loaded_digest(content: bytes) -> str:
    """Return the digest of an edition's content without `synced_with`, which `jieda sync` writes."""
    front = _FRONT.match(content)
    end = front.end() if front else 0
    return digest_of(_STAMP.sub(b"", content[:end], count=1) + content[end:])[:32]


class LoadRecord:
    """The digests that each file may have by path, the most recent last."""

    def __init__(self, path: Path, digests: dict[str, tuple[str, ...]]) -> None:
        self._path = path
        self._digests = digests
        self._journal: BinaryIO | None = None
        self._changed = False

    def __contains__(self, where: object) -> bool:
        return where in self._digests

    def paths(self) -> list[str]:
        """Return all recorded paths, sorted."""
        return sorted(self._digests)

    def has(self, where: str, found: str) -> bool:
        return found in self._digests.get(where, ())

    def announce(self, where: str, wanted: str) -> None:
        """Record on disk a file that is about to be written. Raises OSError."""
        if self._journal is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._journal = self._path.open("ab")
        self._journal.write(_record_line(where, wanted))
        self._journal.flush()
        self._digests[where] = (*self._digests.get(where, ()), wanted)

    def settle(self, where: str, wanted: str) -> None:
        if self._digests.get(where) != (wanted,):
            self._digests[where], self._changed = (wanted,), True

    def forget(self, where: str) -> None:
        self._changed |= self._digests.pop(where, None) is not None

    def close(self) -> None:
        """Rewrite the record on disk if it changed. Raises OSError."""
        if self._journal is not None:
            self._journal.close()
        if self._changed:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = (_record_line(where, each) for where in self.paths() for each in self._digests[where])
            write_aside(self._path, b"".join(lines))


@contextmanager
def open_record(directory: Path, *, dry_run: bool) -> Iterator[LoadRecord]:
    """Open the record of a content directory, locked against other loads, and rewrite it at the end. With `dry_run`,
    nothing is written. Raises JiedaError, OSError."""
    path = directory / "imports" / NAME
    if dry_run:
        yield LoadRecord(path, _read(path)[0])
        return
    path.parent.mkdir(exist_ok=True)
    with _locked(path.parent):
        digests, end = _read(path)
        if path.exists() and path.stat().st_size > end:
            os.truncate(path, end)
        record = LoadRecord(path, digests)
        yield record
        record.close()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with ExitStack() as opened_folder:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened_folder.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            said = f"{folder.parent}: another `jieda load` is at work there: wait for its end"
            raise JiedaError(said) from error
        yield


def _read(path: Path) -> tuple[dict[str, tuple[str, ...]], int]:
    """Return digests by path, and the number of valid bytes: a line that a killed load left unfinished may follow."""
    digests: dict[str, tuple[str, ...]] = {}
    end = 0
    if not path.exists():
        return digests, end
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            where, found = _parse_record_line(line, f"{path}:{number}")
            end += len(line)
            if found not in digests.get(where, ()):
                digests[where] = (*digests.get(where, ()), found)
    return digests, end


def _parse_record_line(line: bytes, place: str) -> tuple[str, str]:
    try:
        said = json.loads(line)
        return str(said["file"]), str(said["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise JiedaError(
            f"{place}: cannot be read: restore the file, or delete it; without it, no existing file counts as loaded"
        ) from error


def _record_line(where: str, found: str) -> bytes:
    return json.dumps({"file": where, "digest": found}, ensure_ascii=False).encode() + b"\n"


class LoadOutcome(StrEnum):
    """Result for a line, or for a file that no line names."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class LoadEvent:
    """Result of one line or file. `number`: of the line, 0 for a file that no line names; `where`: the path, empty if
    the line does not give it; `faults`: pairs of a field and what to do."""

    outcome: LoadOutcome
    where: str = ""
    number: int = 0
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Loader:
    """A load into one content directory, line by line; only a path and a digest per line are held in memory."""

    directory: Path
    taxonomy: Taxonomy
    record: LoadRecord
    dry_run: bool
    _seen: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By path: number of its first line, and the digest of that line's edition; empty if it was refused."""
    _loaded: int = 0
    _unnamed: int = 0

    def load(self, stream: BinaryIO) -> Iterator[LoadEvent]:
        """Load all lines. Raises JiedaError for lines or files, OSError if the record cannot be written."""
        for number, line in read_lines(stream):
            yield self._load_line(number, line)

    def why_not_prune(self) -> str:
        """Return why files that no line named must not be removed; empty if they may be."""
        if not self._loaded:
            return "no line was loaded"
        if self._unnamed:
            return f"{self._unnamed} refused lines do not tell which entry they mean: it may be there already"
        return ""

    def prune(self) -> Iterator[LoadEvent]:
        for where in self.record.paths():
            if where not in self._seen and (event := self._remove(where)):
                yield event

    def _load_line(self, number: int, line: bytes | None) -> LoadEvent:
        where = ""
        try:
            found = read_object(line)
            entry_id, where = read_path(found)
            self._seen.setdefault(where, (number, ""))
            outcome = self._load_edition(where, *read_edition(found, entry_id, self.taxonomy))
        except RefusedLine as error:
            self._unnamed += not where
            return LoadEvent(LoadOutcome.REFUSED, where, number, error.faults)
        self._loaded += 1
        return LoadEvent(outcome, where, number)

    def _load_edition(self, where: str, front: FrontMatter, body: str) -> LoadOutcome:
        text = edition_text(front, body).encode()
        wanted = loaded_digest(text)
        first, before = self._seen[where]
        if before and before != wanted:
            raise RefusedLine(
                ("id", f"line {first} has this edition already, and says something else: keep one")
            )
        with lock_directory(self.directory) as folder:
            present = _read_present(folder, where)
            outcome = self._outcome(where, text, present, stamped=bool(front.synced_with))
            if outcome is not LoadOutcome.UNCHANGED:
                content = _render(where, front if present is None else _with_stamp(front, present), body)
                if not self.dry_run:
                    self.record.announce(where, wanted)
                    self._write(folder, where, content)
        self._seen[where] = (first, wanted)
        if not self.dry_run and where in self.record:
            self.record.settle(where, wanted)
        return outcome

    def _write(self, folder: ContentFolder, where: str, content: bytes) -> None:
        try:
            folder.write({where: content})
        except AuthoringError as error:
            path = self.directory / where
            raise JiedaError(
                f"{path}: cannot be written: {error}; the lines before it are loaded: run it again once this is fixed"
            ) from error

    def _outcome(self, where: str, text: bytes, present: bytes | None, *, stamped: bool) -> LoadOutcome:
        """Return what to do with a file; `stamped`: the line gives `synced_with`. Raises RefusedLine to leave it."""
        if present is None:
            return LoadOutcome.NEW
        there = loaded_digest(present)
        same = there == loaded_digest(text)
        if same and (present == text or not stamped):
            return LoadOutcome.UNCHANGED
        if not same and not self.record.has(where, there):
            edited = "has been edited since it was loaded: take the edit over into the source, then delete the file"
            foreign = "was not written by a load: move it away, or give the entry another id"
            raise RefusedLine(("id", f"{where} {edited if where in self.record else foreign}"))
        return LoadOutcome.CHANGED

    def _remove(self, where: str) -> LoadEvent | None:
        fault = ""
        try:
            with lock_directory(self.directory) as folder:
                present = folder.read(where)
                if present is None:
                    self.record.forget(where)
                    return None
                if not self.record.has(where, loaded_digest(present)):
                    fault = "has been edited since it was loaded: delete it if it is not wanted"
                elif not self.dry_run:
                    folder.remove(where)
                    self.record.forget(where)
        except AuthoringError as error:
            fault = f"cannot be removed: {error}"
        if fault:
            return LoadEvent(LoadOutcome.REFUSED, where, faults=(("", fault),))
        return LoadEvent(LoadOutcome.REMOVED, where)


def _with_stamp(front: FrontMatter, present: bytes) -> FrontMatter:
    """Keep the `synced_with` that `jieda sync` has written since, unless the line gives one."""
    if front.synced_with:
        return front
    stamps = values_of(present.decode("utf-8", "replace"), "synced_with")
    return replace(front, synced_with=next(iter(stamps), ""))


def _read_present(folder: ContentFolder, where: str) -> bytes | None:
    try:
        return folder.read(where)
    except AuthoringError as error:
        raise RefusedLine(("id", f"something is in the way: {error}: move it away")) from error


def _render(where: str, front: FrontMatter, body: str) -> bytes:
    """Return the content of the file after checking that it parses to the same edition. Raises RefusedLine."""
    content = edition_text(front, body).encode()
    parsed, problems = parse_file(SourceFile(where, Path(where), content, 0.0))
    if parsed is None:
        raise RefusedLine(*(("markdown", each.message) for each in problems))
    if parsed.outline.front != front:
        raise RefusedLine(
            ("", "would not read the same in a file: look for unusual characters in its fields")
        )
    return content
