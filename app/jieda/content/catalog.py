"""The catalog: the tags of every entry and its place in each list, as SQLite tables.

    orders   a row for each list that contains an entry; lists are sorted by `rank`, then by id
    tags     a row for each tag of an entry

A library queries its catalog instead of scanning all entries: a page with twenty of a hundred thousand reads twenty.
"""

import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, TypeVar, overload

from jieda.entry import Language, Summary
from jieda.taxonomy import FACETS, HOLDS, Filters, Taxonomy, facet_values

VERSION = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)\b", re.ASCII)
"""The version at the start of `applies_to`, after the framework's name."""

LARGEST = (1 << 64) - 1
"""Upper bound for a part of a version."""


def shelf_key(summary: Summary, lang: Language, taxonomy: Taxonomy) -> bytes:
    """Return the sort key of an entry: by framework, in the order of the taxonomy; then entries for any version,
    followed by the others, latest version first; then by title, ignoring case; then by latest change."""
    framework, edition = summary.framework, summary.edition(lang)
    frameworks = list(taxonomy.framework)
    known = framework in taxonomy.framework
    name = taxonomy.framework[framework].name[lang] if known else framework
    version = version_of(without_framework(name, edition.applies_to))
    parts = [_sortable(frameworks.index(framework) if known else len(frameworks)), framework.encode(), b"\0"]
    # If one version is a prefix of another, the shorter one comes first.
    parts += [b"\1" + _sortable(LARGEST - number) for number in version]
    parts += [b"\0", edition.title.casefold().encode("utf-8", "surrogatepass"), b"\0"]
    return b"".join(parts) + _sortable(LARGEST - summary.updated.toordinal())


def _sortable(number: int) -> bytes:
    return number.to_bytes(8, "big")


def version_of(applies_to: str) -> tuple[int, ...]:
    """Return the version at the start of a text; empty if there is none."""
    match = VERSION.match(applies_to)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def without_framework(name: str, applies_to: str) -> str:
    """Return `applies_to` without the name of the framework at its start, which the page already shows in front of it:
    "1.0 on DLC" of "ChatLearn 1.0 on DLC", "RLVR pipeline" of "ROLL 的 RLVR pipeline", nothing of only the name."""
    rest = applies_to[len(name) :]
    if not applies_to.casefold().startswith(name.casefold()) or re.match(r"[\w.-]", rest, re.ASCII):
        return applies_to
    rest = rest.strip(" ,，:：;；").removeprefix("的").lstrip()
    parenthesized = re.fullmatch(r"[(（]([^()（）]*)[)）]", rest)
    return parenthesized[1] if parenthesized else rest


TABLES = """
CREATE TABLE orders (list TEXT, rank, entry TEXT, PRIMARY KEY (list, rank, entry)) WITHOUT ROWID;
CREATE TABLE tags (facet TEXT, value TEXT, entry TEXT, PRIMARY KEY (facet, value, entry)) WITHOUT ROWID;
"""
NEIGHBOR_FACETS = ("topic", "error_type")
"""Facets whose tags, if shared, make two entries neighbors."""
SHARED_TAG, SAME_FRAMEWORK = 2, 1
"""Weights in the ranking of neighbors: for each shared tag, and for the same framework."""
CACHED_COUNTS = 256

ALL, LATEST = "all", "latest"
EVERYTHING = Filters()

Value = TypeVar("Value")
FetchRows = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a SELECT with parameters and returns its rows. Raises sqlite3.Error."""
Select = tuple[str, tuple[object, ...]]
"""A SELECT of ids, and its parameters."""
Count = Callable[[Select], int]


def put_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Insert entries into the tables. Raises sqlite3.Error."""
    for summary in summaries:
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", _order_rows(summary, taxonomy))
        connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?, ?)", _tag_rows(summary))


