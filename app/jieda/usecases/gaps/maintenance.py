"""Work list for maintainers: gaps, and entries that need attention."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from jieda.content.library import Library
from jieda.diagnosis.answers import Confidence
from jieda.diagnosis.facts import WordReader
from jieda.entry import Language, Problem, Summary
from jieda.feedback import (
    Awaited,
    FeedbackStore,
    FeedbackUnusable,
    GapCount,
    GapSource,
    Report,
    VoteCount,
    first_day,
)
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.awaited import find_explanation
from jieda.usecases.gaps.grouping import GapGroup, group_gaps
from jieda.usecases.service import Service

UNVERIFIED_DAYS = 180
LOOKED_AT = 200
"""Number of groups that are checked for an answer by now."""


@dataclass(frozen=True, slots=True)
class VotedDown:
    """An edition that failed to solve its readers' problems at least as often as it solved them."""

    entry: Summary
    lang: Language
    solved: int
    unsolved: int


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Work list. Gaps, votes, reports and reads are those of the last `days`; everything else is the current state.

    `never_read`: None if no reads were counted at all. `stale` and `missing`: with the language of the edition to be
    updated or written. `drafts`: files, relative to their content directories; `unverified`: entries not verified for
    UNVERIFIED_DAYS; `unreadable`: why counts are missing, or empty.
    """

    days: int
    gaps: Sequence[GapGroup]
    voted_down: Sequence[VotedDown]
    reports: Sequence[Report]
    never_read: Sequence[Summary] | None
    stale: Sequence[tuple[Summary, Language]]
    missing: Sequence[tuple[Summary, Language]]
    problems: Sequence[Problem]
    drafts: Sequence[str]
    unverified: Sequence[Summary]
    unreadable: str


@dataclass(frozen=True, slots=True)
class _Counts:
    asked: Sequence[GapCount] = ()
    awaited: Sequence[Awaited] = ()
    reads: Mapping[str, int] | None = None
    votes: Sequence[VoteCount] = ()
    reports: Sequence[Report] = ()
    unreadable: str = ""


def maintenance(service: Service, snapshot: Snapshot, days: int) -> Maintenance:
    """Make the work list. Reads and analyzes files, so run it in a thread."""
    library, counts = snapshot.library, _read_counts(service, days)
    searcher = snapshot.searcher
    groups = group_gaps(counts.asked, WordReader(searcher.analyzer, searcher.glossary), counts.awaited)
    return Maintenance(
        days=days,
        gaps=[*(_with_answer(snapshot, each) for each in groups[:LOOKED_AT]), *groups[LOOKED_AT:]],
        voted_down=_voted_down(library, counts.votes),
        reports=[each for each in counts.reports if each.entry in library],
        never_read=[library.summary(each) for each in library.ids if each not in counts.reads]
        if counts.reads
        else None,
        stale=_by_entry(library.stale),
        missing=_by_entry(library.missing),
        problems=library.problems,
        drafts=library.drafts,
        unverified=_unverified(library, date.today() - timedelta(UNVERIFIED_DAYS)),
        unreadable=counts.unreadable,
    )


def _with_answer(snapshot: Snapshot, group: GapGroup) -> GapGroup:
    """Return a group of logs with the entry that explains it by now, found as for a person who awaits the answer."""
    if group.source is not GapSource.LOG:
        return group
    lang = max(group.langs, key=lambda each: (group.langs[each], each))
    found = find_explanation(snapshot, Awaited(group.last, lang, "", group.kind, group.text))
    sure = found is not None and found.confidence is not Confidence.POSSIBLE
    return replace(group, answered=found.entry.id) if found and sure else group


def _read_counts(service: Service, days: int) -> _Counts:
    store = FeedbackStore(service.knowledge.data)
    try:
        since = first_day(days)
        awaited = [each for each in store.awaited() if each.day >= since]
        return _Counts(
            store.asked(days), awaited, store.reads(days), store.votes(since), store.reports(since)
        )
    except FeedbackUnusable as error:
        return _Counts(unreadable=str(error))


def _unverified(library: Library, since: date) -> list[Summary]:
    """Return entries last verified, or else updated, before `since`, oldest first."""
    checked = (
        (each.validity.verified.on if each.validity.verified else each.updated, each.id)
        for each in library.listed()
    )
    return [library.summary(entry_id) for day, entry_id in sorted(checked) if day < since]


def _by_entry(listed: Callable[[Language], Sequence[Summary]]) -> list[tuple[Summary, Language]]:
    found = [(each, lang) for lang in Language for each in listed(lang)]
    return sorted(found, key=lambda pair: pair[0].id)


def _voted_down(library: Library, votes: Sequence[VoteCount]) -> Sequence[VotedDown]:
    """Return editions with at least as many failures as successes, the largest surplus of failures first."""
    found = [
        VotedDown(library.summary(each.entry), each.lang, each.solved, each.unsolved)
        for each in votes
        if each.entry in library and each.unsolved and each.unsolved >= each.solved
    ]
    return sorted(found, key=lambda each: (each.solved - each.unsolved, each.entry.id, each.lang))
