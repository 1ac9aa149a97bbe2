"""What lists are made from: the tags of every entry and its place in each order, as tables of SQLite.

    orders   a row for each list that an entry stands in; lists are sorted by `rank`, then by id
    tags     a row for each tag that an entry carries

A library asks its catalog, never all entries one by one: with a hundred thousand of them, a page that lists twenty
reads twenty.
"""

import re
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, TypeVar, overload

from jieda.entry import Language, Summary
from jieda.taxonomy import FACETS, HOLDS, Filters, Taxonomy, facet_values

VERSION = re.compile(r"v?(\d+(?:\.\d+)*)\b", re.ASCII)
"""The version that what an entry applies to begins with, behind the name of its framework."""

LARGEST = (1 << 64) - 1
"""What a part of a version counts at most."""


def shelf_key(summary: Summary, lang: Language, taxonomy: Taxonomy) -> bytes:
    """Sorts frameworks in the order of the taxonomy; what holds for any version, then the latest version first; then
    by title; then the latest change first."""
    framework, edition = summary.framework, summary.edition(lang)
    frameworks = list(taxonomy.framework)
    known = framework in taxonomy.framework
    name = taxonomy.framework[framework].name[lang] if known else framework
    newest = version_of(beside_framework(name, edition.applies_to))
    pieces = [_number(frameworks.index(framework) if known else len(frameworks)), framework.encode(), b"\0"]
    # Where one version goes on behind the other, the end of the shorter one comes first.
    pieces += [b"\1" + _number(LARGEST - min(part, LARGEST)) for part in newest]
    pieces += [b"\0", edition.title.encode("utf-8", "surrogatepass"), b"\0"]
    return b"".join(pieces) + _number(LARGEST - summary.updated.toordinal())


def _number(number: int) -> bytes:
    """A number in a form that sorts as it does."""
    return number.to_bytes(8, "big")


def version_of(applies_to: str) -> tuple[int, ...]:
    """The version that a text begins with, empty where it begins with none."""
    found = VERSION.match(applies_to)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def beside_framework(name: str, applies_to: str) -> str:
    """What `applies_to` says beyond the name of the framework that stands before it on the page.

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
"""Entries are neighbors by the tags of these that they share."""
SHARED_TAG, SAME_FRAMEWORK = 2, 1
"""What a shared tag counts among neighbors, and the same framework."""
CACHED_COUNTS = 256

ALL, LATEST = "all", "latest"
EVERYTHING = Filters()

Value = TypeVar("Value")
Ask = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
"""Answers a SELECT. Raises sqlite3.Error."""
Select = tuple[str, tuple[object, ...]]
"""A SELECT of ids, and what its question marks stand for."""
Count = Callable[[Select], int]


def put_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Enters entries into the tables. Raises sqlite3.Error."""
    for summary in summaries:
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", _places(summary, taxonomy))
        connection.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?, ?)", _tags(summary))


def remove_entries(connection: sqlite3.Connection, summaries: Iterable[Summary], taxonomy: Taxonomy) -> None:
    """Takes entries out again that were entered as they are here. Raises sqlite3.Error."""
    for summary in summaries:
        connection.executemany(
            "DELETE FROM orders WHERE list = ? AND rank = ? AND entry = ?", _places(summary, taxonomy)
        )
        connection.executemany("DELETE FROM tags WHERE facet = ? AND value = ? AND entry = ?", _tags(summary))


def _places(summary: Summary, taxonomy: Taxonomy) -> Iterator[tuple[str, object, str]]:
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


def _tags(summary: Summary) -> list[tuple[str, str, str]]:
    return [(facet, value, summary.id) for facet, values in facet_values(summary).items() for value in values]