def remove_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Delete entries from the tables. They must be the same as when they were inserted. Raises sqlite3.Error."""
    for summary in summaries:
        connection.executemany(
            "DELETE FROM orders WHERE list = ? AND rank = ? AND entry = ?", _order_rows(summary, taxonomy)
        )
        connection.executemany(
            "DELETE FROM tags WHERE facet = ? AND value = ? AND entry = ?", _tag_rows(summary)
        )


def _order_rows(summary: Summary, taxonomy: Taxonomy) -> Iterator[tuple[str, object, str]]:
    entry_id, latest = summary.id, -summary.updated.toordinal()
    yield ALL, 0, entry_id
    yield LATEST, latest, entry_id
    for lang in Language:
        yield f"shelved {lang}", shelf_key(summary, lang, taxonomy), entry_id
        if edition := summary.editions.get(lang):
            yield f"published {lang}", -edition.updated.toordinal(), entry_id
        else:
            yield f"missing {lang}", 0, entry_id
        if lang in summary.stale:
            yield f"stale {lang}", 0, entry_id


def _tag_rows(summary: Summary) -> list[tuple[str, str, str]]:
    return [(facet, value, summary.id) for facet, values in facet_values(summary).items() for value in values]


def in_memory(summaries: Iterable[Summary], taxonomy: Taxonomy) -> FetchRows:
    """Put entries into tables in memory, and return the function that queries them."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(TABLES)
    put_entries(connection, summaries, taxonomy)
    # From Python 3.12 on, two threads may get the same cached statement, and one would read the other's rows.
    lock = threading.Lock()

    def fetch_rows(query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        with lock:
            return connection.execute(query, parameters).fetchall()

    # Python 3.13 and later warn about a connection that is never closed.
    weakref.finalize(fetch_rows, connection.close)
    return fetch_rows


class LazyList(Sequence[Value]):
    """A lazy list over the result of a SELECT. A slice is a tuple."""

    def __init__(self, fetch: FetchRows, select: Select, count: Count, read: Callable[[str], Value]) -> None:
        """`select` selects the ids in order, `count` counts them, `read` returns the value of an id."""
        self._fetch_rows, self._select, self._count, self._read = fetch, select, count, read

    def __len__(self) -> int:
        return self._count(self._select)

    @overload
    def __getitem__(self, index: int) -> Value: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Value, ...]: ...

    def __getitem__(self, index: int | slice) -> Value | tuple[Value, ...]:
        if not isinstance(index, slice):
            offset = range(len(self))[index]
            return self._read(self._ids(offset, 1)[0])
        start, stop = index.start or 0, index.stop
        if stop is not None and 0 <= start <= stop and index.step is None:
            return tuple(map(self._read, self._ids(start, stop - start)))
        return tuple(map(self._read, self._ids(0, -1)[index]))

    def __iter__(self) -> Iterator[Value]:
        return map(self._read, self._ids(0, -1))

    def _ids(self, start: int, count: int) -> list[str]:
        """Return `count` ids from `start` on; all of them if it is -1."""
        query, parameters = self._select
        rows = self._fetch_rows(f"{query} LIMIT ? OFFSET ?", (*parameters, count, start))
        return [entry_id for (entry_id,) in rows]


