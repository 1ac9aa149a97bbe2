"""All entries, cross-checked: an immutable collection that holds little of each and reads the rest on demand."""

import heapq
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from app.content.read.gather import Vocabulary
from app.entry import Entry, Language, Problem, Sample, Summary
from app.log_knowledge import Background, LogKnowledge
from app.site_texts import SiteTexts
from app.taxonomy import FACETS, GlossaryGroup, Taxonomy, facet_values

RECENT_CHARACTERS = 8 << 20
"""Source text of the entries that are kept after they were read; what is made of it takes some six times that."""

CACHED_NEIGHBORS = 4096


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a library is made of. `summaries` by id, in order; `read` gives the whole entry of one of these ids.

    `samples_of` reads the logs that belong to an entry; `sampled` are the ids that have any; `background` reads the
    logs that no entry explains. `images`:
    `<lang>/<framework>/<file name>` to the file that is served. `formerly`: old id to the id of today.
    `digest` covers every content file that influences what is served, found or diagnosed.
    """

    summaries: Mapping[str, Summary]
    read: Callable[[str], Entry]
    vocabulary: Vocabulary
    problems: tuple[Problem, ...]
    formerly: Mapping[str, str]
    images: Mapping[str, Path]
    sampled: frozenset[str]
    samples_of: Callable[[str], tuple[Sample, ...]]
    background: Callable[[], tuple[Background, ...]]
    digest: str
    drafts: tuple[str, ...] = ()


class Library:
    """What the content directories hold, without drafts and files that cannot be served. Safe to share
    between threads."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._recent = _Recent(holdings.read)
        self.drafts = holdings.drafts
        """Files that readers are not to see, relative to their content directories."""
        self.ids: tuple[str, ...] = tuple(holdings.summaries)
        self.summaries: tuple[Summary, ...] = tuple(holdings.summaries.values())
        self.entries: Mapping[str, Entry] = _Entries(self)
        self._tagged = _by_tag(self.summaries)
        self._latest = latest_first(self.summaries)
        self.bilingual: bool = all(len(each.editions) == len(Language) for each in self.summaries)
        """Whether every entry has both editions."""
        self._neighbors = lru_cache(CACHED_NEIGHBORS)(self._find_related)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._holdings.summaries

    def entry(self, entry_id: str) -> Entry | None:
        """The whole entry, or None for an id that is none."""
        return self._recent.entry(entry_id) if entry_id in self else None

    def summary(self, entry_id: str) -> Summary:
        """What a list shows of an entry. Raises KeyError for an unknown id."""
        return self._holdings.summaries[entry_id]

    @property
    def taxonomy(self) -> Taxonomy:
        """The tags that entries may carry."""
        return self._holdings.vocabulary.taxonomy

    @property
    def glossary(self) -> tuple[GlossaryGroup, ...]:
        """Groups of words that mean the same."""
        return self._holdings.vocabulary.glossary

    @property
    def dictionary(self) -> tuple[str, ...]:
        """Lines of dictionary.txt in jieba's form, `word` or `word frequency`, without comments."""
        return self._holdings.vocabulary.dictionary

    @property
    def log_knowledge(self) -> LogKnowledge:
        """What the content says about logs in general."""
        return self._holdings.vocabulary.logs

    @property
    def site(self) -> SiteTexts:
        """What the content says about itself."""
        return self._holdings.vocabulary.site

    def background(self) -> tuple[Background, ...]:
        """The logs that no entry explains, read when asked for."""
        return self._holdings.background()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong in the files, by path and line."""
        return self._holdings.problems

    @cached_property
    def open_problems(self) -> tuple[Problem, ...]:
        """Those of `problems` that readers may see: none of them tells of a draft."""
        return tuple(problem for problem in self.problems if not problem.draft)

    @property
    def formerly(self) -> Mapping[str, str]:
        """Old id to the id of today."""
        return self._holdings.formerly

    @property
    def digest(self) -> str:
        """Covers every content file that influences what is served, found or diagnosed."""
        return self._holdings.digest

    @property
    def sampled(self) -> frozenset[str]:
        """The entries that have samples."""
        return self._holdings.sampled

    def resolve(self, old_id: str) -> str | None:
        """The id of today of an entry that was called `old_id`."""
        return self._holdings.formerly.get(old_id)

    def samples(self, entry_id: str) -> tuple[Sample, ...]:
        """The logs that must be diagnosed as an entry, read when asked for."""
        return self._holdings.samples_of(entry_id) if entry_id in self._holdings.sampled else ()

    def image(self, lang: Language, path: str) -> Path | None:
        """The file of `<framework>/<file name>` beside the edition that a reader of `lang` is shown."""
        images = self._holdings.images
        return images.get(f"{lang}/{path}") or images.get(f"{lang.other}/{path}")

    def tagged(self, facet: str, value: str) -> tuple[Summary, ...]:
        """Entries that carry a tag, latest change first."""
        return latest_first(self._tagged.get((facet, value), ()))

    def latest(self, limit: int) -> tuple[Summary, ...]:
        """The entries that changed last, latest first."""
        return self._latest[:limit]

    def total(self, facet: str, value: str) -> int:
        """How many entries carry a tag."""
        return len(self._tagged.get((facet, value), ()))

    def counts(self, facet: str) -> Mapping[str, int]:
        """How many entries carry each value of a facet; values that nobody carries are left out."""
        return {value: len(held) for (name, value), held in self._tagged.items() if name == facet}

    def related(self, entry_id: str, limit: int = 6) -> tuple[Summary, ...]:
        """Neighbors: all that the entry names, then those that share most of its tags."""
        return self._neighbors(entry_id)[: max(limit, len(self._holdings.summaries[entry_id].related))]

    def _find_related(self, entry_id: str, most: int = 20) -> tuple[Summary, ...]:
        summary = self._holdings.summaries[entry_id]
        named = [self._holdings.summaries[other] for other in summary.related]
        scores: Counter[str] = Counter()
        for facet in ("topic", "error_type"):
            for value in facet_values(summary)[facet]:
                for other in self._tagged.get((facet, value), ()):
                    scores[other.id] += 2
        for taken in (entry_id, *summary.related):
            scores.pop(taken, None)
        prefix = f"{summary.framework}/"
        order = ((-score - other.startswith(prefix), other) for other, score in scores.items())
        nearest = heapq.nsmallest(most - len(named), order)
        return (*named, *(self._holdings.summaries[other] for _, other in nearest))


class _Entries(Mapping[str, Entry]):
    """The entries of a library as a mapping; each is read when it is looked up."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __getitem__(self, entry_id: str) -> Entry:
        entry = self._library.entry(entry_id)
        if entry is None:
            raise KeyError(entry_id)
        return entry

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._library

    def __iter__(self) -> Iterator[str]:
        return iter(self._library.ids)

    def __len__(self) -> int:
        return len(self._library)


