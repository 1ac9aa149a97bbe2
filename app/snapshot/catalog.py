"""The catalog of a generation: orders, tags and ids as arrays mapped into memory, summaries read from its rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import numpy as np

from app.content.catalog import ALIKE_FACETS, SAME_FRAMEWORK, SHARED_TAG, Listed, orders_of, tags_of
from app.entry import Language, Summary
from app.filters import Filters
from app.search.index.array_file import (
    Array,
    Occurrences,
    Strings,
    Table,
    narrow,
    string_arrays,
    table_arrays,
)
from app.snapshot.records import EntryRow
from app.taxonomy import FACETS, Taxonomy, facet_values

EVERYTHING = Filters()


def catalog_arrays(summaries: Sequence[Summary], taxonomy: Taxonomy) -> dict[str, Array]:
    """What a `StoredCatalog` reads, of entries that are sorted by id."""
    orders = orders_of(summaries, taxonomy)
    places = {tag: place for place, tag in enumerate(dict.fromkeys(t for s in summaries for t in tags_of(s)))}
    carried = [(places[tag], number) for number, each in enumerate(summaries) for tag in tags_of(each)]
    columns = np.array(carried, dtype=np.int64).reshape(-1, 2)
    tags = Occurrences([_tag(*tag) for tag in places], columns[:, 0], (columns[:, 1],))
    found = {
        **string_arrays("ids", [each.id for each in summaries]),
        **table_arrays("tags", tags),
        "latest": _numbers(orders.latest),
        "days": narrow(np.array([each.updated.toordinal() for each in summaries], dtype=np.int64)),
    }
    for lang in Language:
        found[f"shelved.{lang}"] = _numbers(orders.shelved[lang])
        found[f"published.{lang}"] = _numbers(orders.published[lang])
        found[f"stale.{lang}"] = _numbers([n for n, each in enumerate(summaries) if lang in each.stale])
    return found


class StoredCatalog:
    """A catalog whose entries stay on disk. Implements `catalog.Catalog`. Safe to share between threads."""

    def __init__(self, arrays: Mapping[str, Array], rows: Sequence[EntryRow]) -> None:
        """Raises KeyError where an array is missing."""
        self._names, self._rows, self._size = Strings(arrays, "ids"), rows, len(rows)
        self._tags = Table(arrays, "tags", 1)
        self._latest, self._days = arrays["latest"], arrays["days"]
        self._shelved, self._published, self._stale = (
            {lang: arrays[f"{order}.{lang}"] for lang in Language}
            for order in ("shelved", "published", "stale")
        )
        self.ids: Sequence[str] = self._names

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self.ids

    def row(self, entry_id: str) -> EntryRow:
        """All that a generation says of an entry. Raises KeyError for an unknown id, RecordUnreadable."""
        return self._rows[self._number(entry_id)]

    def summary(self, entry_id: str) -> Summary:
        """As `Catalog.summary`. Raises RecordUnreadable, too."""
        return self.row(entry_id).head.summary

    def listed(self, filters: Filters, since: date | None = None) -> Sequence[Summary]:
        """As `Catalog.listed`."""
        passing = self._passing(filters)
        if since is not None:
            passing &= self._days >= since.toordinal()
        return self._read(self._latest[passing[self._latest]])

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """As `Catalog.shelved`."""
        order = self._shelved[lang]
        return self._read(order[self._passing(filters)[order]])

    def counts(self, filters: Filters, facet: str) -> Mapping[str, int]:
        """As `Catalog.counts`."""
        passing = self._passing(filters)
        found = {value: int(passing[self._holders(facet, value)].sum()) for value in self._values(facet)}
        return {value: count for value, count in found.items() if count}

    def published(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.published`."""
        return self._read(self._published[lang])

    def missing(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.missing`."""
        return self._read(np.flatnonzero(~self._among(self._published[lang])))

    def stale(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.stale`."""
        return self._read(self._stale[lang])

    def alike(self, entry_id: str, most: int, without: Iterable[str]) -> tuple[Summary, ...]:
        """As `Catalog.alike`."""
        own = self.summary(entry_id)
        worth = np.zeros(self._size, dtype=np.int32)
        for facet in ALIKE_FACETS:
            for value in facet_values(own)[facet]:
                worth[self._holders(facet, value)] += SHARED_TAG
        siblings = self._holders("framework", own.framework)
        worth[siblings] += SAME_FRAMEWORK * (worth[siblings] > 0)
        worth[[self._number(each) for each in (entry_id, *without)]] = 0
        found = np.flatnonzero(worth)
        nearest = found[np.lexsort((found, -worth[found]))[:most]]
        return tuple(self._read(nearest))

    def _number(self, entry_id: str) -> int:
        number = self._names.find(entry_id)
        if number is None:
            raise KeyError(entry_id)
        return number

    def _read(self, numbers: Array) -> Listed:
        return Listed(np.ascontiguousarray(numbers).data, lambda number: self._rows[number].head.summary)

    def _passing(self, filters: Filters) -> Array:
        """Which entries pass some filters."""
        passing = np.ones(self._size, dtype=np.bool_)
        if filters == EVERYTHING:
            return passing
        for facet in FACETS:
            if values := filters.facet(facet):
                passing &= self._among(*(self._holders(facet, value) for value in values))
        if filters.edition is not None:
            passing &= self._among(self._published[filters.edition])
        return passing

    def _among(self, *numbers: Array) -> Array:
        """Which entries are among some."""
        among = np.zeros(self._size, dtype=np.bool_)
        for each in numbers:
            among[each] = True
        return among

    def _values(self, facet: str) -> list[str]:
        """The values of a facet that entries carry."""
        prefix = _tag(facet, "")
        tags = self._tags.strings
        return [tag.removeprefix(prefix) for tag in tags.slice(tags.prefixed(prefix))]

    def _holders(self, facet: str, value: str) -> Array:
        """The numbers of the entries that carry a tag, ascending."""
        rows = self._tags.rows(_tag(facet, value))
        return self._tags.columns[0][rows if rows is not None else slice(0)]


def _tag(facet: str, value: str) -> str:
    return f"{facet}:{value}"


def _numbers(numbers: Sequence[int]) -> Array:
    return narrow(np.array(numbers, dtype=np.int64))
