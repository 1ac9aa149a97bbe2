"""Loads editions into a content directory, with a record of the files that `jieda load` wrote; it changes no others.

The record, `imports/load.jsonl`, is kept with the content. A line is appended before its file is written, and the
record is rewritten at the end: if a load is killed in between, each file has one of its recorded digests.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
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

RECORD_NAME = "load.jsonl"
_STAMP = re.compile(rb"^synced_with:.*\n", re.MULTILINE)
_FRONT = re.compile(rb"---\n.*?^---\n", re.DOTALL | re.MULTILINE)


def loaded_digest(content: bytes) -> str:
    """Return the digest of an edition's content without `synced_with`, which `jieda sync` writes."""
    front = _FRONT.match(content)
    end = front.end() if front else 0
    return digest_of(_STAMP.sub(b"", content[:end], count=1) + content[end:])[:32]


class LoadRecord(dict[str, tuple[str, ...]]):
    """The digests that each file may have, the most recent last, by path."""

    def __init__(self, path: Path) -> None:
        super().__init__(_read(path))
        self._path, self._saved = path, dict(self)
        self._journal: BinaryIO | None = None

    def announce(self, path: str, digest: str) -> None:
        """Record on disk a file that is about to be written. Raises OSError."""
        if self._journal is None:
            self._save()
            self._journal = self._path.open("ab")
        self._journal.write(_record_line(path, digest))
        self._journal.flush()
        self[path] = (*self.get(path, ()), digest)

    def close(self) -> None:
        """Rewrite the record on disk if it changed. Raises OSError."""
        if self._journal is not None:
            self._journal.close()
        if self._journal is not None or self != self._saved:
            self._save()

    def _save(self) -> None:
        lines = (_record_line(path, digest) for path in sorted(self) for digest in self[path])
        write_aside(self._path, b"".join(lines))


@contextmanager
def open_record(directory: Path, *, dry_run: bool) -> Iterator[LoadRecord]:
    """Open the record of a content directory, locked against other loads, and rewrite it at the end. With `dry_run`,
    nothing is written. Raises JiedaError, OSError."""
    path = directory / "imports" / RECORD_NAME
    if dry_run:
        yield LoadRecord(path)
        return
    path.parent.mkdir(exist_ok=True)
    with lock_directory(path.parent, f"{directory}: another `jieda load` is at work there: wait for its end"):
        record = LoadRecord(path)
        yield record
        record.close()


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    """Return digests by path, without an unfinished line of a load that was killed."""
    digests: dict[str, tuple[str, ...]] = {}
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line.endswith(b"\n"):
            name, digest = _parse_record_line(line, f"{path}:{number}")
            digests[name] = tuple(dict.fromkeys((*digests.get(name, ()), digest)))
    return digests


