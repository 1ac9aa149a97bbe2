"""Work list for maintainers: gaps, grouped by meaning, and entries that need attention.

Unexplained failures that somebody wants explained are stored redacted under a key that only they have, and diagnosed
again at each visit, so that they get the answer once an entry explains it.
"""

import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from hashlib import sha256

from jieda.content.library import Library
from jieda.diagnosis.answers import Confidence, Diagnosis, Match, Verdict
from jieda.diagnosis.words import CONCEPT, WordReader
from jieda.entry import Language, Problem, Signature, Summary
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
    today,
)
from jieda.search.answers import SearchRequest
from jieda.signature import SPECIFIC_CHARACTERS, compile_signature_line
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import NOBODY, Unexplained, gap_of, note_of_diagnosis
from jieda.usecases.gaps.redact import PLACEHOLDER, Redactor, as_log, as_quoted, is_always_kept
from jieda.usecases.judge import judge
from jieda.usecases.service import Service

BYTES = 16
"""Length of a key, too long to be guessed."""
HITS_LOOKED_AT = 5
"""Number of hits whose signatures are compared with the stored line."""
TAKEN_OUT = "…"
WORD = re.compile(r"\{[^{}]*\}|[^\W\d]\w*(?:[.-]\w+)*")
"""A placeholder or a word, in a signature or a redacted line."""
NEIGHBORS = re.compile(rf"{TAKEN_OUT}(?:[^\w{{}}]*{TAKEN_OUT})+")
"""Consecutive marks of redacted words, which become one."""


def ask(service: Service, snapshot: Snapshot, diagnosis: Diagnosis, lang: Language) -> str:
    """Store the root failure of an unexplained log; return its key, or an empty text if nothing of it may be stored.

    Raises FeedbackUnusable. Run it in a thread.
    """
    note = note_of_diagnosis(NOBODY, diagnosis, lang)
    gap = gap_of(note, Redactor(snapshot)) if isinstance(note, Unexplained) else None
    if gap is None or not (gap.kind or gap.text):
        return ""
    key = secrets.token_urlsafe(BYTES)
    store = FeedbackStore(service.knowledge.data)
    awaited = Awaited(today().isoformat(), lang, diagnosis.framework, gap.kind, gap.text)
    store.add_awaited(_hash_of(key), awaited)
    return key


def answer_to(
    service: Service, snapshot: Snapshot, key: str, lang: Language
) -> tuple[Awaited, Match | None] | None:
    """Return the failure stored under a key, and the match that explains it now, if any, in a language; None if no
    failure is stored under it.

    Raises FeedbackUnusable. Run it in a thread.
    """
    found = FeedbackStore(service.knowledge.data).awaited(_hash_of(key))
    if not found:
        return None
    return found[0], find_explanation(snapshot, found[0]._replace(lang=lang))


def withdraw(service: Service, key: str) -> None:
    """Delete the failure stored under a key. Raises FeedbackUnusable. Run it in a thread."""
    FeedbackStore(service.knowledge.data).delete_awaited(_hash_of(key))


def find_explanation(snapshot: Snapshot, asked: Awaited) -> Match | None:
    """Return the match of a redacted failure, diagnosed as its log would be; otherwise, as possible, the only entry
    with a signature that equals the line except for its redacted words."""
    line = line_of(snapshot, asked.kind, asked.text)
    known = asked.framework in snapshot.library.taxonomy.framework
    framework = asked.framework if known else ""
    found = judge(snapshot, SearchRequest(as_log(line), asked.lang), framework)
    if found.verdict is Verdict.KNOWN and not found.asks:
        return found.matches[0]
    if snapshot.searcher.is_remote:
        return None
    hits = snapshot.searcher.search(SearchRequest(as_quoted(line), asked.lang, limit=HITS_LOOKED_AT)).hits
    entries = [hit.entry for hit in hits if any(_fits(each, line) for each in hit.entry.signatures)]
    if len(entries) != 1 or framework not in {"", entries[0].framework}:
        return None
    return Match(entries[0], entries[0].edition(asked.lang), Confidence.POSSIBLE, (), 0.0, (), {})


def _fits(signature: Signature, line: str) -> bool:
    """Whether a redacted line matches a signature whose other words are exactly where words were redacted. The rest
    must have twice the weight that makes a line specific."""
    if len(signature.all) > 1 or signature.shapes:
        return False
    said = {word.casefold() for word in WORD.findall(PLACEHOLDER.sub(" ", line))}

    def as_kept(word: re.Match[str]) -> str:
        folded = word[0].casefold()
        return word[0] if folded[0] == "{" or folded in said or is_always_kept(folded) else TAKEN_OUT

    redacted = NEIGHBORS.sub(TAKEN_OUT, WORD.sub(as_kept, signature.all[0]))
    wanted = compile_signature_line(redacted)
    log = as_log(line.replace("{word}", TAKEN_OUT))
    return wanted.weight >= 2 * SPECIFIC_CHARACTERS and wanted.matches(log)


