"""The library: all entries, cross-checked and immutable. Entries are read on demand."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from jieda.byte_cache import ByteCache
from jieda.content.catalog import Catalog, FetchRows
from jieda.content.read.directory import BRAND
from jieda.content.read.gather import Vocabulary
from jieda.content.read.history import Change
from jieda.entry import Entry, Language, Problem, Sample, Summary
from jieda.errors import UnknownTag
from jieda.taxonomy import HOLDS, Filters, known_tag
from jieda.versions import ruled_out

RECENT_CHARACTERS = 8 << 20
"""Size of the cache of entries, in characters of source text; its objects take about six times that in memory."""

CACHED_NEIGHBORS = 4096
NEIGHBORS = 6

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
    """All entries of the content directories, except drafts and unservable files. Safe to share between threads.

    `fetch_rows` queries the tables of its catalog. `summary`, `read_entry` and `read_samples` read an entry by its id;
    the first two raise KeyError for an unknown id. `changes` reads the changes of an edition, latest first; none
    without a git repository.
    """

    fetch_rows: FetchRows
    summary: Callable[[str], Summary]
    read_entry: Callable[[str], Entry]
    read_samples: Callable[[str], tuple[Sample, ...]]
    vocabulary: Vocabulary
    problems: tuple[Problem, ...]
    """All problems in the files, sorted by path and line."""
    current_ids: Mapping[str, str]
    """Current ids by old id."""
    images: Mapping[str, Path]
    """The served files by `<lang>/<framework>/<file name>`."""
    sampled: frozenset[str]
    """Ids of the entries that have samples."""
    drafts: tuple[str, ...] = ()
    """Files hidden from readers, relative to their content directories."""
    changes: Callable[[str, Language], tuple[Change, ...]] = lambda _id, _lang: ()

    def __post_init__(self) -> None:
        super().__init__(self.fetch_rows, self.summary)
        recent: ByteCache[str, Entry] = ByteCache(RECENT_CHARACTERS, _count_characters)
        read = self.read_entry
        self.entries = OnDemand(self.ids, lambda entry_id: recent.get(entry_id, lambda: read(entry_id)))
        """Entries by id, read on access; recently read ones are cached."""
        self.taxonomy, self.glossary = self.vocabulary.taxonomy, self.vocabulary.glossary
        self.dictionary = self.vocabulary.dictionary
        self.log_knowledge, self.site = self.vocabulary.logs, self.vocabulary.site
        self.incomplete_languages = frozenset(lang for lang in Language if self.missing(lang))
        """Languages in which at least one entry has no edition."""
        self.related = lru_cache(CACHED_NEIGHBORS)(self._find_related)
        """Returns the neighbors of an entry: all that it names, then, up to NEIGHBORS, those that share most of its
        tags."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _current_by_folded(self) -> Mapping[str, str]:
        # The framework of an old id may have gone from the taxonomy, or be written differently there.
        return {old.casefold(): current for old, current in self.current_ids.items()}

    @cached_property
    def open_problems(self) -> tuple[Problem, ...]:
        """Problems that readers may see: those that do not concern drafts."""
        return tuple(problem for problem in self.problems if not problem.draft)

    def resolve(self, entry_id: str) -> str | None:
        """Return the current id of an entry, given a current or old id in any case; None if there is none."""
        framework, _, slug = entry_id.partition("/")
        with suppress(UnknownTag):
            current = f"{known_tag('framework', framework, self.taxonomy)}/{slug.lower()}"
            if current in self:
                return current
        return self._current_by_folded.get(entry_id.casefold())

    def samples(self, entry_id: str) -> tuple[Sample, ...]:
        """Read the logs that must be diagnosed as an entry; for an empty id, those that no entry explains."""
        return self.read_samples(entry_id) if entry_id in self.sampled or not entry_id else ()

    def image(self, lang: Language, path: str) -> Path | None:
        """Return the image `<framework>/<file name>` in `lang`, or else in the other language."""
        return self.images.get(f"{lang}/{path}") or self.images.get(f"{lang.other}/{path}")

    def brand_image(self, name: str) -> Path | None:
        return self.images.get(f"{BRAND}/{name}")

    def read_filters(self, filters: Filters) -> Filters:
        """Return the filters as the taxonomy spells them, with what their versions rule out. Raises RequestError."""
        filters = filters.known(self.taxonomy)
        held = self.values(HOLDS) if filters.version else ()
        return replace(filters, ruled_out=ruled_out(held, filters.version, self.taxonomy.packages))

    def tagged(self, facet: str, value: str) -> Sequence[Summary]:
        """Return entries with a tag, latest change first."""
        return self.listed(Filters().with_only(facet, value))

    def _find_related(self, entry_id: str) -> tuple[Summary, ...]:
        named = self.summary(entry_id).related
        return (*map(self.summary, named), *self.similar(entry_id, NEIGHBORS - len(named), named))


def _count_characters(entry: Entry) -> int:
    return sum(len(edition.raw) for edition in entry.editions.values())
