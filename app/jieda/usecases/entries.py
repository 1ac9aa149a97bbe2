"""Reading one entry, listing them, by their tags as well, and voting on one."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from jieda.content.library import Library
from jieda.entry import Entry, Language, Summary
from jieda.errors import UnknownEntry
from jieda.feedback import FeedbackStore, FeedbackUnusable, VoteCount
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, Filters, Tag, Window
from jieda.usecases.gaps.recorder import NOBODY, EntryRead
from jieda.usecases.service import Service


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry with what lists say about it and its neighbors."""

    entry: Entry
    summary: Summary
    related: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class MovedTo:
    """The id that an entry asked for by an old one has today."""

    id: str


@dataclass(frozen=True, slots=True)
class EntryListing:
    """A part of a list of entries. `total` counts all of it."""

    total: int
    entries: Sequence[Summary]


async def read(
    service: Service, snapshot: Snapshot, wanted: str, asker: bytes = NOBODY
) -> ReadEntry | MovedTo:
    """An entry, or the id that it has today. Raises UnknownEntry. `asker` as in `search`."""
    library = snapshot.library
    if wanted not in library:
        today = library.resolve(wanted)
        if today is None:
            raise UnknownEntry(id=wanted[:200])
        return MovedTo(today)

    def whole() -> ReadEntry:
        entry = library.entry(wanted)
        if entry is None:
            raise UnknownEntry(id=wanted[:200])
        return ReadEntry(entry, library.summary(wanted), library.related(wanted))

    found = await service.offload(whole)
    note_read(service, wanted, asker)
    return found


def note_read(service: Service, entry_id: str, asker: bytes) -> None:
    """Takes down that an entry was read, where gaps are kept: it may be the answer to what was asked before."""
    if service.recorder:
        service.note(EntryRead(asker, entry_id))


async def list_entries(
    service: Service, snapshot: Snapshot, filters: Filters, since: date | None, window: Window
) -> EntryListing:
    """The entries that pass the filters and changed on or after `since`, latest change first."""

    def part() -> EntryListing:
        found = snapshot.library.listed(filters, since)
        return EntryListing(len(found), window.of(found))

    return await service.offload(part)


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


log = logging.getLogger(__name__)


async def vote(service: Service, entry: str, lang: Language, *, solved: bool) -> bool:
    """Counts what a reader of an edition said; whether it could be kept."""
    store = FeedbackStore(service.knowledge.data)
    try:
        await service.offload(lambda: store.vote(entry, lang, solved=solved))
    except FeedbackUnusable as error:
        log.warning("a vote was lost: %s", error)
        return False
    return True


def vote_counts(service: Service) -> tuple[VoteCount, ...]:
    """All votes, read from disk; none where they cannot be read."""
    try:
        return FeedbackStore(service.knowledge.data).votes()
    except FeedbackUnusable as error:
        log.warning("votes cannot be read: %s", error)
        return ()
