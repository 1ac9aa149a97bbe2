"""Work list for maintainers: gaps, grouped by meaning, and entries that need attention."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from jieda.analysis.token import TokenKind
from jieda.content.library import Library
from jieda.diagnosis.answers import Confidence
from jieda.diagnosis.facts import WordReader
from jieda.entry import Language, Problem, Summary
from jieda.feedback import (
    Awaited,
    FeedbackStore,
    FeedbackUnusable,
    Gap,
    GapCount,
    GapOutcome,
    GapSource,
    Report,
    VoteCount,
    first_day,
)
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.awaited import find_explanation
from jieda.usecases.gaps.redact import PLACEHOLDER
from jieda.usecases.service import Service

ALIKE = 0.6
"""Minimum Jaccard similarity of the words of two groups that are merged."""
MOST_COMPARED = 50
"""Maximum of groups that a gap is compared with, per word."""
CONCEPT = TokenKind.CONCEPT.term("")
"""Prefix of the terms that stand for a glossary group."""
WORDINGS = 3
"""Number of other wordings shown for a group."""

Meaning = frozenset[str]
Key = tuple[GapSource, str, Meaning]
"""Source of a gap, type of the root failure, and meaning."""


@dataclass(frozen=True, slots=True)
class GapGroup:
    """Questions of the same meaning. `text`: the most frequent wording; `others`: the next ones; `days`: count by day
    (ISO 8601); `waiting`: number of people who wait for an answer; `answered`: id of the entry that answers it by now,
    or empty."""

    source: GapSource
    kind: str
    text: str
    others: tuple[str, ...]
    count: int
    days: Mapping[str, int]
    langs: Mapping[Language, int]
    outcomes: Mapping[GapOutcome, int]
    waiting: int = 0
    answered: str = ""

    @property
    def last(self) -> str:
        return max(self.days)


def group_gaps(
    gaps: Iterable[GapCount], reader: WordReader, awaited: Sequence[Awaited] = ()
) -> tuple[GapGroup, ...]:
    """Group gaps of the same meaning in either language, the most frequent first, then the latest. `awaited` failures
    count as asked.

    Equal meanings are joined by a lookup. A gap that shares most of its words with a larger group joins that group:
    groups are looked up by word, a bounded number for each word, so the total cost is n log n.
    """
    waiting = Counter((GapSource.LOG, each.kind, each.text) for each in awaited)
    rows: defaultdict[tuple[GapSource, str, str], list[GapCount]] = defaultdict(list)
    for each in gaps:
        rows[each.gap.source, each.gap.kind, each.gap.text].append(each)
    for day, lang, _, kind, text in awaited:
        if (GapSource.LOG, kind, text) not in rows:
            rows[GapSource.LOG, kind, text] = [
                GapCount(Gap(GapSource.LOG, kind, text, GapOutcome.UNKNOWN, lang), day, 1)
            ]
    same: defaultdict[Key, list[GapCount]] = defaultdict(list)
    for (source, kind, text), members in rows.items():
        same[source, kind.partition(" ")[0], meaning(text, reader)] += members
    groups = (_group(members, waiting) for members in _merge_similar(same))
    return tuple(
        sorted(groups, key=lambda group: (-group.count, -int(group.last.replace("-", "")), group.text))
    )


def meaning(text: str, reader: WordReader) -> Meaning:
    """Return the meaning of a redacted text: for each word its glossary groups, or else its stem."""
    terms: set[str] = set()
    for word in reader.read(PLACEHOLDER.sub(" ", text)):
        terms.update([term for term in word if term.startswith(CONCEPT)] or word)
    return frozenset(terms)


def _merge_similar(same: Mapping[Key, Sequence[GapCount]]) -> Iterable[Sequence[GapCount]]:
    """Merge each group into a similar larger one, if there is one."""
    largest = sorted(
        same, key=lambda key: (-sum(each.times for each in same[key]), key[0], key[1], sorted(key[2]))
    )
    groups: dict[Key, list[GapCount]] = {}
    by_word: defaultdict[tuple[GapSource, str, str], list[Key]] = defaultdict(list)
    for key in largest:
        source, kind, words = key
        rivals: Counter[Key] = Counter()
        for word in words:
            rivals.update(by_word[source, kind, word][:MOST_COMPARED])
        nearest, shared = next(iter(rivals.most_common(1)), (key, 0))
        if shared and shared >= ALIKE * (len(words) + len(nearest[2]) - shared):
            groups[nearest] += same[key]
            continue
        groups[key] = list(same[key])
        for word in words:
            by_word[source, kind, word].append(key)
    return groups.values()


def _group(members: Sequence[GapCount], waiting: Mapping[tuple[GapSource, str, str], int]) -> GapGroup:
    texts, kinds = Counter[str](), Counter[str]()
    days, langs, outcomes = Counter[str](), Counter[Language](), Counter[GapOutcome]()
    for gap, day, count in members:
        texts[gap.text] += count
        kinds[gap.kind] += count
        days[day] += count
        langs[gap.lang] += count
        outcomes[gap.outcome] += count
    first, *others = (text for text, _ in sorted(texts.items(), key=lambda pair: (-pair[1], pair[0])))
    return GapGroup(
        source=members[0].gap.source,
        kind=max(sorted(kinds), key=kinds.__getitem__),
        text=first,
        others=tuple(others[:WORDINGS]),
        count=sum(texts.values()),
        days=days,
        langs=langs,
        outcomes=outcomes,
        waiting=sum(waiting.get(each, 0) for each in {gap[:3] for gap, _, _ in members}),
    )


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
