"""What was asked in vain and what was read, counted by day: redacted texts and numbers, in a file of their own in the
data directory, which every worker writes to.

Nothing in it tells who asked. The file has a bound: what goes beyond it is forgotten, the rarest and oldest first.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain, islice
from pathlib import Path

from app.day_file import (
    BESIDE,
    Connection,
    CountsUnusable,
    aside,
    first_day,
    identity,
    opened,
    set_aside,
    today,
)
from app.entry import Language
from app.gaps.gap import Counted, Counts, Gap, Outcome, Source

log = logging.getLogger(__name__)

FILE_NAME = "gaps-1.sqlite"
"""The number goes up when the tables change."""
PRAGMAS = (
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    # A power cut may cost the last counts, never the file.
    "synchronous = NORMAL",
    # What is forgotten is overwritten, not only let go of.
    "secure_delete = ON",
    "wal_autocheckpoint = 64",
    "journal_size_limit = 262144",
)
"""`auto_vacuum` comes first: it holds for a file in which there is nothing yet."""
ROWS_AT_ONCE = 500
"""Rows written in one transaction. With texts of the greatest length they are a fraction of the smallest bound."""
FILLED = 0.75
"""Share of the bound that the file itself may take; the rest is for what SQLite keeps beside it."""
MOST_TEXTS = 5000
"""Texts that a report is made of, the most frequent ones."""
MEGABYTE = 1 << 20

_TABLES = """
CREATE TABLE IF NOT EXISTS asked (
    source TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, day TEXT NOT NULL, outcome TEXT NOT NULL,
    lang TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (source, kind, text, day, outcome, lang)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reads (
    day TEXT NOT NULL, entry TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, entry)
) WITHOUT ROWID;
"""
_ADD_ASKED = """
INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""
_ADD_READS = "INSERT INTO reads VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
_FORGET_RAREST = """
DELETE FROM asked WHERE (source, kind, text, day, outcome, lang) IN (
    SELECT source, kind, text, day, outcome, lang FROM asked ORDER BY count, day LIMIT ?
)
"""
_FORGET_READS = "DELETE FROM reads WHERE day = (SELECT MIN(day) FROM reads)"
_ASKED = """
WITH most AS (
    SELECT source, kind, text FROM asked WHERE day >= :since GROUP BY source, kind, text
    ORDER BY SUM(count) DESC, MAX(day) DESC, text LIMIT :most
)
SELECT source, kind, text, outcome, lang, day, count FROM asked NATURAL JOIN most WHERE day >= :since
"""


@dataclass(frozen=True, slots=True)
class GapFile:
    """The file in a directory. Every method may raise CountsUnusable. Those that write set a damaged file aside
    first, so that the next call begins a new one."""

    directory: Path

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.directory / FILE_NAME

    def add(self, counts: Counts, megabytes: int) -> None:
        """Adds to the counts of today, in UTC; before that, makes room where the bound is near."""
        day = today().isoformat()
        asked = ((*gap[:3], day, *gap[3:], count) for gap, count in counts.asked.items())
        reads = ((day, entry, count) for entry, count in counts.reads.items())
        rows = chain(((_ADD_ASKED, row) for row in asked), ((_ADD_READS, row) for row in reads))
        with self._opened(mending=True) as connection:
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                _make_room(connection, megabytes)
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    for statement, row in batch:
                        connection.execute(statement, row)

    def keep(self, days: int, megabytes: int) -> None:
        """Forgets what is older than so many days, and what goes beyond the bound."""
        first = first_day(days)
        with suppress(OSError):
            set_aside_on = date.fromtimestamp(aside(self.path).stat().st_mtime)
            if set_aside_on < today() - timedelta(days=days):
                aside(self.path).unlink()
        if identity(self.path) is None:
            return
        with self._opened(mending=True) as connection:
            with connection:
                connection.execute("DELETE FROM asked WHERE day < ?", (first,))
                connection.execute("DELETE FROM reads WHERE day < ?", (first,))
            _make_room(connection, megabytes)
            _shrink(connection)

    def forget(self) -> None:
        """Empties the file, and deletes one that was set aside."""
        with suppress(OSError):
            aside(self.path).unlink()
        if identity(self.path) is None:
            return
        with self._opened() as connection:
            with connection:
                connection.execute("DELETE FROM asked")
                connection.execute("DELETE FROM reads")
            _shrink(connection)

    def asked(self, days: int) -> Sequence[Counted]:
        """What was asked in vain in the last days, by text and day: the MOST_TEXTS most frequent texts."""
        if identity(self.path) is None:
            return ()
        with self._opened() as connection:
            rows = connection.execute(_ASKED, {"since": first_day(days), "most": MOST_TEXTS}).fetchall()
        return [
            Counted(
                Gap(Source(source), kind, text, Outcome(outcome), Language(lang)),
                day,
                count,
            )
            for source, kind, text, outcome, lang, day, count in rows
        ]

    def reads(self, days: int) -> Mapping[str, int]:
        """How often each entry was read in the last days."""
        if identity(self.path) is None:
            return {}
        query = "SELECT entry, SUM(count) FROM reads WHERE day >= ? GROUP BY entry"
        with self._opened() as connection:
            return dict(connection.execute(query, (first_day(days),)).fetchall())

    def size(self) -> int:
        """Bytes on disk, with what SQLite keeps beside the file."""
        total = 0
        for end in ("", *BESIDE):
            with suppress(OSError):
                total += self.path.with_name(self.path.name + end).stat().st_size
        return total

    @contextmanager
    def _opened(self, *, mending: bool = False) -> Iterator[Connection]:
        which = identity(self.path)
        try:
            with opened(self.path, PRAGMAS) as connection:
                connection.executescript(_TABLES)
                yield connection
        except CountsUnusable as error:
            if mending and error.damaged and set_aside(self.path, which):
                log.warning("%s is damaged: it is set aside, and a new one begun", FILE_NAME)
            raise


def _make_room(connection: Connection, megabytes: int) -> None:
    """Forgets until the file is filled to a part only: the rarest texts, of equally rare ones the oldest, and where
    reads take more rows than texts, their oldest day."""
    while _used(connection) > FILLED * megabytes * MEGABYTE:
        (asked,) = connection.execute("SELECT COUNT(*) FROM asked").fetchone()
        (reads,) = connection.execute("SELECT COUNT(*) FROM reads").fetchone()
        if not asked and not reads:
            return
        with connection:
            if asked >= reads:
                connection.execute(_FORGET_RAREST, (max(1, asked // 5),))
            else:
                connection.execute(_FORGET_READS)
        _shrink(connection)


def _used(connection: Connection) -> int:
    """Bytes of the pages that hold something."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _shrink(connection: Connection) -> None:
    """Gives what is free back to the file system."""
    # Not by `execute`, which takes but one step of it: a page.
    connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
