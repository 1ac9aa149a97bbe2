"""Reading one entry, and listing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.content.library import Library
from app.entry import Entry, Summary
from app.errors import UnknownEntry
from app.search.answers import Filters
from app.snapshot.snapshot import Snapshot
from app.taxonomy import FACETS, facet_values
from app.usecases.gaps.recorder import NOBODY, Read
from app.usecases.service import Service
from app.usecases.window import Window


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry with what lists say about it and its neighbors."""

    entry: Entry
    summary: Summary
    related: tuple[Summary, ...]


@dataclass(frozen=True, slots=True)
class MovedTo:
    """What was asked for has another id today."""

    id: str


@dataclass(frozen=True, slots=True)
class Listing:
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
    if service.recorder:
        service.note(Read(asker, wanted))
    return found


async def list_entries(
    service: Service, snapshot: Snapshot, filters: Filters, since: date | None, window: Window
) -> Listing:
    """The entries that pass the filters and changed on or after `since`, latest change first."""

    def part() -> Listing:
        found = listed(snapshot.library, filters, since)
        return Listing(len(found), window.of(found))

    return await service.offload(part)


def listed(library: Library, filters: Filters, since: date | None = None) -> tuple[Summary, ...]:
    """Like `list_entries`, all of them, at once."""
    return tuple(
        each
        for each in library.latest(len(library))
        if admits(filters, each) and (since is None or each.updated >= since)
    )


def admits(filters: Filters, summary: Summary) -> bool:
    """Whether an entry has a value of each facet that is filtered by, and the edition."""
    chosen = ((filters.facet(facet), facet_values(summary)[facet]) for facet in FACETS)
    tagged = all(not wanted or set(wanted) & set(values) for wanted, values in chosen)
    return tagged and (filters.edition is None or filters.edition in summary.editions)
