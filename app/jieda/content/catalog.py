"""The catalog: the tags of every entry and its place in each list, as SQLite tables.

    orders   a row for each list that contains an entry; lists are sorted by `rank`, then by id
    tags     a row for each tag of an entry

A library queries its catalog and never scans all entries: of a hundred thousand, a page that lists twenty reads twenty.
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
    """Return the sort key of an entry: frameworks in the order of the taxonomy; then entries for any version, then the
    latest version first; then by title, whatever its case; then the latest change first."""
    framework, edition = summary.framework, summary.edition(lang)
    frameworks = list(taxonomy.framework)
    known = framework in taxonomy.framework
    name = taxonomy.framework[framework].name[lang] if known else framework
    newest = version_of(beside_framework(name, edition.applies_to))
    pieces = [_sortable(frameworks.index(framework) if known else len(frameworks)), framework.encode(), b"\0"]
    # If one version is a prefix of another, the shorter one comes first.
    pieces += [b"\1" + _sortable(LARGEST - part) for part in newest]
    pieces += [b"\0", edition.title.casefold().encode("utf-8", "surrogatepass"), b"\0"]
    return b"".join(pieces) + _sortable(LARGEST - summary.updated.toordinal())


def _sortable(number: int) -> bytes:
    return number.to_bytes(8, "big")


def version_of(applies_to: str) -> tuple[int, ...]:
    """Return the version at the start of a text, empty if there is none."""
    found = VERSION.match(applies_to)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def beside_framework(name: str, applies_to: str) -> str:
    """Return `applies_to` without the name of the framework, which the page shows in front of it.

    "ChatLearn 1.0 on DLC" beside "ChatLearn" is "1.0 on DLC", "ROLL 的 RLVR pipeline" beside "ROLL" is "RLVR pipeline";
    "slime" beside "slime" is nothing.
    """
    rest = applies_to[len(name) :]
    if not applies_to.casefold().startswith(name.casefold()) or re.match(r"[\w.-]", rest, re.ASCII):
        return applies_to
    rest = rest.strip(" ,，:：;；").removeprefix("的").lstrip()
    inside = re.fullmatch(r"[(（]([^()（）]*)[)）]", rest)
    return inside[1] if inside else rest


TABLES = """
CREATE TABLE orders (list TEXT, rank, entry TEXT, PRIMARY KEY (list, rank, entry)) WITHOUT ROWID;
CREATE TABLE tags (facet TEXT, value TEXT, entry TEXT, PRIMARY KEY (facet, value, entry)) WITHOUT ROWID;
"""
ALIKE_FACETS = ("topic", "error_type")
"""Facets whose shared tags make entries neighbors."""
SHARED_TAG, SAME_FRAMEWORK = 2, 1
"""Weights for the order of neighbors: of each shared tag, and of the same framework."""
CACHED_COUNTS = 256

ALL, LATEST = "all", "latest"
EVERYTHING = Filters()

Value = TypeVar("Value")
Ask = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Runs a SELECT and returns its rows. Raises sqlite3.Error."""
Select = tuple[str, tuple[object, ...]]
"""A SELECT of ids, and its parameters."""
Count = Callable[[Select], int]


def put_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Insert entries into the tables. Raises sqlite3.Error."""
    for summary in summaries:
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", _order_rows(summary, taxonomy))
        connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?, ?)", _tag_rows(summary))


def remove_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Delete entries, given exactly as they were inserted, from the tables. Raises sqlite3.Error."""
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