class _Recent:
    """Entries read lately, the least recent ones let go where their texts grow over a bound."""

    def __init__(self, read: Callable[[str], Entry]) -> None:
        self._read = read
        self._held: OrderedDict[str, tuple[Entry, int]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def entry(self, entry_id: str) -> Entry:
        with self._lock:
            if entry_id in self._held:
                self._held.move_to_end(entry_id)
                return self._held[entry_id][0]
        entry = self._read(entry_id)
        size = sum(len(edition.raw) for edition in entry.editions.values())
        with self._lock:
            if entry_id not in self._held:
                self._held[entry_id] = (entry, size)
                self._characters += size
            while self._characters > RECENT_CHARACTERS and len(self._held) > 1:
                self._characters -= self._held.popitem(last=False)[1][1]
        return entry


def latest_first(summaries: Iterable[Summary]) -> tuple[Summary, ...]:
    """`summaries`, latest change first; those of one day by id."""
    return tuple(sorted(summaries, key=lambda each: (-each.updated.toordinal(), each.id)))


def count_tags(summaries: Iterable[Summary], facet: str) -> dict[str, int]:
    """How many of `summaries` carry each value of a facet."""
    counts: dict[str, int] = {}
    for summary in summaries:
        for value in facet_values(summary)[facet]:
            counts[value] = counts.get(value, 0) + 1
    return counts


def _by_tag(summaries: Iterable[Summary]) -> dict[tuple[str, str], list[Summary]]:
    tagged: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        values = facet_values(summary)
        for facet in FACETS:
            for value in values[facet]:
                tagged.setdefault((facet, value), []).append(summary)
    return tagged