def _parse_record_line(line: bytes, place: str) -> tuple[str, str]:
    try:
        fields = json.loads(line)
        return str(fields["file"]), str(fields["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise JiedaError(
            f"{place}: cannot be read: restore the file, or delete it; without it, no existing file counts as loaded"
        ) from error


def _record_line(path: str, digest: str) -> bytes:
    return json.dumps({"file": path, "digest": digest}, ensure_ascii=False).encode() + b"\n"


class LoadOutcome(StrEnum):
    """Result for a line, or for a file that no line names."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class LoadEvent:
    """Result of one line or file. `number`: of the line, 0 for a file that no line names; `path`: empty if the line has
    none; `faults`: pairs of a field and what to do."""

    outcome: LoadOutcome
    path: str = ""
    number: int = 0
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Loader:
    """A load into one content directory, line by line; only a path and a digest per line are kept in memory."""

    directory: Path
    taxonomy: Taxonomy
    record: LoadRecord
    dry_run: bool
    _seen: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By path: the number of the first line with it, and the digest of that line's edition, empty if it was refused."""
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
        for path in sorted(self.record):
            if path not in self._seen and (event := self._remove(path)):
                yield event

    def _load_line(self, number: int, line: bytes | None) -> LoadEvent:
        path = ""
        try:
            fields = read_object(line)
            entry_id, path = read_path(fields)
            self._seen.setdefault(path, (number, ""))
            outcome = self._load_edition(path, *read_edition(fields, entry_id, self.taxonomy))
        except RefusedLine as error:
            self._unnamed += not path
            return LoadEvent(LoadOutcome.REFUSED, path, number, error.faults)
        self._loaded += 1
        return LoadEvent(outcome, path, number)

    def _load_edition(self, path: str, front: FrontMatter, body: str) -> LoadOutcome:
        text = edition_text(front, body).encode()
        digest = loaded_digest(text)
        first, earlier = self._seen[path]
        if earlier and earlier != digest:
            raise RefusedLine(
                ("id", f"line {first} has this edition already, and says something else: keep one")
            )
        with lock_directory(self.directory) as folder:
            existing = _read_existing(folder, path)
            outcome = self._outcome(path, text, existing, stamped=bool(front.synced_with))
            if outcome is not LoadOutcome.UNCHANGED:
                content = _render(path, front if existing is None else _with_stamp(front, existing), body)
                if not self.dry_run:
                    self.record.announce(path, digest)
                    try:
                        folder.write({path: content})
                    except AuthoringError as error:
                        raise JiedaError(
                            f"{self.directory / path}: cannot be written: {error}; the lines before it are loaded:"
                            " run it again once this is fixed"
                        ) from error
        self._seen[path] = (first, digest)
        if not self.dry_run and path in self.record:
            self.record[path] = (digest,)
        return outcome

    def _outcome(self, path: str, text: bytes, existing: bytes | None, *, stamped: bool) -> LoadOutcome:
        """Return what to do with a file. `stamped`: the line gives `synced_with`. Raises RefusedLine to keep it."""
        if existing is None:
            return LoadOutcome.NEW
        digest = loaded_digest(existing)
        same = digest == loaded_digest(text)
        if same and (existing == text or not stamped):
            return LoadOutcome.UNCHANGED
        if not same and digest not in self.record.get(path, ()):
            edited = "has been edited since it was loaded: take the edit over into the source, then delete the file"
            foreign = "was not written by a load: move it away, or give the entry another id"
            raise RefusedLine(("id", f"{path} {edited if path in self.record else foreign}"))
        return LoadOutcome.CHANGED

    def _remove(self, path: str) -> LoadEvent | None:
        fault = ""
        try:
            with lock_directory(self.directory) as folder:
                existing = folder.read(path)
                if existing is None:
                    self.record.pop(path)
                    return None
                if loaded_digest(existing) not in self.record.get(path, ()):
                    fault = "has been edited since it was loaded: delete it if it is not wanted"
                elif not self.dry_run:
                    folder.remove(path)
                    self.record.pop(path)
        except AuthoringError as error:
            fault = f"cannot be removed: {error}"
        if fault:
            return LoadEvent(LoadOutcome.REFUSED, path, faults=(("", fault),))
        return LoadEvent(LoadOutcome.REMOVED, path)


def _with_stamp(front: FrontMatter, existing: bytes) -> FrontMatter:
    """Keep the `synced_with` that `jieda sync` has written since the last load, unless the line gives one."""
    if front.synced_with:
        return front
    stamps = values_of(existing.decode("utf-8", "replace"), "synced_with")
    return replace(front, synced_with=next(iter(stamps), ""))


def _read_existing(folder: ContentFolder, path: str) -> bytes | None:
    try:
        return folder.read(path)
    except AuthoringError as error:
        raise RefusedLine(("id", f"something is in the way: {error}: move it away")) from error


def _render(path: str, front: FrontMatter, body: str) -> bytes:
    """Return the content of the file after checking that it parses to the same edition. Raises RefusedLine."""
    content = edition_text(front, body).encode()
    parsed, problems = parse_file(SourceFile(path, Path(path), content, 0.0))
    if parsed is None:
        raise RefusedLine(*(("markdown", each.message) for each in problems))
    if parsed.outline.front != front:
        raise RefusedLine(
            ("", "would not read the same in a file: look for unusual characters in its fields")
        )
    return content
