"""The fact store: results computed from content, kept in SQLite under the hash of their inputs.

A fact never changes: another input has another key. So readers of an old generation and the builder of the next
one share the store, and a build that dies halfway leaves only facts that the next one can use.
"""

import hashlib
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from jieda.disk import database_failure, identity, make_room
from jieda.places import PACKAGE

VERSION = "1"
"""Part of the file's name: raise it when the tables change."""
FILE_NAME = f"facts-{VERSION}.sqlite"

SECONDS_TO_WAIT = 10.0
"""Timeout for a lock that another writing process holds."""
BATCH = 500
"""Keys per statement."""
WRITTEN_AT_ONCE = 100
"""Facts per transaction."""
KEY_SIZE = 16
"""Bytes of a key."""
QUICKLY = 1
"""zlib level: three quarters of what the best level saves, in a fifth of its time."""

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (key BLOB PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    root TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL,
    inode INTEGER NOT NULL, content TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (root, path)
);
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""

FileRow = tuple[str, str, int, int, int, int, str, str]
"""A row of `files`, in the order of its columns."""


PASSING = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""Errors that do not mean that the file is damaged."""


class FactsUnreadable(Exception):
    """The store cannot be opened, read or written; `str` says why, without a path. `passing`: the cause is not in the
    store itself; the disk is full, for example."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


def packed(value: bytes) -> bytes:
    """Compress a fact as the store keeps it."""
    return zlib.compress(value, QUICKLY)


def fact_key(kind: str, *parts: str | bytes) -> bytes:
    """Return the key of a fact of `kind` that depends on `parts` alone, the version of the code among them."""
    total = hashlib.blake2b(kind.encode(), digest_size=KEY_SIZE)
    for part in parts:
        encoded = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(encoded) + encoded)
    return total.digest()


class FactStore:
    """An open fact store. Safe to share between threads. Every method may raise FactsUnreadable."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        """Raises OSError if something else is in the place of a file and cannot be removed."""
        if writable:
            for file in path.parent.glob(f"{path.name}*"):
                make_room(file)
        self._path, self._lock = path, threading.Lock()
        with translate_errors(path.parent):
            self._connection = _connect(path, writable=writable)
        # Snapshots share a store: it is closed with the last one that reads from it.
        self._close = weakref.finalize(self, self._connection.close)
        self._identity = identity(path)

    @property
    def is_current(self) -> bool:
        return self._identity is not None and identity(self._path) == self._identity

    def get(self, key: bytes) -> bytes | None:
        return self._value("SELECT value FROM facts WHERE key = ?", key)

    def _value(self, query: str, key: bytes | str) -> bytes | None:
        rows = self._select(query, (key,))
        with translate_errors(self._path.parent):
            return zlib.decompress(rows[0][0]) if rows else None

    def _select(self, query: str, given: Sequence[object] = ()) -> list[Any]:
        with self._lock, translate_errors(self._path.parent):
            return self._connection.execute(query, given).fetchall()

    def get_all(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and value of the known facts among `keys`, in no particular order."""
        for rows in self._among(keys, "SELECT key, value FROM facts WHERE key IN"):
            # Outside the lock: readers of single entries may be waiting for it.
            with translate_errors(self._path.parent):
                found = [(key, zlib.decompress(value)) for key, value in rows]
            yield from found

    def known(self, keys: Iterable[bytes]) -> frozenset[bytes]:
        found = self._among(keys, "SELECT key FROM facts WHERE key IN")
        return frozenset(key for rows in found for (key,) in rows)

    def _among(self, keys: Iterable[bytes], query: str) -> Iterator[list[Any]]:
        wanted = iter(keys)
        while batch := tuple(islice(wanted, BATCH)):
            yield self._select(f"{query} ({','.join('?' * len(batch))})", batch)

    def __len__(self) -> int:
        count: int = self._select("SELECT COUNT(*) FROM facts")[0][0]
        return count

    def put(self, key: bytes, value: bytes) -> None:
        """Store a fact; one that is known already stays as it is."""
        self.put_all([{key: packed(value)}])

    def put_all(self, made: Iterable[Mapping[bytes, bytes]]) -> None:
        """Store `packed` facts as they come, many per transaction."""
        waiting: dict[bytes, bytes] = {}
        for facts in made:
            waiting.update(facts)
            if len(waiting) >= WRITTEN_AT_ONCE:
                self._put(waiting)
                waiting = {}
        self._put(waiting)

    def _put(self, facts: Mapping[bytes, bytes]) -> None:
        if facts:
            with self._writing():
                self._connection.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?)", facts.items())

    def keep_only(self, keys: frozenset[bytes]) -> int:
        """Delete all facts but these; return how many were deleted."""
        gone = [row for row in self._select("SELECT key FROM facts") if row[0] not in keys]
        if gone:
            with self._writing():
                self._connection.executemany("DELETE FROM facts WHERE key = ?", gone)
        return len(gone)

    def files(self) -> list[FileRow]:
        return self._select("SELECT * FROM files")

    def put_files(self, rows: Iterable[FileRow], gone: Iterable[tuple[str, str]]) -> None:
        """Record files that are new or changed, and delete those that are `gone`, by root and path."""
        with self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?)", rows)
            self._connection.executemany("DELETE FROM files WHERE root = ? AND path = ?", gone)

    def note(self, name: str, version: str) -> bytes | None:
        """Return the value last noted under a name, unless another version noted it."""
        found = self._value("SELECT value FROM notes WHERE name = ?", name) or b""
        noted, _, value = found.partition(b"\n")
        return value if noted == version.encode() else None

    def put_note(self, name: str, version: str, value: bytes) -> None:
        """Store a value under a name, replacing the previous one. `version`: that of the code and data that made it."""
        row = (name, packed(b"%s\n%s" % (version.encode(), value)))
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", row)

    def close(self) -> None:
        with self._lock:
            self._close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, translate_errors(self._path.parent):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:  # a transaction ends, whatever the error
                self._connection.rollback()
                raise
            self._connection.commit()


@contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    """Turn errors of SQLite and zlib about a database in a folder into FactsUnreadable."""
    try:
        yield
    except (sqlite3.Error, zlib.error) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        passing = code & 0xFF in PASSING and code != sqlite3.SQLITE_IOERR_SHORT_READ
        raise FactsUnreadable(database_failure(error, folder), passing=passing) from error


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "rwc" if writable else "ro"
    connection = _open(path, f"mode={mode}")
    try:
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            # Facts can be recomputed from the content: a power cut may cost the last ones, never the file.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_TABLES)
        else:
            connection.execute("SELECT 1 FROM facts LIMIT 1")
    except sqlite3.OperationalError:
        connection.close()
        if writable:
            raise
        # In a read-only directory, SQLite cannot create the lock files that readers of a WAL need.
        connection = _open(path, "mode=ro&immutable=1")
        connection.execute("SELECT 1 FROM facts LIMIT 1")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _open(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=SECONDS_TO_WAIT,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


_PACKAGES = ("content", "analysis", "search", "log", "diagnosis", "snapshot", "cluster", "knowledge")
"""Packages whose code affects the content of facts or generations."""
_LIBRARIES = (
    "jieba markdown-it-py msgspec numpy packaging pygments pyspellchecker pyyaml snowballstemmer".split()
)
"""Libraries whose releases may differ in what they make of the same text."""


@cache
def code_version() -> str:
    """Return a digest of the sources and library releases that facts depend on.

    Nobody has to remember to raise a number when the code changes; the first build after an upgrade recomputes
    everything.
    """
    # All modules beside these packages: which of them matter changes too easily.
    paths = sorted(PACKAGE.glob("*.py"))
    paths += sorted(
        path
        for name in _PACKAGES
        for path in (PACKAGE / name).rglob("*")
        if path.suffix in {".py", ".txt", ".toml", ".yaml"}
    )
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    total.update("".join(f"{name} {version(name)}\n" for name in _LIBRARIES).encode())
    return total.hexdigest()[:16]
