"""All entries, cross-checked: an immutable collection that holds little of each and reads the rest on demand."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path

from jieda.content.catalog import Catalog
from jieda.content.read.gather import Vocabulary
from jieda.entry import Entry, Language, Problem, Sample, Summary
from jieda.filters import Filters
from jieda.log_knowledge import Background, LogKnowledge
from jieda.site_texts import SiteTexts
from jieda.taxonomy import GlossaryGroup, Taxonomy

RECENT_CHARACTERS = 8 << 20
"""Source text of the entries that are kept after they were read; what is made of it takes some six times that."""

CACHED_NEIGHBORS = 4096
MOST_NEIGHBORS = 20
NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a library is made of. `catalog` lists its entries; `read` gives the whole entry of one of these ids.

    `samples_of` reads the logs that belong to an entry; `sampled` are the ids that have any; `background` reads the
    logs that no entry explains. `images`:
    `<lang>/<framework>/<file name>` to the file that is served. `formerly`: old id to the id of today.
    `digest` covers every content file that influences what is served, found or diagnosed.
    """

    catalog: Catalog
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
        self._catalog = holdings.catalog
        self.ids: Sequence[str] = self._catalog.ids
        """All ids, sorted."""
        self.entries: Mapping[str, Entry] = _Entries(self)
        self.lacking: frozenset[Language] = frozenset(lang for lang in Language if self.missing(lang))
        """The languages that some entry has no edition in."""
        self._neighbors = lru_cache(CACHED_NEIGHBORS)(self._find_related)

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._catalog

    def entry(self, entry_id: str) -> Entry | None:
        """The whole entry, or None for an id that is none."""
        return self._recent.entry(entry_id) if entry_id in self else None

    def summary(self, entry_id: str) -> Summary:
        """What a list shows of an entry. Raises KeyError for an unknown id."""
        return self._catalog.summary(entry_id)

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

    def listed(self, filters: Filters = NO_FILTERS, since: date | None = None) -> Sequence[Summary]:
        """The entries that pass the filters and changed on or after `since`, latest change first. Each is read when
        it is looked at."""
        return self._catalog.listed(filters, since)

    def shelved(self, filters: Filters, lang: Language) -> Sequence[Summary]:
        """Those that pass the filters, by framework, version and title for readers of a language."""
        return self._catalog.shelved(filters, lang)

    def tagged(self, facet: str, value: str) -> Sequence[Summary]:
        """Entries that carry a tag, latest change first."""
        return self._catalog.listed(Filters().with_only(facet, value))

    def published(self, lang: Language) -> Sequence[Summary]:
        """Those that have an edition in a language, the latest change of that edition first."""
        return self._catalog.published(lang)

    def missing(self, lang: Language) -> Sequence[Summary]:
        """Those that have no edition in a language, by id."""
        return self._catalog.missing(lang)

    def stale(self, lang: Language) -> Sequence[Summary]:
        """Those whose edition in a language is older than what its twin says, by id."""
        return self._catalog.stale(lang)

    def counts(self, facet: str, filters: Filters = NO_FILTERS) -> Mapping[str, int]:
        """How many entries that pass the filters carry each value of a facet; values that none carries are left out."""
        return self._catalog.counts(filters, facet)

    def related(self, entry_id: str, limit: int = 6) -> tuple[Summary, ...]:
        """Neighbors: all that the entry names, then those that share most of its tags."""
        return self._neighbors(entry_id)[: max(limit, len(self.summary(entry_id).related))]

    def _find_related(self, entry_id: str) -> tuple[Summary, ...]:
        named = self.summary(entry_id).related
        most = max(0, MOST_NEIGHBORS - len(named))
        return (*map(self.summary, named), *self._catalog.alike(entry_id, most, named))


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
