"""Stores readers' feedback in the data directory: unanswered questions, failures that await an explanation, reads of
entries, votes, and why entries did not help.

All workers write to its two SQLite files. They contain redacted texts and daily counts, and nothing that identifies a
person. A connection is open for one operation only, because workers come and go.
"""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from jieda.disk import BESIDE, database_failure, delete_database, identity, make_private
from jieda.entry import Language
from jieda.errors import RequestError

log = logging.getLogger(__name__)

GAPS, VOTES = "gaps-1.sqlite", "votes-1.sqlite"
"""The first is bounded and may be emptied; the second is kept. Raise the number in a name when its tables change."""
TABLES: Mapping[str, str] = {
    GAPS: """
        CREATE TABLE IF NOT EXISTS asked (
            source TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, day TEXT NOT NULL, outcome TEXT NOT NULL,
            lang TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (source, kind, text, day, outcome, lang)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS reads (
            day TEXT NOT NULL, entry TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, entry)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS awaited (
            number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, day TEXT NOT NULL, lang TEXT NOT NULL,
            framework TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
        );
    """,
    VOTES: """
        CREATE TABLE IF NOT EXISTS votes (
            day TEXT NOT NULL, entry TEXT NOT NULL, lang TEXT NOT NULL, solved INTEGER NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY (day, entry, lang, solved)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS reports (
            number INTEGER PRIMARY KEY, day TEXT NOT NULL, entry TEXT NOT NULL, lang TEXT NOT NULL,
            outcome TEXT NOT NULL, text TEXT NOT NULL
        );
    """,
}
PRAGMAS: Mapping[str, tuple[str, ...]] = {
    GAPS: (
        # First, because it takes effect only in an empty file.
        "auto_vacuum = INCREMENTAL",
        "journal_mode = WAL",
        # A power cut may lose the last counts, but never the file.
        "synchronous = NORMAL",
        # Deleted content is overwritten, not just marked as free.
        "secure_delete = ON",
        "wal_autocheckpoint = 64",
        "journal_size_limit = 262144",
    ),
}
ADD_ASKED = """
INSERT INTO asked (source, kind, text, outcome, lang, day, count) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""
ADD_READS = "INSERT INTO reads(entry,day,count) VALUES (?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count"
ADD_VOTE = "INSERT INTO votes VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1"
ADD_REPORT = "INSERT INTO reports (day, entry, lang, outcome, text) VALUES (?, ?, ?, ?, ?)"
DELETE_REPORTS = "DELETE FROM reports WHERE number <= (SELECT MAX(number) FROM reports) - ?"
ADD_AWAITED = "INSERT INTO awaited (key, day, lang, framework, kind, text) VALUES (?, ?, ?, ?, ?, ?)"
SELECT_AWAITED = "SELECT day, lang, framework, kind, text FROM awaited"
DELETE_AWAITED = "DELETE FROM awaited WHERE number <= (SELECT MAX(number) FROM awaited) - ?"
SELECT_REPORTS = "SELECT entry, lang, outcome, text, day FROM reports WHERE day >= ? ORDER BY number DESC"
SELECT_ASKED = """
WITH most AS (
    SELECT source, kind, text FROM asked WHERE day >= ? GROUP BY source, kind, text
    ORDER BY SUM(count) DESC, MAX(day) DESC, text LIMIT ?
)
SELECT source, kind, text, outcome, lang, day, count FROM asked NATURAL JOIN most WHERE day >= ?
"""
SELECT_READS = "SELECT entry, SUM(count) FROM reads WHERE day >= ? GROUP BY entry"
DELETE_OLD = tuple(f"DELETE FROM {table} WHERE day < ?" for table in ("asked", "reads", "awaited"))  # noqa: S608 - ours
SELECT_VOTES = "SELECT entry, lang, solved, SUM(count) FROM votes WHERE day >= ? GROUP BY entry, lang, solved"
DELETE_RAREST = """
DELETE FROM asked WHERE (source, kind, text, day, outcome, lang) IN (
    SELECT source, kind, text, day, outcome, lang FROM asked ORDER BY count, day LIMIT ?
)
"""
DELETE_READS = "DELETE FROM reads WHERE day = (SELECT MIN(day) FROM reads)"
ROWS_AT_ONCE = 500
"""Rows per transaction: a fraction of the smallest bound, even with the longest texts."""
FILLED = 0.75
"""Share of the bound for the file itself; the rest is for SQLite's companion files."""
MOST_REPORTS = 5000
"""Most reports that are kept, the latest ones."""
MOST_AWAITED = 2000
"""Most awaited failures that are kept, the latest ones: half a megabyte."""
MOST_TEXTS = 5000
"""Most texts returned by `asked`, the most frequent ones."""
MEGABYTE = 1 << 20
SECONDS_TO_WAIT = 5.0
"""Timeout for the lock of another process that is writing."""
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Error codes of a damaged file; other errors may be temporary."""


class GapSource(StrEnum):
    """Where a question was asked."""

    SEARCH = "search"
    LOG = "log"


class GapOutcome(StrEnum):
    """How a question ended."""

    NOTHING = "nothing"
    """A search found nothing."""
    WEAK = "weak"
    """A search found nothing that fits well."""
    UNKNOWN = "unknown"
    """No entry explains a log."""
    NEAR = "near"
    """No entry explains a log; some have similar wording."""


class TriedOutcome(StrEnum):
    """Whether an entry helped somebody who tried it, and if not, why."""

    SOLVED = "solved"
    FAILED = "did_not_work"
    """It is about this problem, but did not help."""
    OUTDATED = "outdated"
    """It is about another version."""
    UNCLEAR = "unclear"
    """Something is missing, or cannot be understood."""
    OTHER = "other_problem"
    """It is about something else."""


class Report(NamedTuple):
    """Why an entry did not help, on a day (ISO 8601). `text`: a line about it, redacted, or empty."""

    entry: str
    lang: Language
    outcome: TriedOutcome
    text: str
    day: str


class Gap(NamedTuple):
    """An unanswered question, redacted. `kind`: the types of a log's failures, or empty."""

    source: GapSource
    kind: str
    text: str
    outcome: GapOutcome
    lang: Language


