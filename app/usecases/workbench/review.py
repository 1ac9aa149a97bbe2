"""A draft looked at as a whole: checked, shown as it would be served, tried on a log, held against searches."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from app.entry import Language, Summary
from app.snapshot.snapshot import Snapshot
from app.usecases.diagnose import turn
from app.usecases.entries import ReadEntry
from app.usecases.secrets import masked
from app.usecases.service import Service
from app.usecases.workbench.checking import Checked, check
from app.usecases.workbench.desk import Desk
from app.usecases.workbench.draft import Draft
from app.usecases.workbench.trying import QueryRank, Tried, alike, diagnoser_with, rank, try_log
from app.usecases.workbench.wordings import wordings


@dataclass(frozen=True, slots=True)
class Review:
    """`read` is the entry as it would be served, None where nothing of it could be; `tried` is None without a log.
    `wordings` are aliases that it could have."""

    checked: Checked
    read: ReadEntry | None
    tried: Tried | None
    ranks: tuple[QueryRank, ...]
    alike: tuple[Summary, ...]
    wordings: Mapping[Language, tuple[str, ...]]


async def review(service: Service, desk: Desk, draft: Draft, log: str, lang: Language) -> Review:
    """All of it. Raises TooBusy where too much is being worked on, and ContentError.

    A form without an id has nothing to be looked at: its draft must be named.
    """
    snapshot = service.current()
    async with turn(service):
        return await service.offload(lambda: review_at(snapshot, desk, draft, log, lang))


def review_at(snapshot: Snapshot, desk: Desk, draft: Draft, log: str, lang: Language) -> Review:
    """As `review`, here and now."""
    material, now = desk.material(snapshot), time.time()
    directory, sample = desk.directory_of(draft.id), draft.samples(desk.directory_of(draft.id), now)
    edited = material.loaded.with_entry(draft.id, draft.sources(directory, now), sample)
    checked = check(material, edited, draft)
    shown = draft.shown()
    library = material.loaded.with_entry(draft.id, shown.sources(directory, now), sample).library()
    entry = library.entry(draft.id)
    ranks = rank(snapshot, entry, lang) if entry else ()
    searcher = snapshot.searcher
    tried = None
    if log.strip():
        after = diagnoser_with(snapshot, material, library, draft)
        tried = try_log(snapshot.diagnoser, after, masked(log), lang)
    return Review(
        checked=checked,
        read=ReadEntry(entry, library.summary(draft.id), library.related(draft.id)) if entry else None,
        tried=tried,
        ranks=ranks,
        alike=alike(snapshot, entry, ranks) if entry else (),
        wordings={
            each.lang: wordings(each, searcher.glossary, searcher.analyzer)
            for each in entry.editions.values()
        }
        if entry
        else {},
    )
