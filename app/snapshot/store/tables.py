"""The SQLite file of a generation: what lists show of every entry, and the keys of the facts that it is read from.

    entries                                     the row of each entry as JSON, its digest, and the keys of its texts
    orders, tags                                as `content.catalog` has them
    samples, problems, old_ids, images, drafts  what stands beside entries
    header                                      one record: what is read when the file is opened

It is named by its digest, which is checked when it is opened: a file that was changed anywhere is noticed.
"""

import hashlib
import os
import shutil
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from app.content import catalog
from app.content.catalog import Catalog, put_entries, remove_entries
from app.disk import open_plain, sync
from app.entry import Problem
from app.snapshot.store.facts import KEY_SIZE, explained
from app.snapshot.store.records import (
    EntryRow,
    Header,
    Lists,
    RecordUnreadable,
    SampleRow,
    from_json,
    to_json,
)

TABLES = f"""{catalog.TABLES}
CREATE TABLE entries (id TEXT PRIMARY KEY, digest BLOB NOT NULL, texts BLOB NOT NULL, row BLOB NOT NULL);
CREATE TABLE samples (entry_id TEXT, place TEXT, path TEXT, content TEXT);
CREATE INDEX samples_of_entry ON samples (entry_id);
CREATE TABLE problems (path TEXT, line INTEGER, rule TEXT, message TEXT, served INTEGER, draft INTEGER);
CREATE TABLE old_ids (old TEXT PRIMARY KEY, entry_id TEXT);
CREATE TABLE images (place TEXT PRIMARY KEY, name TEXT);
CREATE TABLE drafts (path TEXT);
CREATE TABLE header (value BLOB);
"""
SAMPLE_COLUMNS = attrgetter("entry_id", "where", "path", "content")
PROBLEM_COLUMNS = attrgetter("path", "line", "rule", "message", "served", "draft")
SUFFIX = ".sqlite"
KEPT_ROWS = 4096
"""Rows that stay read; each takes some 3 KB."""
MAPPED = 1 << 40
"""Bytes of the file that are mapped into memory at most, where workers share them."""
DIGEST_SIZE = 16


class GenerationUnreadable(Exception):
    """A generation that is missing, damaged or made by other code; `str` says why."""


def row_digest(row: EntryRow) -> bytes:
    """Equal where two generations have the same row."""
    return hashlib.blake2b(to_json(row), digest_size=DIGEST_SIZE).digest()


