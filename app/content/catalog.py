"""What lists are made from: every entry's id, tags, days and place in each order, without its text.

A library asks its catalog, never all entries one by one: with a hundred thousand of them, a page that lists twenty
reads twenty.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol, overload

from app.content.shelf import shelf_key
from app.entry import Language, Summary
from app.filters import Filters
from app.taxonomy import FACETS, Taxonomy, facet_values

ALIKE_FACETS = ("topic", "error_type")
"""Entries are neighbors by the tags of these that they share."""
SHARED_TAG, SAME_FRAMEWORK = 2, 1
"""What a shared tag counts among neighbors, and the same framework."""


class Catalog(Protocol):
    """All entries of a library. What it lists is read when it is looked at; ids are those that it has."""

    @property
    def ids(self) -> Sequence[str]:
        """All ids, sorted."""

    def __contains__(self, entry_id: object) -> bool: ...

    def summary(self, entry_id: str) -> Summary:
        """What a list shows of an entry. Raises KeyError for an unknown id."""

    def listed(self, filters: Filters, since: date | None = None) -> Sequence[Summary]:
        """The entries that pass the filters and changed on or after `since`, latest change first; of one day by id."""

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """Those that pass the filters, in the order of `shelf.shelf_key` for readers of a language."""

    def counts(self, filters: Filters, facet: str) -> Mapping[str, int]:
        """How many of those that pass the filters carry each value of a facet; values that none carries are left
        out."""

    def published(self, lang: Language) -> Sequence[Summary]:
        """Those that have an edition in a language, the latest change of that edition first; of one day by id."""

    def missing(self, lang: Language) -> Sequence[Summary]:
        """Those that have no edition in a language, by id."""

    def stale(self, lang: Language) -> Sequence[Summary]:
        """Those whose edition in a language is older than what its twin says, by id."""

    def alike(self, entry_id: str, most: int, without: Iterable[str]) -> tuple[Summary, ...]:
        """At most `most` other entries that share tags with one, those that share most of them first; none of
        `without`."""


class Listed(Sequence[Summary]):
    """Entries of a list, each read when it is looked at. A slice is a tuple."""

    def __init__(self, names: Sequence[int], read: Callable[[int], Summary]) -> None:
        """`names`: what `read` knows the entries by."""
        self._names, self._read = names, read

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, place: int) -> Summary: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Summary, ...]: ...

    def __getitem__(self, place: int | slice) -> Summary | tuple[Summary, ...]:
        if isinstance(place, slice):
            return tuple(self._read(int(name)) for name in self._names[place])
        return self._read(int(self._names[place]))

    def __iter__(self) -> Iterator[Summary]:
        return (self._read(int(name)) for name in self._names)


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders in which lists have entries, as numbers of summaries that are sorted by id."""

    latest: Sequence[int]
    shelved: Mapping[Language, Sequence[int]]
    published: Mapping[Language, Sequence[int]]


def orders_of(summaries: Sequence[Summary], taxonomy: Taxonomy) -> Orders:
    """The orders of entries that are sorted by id."""
    numbers = range(len(summaries))
    latest = sorted(numbers, key=lambda number: -summaries[number].updated.toordinal())
    frameworks = list(taxonomy.framework)
    shelved, published = {}, {}
    for lang in Language:
        keys = [shelf_key(each, lang, taxonomy, frameworks) for each in summaries]
        shelved[lang] = sorted(latest, key=keys.__getitem__)
        held = [number for number in numbers if lang in summaries[number].editions]
        published[lang] = sorted(held, key=lambda n: -summaries[n].editions[lang].updated.toordinal())
    return Orders(latest, shelved, published)


class HeldCatalog:
    """A catalog of entries that are all in memory. Implements `Catalog`."""

    def __init__(self, summaries: Mapping[str, Summary], taxonomy: Taxonomy) -> None:
        self._summaries = dict(sorted(summaries.items()))
        self._held = tuple(self._summaries.values())
        self._orders = orders_of(self._held, taxonomy)
        self.ids: Sequence[str] = tuple(self._summaries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._summaries

    def summary(self, entry_id: str) -> Summary:
        """As `Catalog.summary`."""
        return self._summaries[entry_id]

    def listed(self, filters: Filters, since: date | None = None) -> Sequence[Summary]:
        """As `Catalog.listed`."""
        passing = self._passing(self._orders.latest, filters)
        return tuple(each for each in passing if since is None or each.updated >= since)

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """As `Catalog.shelved`."""
        return tuple(self._passing(self._orders.shelved[lang], filters))

    def counts(self, filters: Filters, facet: str) -> Mapping[str, int]:
        """As `Catalog.counts`."""
        passing = self._passing(self._orders.latest, filters)
        return Counter(value for each in passing for value in facet_values(each)[facet])

    def published(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.published`."""
        return tuple(self._held[number] for number in self._orders.published[lang])

    def missing(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.missing`."""
        return tuple(each for each in self._held if lang not in each.editions)

    def stale(self, lang: Language) -> Sequence[Summary]:
        """As `Catalog.stale`."""
        return tuple(each for each in self._held if lang in each.stale)

    def alike(self, entry_id: str, most: int, without: Iterable[str]) -> tuple[Summary, ...]:
        """As `Catalog.alike`."""
        own, left_out = self._summaries[entry_id], {entry_id, *without}
        wanted = {(facet, value) for facet in ALIKE_FACETS for value in facet_values(own)[facet]}
        found = []
        for other in self._held:
            tags = facet_values(other)
            shared = sum((facet, value) in wanted for facet in ALIKE_FACETS for value in tags[facet])
            if shared and other.id not in left_out:
                same = SAME_FRAMEWORK * (other.framework == own.framework)
                found.append((-SHARED_TAG * shared - same, other.id))
        return tuple(self._summaries[other] for _, other in sorted(found)[:most])

    def _passing(self, order: Sequence[int], filters: Filters) -> Iterator[Summary]:
        return (self._held[number] for number in order if filters.admit(self._held[number]))


def tags_of(summary: Summary) -> Iterator[tuple[str, str]]:
    """Every tag of an entry: facet and value."""
    values = facet_values(summary)
    return ((facet, value) for facet in FACETS for value in values[facet])
