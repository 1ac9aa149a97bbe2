"""Reads entries, counts their tags, and records whether an entry helped."""

import logging
from dataclasses import dataclass

from jieda.content.catalog import EVERYTHING
from jieda.content.library import Library
from jieda.entry import Entry, Language, Summary
from jieda.errors import UnknownEntry
from jieda.feedback import FeedbackStore, FeedbackUnusable, TriedOutcome, VoteCount
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import Filters, Tag
from jieda.usecases.gaps.recorder import NOBODY, EntryRead
from jieda.usecases.gaps.redact import Redactor
from jieda.usecases.service import Service


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry with its summary and its neighbors."""

    entry: Entry
    summary: Summary
    related: tuple[Summary, ...]


async def read(service: Service, snapshot: Snapshot, wanted: str, asker: bytes = NOBODY) -> ReadEntry | str:
    """Read an entry; for an old id, return the current id instead. Raises UnknownEntry. `asker` as in `search`."""
    library = snapshot.library
    if wanted not in library:
        today = library.resolve(wanted)
        if today is None:
            raise UnknownEntry(id=wanted[:200])
        return today

    found = await service.offload(
        lambda: ReadEntry(library.entries[wanted], library.summary(wanted), library.related(wanted))
    )
    service.note(EntryRead(asker, wanted))
    return found


MAX_TAGS = 50
"""Maximum of values per facet that a request may filter by."""


@dataclass(frozen=True, slots=True)
class CountedTag:
    """A tag and the number of its entries."""

    tag: Tag
    count: int


def all_tags(library: Library, facet: str) -> tuple[CountedTag, ...]:
    """Return the tags of a facet in the order of the taxonomy, including those without entries."""
    counts = library.counts(facet)
    return tuple(CountedTag(tag, counts.get(tag.id, 0)) for tag in library.taxonomy.facet(facet).values())


def used_tags(library: Library, facet: str, filters: Filters = EVERYTHING) -> tuple[CountedTag, ...]:
    """Return the tags of the entries that pass the filters, in the order of the taxonomy."""
    counts = library.counts(facet, filters)
    tags = library.taxonomy.facet(facet).values()
    return tuple(CountedTag(tag, counts[tag.id]) for tag in tags if tag.id in counts)


log = logging.getLogger(__name__)


async def report(  # noqa: PLR0913 - the fields of a report
    service: Service,
    found: Summary,
    lang: Language,
    outcome: TriedOutcome | None,
    text: str = "",
    *,
    voted: bool = False,
) -> bool:
    """Count whether an entry helped a reader in `lang`, and store the reason if not, with `text` redacted. Return
    whether it could be stored. `outcome` None: it did not help, for a reason not yet known. `voted`: the vote is
    counted already."""
    snapshot, store = service.current(), FeedbackStore(service.knowledge.data)
    shown = found.shown(lang)

    def keep() -> None:
        if not voted:
            store.add_vote(found.id, shown, solved=outcome is TriedOutcome.SOLVED)
        if outcome is not None and outcome is not TriedOutcome.SOLVED:
            line = Redactor(snapshot).search(" ".join(text.split())) if text.strip() else ""
            store.add_report(found.id, shown, outcome, line)

    try:
        await service.offload(keep)
    except FeedbackUnusable as error:
        log.warning("feedback on an entry was lost: %s", error)
        return False
    return True


def vote_counts(service: Service) -> tuple[VoteCount, ...]:
    """Read all votes from disk; none if they cannot be read."""
    try:
        return FeedbackStore(service.knowledge.data).votes(service.current().library.current_ids)
    except FeedbackUnusable as error:
        log.warning("votes cannot be read: %s", error)
        return ()
