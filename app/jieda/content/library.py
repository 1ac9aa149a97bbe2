"""The library: all entries, cross-checked and immutable. Only summaries are held; entries are read on demand."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from jieda.byte_cache import ByteCache
from jieda.content.catalog import Ask, Catalog
from jieda.content.read.directory import BRAND
from jieda.content.read.gather import Vocabulary
from jieda.content.read.history import Change
from jieda.entry import Entry, Language, Problem, Sample, Summary
from jieda.errors import UnknownTag
from jieda.taxonomy import HOLDS, Filters, known_tag
from jieda.versions import parse_version, rules_out

RECENT_CHARACTERS = 8 << 20
"""Size of the cache of entries, in characters of source text; the cached objects take some six times that."""

CACHED_NEIGHBORS = 4096
MOST_NEIGHBORS = 20

Value = TypeVar("Value")


class OnDemand(Mapping[str, Value]):
    """Values by id, each read on access."""

    def __init__(self, ids: Collection[str], read: Callable[[str], Value]) -> None:
        """`read` raises KeyError for an unknown id."""
        self._ids, self._read = ids, read

    def __getitem__(self, entry_id: str) -> Value:
        return self._read(entry_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


@dataclass(eq=False, repr=False)
class Library(Catalog):
    """All entries of the content directories, without drafts and files that cannot be served. Safe to share
    between threads.

    `ask` queries the tables of its catalog. `summary`, `read_entry` and `read_samples` read one entry by its id; the
    first two raise KeyError for an unknown one. `changes` reads the changes of one edition, latest first, none without
    a git repository.
    """

    ask: Ask
    summary: Callable[[str], Summary]
    read_entry: Callable[[str], Entry]
    read_samples: Callable[[str], tuple[Sample, ...]]
    vocabulary: Vocabulary
    problems: tuple[Problem, ...]
    """All problems in the files, sorted by path and line."""
    formerly: Mapping[str, str]
    """Old id to current id."""
    images: Mapping[str, Path]
    """`<lang>/<framework>/<file name>` to the file that is served."""
    sampled: frozenset[str]
    """Ids of the entries that have samples."""
    digest: str
    """Covers every content file that influences what is served, found or diagnosed."""
    drafts: tuple[str, ...] = ()
    """Files hidden from readers, relative to their content directories."""
    changes: Callable[[str, Language], tuple[Change, ...]] = lambda _id, _lang: ()

    def __post_init__(self) -> None:
        super().__init__(self.ask, self.summary)
        recent: ByteCache[str, Entry] = ByteCache(RECENT_CHARACTERS, _count_characters)
        read = self.read_entry
        self.entries = OnDemand(self.ids, lambda each: recent.get(each, lambda: read(each)))
        """Each is read on access, and those read last are kept."""
        self.taxonomy, self.glossary = self.vocabulary.taxonomy, self.vocabulary.glossary
        self.dictionary = self.vocabulary.dictionary
        self.log_knowledge, self.site = self.vocabulary.logs, self.vocabulary.site
        self.lacking: frozenset[Language] = frozenset(lang for lang in Language if self.missing(lang))
        """Languages in which at least one entry has no edition."""
        self._neighbors = lru_cache(CACHED_NEIGHBORS)(self._find_related)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def open_problems(self) -> tuple[Problem, ...]:
        """Problems that readers may see: those that do not concern drafts."""
        return tuple(problem for problem in self.problems if not problem.draft)

    def resolve(self, asked: str) -> str | None:
        """Return the current id of an entry by a current or old id, in any case; None if there is none."""
        framework, _, slug = asked.partition("/")
        with suppress(UnknownTag):
            asked = f"{known_tag('framework', framework, self.taxonomy)}/{slug.lower()}"
        return asked if asked in self else self.formerly.get(asked)

    def samples(self, entry_id: str) -> tuple[Sample, ...]:
        """Read the logs that must be diagnosed as an entry; of an empty id, those that no entry explains."""
        return self.read_samples(entry_id) if entry_id in self.sampled or not entry_id else ()

    def image(self, lang: Language, path: str) -> Path | None:
        """Return the image `<framework>/<file name>` in `lang`, or else in the other language."""
        return self.images.get(f"{lang}/{path}") or self.images.get(f"{lang.other}/{path}")

    def brand_image(self, name: str) -> Path | None:
        return self.images.get(f"{BRAND}/{name}")

    def read_filters(self, filters: Filters) -> Filters:
        """Return the filters with tags in the taxonomy's spelling, and with the ranges that their versions rule out.
        Raises UnknownTag, BadVersion."""
        filters = filters.known(self.taxonomy)
        asked = [parse_version(each, self.taxonomy.packages) for each in filters.version]
        ruled_out = (each for each in self.values(HOLDS) if rules_out(each, asked)) if asked else ()
        return replace(filters, ruled_out=tuple(ruled_out))

    def tagged(self, facet: str, value: str) -> Sequence[Summary]:
        """Return entries with a tag, latest change first."""
        return self.listed(Filters().with_only(facet, value))

    def related(self, entry_id: str, limit: int = 6) -> tuple[Summary, ...]:
        """Return neighbors: all that the entry names, then those that share most of its tags."""
        return self._neighbors(entry_id)[: max(limit, len(self.summary(entry_id).related))]

    def _find_related(self, entry_id: str) -> tuple[Summary, ...]:
        named = self.summary(entry_id).related
        most = max(0, MOST_NEIGHBORS - len(named))
        return (*map(self.summary, named), *self.alike(entry_id, most, named))


def _count_characters(entry: Entry) -> int:
    return sum(len(edition.raw) for edition in entry.editions.values())
