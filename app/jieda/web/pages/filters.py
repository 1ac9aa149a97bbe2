"""Filters as chips: each links to the same search with one value added or removed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from jieda.entry import Language
from jieda.search.answers import FacetCount, SearchAnswer, SearchRequest
from jieda.taxonomy import FACETS, Filters
from jieda.web.pages.context import PageContext

Groups = Mapping[str, Sequence["Chip"]]
"""Filters by facet."""
Address = Callable[[str, Filters], str]
"""Returns the address of a list for a text and filters."""

FEW = 30
"""Number of entries below which a few filters above the results suffice."""
FILTERS_OF_FEW = ("framework", "kind", "version")


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter to switch on or off. `count` is empty if unknown."""

    label: str
    count: str
    url: str
    key: str
    """Identifies the filter, regardless of its count and state."""
    active: bool = False


@dataclass(frozen=True, slots=True)
class FilterBar:
    """All filters. `offered`: inactive filters, which replace the groups if the list is short. `clear`: the address
    without filters, empty if none is active. `hidden`: names and values of hidden fields, which make a new query keep
    the filters."""

    groups: Groups
    active: Sequence[Chip] = ()
    offered: Sequence[Chip] = ()
    clear: str = ""
    hidden: Sequence[tuple[str, str]] = ()


def filter_bar(
    context: PageContext,
    request: SearchRequest,
    answer: SearchAnswer,
    address: Address | None = None,
    doubts: Iterable[str] = (),
) -> FilterBar:
    """Return the filters of a list, active ones first in each facet. `address` returns the list's addresses, by default
    those of a search; `doubts` are the versions that entries on the page may not apply to.

    Leaves out a facet if all results share its only value, since choosing it changes nothing. Offers no filters if
    nothing fits well.
    """
    filters, searched = request.filters, partial(context.urls.search_filtered, context.lang)
    url_of = address or partial(searched, verbatim=request.verbatim)

    def chip(facet: str, value: str, label: str, count: str = "") -> Chip:
        url = url_of(request.text, toggled(filters, facet, value))
        return Chip(label, count, url, f"{facet}:{value}", value in filters.facet(facet))

    groups = {
        facet: [
            chip(facet, value, context.name_of(facet, value), f"{count:,}")
            for value, count in _counts(filters, facet, answer.facets.get(facet, ()))
        ]
        for facet in FACETS
    }
    # Editions only if some entry lacks one; versions that would hide some entry on the page.
    editions = tuple(Language) if context.library.incomplete_languages or filters.edition else ()
    versions = dict.fromkeys((*filters.version, *filter(None, doubts)))
    groups["edition"] = [chip("edition", each.value, each.own_name) for each in editions]
    groups["version"] = [chip("version", each, each) for each in versions]
    operators = [
        Chip(operator.text, "", url_of(operator.without, filters), f"operator:{operator.text}", active=True)
        for operator in answer.operators
    ]
    return _arranged(filters, answer, groups, operators, url_of(request.text, Filters()))


def _arranged(
    filters: Filters, answer: SearchAnswer, groups: Groups, operators: Sequence[Chip], clear: str
) -> FilterBar:
    total = f"{answer.total:,}"
    useful = {
        facet: chips
        for facet, chips in groups.items()
        if chips and not answer.weak and (len(chips) > 1 or chips[0].active or chips[0].count != total)
    }
    is_short = answer.total < FEW
    active = [replace(each, count="") for chips in groups.values() for each in chips if each.active]
    return FilterBar(
        groups={} if is_short else useful,
        active=[*active, *operators],
        offered=[
            each for facet in FILTERS_OF_FEW for each in useful.get(facet, ()) if is_short and not each.active
        ],
        clear=clear if filters else "",
        hidden=[(facet, value) for facet in filters.chosen for value in filters.facet(facet)],
    )


def _counts(filters: Filters, facet: str, counts: Iterable[FacetCount]) -> list[tuple[str, int]]:
    """Return the values of a facet to show, chosen ones first, with their counts."""
    chosen, known = filters.facet(facet), {each.value: each.count for each in counts}
    missing = [value for value in chosen if value not in known]
    values = sorted((*missing, *known), key=lambda value: value not in chosen)
    return [(value, known.get(value, 0)) for value in values if known.get(value) or value in chosen]


def toggled(filters: Filters, facet: str, value: str) -> Filters:
    """Return `filters` with a value added, or removed if present. `facet` is one of FACETS, `edition` or `version`."""
    values = filters.facet(facet)
    if value in values:
        return filters.with_only(facet, *(each for each in values if each != value))
    return filters.with_only(facet, *(() if facet == "edition" else values), value)
