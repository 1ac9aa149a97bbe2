"""Filters of the search page as chips: each is a link to the same search with one value more or less."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from jieda.entry import Language
from jieda.search.answers import FacetCount, SearchAnswer, SearchRequest
from jieda.taxonomy import FACETS, Filters
from jieda.web.pages.context import PageContext
from jieda.web.pages.parts import name_of

Address = Callable[[str, Filters], str]
"""The address of a list for a text under some filters."""

FEW = 30
"""Entries up to which nobody needs more filters than a look takes: framework, kind and version, above them."""
OF_FEW = ("framework", "kind", "version")
SHOWN = 6
"""Chips of a facet that are seen at once; two or more others wait behind a disclosure."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that can be put on or taken off. `count` is empty where it is not known."""

    label: str
    count: str
    url: str
    active: bool
    key: str
    """Names the filter, whatever its count and whether it is on."""


@dataclass(frozen=True, slots=True)
class ChipGroup:
    """The filters of one facet."""

    facet: str
    label: str
    chips: tuple[Chip, ...]
    more: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class FilterBar:
    """All filters. `clear` is an address without any, empty where none is on."""

    groups: tuple[ChipGroup, ...]
    active: tuple[Chip, ...]
    offered: tuple[Chip, ...]
    """Beside those that are on, in place of the groups, where few entries are listed."""
    clear: str
    hidden: tuple[tuple[str, str], ...]
    """Names and values for hidden fields, so that a new query keeps the filters."""


def filter_bar(
    context: PageContext,
    request: SearchRequest,
    answer: SearchAnswer,
    address: Address | None = None,
    doubts: Iterable[str] = (),
) -> FilterBar:
    """The filters that a list offers, those that are on first in each facet. `address` is that of the list, by
    default of a search; `doubts` are the versions that entries on the page may not apply to.

    A facet in which everything found has the one value is left out: to choose it would change nothing. Where nothing
    fits well there is nothing to choose from.
    """
    filters = request.filters
    links = _ChipLinks(context, request.text, filters, address or _search_address(context))
    groups = [links.group(facet, answer.facets.get(facet, ())) for facet in FACETS]
    groups += [links.editions(), links.versions(doubts)]
    active = tuple(
        replace(chip, count="") for group in groups for chip in (*group.chips, *group.more) if chip.active
    )
    active += tuple(
        Chip(one.text, "", links.address(one.without, filters), active=True, key=f"operator:{one.text}")
        for one in answer.operators
    )
    useful = tuple(
        group for group in groups if group.chips and not answer.weak and not _is_idle(group, answer.total)
    )
    few = answer.total < FEW
    offered = [chip for group in useful if group.facet in OF_FEW for chip in (*group.chips, *group.more)]
    return FilterBar(
        groups=() if few else useful,
        active=active,
        offered=tuple(chip for chip in offered if not chip.active) if few else (),
        clear=links.address(request.text, Filters()) if filters else "",
        hidden=tuple((facet, value) for facet in filters.chosen for value in _values(filters, facet)),
    )


def _search_address(context: PageContext) -> Address:
    return lambda text, filters: context.urls.search_filtered(context.lang, text, filters)


def _is_idle(group: ChipGroup, total: int) -> bool:
    return len(group.chips) == 1 and not group.chips[0].active and group.chips[0].count == f"{total:,}"


def toggled(filters: Filters, facet: str, value: str) -> Filters:
    """`filters` with a value put on, or taken off if it was on. `facet` is one of FACETS, `edition` or
    `version`."""
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
class _ChipLinks:
    """The search at hand, from which each chip leads on."""

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
        label = self.context.t(f"facet.{facet}")
        shown = len(chips) if len(chips) == SHOWN + 1 else SHOWN
        return ChipGroup(facet, label, tuple(chips[:shown]), tuple(chips[shown:]))

    def editions(self) -> ChipGroup:
        """Offered only where it makes a difference: some entry lacks an edition."""
        snapshot = self.context.snapshot
        complete = snapshot is None or not snapshot.library.lacking
        offered = () if complete and not self.filters.edition else tuple(Language)
        chips = tuple(self.chip("edition", lang.value, lang.own_name, "") for lang in offered)
        return ChipGroup("edition", self.context.t("facet.edition"), chips, ())

    def versions(self, doubts: Iterable[str]) -> ChipGroup:
        """Those that some entry on the page may not apply to: without it, it would be out of the way."""
        offered = dict.fromkeys((*self.filters.version, *filter(None, doubts)))
        chips = tuple(self.chip("version", each, each, "") for each in offered)
        return ChipGroup("version", self.context.t("facet.version"), chips, ())

    def chip(self, facet: str, value: str, label: str, count: str) -> Chip:
        changed = toggled(self.filters, facet, value)
        url = self.address(self.text, changed)
        return Chip(label, count, url, value in _values(self.filters, facet), f"{facet}:{value}")