def in_memory(summaries: Iterable[Summary], taxonomy: Taxonomy) -> Ask:
    """Put entries into tables of their own in memory; return the function that queries these."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(TABLES)
    put_entries(connection, summaries, taxonomy)
    # From Python 3.12 on, two threads may be given the same cached statement: one then reads the other's rows.
    lock = threading.Lock()

    def ask(query: str, given: Sequence[object]) -> list[tuple[Any, ...]]:
        with lock:
            return connection.execute(query, given).fetchall()

    # Python 3.13 and later warn of a connection that is never closed.
    weakref.finalize(ask, connection.close)
    return ask


class Listed(Sequence[Value]):
    """A lazy list over the result of a SELECT. A slice is a tuple."""

    def __init__(self, ask: Ask, select: Select, count: Count, read: Callable[[str], Value]) -> None:
        """`select` selects the ids in order, `count` counts them, `read` returns the value of an id."""
        self._ask, self._select, self._count, self._read = ask, select, count, read

    def __len__(self) -> int:
        return self._count(self._select)

    @overload
    def __getitem__(self, place: int) -> Value: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Value, ...]: ...

    def __getitem__(self, place: int | slice) -> Value | tuple[Value, ...]:
        if not isinstance(place, slice):
            number = range(len(self))[place]
            return self._read(self._ids(number, 1)[0])
        start, stop = place.start or 0, place.stop
        if stop is not None and 0 <= start <= stop and place.step is None:
            return tuple(map(self._read, self._ids(start, stop - start)))
        return tuple(map(self._read, self._ids(0, -1)[place]))

    def __iter__(self) -> Iterator[Value]:
        return map(self._read, self._ids(0, -1))

    def _ids(self, start: int, count: int) -> list[str]:
        """Return `count` ids from `start` on; all of them for -1."""
        query, given = self._select
        found = self._ask(f"{query} LIMIT ? OFFSET ?", (*given, count, start))
        return [entry_id for (entry_id,) in found]


class Catalog:
    """Lists and counts of a library's entries. Lists are lazy. Safe to share between threads."""

    def __init__(self, ask: Ask, read: Callable[[str], Summary]) -> None:
        """`ask` queries the tables; `read` returns the summary of an id in them."""
        self._ask = ask
        self.summary: Callable[[str], Summary] = read
        """Returns the summary of an entry. Raises KeyError for an unknown id."""
        self._counted = lru_cache(CACHED_COUNTS)(self._count)
        self._size = lru_cache(CACHED_COUNTS)(self._count_all)
        every = "SELECT entry FROM orders WHERE list = ? ORDER BY rank, entry"
        self.ids: Sequence[str] = Listed(ask, (every, (ALL,)), self._size, str)
        """All ids, sorted."""

    def __contains__(self, entry_id: object) -> bool:
        found = "SELECT entry FROM orders WHERE list = ? AND rank = 0 AND entry = ?"
        return isinstance(entry_id, str) and bool(self._ask(found, (ALL, entry_id)))

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
        """Count entries that pass the filters by value of a facet; values without entries are left out."""
        return self._counted(filters, facet)

    def values(self, facet: str) -> tuple[str, ...]:
        """Return the values of a facet that occur in entries, sorted."""
        query = "SELECT DISTINCT value FROM tags WHERE facet = ? ORDER BY value"
        return tuple(value for (value,) in self._ask(query, (facet,)))

    def alike(self, entry_id: str, most: int, without: Iterable[str]) -> tuple[Summary, ...]:
        """Return at most `most` entries that share tags with an entry, those that share most first; none of
        `without`."""
        own = self.summary(entry_id)
        tags = [tag for tag in _tag_rows(own) if tag[0] in ALIKE_FACETS]
        left_out = (entry_id, *without)
        query = (
            "SELECT entry FROM tags WHERE (facet, value) IN "  # noqa: S608 - only question marks
            f"(VALUES {_placeholders(tags, '(?, ?)')}) AND entry NOT IN ({_placeholders(left_out)}) "
            "GROUP BY entry ORDER BY ? * COUNT(*) + ? * (substr(entry, 1, ?) = ?) DESC, entry LIMIT ?"
        )
        framework = f"{own.framework}/"
        given = [each for facet, value, _ in tags for each in (facet, value)]
        worth = (SHARED_TAG, SAME_FRAMEWORK, len(framework), framework)
        found = self._ask(query, (*given, *left_out, *worth, most)) if tags else []
        return tuple(self.summary(other) for (other,) in found)

    def _select(
        self, order: str, filters: Filters = EVERYTHING, until: int | None = None
    ) -> Sequence[Summary]:
        narrowed, given = _conditions(filters)
        if until is not None:
            narrowed, given = f" AND rank <= ?{narrowed}", [until, *given]
        query = f"SELECT entry FROM orders AS listed WHERE list = ?{narrowed} ORDER BY rank, entry"  # noqa: S608 - as above
        return Listed(self._ask, (query, (order, *given)), self._size, self.summary)

    def _count_all(self, select: Select) -> int:
        query, given = select
        return int(self._ask(f"SELECT COUNT(*) FROM ({query})", given)[0][0])  # noqa: S608 - as above

    def _count(self, filters: Filters, facet: str) -> Mapping[str, int]:
        narrowed, given = _conditions(filters)
        query = f"SELECT value, COUNT(*) FROM tags AS listed WHERE facet = ?{narrowed} GROUP BY value"  # noqa: S608 - as above
        return {value: int(count) for value, count in self._ask(query, (facet, *given))}


def _conditions(filters: Filters) -> tuple[str, list[object]]:
    conditions, given = "", list[object]()
    tags = [(facet, "", filters.facet(facet)) for facet in FACETS] + [(HOLDS, "NOT ", filters.ruled_out)]
    for facet, negated, values in tags:
        if values:
            conditions += (
                f" AND {negated}EXISTS (SELECT 1 FROM tags AS held "  # noqa: S608 - only question marks
                f"WHERE held.facet = ? AND held.value IN ({_placeholders(values)}) AND held.entry = listed.entry)"
            )
            given += [facet, *values]
    if filters.edition is not None:
        conditions += (
            " AND NOT EXISTS (SELECT 1 FROM orders AS held "
            "WHERE held.list = ? AND held.rank = 0 AND held.entry = listed.entry)"
        )
        given.append(f"missing {filters.edition}")
    return conditions, given


def _placeholders(values: Sequence[object], mark: str = "?") -> str:
    return ", ".join([mark] * len(values))
