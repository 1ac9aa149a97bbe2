"""Reading one entry, and listing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.entry import Entry, Summary
from app.errors import UnknownEntry
from app.filters import Filters
from app.snapshot.snapshot import Snapshot
from app.usecases.gaps.recorder import NOBODY, EntryRead
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
