"""Counts by day in the data directory: the door to SQLite for files that all workers write to.

A connection lives as long as one piece of work. Workers come and go, and whoever deletes such a file has emptied it.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

SECONDS_TO_WAIT = 5.0
"""For another process that is writing at the moment."""
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Errors that speak against the file itself; all others may pass."""
BESIDE = ("-wal", "-shm")
"""What SQLite keeps beside a file."""

Connection = sqlite3.Connection


class CountsUnusable(Exception):
    """A file cannot be opened, read or written; `str` says why, without a path. `damaged`: it never will be."""

    def __init__(self, reason: str, *, damaged: bool) -> None:
        super().__init__(reason)
        self.damaged = damaged


@contextmanager
def opened(path: Path, pragmas: tuple[str, ...] = ()) -> Iterator[Connection]:
    """A connection to the file, which is made if missing; ended afterwards. Raises CountsUnusable."""
    try:
        with closing(sqlite3.connect(path, timeout=SECONDS_TO_WAIT)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
            yield connection
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise CountsUnusable(type(error).__name__, damaged=code in DAMAGED) from error


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`; None where there is none or nobody can tell."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def set_aside(path: Path, which: tuple[int, int] | None) -> bool:
    """Gives a damaged file another name, in place of the one set aside before; whether it was still `which`, and not
    the new one of another worker that noticed sooner."""
    if which is None or identity(path) != which:
        return False
    for end in BESIDE:
        with contextlib.suppress(OSError):
            path.with_name(path.name + end).unlink()
    try:
        path.replace(aside(path))
    except OSError:
        return False
    return True


def aside(path: Path) -> Path:
    """Where a damaged file is put."""
    return path.with_name(f"{path.name}.damaged")


def today() -> date:
    """The day of today, in UTC."""
    return datetime.now(UTC).date()


def first_day(days: int) -> str:
    """The first of so many days that end today, as ISO 8601."""
    return (today() - timedelta(days=days - 1)).isoformat()
