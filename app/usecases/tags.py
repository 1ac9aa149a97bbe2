"""Tags that a visitor names, held against the taxonomy, and how many entries carry each."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.content.library import Library
from app.entry import Summary
from app.errors import UnknownTag
from app.filters import Filters
from app.snapshot.snapshot import Snapshot
from app.taxonomy import FACETS, Tag
from app.usecases.service import Service
from app.usecases.window import Window

MAX_TAGS = 50
"""Values of one facet that a request may filter by."""


@dataclass(frozen=True, slots=True)
class CountedTag:
    """A tag and how many entries carry it."""

    tag: Tag
    count: int


@dataclass(frozen=True, slots=True)
class TagListing:
    """A part of the entries that carry a tag, latest change first, and how they spread over other facets.

    `spread` maps each of `entry.FACETS` to its tags that occur, in the order of the taxonomy.
    """

    total: int
    entries: Sequence[Summary]
    spread: dict[str, tuple[CountedTag, ...]]


def check_filters(filters: Filters, library: Library) -> None:
    """Raises UnknownTag for the first value that the taxonomy lacks."""
    for facet in FACETS:
        for value in filters.facet(facet):
            check_tag(facet, value, library)


def check_tag(facet: str, value: str, library: Library) -> None:
    """Raises UnknownTag where the taxonomy lacks the value."""
    if value not in library.taxonomy.facet(facet):
        raise UnknownTag(facet=facet, value=value[:100])


def all_tags(library: Library, facet: str) -> tuple[CountedTag, ...]:
    """The tags of a facet in the order of the taxonomy, those that no entry carries included."""
    counts = library.counts(facet)
    return tuple(CountedTag(tag, counts.get(tag.id, 0)) for tag in library.taxonomy.facet(facet).values())


def used_tags(library: Library, facet: str) -> tuple[CountedTag, ...]:
    """The tags of a facet that some entry carries, in the order of the taxonomy."""
    return tuple(each for each in all_tags(library, facet) if each.count)


async def list_tagged(
    service: Service, snapshot: Snapshot, facet: str, value: str, window: Window
) -> TagListing:
    """The entries that carry a tag."""
    library, chosen = snapshot.library, Filters().with_only(facet, value)

    def listed() -> TagListing:
        entries = library.listed(chosen)
        return TagListing(
            total=len(entries),
            entries=window.of(entries),
            spread={other: _spread(library, chosen, other) for other in FACETS if other != facet},
        )

    return await service.offload(listed)


def _spread(library: Library, chosen: Filters, facet: str) -> tuple[CountedTag, ...]:
    counts = library.counts(facet, chosen)
    tags = library.taxonomy.facet(facet).values()
    return tuple(CountedTag(tag, counts[tag.id]) for tag in tags if tag.id in counts)