class Catalog:
    """Lists and counts of a library's entries. Lists are lazy. Safe to share between threads."""

    def __init__(self, fetch_rows: FetchRows, read: Callable[[str], Summary]) -> None:
        """`fetch_rows` queries the tables; `read` returns the summary of an id in them."""
        self._fetch_rows = fetch_rows
        self.summary: Callable[[str], Summary] = read
        """Returns the summary of an entry. Raises KeyError for an unknown id."""
        self._cached_count = lru_cache(CACHED_COUNTS)(self._count)
        self._cached_size = lru_cache(CACHED_COUNTS)(self._count_all)
        query = "SELECT entry FROM orders WHERE list = ? ORDER BY rank, entry"
        self.ids: Sequence[str] = LazyList(fetch_rows, (query, (ALL,)), self._cached_size, str)
        """All ids, sorted."""

    def __contains__(self, entry_id: object) -> bool:
        query = "SELECT entry FROM orders WHERE list = ? AND rank = 0 AND entry = ?"
        known = isinstance(entry_id, str) and entry_id.isascii()  # half a surrogate cannot be asked for
        return known and bool(self._fetch_rows(query, (ALL, entry_id)))

    def listed(self, filters: Filters = EVERYTHING, since: date | None = None) -> Sequence[Summary]:
        """Return entries that pass the filters and changed on or after `since`, by latest change, then by id."""
        return self._select(LATEST, filters, -since.toordinal() if since else None)

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """Return entries that pass the filters, in the order of `shelf_key` for a language."""
        return self._select(f"shelved {lang}", filters)

    def published(self, lang: Language) -> Sequence[Summary]:
        """Return entries that have an edition in a language, by the edition's latest change, then by id."""
        return self._select(f"published {lang}")

    def missing(self, lang: Language) -> Sequence[Summary]:
        """Return entries without an edition in a language, by id."""
        return self._select(f"missing {lang}")

    def stale(self, lang: Language) -> Sequence[Summary]:
        """Return entries whose edition in a language is behind its twin, by id."""
        return self._select(f"stale {lang}")

    def counts(self, facet: str, filters: Filters = EVERYTHING) -> Mapping[str, int]:
        """Return the number of entries that pass the filters by value of a facet; values without any are left out."""
        return self._cached_count(filters, facet)

    def values(self, facet: str) -> tuple[str, ...]:
        """Return the values of a facet that occur in entries, sorted."""
        query = "SELECT DISTINCT value FROM tags WHERE facet = ? ORDER BY value"
        return tuple(value for (value,) in self._fetch_rows(query, (facet,)))

    def similar(self, entry_id: str, limit: int, exclude: Iterable[str]) -> tuple[Summary, ...]:
        """Return up to `limit` entries that share tags with an entry, most similar first, leaving out `exclude`."""
        summary = self.summary(entry_id)
        tags = [tag for tag in _tag_rows(summary) if tag[0] in NEIGHBOR_FACETS]
        excluded = (entry_id, *exclude)
        query = (
            "SELECT entry FROM tags WHERE (facet, value) IN "  # noqa: S608 - only question marks
            f"(VALUES {_placeholders(tags, '(?, ?)')}) AND entry NOT IN ({_placeholders(excluded)}) "
            "GROUP BY entry ORDER BY ? * COUNT(*) + ? * (substr(entry, 1, ?) = ?) DESC, entry LIMIT ?"
        )
        prefix = f"{summary.framework}/"
        shared = [column for facet, value, _ in tags for column in (facet, value)]
        ranking = (SHARED_TAG, SAME_FRAMEWORK, len(prefix), prefix)
        rows = self._fetch_rows(query, (*shared, *excluded, *ranking, max(0, limit))) if tags else []
        return tuple(self.summary(other) for (other,) in rows)

    def _select(
        self, name: str, filters: Filters = EVERYTHING, max_rank: int | None = None
    ) -> Sequence[Summary]:
        conditions, parameters = _conditions(filters)
        if max_rank is not None:
            conditions, parameters = f" AND rank <= ?{conditions}", [max_rank, *parameters]
        query = f"SELECT entry FROM orders AS listed WHERE list = ?{conditions} ORDER BY rank, entry"  # noqa: S608 - as above
        return LazyList(self._fetch_rows, (query, (name, *parameters)), self._cached_size, self.summary)

    def _count_all(self, select: Select) -> int:
        query, parameters = select
        return int(self._fetch_rows(f"SELECT COUNT(*) FROM ({query})", parameters)[0][0])  # noqa: S608 - as above

    def _count(self, filters: Filters, facet: str) -> Mapping[str, int]:
        conditions, parameters = _conditions(filters)
        query = f"SELECT value, COUNT(*) FROM tags AS listed WHERE facet = ?{conditions} GROUP BY value"  # noqa: S608 - as above
        return {value: int(count) for value, count in self._fetch_rows(query, (facet, *parameters))}


def _conditions(filters: Filters) -> tuple[str, list[object]]:
    """Return SQL conditions, each after an `AND`, on the entry of a row of `listed`; and their parameters."""
    conditions, parameters = "", list[object]()
    tags = [(facet, "", filters.facet(facet)) for facet in FACETS] + [(HOLDS, "NOT ", filters.ruled_out)]
    for facet, negated, values in tags:
        if values:
            conditions += (
                f" AND {negated}EXISTS (SELECT 1 FROM tags AS tag "  # noqa: S608 - only question marks
                f"WHERE tag.facet = ? AND tag.value IN ({_placeholders(values)}) AND tag.entry = listed.entry)"
            )
            parameters += [facet, *values]
    if filters.edition:
        present = (
            "NOT EXISTS (SELECT 1 FROM orders AS missing "
            "WHERE missing.list = ? AND missing.rank = 0 AND missing.entry = listed.entry)"
        )
        conditions += f" AND ({' OR '.join([present] * len(filters.edition))})"
        parameters += [f"missing {edition}" for edition in filters.edition]
    return conditions, parameters


def _placeholders(values: Sequence[object], mark: str = "?") -> str:
    return ", ".join([mark] * len(values))