def line_of(snapshot: Snapshot, kind: str, text: str) -> str:
    """Return the log line of a redacted failure, without the name of a failure family, which no log contains."""
    first = kind.partition(" ")[0]
    families = {family.name for family in snapshot.library.log_knowledge.failures.families}
    return ": ".join(filter(None, ("" if first in families and text else first, text)))


def _hash_of(key: str) -> bytes:
    """Return the hash that is stored instead of a key, so that the file of gaps does not give access to links."""
    return sha256(key.encode()).digest()


ALIKE = 0.6
"""Minimum Jaccard similarity of the words of two groups that are merged."""
MOST_COMPARED = 50
"""Maximum of groups that a gap is compared with, per word."""
WORDINGS = 3
"""Number of other wordings shown for a group."""

Meaning = frozenset[str]
Key = tuple[GapSource, str, Meaning]
"""Source of a gap, type of the root failure, and meaning."""


@dataclass(frozen=True, slots=True)
class GapGroup:
    """Questions of the same meaning. `failure`: types of a log's failures, or empty; `text`: the most frequent wording;
    `others`: the next ones; `days`: count by day (ISO 8601); `waiting`: number of people who wait for an answer;
    `answered`: id of the entry that answers it by now, or empty."""

    source: GapSource
    failure: str
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
        failure=max(sorted(kinds), key=kinds.__getitem__),
        text=first,
        others=tuple(others[:WORDINGS]),
        count=sum(texts.values()),
        days=dict(sorted(days.items())),
        langs={lang: langs[lang] for lang in Language if lang in langs},
        outcomes={each: outcomes[each] for each in GapOutcome if each in outcomes},
        waiting=sum(waiting.get(each, 0) for each in {gap[:3] for gap, _, _ in members}),
    )


UNVERIFIED_DAYS = 180
LOOKED_AT = 200
"""Number of groups that are checked for an answer by now."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Work list. Gaps, votes, reports and reads are those of the last `days`; everything else is the current state.

    `voted_down`: editions that failed to solve a problem at least as often as they solved it. `never_read`: None if no
    reads were counted at all. `stale` and `missing`: with the language of the edition to be updated or written.
    `drafts`: files, relative to their content directories; `unverified`: entries not verified for UNVERIFIED_DAYS;
    `unreadable`: why counts are missing, or empty.
    """

    days: int
    gaps: Sequence[GapGroup]
    voted_down: Sequence[VoteCount]
    reports: Sequence[Report]
    never_read: Sequence[Summary] | None
    stale: Sequence[tuple[Summary, Language]]
    missing: Sequence[tuple[Summary, Language]]
    problems: Sequence[Problem]
    drafts: Sequence[str]
    unverified: Sequence[Summary]
    unreadable: str


def maintenance(service: Service, snapshot: Snapshot, days: int) -> Maintenance:
    """Make the work list. Reads and analyzes files, so run it in a thread."""
    library, searcher = snapshot.library, snapshot.searcher
    store, since, unreadable = FeedbackStore(service.knowledge.data), first_day(days), ""
    try:
        asked, reads = store.asked(days), store.reads(days)
        awaited = [each for each in store.awaited() if each.day >= since]
        votes, reported = store.votes(library.current_ids, since), store.reports(since)
    except FeedbackUnusable as error:
        asked, reads, awaited, votes, reported, unreadable = (), {}, [], (), (), str(error)
    groups = group_gaps(asked, WordReader(searcher.analyzer, searcher.glossary), awaited)
    read = {library.resolve(each) for each in reads}
    reports = (each._replace(entry=library.resolve(each.entry) or "") for each in reported)
    return Maintenance(
        days=days,
        gaps=[*(_with_answer(snapshot, each) for each in groups[:LOOKED_AT]), *groups[LOOKED_AT:]],
        voted_down=_voted_down(library, votes),
        reports=[each for each in reports if each.entry],
        never_read=[library.summary(each) for each in library.ids if each not in read] if read else None,
        stale=_by_entry(library.stale),
        # Where no entry has a language, the site is in the other one.
        missing=_by_entry(lambda lang: library.missing(lang) if library.published(lang) else ()),
        problems=library.open_problems,
        drafts=library.drafts,
        unverified=_unverified(library, date.today() - timedelta(UNVERIFIED_DAYS)),
        unreadable=unreadable,
    )


def _with_answer(snapshot: Snapshot, group: GapGroup) -> GapGroup:
    """Return a group of logs with the entry that explains it by now, found as for a person who awaits the answer."""
    if group.source is not GapSource.LOG:
        return group
    lang = max(group.langs, key=lambda each: (group.langs[each], each))
    found = find_explanation(snapshot, Awaited(group.last, lang, "", group.failure, group.text))
    sure = found is not None and found.confidence is not Confidence.POSSIBLE
    return replace(group, answered=found.entry.id) if found and sure else group


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


def _voted_down(library: Library, votes: Sequence[VoteCount]) -> Sequence[VoteCount]:
    """Return editions with at least as many failures as successes, the largest surplus of failures first."""
    found = [each for each in votes if each.entry in library and each.unsolved >= max(1, each.solved)]
    return sorted(found, key=lambda each: (each.solved - each.unsolved, each.entry, each.lang))