class Awaited(NamedTuple):
    """A failure that a reader has wanted explained since `day` (ISO 8601). `framework`: where it comes from, or empty;
    other fields as in `Gap`."""

    day: str
    lang: Language
    framework: str
    kind: str
    text: str


class GapCount(NamedTuple):
    """Number of times that a question went unanswered on a day (ISO 8601)."""

    gap: Gap
    day: str
    times: int


class VoteCount(NamedTuple):
    """Votes on an edition: solved the problem, or did not."""

    entry: str
    lang: Language
    solved: int
    unsolved: int


class FeedbackUnusable(RequestError):
    """A file cannot be opened, read or written; `str` says why, without a path. If `damaged`, do not retry."""

    status = 503
    key = "problem.not_kept"

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__()
        self.args, self.damaged = (reason,), damaged


@dataclass(frozen=True, slots=True)
class FeedbackStore:
    """Two files of a directory. Each method may raise FeedbackUnusable, and if it writes, set a damaged file aside."""

    directory: Path

    @property
    def gaps(self) -> Path:
        return self.directory / GAPS

    def add_counts(self, asked: dict[Gap, int], reads: dict[str, int], megabytes: int) -> None:
        """Move counts to those of today, in UTC, save what cannot be written; make room if the bound is near."""
        tables: tuple[tuple[str, dict[Any, int]], ...] = ((ADD_ASKED, asked), (ADD_READS, reads))
        with self._connect(GAPS, repair=True) as connection:
            for statement, counts in tables:
                while keys := list(islice(counts, ROWS_AT_ONCE)):
                    day = today().isoformat()
                    rows = [(*(key if isinstance(key, Gap) else (key,)), day, counts[key]) for key in keys]
                    _make_room(connection, megabytes)
                    with connection:
                        connection.executemany(statement, rows)
                    for key in keys:
                        del counts[key]

    def prune(self, days: int, megabytes: int) -> None:
        """Delete questions and reads older than `days`, and the excess over the bound."""
        with suppress(OSError):
            set_aside_on = date.fromtimestamp(_aside(self.gaps).stat().st_mtime)
            if set_aside_on < today() - timedelta(days=days):
                _aside(self.gaps).unlink()
        if identity(self.gaps) is None:
            return
        with self._connect(GAPS, repair=True) as connection:
            _delete_before(connection, first_day(days))
            _make_room(connection, megabytes)
            _shrink(connection)

    def clear_gaps(self) -> None:
        """Empty the file of questions and reads, and delete one that was set aside. Votes stay."""
        delete_database(_aside(self.gaps))
        if identity(self.gaps) is None:
            return
        try:
            with self._connect(GAPS) as connection:
                _delete_before(connection, "~")  # which sorts after every day
                _shrink(connection)
        except FeedbackUnusable as error:
            if not (error.damaged and delete_database(self.gaps)):
                raise

    def asked(self, days: int) -> Sequence[GapCount]:
        """Return the questions of the last days by text and day: the MOST_TEXTS most frequent texts."""
        since = first_day(days)
        rows = self._rows(GAPS, SELECT_ASKED, (since, MOST_TEXTS, since))
        return tuple(
            GapCount(Gap(GapSource(source), kind, text, GapOutcome(outcome), Language(lang)), day, count)
            for source, kind, text, outcome, lang, day, count in rows
        )

    def reads(self, days: int) -> Mapping[str, int]:
        """Count the reads of each entry in the last days."""
        return dict(self._rows(GAPS, SELECT_READS, (first_day(days),)))

    def add_awaited(self, key: bytes, awaited: Awaited) -> None:
        """Store an awaited failure under the asker's key."""
        self._write(GAPS, (ADD_AWAITED, (key, *awaited)), (DELETE_AWAITED, (MOST_AWAITED,)))

    def awaited(self, key: bytes = b"") -> tuple[Awaited, ...]:
        """Return the failure stored under `key`, if any; without a key, all failures, oldest first."""
        where, values = (" WHERE key = ?", (key,)) if key else ("", ())
        rows = self._rows(GAPS, f"{SELECT_AWAITED}{where} ORDER BY number", values)
        return tuple(Awaited(day, Language(lang), *rest) for day, lang, *rest in rows)

    def delete_awaited(self, key: bytes) -> None:
        self._write(GAPS, ("DELETE FROM awaited WHERE key = ?", (key,)))

    def add_vote(self, entry: str, lang: Language, *, solved: bool) -> None:
        """Count a vote for today, in UTC."""
        self._write(VOTES, (ADD_VOTE, (today().isoformat(), entry, lang.value, int(solved))))

    def votes(self, current_ids: Mapping[str, str], since: str = "") -> tuple[VoteCount, ...]:
        """Return all votes from the day `since` (ISO 8601) on, by entry and language. `current_ids` by old id."""
        counts: Mapping[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
        for entry, lang, solved, count in self._rows(VOTES, SELECT_VOTES, (since,)):
            counts[current_ids.get(entry, entry), lang][not solved] += count
        return tuple(VoteCount(entry, Language(lang), *of) for (entry, lang), of in sorted(counts.items()))

    def add_report(self, entry: str, lang: Language, outcome: TriedOutcome, text: str) -> None:
        """Store why an entry did not help, for today, in UTC. `text` is redacted."""
        report = (today().isoformat(), entry, lang.value, outcome.value, text)
        self._write(VOTES, (ADD_REPORT, report), (DELETE_REPORTS, (MOST_REPORTS,)))

    def reports(self, since: str = "") -> tuple[Report, ...]:
        """Return the reports from the day `since` (ISO 8601) on, latest first."""
        rows = self._rows(VOTES, SELECT_REPORTS, (since,))
        return tuple(
            Report(entry, Language(lang), TriedOutcome(why), *rest) for entry, lang, why, *rest in rows
        )

    def _rows(self, name: str, query: str, values: Sequence[str | int | bytes]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query; none if there is no file yet."""
        try:
            if not (self.directory / name).exists():
                return ()
        except OSError as error:  # a directory that this process may not look into, a broken disk
            raise FeedbackUnusable(error.strerror or type(error).__name__) from error
        with self._connect(name) as connection:
            return connection.execute(query, values).fetchall()

    def _write(self, name: str, *statements: tuple[str, Sequence[str | int | bytes]]) -> None:
        with self._connect(name, repair=True) as connection, connection:
            for statement, values in statements:
                connection.execute(statement, values)

    @contextmanager
    def _connect(self, name: str, *, repair: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a connection to a file, which is created if missing."""
        path = self.directory / name
        opened = identity(path)
        make_private(path)
        try:
            with closing(sqlite3.connect(path, timeout=SECONDS_TO_WAIT)) as connection:
                for pragma in ("trusted_schema = OFF", *PRAGMAS.get(name, ())):
                    connection.execute(f"PRAGMA {pragma}")
                connection.executescript(TABLES[name])
                yield connection
        except sqlite3.Error as error:
            damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED
            if repair and damaged and _set_aside(path, opened):
                log.warning("%s is damaged: it is set aside and a new one is started", name)
            raise FeedbackUnusable(database_failure(error, self.directory), damaged=damaged) from error


def today() -> date:
    """Return today's date in UTC."""
    return datetime.now(UTC).date()


def first_day(days: int) -> str:
    """Return the first of the last `days` days, today included, in ISO 8601."""
    return (today() - timedelta(days=days - 1)).isoformat()


def _aside(path: Path) -> Path:
    """Return where a damaged file is moved."""
    return path.with_name(f"{path.name}.damaged")


def _set_aside(path: Path, opened: tuple[int, int] | None) -> bool:
    """Rename a damaged file, replacing one set aside earlier; others may have it open, so it is not deleted. Return
    False if its identity is no longer `opened`: another worker noticed sooner and made a new file."""
    if opened is None or identity(path) != opened:
        return False
    delete_database(path, BESIDE)
    try:
        path.replace(_aside(path))
    except OSError:
        return False
    return True


def _delete_before(connection: sqlite3.Connection, day: str) -> None:
    with connection:
        for statement in DELETE_OLD:
            connection.execute(statement, (day,))


def _make_room(connection: sqlite3.Connection, megabytes: int) -> None:
    """Delete rows until the file is below its share of the bound: the rarest texts, the oldest first; or, while reads
    have more rows than texts, the oldest day of reads."""
    while _used_bytes(connection) > FILLED * megabytes * MEGABYTE:
        (asked,) = connection.execute("SELECT COUNT(*) FROM asked").fetchone()
        (reads,) = connection.execute("SELECT COUNT(*) FROM reads").fetchone()
        if not asked and not reads:
            return
        with connection:
            if asked >= reads:
                connection.execute(DELETE_RAREST, (max(1, asked // 5),))
            else:
                connection.execute(DELETE_READS)
        _shrink(connection)


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, page = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * page)


def _shrink(connection: sqlite3.Connection) -> None:
    """Return free pages to the file system."""
    # `execute` would run only one step of it, for one page.
    connection.executescript("PRAGMA incremental_vacuum")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