def in_memory(summaries: Iterable[Summary], taxonomy: Taxonomy) -> Ask:
    """Tables of these entries that nobody else has."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(TABLES)
    put_entries(connection, summaries, taxonomy)

    def ask(query: str, given: Sequence[object]) -> list[tuple[Any, ...]]:
        return connection.execute(query, given).fetchall()

    # Python 3.13 and later warn of one that is forgotten open.
    weakref.finalize(ask, connection.close)
    return ask


class Listed(Sequence[Value]):
    """A list that a SELECT gives, read where it is looked at. A slice is a tuple."""

    def __init__(self, ask: Ask, select: Select, count: Count, read: Callable[[str], Value]) -> None:
        """`select` gives ids in their order, and `count` how many; `read` gives a value for an id."""
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
        start, stop, step = place.start or 0, place.stop, place.step or 1
        if stop is not None and 0 <= start <= stop and step == 1:
            # The first of a long list: how long it is need not be known.
            return tuple(map(self._read, self._ids(start, stop - start)))
        places = range(len(self))[place]
        if not places:
            return ()
        first = min(places[0], places[-1])
        ids = self._ids(first, abs(places[-1] - places[0]) + 1)
        return tuple(self._read(ids[number - first]) for number in places)

    def __iter__(self) -> Iterator[Value]:
        return map(self._read, self._ids(0, -1))

    def _ids(self, start: int, count: int) -> list[str]:
        """So many ids from a place on; all of them for -1."""
        query, given = self._select
        found = self._ask(f"{query} LIMIT ? OFFSET ?", (*given, count, start))
        return [entry_id for (entry_id,) in found]


class Catalog:
    """All entries of a library. A list reads what it has when it is looked at. Safe to share between threads."""

    def __init__(self, ask: Ask, read: Callable[[str], Summary]) -> None:
        """`ask` has the tables; `read` gives what a list shows of an id that they have."""
        self._ask = ask
        self._read = read
        self._counted = lru_cache(CACHED_COUNTS)(self._count)
        self._size = lru_cache(CACHED_COUNTS)(self._count_all)
        every = "SELECT entry FROM orders WHERE list = ? ORDER BY rank, entry"
        self.ids: Sequence[str] = Listed(ask, (every, (ALL,)), self._size, str)
        """All ids, sorted."""

    def __contains__(self, entry_id: object) -> bool:
        found = "SELECT entry FROM orders WHERE list = ? AND rank = 0 AND entry = ?"
        return isinstance(entry_id, str) and bool(self._ask(found, (ALL, entry_id)))

    def summary(self, entry_id: str) -> Summary:
        """What a list shows of an entry. Raises KeyError for an unknown id."""
        return self._read(entry_id)

    def listed(self, filters: Filters = EVERYTHING, since: date | None = None) -> Sequence[Summary]:
        """The entries that pass the filters and changed on or after `since`, latest change first; of one day by id."""
        return self._select(LATEST, filters, -since.toordinal() if since else None)

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """Those that pass the filters, in the order of `shelf.shelf_key` for readers of a language."""
        return self._select(f"shelved {lang}", filters)

    def published(self, lang: Language) -> Sequence[Summary]:
        """Those that have an edition in a language, the latest change of that edition first; of one day by id."""
        return self._select(f"published {lang}")

    def missing(self, lang: Language) -> Sequence[Summary]:
        """Those that have no edition in a language, by id."""
        return self._select(f"missing {lang}")

    def stale(self, lang: Language) -> Sequence[Summary]:
        """Those whose edition in a language is older than what its twin says, by id."""
        return self._select(f"stale {lang}")

    def counts(self, facet: str, filters: Filters = EVERYTHING) -> Mapping[str, int]:
        """How many of those that pass the filters carry each value of a facet; values that none carries are left
        out."""
        return self._counted(filters, facet)

    def values(self, facet: str) -> tuple[str, ...]:
        """The values of a facet that entries carry, sorted."""
        query = "SELECT DISTINCT value FROM tags WHERE facet = ? ORDER BY value"
        return tuple(value for (value,) in self._ask(query, (facet,)))

    def alike(self, entry_id: str, most: int, without: Iterable[str]) -> tuple[Summary, ...]:
        """At most `most` other entries that share tags with one, those that share most of them first; none of
        `without`."""
        own = self._read(entry_id)
        tags = [tag for tag in _tags(own) if tag[0] in ALIKE_FACETS]
        left_out = (entry_id, *without)
        query = (
            "SELECT entry FROM tags WHERE (facet, value) IN "  # noqa: S608 - only question marks
            f"(VALUES {_marks(tags, '(?, ?)')}) AND entry NOT IN ({_marks(left_out)}) "
            "GROUP BY entry ORDER BY ? * COUNT(*) + ? * (substr(entry, 1, ?) = ?) DESC, entry LIMIT ?"
        )
        framework = f"{own.framework}/"
        given = [each for facet, value, _ in tags for each in (facet, value)]
        worth = (SHARED_TAG, SAME_FRAMEWORK, len(framework), framework)
        found = self._ask(query, (*given, *left_out, *worth, most)) if tags else []
        return tuple(self._read(other) for (other,) in found)

    def _select(
        self, order: str, filters: Filters = EVERYTHING, until: int | None = None
    ) -> Sequence[Summary]:
        """The entries of a list that pass, up to a rank."""
        narrowed, given = _narrowed(filters)
        if until is not None:
            narrowed, given = f" AND rank <= ?{narrowed}", [until, *given]
        query = f"SELECT entry FROM orders AS listed WHERE list = ?{narrowed} ORDER BY rank, entry"  # noqa: S608 - as above
        return Listed(self._ask, (query, (order, *given)), self._size, self._read)

    def _count_all(self, select: Select) -> int:
        query, given = select
        return int(self._ask(f"SELECT COUNT(*) FROM ({query})", given)[0][0])  # noqa: S608 - as above

    def _count(self, filters: Filters, facet: str) -> Mapping[str, int]:
        narrowed, given = _narrowed(filters)
        query = f"SELECT value, COUNT(*) FROM tags AS listed WHERE facet = ?{narrowed} GROUP BY value"  # noqa: S608 - as above
        return {value: int(count) for value, count in self._ask(query, (facet, *given))}


def _narrowed(filters: Filters) -> tuple[str, list[object]]:
    """The conditions that filters are for what is `listed`, and what they are given."""
    conditions, given = "", list[object]()
    tags = [(facet, "", filters.facet(facet)) for facet in FACETS] + [(HOLDS, "NOT ", filters.ruled_out)]
    for facet, negated, values in tags:
        if values:
            conditions += (
                f" AND {negated}EXISTS (SELECT 1 FROM tags AS held "  # noqa: S608 - only question marks
                f"WHERE held.facet = ? AND held.value IN ({_marks(values)}) AND held.entry = listed.entry)"
            )
            given += [facet, *values]
    if filters.edition is not None:
        conditions += (
            " AND NOT EXISTS (SELECT 1 FROM orders AS held "
            "WHERE held.list = ? AND held.rank = 0 AND held.entry = listed.entry)"
        )
        given.append(f"missing {filters.edition}")
    return conditions, given


def _marks(values: Sequence[object], mark: str = "?") -> str:
    return ", ".join([mark] * len(values))
