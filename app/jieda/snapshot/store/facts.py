"""The fact store: results computed from content, stored in SQLite under the hash of their inputs.

A fact never changes, since other inputs have another key. So readers of an old generation and the builder of the next
one share the store, and whatever an aborted build leaves there is of use to the next.
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
"""Part of the file name: to be increased when the tables change."""
FILE_NAME = f"facts-{VERSION}.sqlite"

LOCK_TIMEOUT = 10.0
"""Seconds to wait for a lock that another writing process holds."""
READ_BATCH = 500
"""Keys per statement."""
WRITE_BATCH = 100
"""Facts per transaction, at least, except in the last one."""
KEY_SIZE = 16
"""Bytes of a key."""
ZLIB_LEVEL = 1
"""Saves three quarters of what the highest level does, in a fifth of its time."""

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


TRANSIENT = frozenset(
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
    """The store cannot be opened, read or written; `str` says why, without a path. `transient`: the cause is not
    the store itself but, for example, a full disk."""

    def __init__(self, reason: str, *, transient: bool = False) -> None:
        super().__init__(reason)
        self.transient = transient


def pack(value: bytes) -> bytes:
    """Compress a fact for the store."""
    return zlib.compress(value, ZLIB_LEVEL)


def fact_key(kind: str, *parts: str | bytes) -> bytes:
    """Return the key of a fact of `kind` that depends only on `parts`, which include the version of the code."""
    digest = hashlib.blake2b(kind.encode(), digest_size=KEY_SIZE)
    for part in parts:
        encoded = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.digest()


class FactStore:
    """An open fact store. Safe to share between threads. Every method may raise FactsUnreadable."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        """Raises OSError if something that cannot be removed is in the place of a file."""
        if writable:
            for file in path.parent.glob(f"{path.name}*"):
                make_room(file)
        self._path, self._lock = path, threading.Lock()
        with translate_errors(path.parent):
            self._connection = _connect(path, writable=writable)
        # Snapshots share a store, which is closed once none of them reads from it any more.
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

    def _select(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        with self._lock, translate_errors(self._path.parent):
            return self._connection.execute(query, parameters).fetchall()

    def get_all(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the key and value of each known fact among `keys`, in no particular order."""
        for rows in self._select_in(keys, "SELECT key, value FROM facts WHERE key IN"):
            # Outside the lock: readers of single entries may be waiting for it.
            with translate_errors(self._path.parent):
                facts = [(key, zlib.decompress(value)) for key, value in rows]
            yield from facts

    def known(self, keys: Iterable[bytes]) -> frozenset[bytes]:
        batches = self._select_in(keys, "SELECT key FROM facts WHERE key IN")
        return frozenset(key for rows in batches for (key,) in rows)

    def _select_in(self, keys: Iterable[bytes], query: str) -> Iterator[list[Any]]:
        remaining = iter(keys)
        while batch := tuple(islice(remaining, READ_BATCH)):
            yield self._select(f"{query} ({','.join('?' * len(batch))})", batch)

    def __len__(self) -> int:
        count: int = self._select("SELECT COUNT(*) FROM facts")[0][0]
        return count

    def put(self, key: bytes, value: bytes) -> None:
        """Store a fact; a known one stays as it is."""
        self.put_all([{key: pack(value)}])

    def put_all(self, groups: Iterable[Mapping[bytes, bytes]]) -> None:
        """Store packed facts as they come, many per transaction."""
        buffer: dict[bytes, bytes] = {}
        for facts in groups:
            buffer.update(facts)
            if len(buffer) >= WRITE_BATCH:
                self._put(buffer)
                buffer = {}
        self._put(buffer)

    def _put(self, facts: Mapping[bytes, bytes]) -> None:
        if facts:
            with self._writing():
                self._connection.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?)", facts.items())

    def keep_only(self, keys: frozenset[bytes]) -> int:
        """Delete all other facts; return how many were deleted."""
        unneeded = [row for row in self._select("SELECT key FROM facts") if row[0] not in keys]
        if unneeded:
            with self._writing():
                self._connection.executemany("DELETE FROM facts WHERE key = ?", unneeded)
        return len(unneeded)

    def files(self) -> list[FileRow]:
        return self._select("SELECT * FROM files")

    def put_files(self, rows: Iterable[FileRow], removed: Iterable[tuple[str, str]]) -> None:
        """Record new and changed files, and forget `removed` ones, which are named by root and path."""
        with self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?)", rows)
            self._connection.executemany("DELETE FROM files WHERE root = ? AND path = ?", removed)

    def note(self, name: str, version: str) -> bytes | None:
        """Return the value stored under a name; None if there is none, or it is of another version."""
        note = self._value("SELECT value FROM notes WHERE name = ?", name) or b""
        note_version, _, value = note.partition(b"\n")
        return value if note_version == version.encode() else None

    def put_note(self, name: str, version: str, value: bytes) -> None:
        """Store a value under a name, replacing the previous one. `version`: of the code and data behind it."""
        row = (name, pack(b"%s\n%s" % (version.encode(), value)))
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
            except BaseException:  # whatever the error, the transaction must end
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
        transient = code & 0xFF in TRANSIENT and code != sqlite3.SQLITE_IOERR_SHORT_READ
        raise FactsUnreadable(database_failure(error, folder), transient=transient) from error


def _connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "rwc" if writable else "ro"
    connection = _open(path, f"mode={mode}")
    try:
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            # Facts can be recomputed: a power cut may lose the last ones, but never damages the file.
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


def _open(path: Path, parameters: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{parameters}",
        uri=True,
        timeout=LOCK_TIMEOUT,
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
"""Libraries whose releases may process the same text differently."""


@cache
def code_version() -> str:
    """Return a digest of the sources and library releases that facts depend on.

    So nobody has to remember to increase a number when the code changes. The first build after an upgrade recomputes
    everything.
    """
    # All top-level modules: which of them matter changes too easily.
    paths = sorted(PACKAGE.glob("*.py"))
    paths += sorted(
        path
        for name in _PACKAGES
        for path in (PACKAGE / name).rglob("*")
        if path.suffix in {".py", ".txt", ".toml", ".yaml"}
    )
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    digest.update("".join(f"{name} {version(name)}\n" for name in _LIBRARIES).encode())
    return digest.hexdigest()[:16]
