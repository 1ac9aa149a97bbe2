"""How often readers said that an entry solved their problem: numbers per entry, language and day, and nothing else.

They lie in a file of their own in the data directory, which every worker writes to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.day_file import Connection, CountsUnusable, opened, today
from app.entry import Language

FILE_NAME = "votes-1.sqlite"
"""The number goes up when the table changes."""

_TABLE = """
CREATE TABLE IF NOT EXISTS votes (
    day TEXT NOT NULL, entry TEXT NOT NULL, lang TEXT NOT NULL, solved INTEGER NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (day, entry, lang, solved)
) WITHOUT ROWID
"""
_ADD = """
INSERT INTO votes VALUES (?, ?, ?, ?, 1)
ON CONFLICT (day, entry, lang, solved) DO UPDATE SET count = count + 1
"""
_TOTALS = """
SELECT entry, lang, SUM(count * solved), SUM(count * (1 - solved)) FROM votes WHERE day >= ?
GROUP BY entry, lang ORDER BY entry, lang
"""


class VotesUnreadable(Exception):
    """The file cannot be opened, read or written; `str` says why, without a path."""


@dataclass(frozen=True, slots=True)
class VoteCount:
    """How often an edition solved a problem, and how often it did not."""

    entry: str
    lang: Language
    solved: int
    unsolved: int


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes kept in a directory. Each call opens the file anew: votes are rare, and workers come and go.

    Every method may raise VotesUnreadable.
    """

    directory: Path

    def add(self, entry: str, lang: Language, *, solved: bool) -> None:
        """Counts a vote for today, in UTC."""
        with self._opened() as connection, connection:
            connection.execute(_TABLE)
            connection.execute(_ADD, (today().isoformat(), entry, lang.value, int(solved)))

    def totals(self, since: str = "") -> tuple[VoteCount, ...]:
        """All votes from the day `since` (ISO 8601) on, by entry and language."""
        try:
            if not (self.directory / FILE_NAME).exists():
                return ()
        except OSError as error:  # a directory that this process may not look into, a broken disk
            raise VotesUnreadable(type(error).__name__) from error
        with self._opened() as connection:
            connection.execute(_TABLE)
            rows = connection.execute(_TOTALS, (since,)).fetchall()
        return tuple(VoteCount(entry, Language(lang), yes, no) for entry, lang, yes, no in rows)

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        try:
            with opened(self.directory / FILE_NAME) as connection:
                yield connection
        except CountsUnusable as error:
            raise VotesUnreadable(str(error)) from error