class Tables:
    """The file, open. Safe to share between threads. What is asked may raise GenerationUnreadable."""

    def __init__(self, folder: Path) -> None:
        """Raises GenerationUnreadable where the file in `folder` is missing or not as it was written."""
        self.path = _checked(folder)
        self._connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        weakref.finalize(self, self._connection.close)
        self._lock = threading.Lock()
        self._row = lru_cache(KEPT_ROWS)(self._read_row)
        self.ask(f"PRAGMA mmap_size = {MAPPED}")
        self.ask("PRAGMA trusted_schema = OFF")
        try:
            self.header = from_json(self.ask("SELECT value FROM header")[0][0], Header)
        except (RecordUnreadable, IndexError) as error:
            raise GenerationUnreadable(str(error)) from error
        self.catalog = Catalog(self.ask, lambda entry_id: self._row(entry_id).head.summary)

    def ask(self, query: str, given: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a SELECT gives."""
        try:
            with self._lock:
                return self._connection.execute(query, given).fetchall()
        except sqlite3.Error as error:
            raise GenerationUnreadable(str(error)) from error

    def row(self, entry_id: str) -> EntryRow:
        """All that the generation says of an entry. Raises KeyError for an unknown id."""
        return self._row(entry_id)

    def rows(self) -> Iterator[EntryRow]:
        """Those of all entries by id, read for this once: they displace none that is kept."""
        return map(self._read_row, self.catalog.ids)

    def digests(self) -> dict[str, bytes]:
        """The digest of each row."""
        return dict(self.ask("SELECT id, digest FROM entries"))

    def texts(self) -> set[bytes]:
        """The keys of the texts of all editions."""
        found = (keys for (keys,) in self.ask("SELECT texts FROM entries"))
        return {keys[at : at + KEY_SIZE] for keys in found for at in range(0, len(keys), KEY_SIZE)}

    def samples(self, entry_id: str) -> Iterator[SampleRow]:
        """The logs of an entry; with an empty id, those that no entry explains."""
        query = "SELECT * FROM samples WHERE entry_id = ? ORDER BY rowid"
        return (SampleRow(*row) for row in self.ask(query, (entry_id,)))

    def sample_counts(self) -> dict[str, int]:
        """How many logs each entry has that has any."""
        query = "SELECT entry_id, COUNT(*) FROM samples WHERE entry_id <> '' GROUP BY entry_id"
        return {entry_id: int(count) for entry_id, count in self.ask(query)}

    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong in the files, by path and line."""
        return tuple(
            Problem(path, int(line), rule, message, bool(served), bool(draft))
            for path, line, rule, message, served, draft in self.ask("SELECT * FROM problems ORDER BY rowid")
        )

    def lists(self) -> Lists:
        """All that stands beside the entries."""
        samples = self.ask("SELECT * FROM samples ORDER BY rowid")
        return Lists(
            samples=tuple(SampleRow(*row) for row in samples),
            problems=self.problems(),
            old_ids=dict(self.ask("SELECT * FROM old_ids ORDER BY rowid")),
            images=dict(self.ask("SELECT * FROM images ORDER BY rowid")),
            drafts=tuple(path for (path,) in self.ask("SELECT path FROM drafts ORDER BY rowid")),
        )

    def _read_row(self, entry_id: str) -> EntryRow:
        found = self.ask("SELECT row FROM entries WHERE id = ?", (entry_id,))
        if not found:
            raise KeyError(entry_id)
        try:
            return from_json(found[0][0], EntryRow)
        except RecordUnreadable as error:
            raise GenerationUnreadable(str(error)) from error


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What an entry file has to take in, `put` by id and `gone`, to be that of another generation."""

    put: Mapping[str, EntryRow]
    gone: Sequence[EntryRow]


def write_tables(
    folder: Path, before: Tables | None, change: RowChanges, header: Header, lists: Lists
) -> None:
    """Writes the file of a generation into `folder`: that of `before`, changed. `before` was opened a
    moment ago. Raises OSError, FactsUnreadable."""
    path = folder / f"new{SUFFIX}"
    if before:
        shutil.copyfile(before.path, path)
    with explained(), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # A file that is not finished is thrown away: nothing in it needs to be taken back.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        if before is None:
            connection.executescript(TABLES)
        connection.execute("BEGIN")
        _write_entries(connection, change, header)
        _write_lists(connection, lists)
        connection.execute("DELETE FROM header")
        connection.execute("INSERT INTO header VALUES (?)", (to_json(header),))
        connection.execute("COMMIT")
    sync(path)
    path.rename(path.with_stem(_digest(path)))


def _write_entries(connection: sqlite3.Connection, change: RowChanges, header: Header) -> None:
    taxonomy = header.vocabulary.taxonomy
    remove_entries(connection, (row.head.summary for row in change.gone), taxonomy)
    connection.executemany(
        "DELETE FROM entries WHERE id = ?", ((row.head.summary.id,) for row in change.gone)
    )
    put_entries(connection, (row.head.summary for row in change.put.values()), taxonomy)
    rows = (
        (entry_id, row_digest(row), b"".join(map(bytes.fromhex, row.editions.values())), to_json(row))
        for entry_id, row in change.put.items()
    )
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)


def _write_lists(connection: sqlite3.Connection, lists: Lists) -> None:
    for name in ("samples", "problems", "old_ids", "images", "drafts"):
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - one of these names
    connection.executemany("INSERT INTO samples VALUES (?, ?, ?, ?)", map(SAMPLE_COLUMNS, lists.samples))
    connection.executemany(
        "INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?)", map(PROBLEM_COLUMNS, lists.problems)
    )
    connection.executemany("INSERT INTO old_ids VALUES (?, ?)", lists.old_ids.items())
    connection.executemany("INSERT INTO images VALUES (?, ?)", lists.images.items())
    connection.executemany("INSERT INTO drafts VALUES (?)", ((path,) for path in lists.drafts))


def _checked(folder: Path) -> Path:
    """The file in a folder, if it is as it was written. Raises GenerationUnreadable."""
    try:
        path = next(folder.glob(f"*{SUFFIX}"), folder / f"missing{SUFFIX}")
        if _digest(path) != path.stem:
            raise GenerationUnreadable("it was changed on disk")
    except OSError as error:
        raise GenerationUnreadable(error.strerror or str(error)) from error
    return path


def _digest(path: Path) -> str:
    with os.fdopen(open_plain(path), "rb") as file:
        total = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST_SIZE))
    return total.hexdigest()
