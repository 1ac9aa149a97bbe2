"""Filters as chips: each links to the same search with one value added or removed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from jieda.entry import Language
from jieda.search.answers import FacetCount, SearchAnswer, SearchRequest
from jieda.taxonomy import FACETS, Filters
from jieda.web.pages.context import PageContext
from jieda.web.pages.parts import name_of

Address = Callable[[str, Filters], str]
"""Returns the address of a list for a text and filters."""

FEW = 30
"""Number of entries below which fewer filters suffice: framework, kind and version, above the results."""
OF_FEW = ("framework", "kind", "version")
SHOWN = 6
"""Visible chips per facet; two or more others are collapsed."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter to switch on or off. `count` is empty where unknown."""

    label: str
    count: str
    url: str
    active: bool
    key: str
    """Identifies the filter, whatever its count or state."""


@dataclass(frozen=True, slots=True)
class ChipGroup:
    """The filters of one facet."""

    facet: str
    label: str
    chips: tuple[Chip, ...]

    @property
    def shown(self) -> tuple[Chip, ...]:
        """The visible chips."""
        return self.chips if len(self.chips) == SHOWN + 1 else self.chips[:SHOWN]

    @property
    def more(self) -> tuple[Chip, ...]:
        """The collapsed chips."""
        return self.chips[len(self.shown) :]


@dataclass(frozen=True, slots=True)
class FilterBar:
    """All filters. `clear` is the address without filters, empty where none is active."""

    groups: tuple[ChipGroup, ...]
    active: tuple[Chip, ...]
    offered: tuple[Chip, ...]
    """Inactive filters shown in place of the groups where the list is short."""
    clear: str
    hidden: tuple[tuple[str, str], ...]
    """Names and values of hidden fields, so that a new query keeps the filters."""


def filter_bar(
    context: PageContext,
    request: SearchRequest,
    answer: SearchAnswer,
    address: Address | None = None,
    doubts: Iterable[str] = (),
) -> FilterBar:
    """Return the filters of a list, active ones first in each facet. `address` returns its addresses, by default those
    of a search; `doubts` are the versions that entries on the page may not apply to.

    A facet is left out where all results share its only value, since choosing it changes nothing. No filters are
    offered where nothing fits well.
    """
    filters = request.filters
    chips = _ChipBuilder(
        context, request.text, filters, address or partial(context.urls.search_filtered, context.lang)
    )
    groups = [chips.group(facet, answer.facets.get(facet, ())) for facet in FACETS]
    groups += [chips.editions(), chips.versions(doubts)]
    active = tuple(replace(chip, count="") for group in groups for chip in group.chips if chip.active)
    active += tuple(
        Chip(one.text, "", chips.address(one.without, filters), active=True, key=f"operator:{one.text}")
        for one in answer.operators
    )
    useful = tuple(
        group
        for group in groups
        if group.chips and not answer.weak and not _changes_nothing(group, answer.total)
    )
    is_short = answer.total < FEW
    offered = [chip for group in useful if group.facet in OF_FEW for chip in group.chips if not chip.active]
    return FilterBar(
        groups=() if is_short else useful,
        active=active,
        offered=tuple(offered) if is_short else (),
        clear=chips.address(request.text, Filters()) if filters else "",
        hidden=tuple((facet, value) for facet in filters.chosen for value in _values(filters, facet)),
    )


def _changes_nothing(group: ChipGroup, total: int) -> bool:
    return len(group.chips) == 1 and not group.chips[0].active and group.chips[0].count == f"{total:,}"


def toggled(filters: Filters, facet: str, value: str) -> Filters:
    """Return `filters` with a value added, or removed if present. `facet` is one of FACETS, `edition` or `version`."""
    values, kept = _values(filters, facet), filters.without(facet)
    if facet == "edition":
        return kept if value in values else replace(kept, edition=Language(value))
    rest = tuple(each for each in values if each != value)
    return kept.with_only(facet, *(rest if value in values else (*values, value)))


def _values(filters: Filters, facet: str) -> tuple[str, ...]:
    if facet == "edition":
        return (filters.edition.value,) if filters.edition else ()
    return filters.facet(facet)


@dataclass(frozen=True, slots=True)
class _ChipBuilder:
    """Builds chips that lead on from the current search."""

    context: PageContext
    text: str
    filters: Filters
    address: Address

    def group(self, facet: str, counts: tuple[FacetCount, ...]) -> ChipGroup:
        known = {count.value: count.count for count in counts}
        chosen = [value for value in _values(self.filters, facet) if value not in known]
        chips = [
            self.chip(facet, value, name_of(self.context, facet, value), f"{known.get(value, 0):,}")
            for value in (*chosen, *known)
            if known.get(value) or value in _values(self.filters, facet)
        ]
        chips.sort(key=lambda chip: not chip.active)
        return ChipGroup(facet, self.context.t(f"facet.{facet}"), tuple(chips))

    def editions(self) -> ChipGroup:
        """Return the filter by edition, offered only where some entry lacks an edition."""
        offered = tuple(Language) if self.context.library.lacking or self.filters.edition else ()
        chips = tuple(self.chip("edition", lang.value, lang.own_name, "") for lang in offered)
        return ChipGroup("edition", self.context.t("facet.edition"), chips)

    def versions(self, doubts: Iterable[str]) -> ChipGroup:
        """Return the versions that some entry on the page may not apply to; the filter would hide it."""
        offered = dict.fromkeys((*self.filters.version, *filter(None, doubts)))
        chips = tuple(self.chip("version", each, each, "") for each in offered)
        return ChipGroup("version", self.context.t("facet.version"), chips)

    def chip(self, facet: str, value: str, label: str, count: str) -> Chip:
        changed = toggled(self.filters, facet, value)
        url = self.address(self.text, changed)
        return Chip(label, count, url, value in _values(self.filters, facet), f"{facet}:{value}")
