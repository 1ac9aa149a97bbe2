"""Groups gaps of the same meaning, by the terms that analysis and glossary make of their words, in either language.
`显存不足怎么办` and `out of memory, what now` are one group if the glossary says so.

Equal meanings are joined by a lookup. A gap that shares most of its words with a larger group joins that group: groups
are looked up by word, a bounded number for each word, so the total cost is n log n.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jieda.analysis.token import TokenKind
from jieda.diagnosis.facts import WordReader
from jieda.entry import Language
from jieda.feedback import Awaited, Gap, GapCount, GapOutcome, GapSource
from jieda.usecases.gaps.redact import PLACEHOLDER

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
        """The last day on which it was asked."""
        return max(self.days)


def group_gaps(
    gaps: Iterable[GapCount], reader: WordReader, awaited: Sequence[Awaited] = ()
) -> tuple[GapGroup, ...]:
    """Group gaps, the most frequent first, then the latest. `awaited` failures count as asked."""
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
