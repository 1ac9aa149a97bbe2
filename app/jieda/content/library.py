"""All entries, cross-checked: an immutable collection that holds little of each and reads the rest on demand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from jieda.byte_cache import ByteCache
from jieda.content.catalog import Ask, Catalog
from jieda.content.read.directory import BRAND
from jieda.content.read.gather import Vocabulary
from jieda.content.read.history import Change
from jieda.entry import Entry, Language, Problem, Sample, Summary
from jieda.errors import UnknownTag
from jieda.log_knowledge import Background
from jieda.taxonomy import HOLDS, Filters, known_tag
from jieda.versions import asked_version, rules_out

RECENT_CHARACTERS = 8 << 20
"""Source text of the entries that are kept after they were read; what is made of it takes some six times that."""

CACHED_NEIGHBORS = 4096
MOST_NEIGHBORS = 20


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a library is made of. `ask` has the tables of its catalog; `summary` gives what lists show of one of these
    ids, `read` the whole entry, `changes` what became of one of its editions.

    `samples_of` reads the logs that belong to an entry; `sampled` are the ids that have any; `background` reads the
    logs that no entry explains. `images`:
    `<lang>/<framework>/<file name>` to the file that is served. `formerly`: old id to the id of today.
    `digest` covers every content file that influences what is served, found or diagnosed.
    """

    ask: Ask
    summary: Callable[[str], Summary]
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
    changes: Callable[[str, Language], tuple[Change, ...]] = lambda _id, _lang: ()


class Library(Catalog):
    """What the content directories hold, without drafts and files that cannot be served. Safe to share
    between threads."""

    def __init__(self, holdings: Holdings) -> None:
        super().__init__(holdings.ask, holdings.summary)
        self._holdings = holdings
        self._recent: ByteCache[str, Entry] = ByteCache(RECENT_CHARACTERS, _characters)
        self.entries: Mapping[str, Entry] = _Entries(self)
        self.taxonomy, self.glossary = holdings.vocabulary.taxonomy, holdings.vocabulary.glossary
        self.dictionary = holdings.vocabulary.dictionary
        """Lines of dictionary.txt in jieba's form, `word` or `word frequency`, without comments."""
        self.log_knowledge, self.site = holdings.vocabulary.logs, holdings.vocabulary.site
        self.background = holdings.background
        """Reads the logs that no entry explains."""
        self.problems = holdings.problems
        """Everything wrong in the files, by path and line."""
        self.formerly = holdings.formerly
        """Old id to the id of today."""
        self.sampled = holdings.sampled
        """The entries that have samples."""
        self.digest = holdings.digest
        self.drafts = holdings.drafts
        """Files that readers are not to see, relative to their content directories."""
        self.lacking: frozenset[Language] = frozenset(lang for lang in Language if self.missing(lang))
        """The languages that some entry has no edition in."""
        self._neighbors = lru_cache(CACHED_NEIGHBORS)(self._find_related)

    def __len__(self) -> int:
        return len(self.ids)

    def entry(self, entry_id: str) -> Entry | None:
        if entry_id not in self:
            return None
        return self._recent.get(entry_id, lambda: self._holdings.read(entry_id))

    def changes(self, entry_id: str, lang: Language) -> tuple[Change, ...]:
        """What became of an edition, latest first, read when asked for; nothing where there is no git repository."""
        return self._holdings.changes(entry_id, lang)

    @cached_property
    def open_problems(self) -> tuple[Problem, ...]:
        """Those of `problems` that readers may see: none of them tells of a draft."""
        return tuple(problem for problem in self.problems if not problem.draft)

    def resolve(self, asked: str) -> str | None:
        """The id of today of an entry that is or was called so, in whatever case; None where there is none."""
        framework, _, slug = asked.partition("/")
        with suppress(UnknownTag):
            asked = f"{known_tag('framework', framework, self.taxonomy)}/{slug.lower()}"
        return asked if asked in self else self.formerly.get(asked)

    def samples(self, entry_id: str) -> tuple[Sample, ...]:
        """The logs that must be diagnosed as an entry, read when asked for."""
        return self._holdings.samples_of(entry_id) if entry_id in self.sampled else ()

    def image(self, lang: Language, path: str) -> Path | None:
        """The file of `<framework>/<file name>` beside the edition that a reader of `lang` is shown."""
        images = self._holdings.images
        return images.get(f"{lang}/{path}") or images.get(f"{lang.other}/{path}")

    def brand_image(self, name: str) -> Path | None:
        """The file of an image that stands for the site."""
        return self._holdings.images.get(f"{BRAND}/{name}")

    def read_filters(self, filters: Filters) -> Filters:
        """Filters with tags as the taxonomy spells them and what their versions rule out. Raises UnknownTag,
        BadVersion."""
        filters = filters.known(self.taxonomy)
        asked = [asked_version(each, self.taxonomy.packages) for each in filters.version]
        ruled_out = (each for each in self.values(HOLDS) if rules_out(each, asked)) if asked else ()
        return replace(filters, ruled_out=tuple(ruled_out))

    def tagged(self, facet: str, value: str) -> Sequence[Summary]:
        """Entries that carry a tag, latest change first."""
        return self.listed(Filters().with_only(facet, value))

    def related(self, entry_id: str, limit: int = 6) -> tuple[Summary, ...]:
        """Neighbors: all that the entry names, then those that share most of its tags."""
        return self._neighbors(entry_id)[: max(limit, len(self.summary(entry_id).related))]

    def _find_related(self, entry_id: str) -> tuple[Summary, ...]:
        named = self.summary(entry_id).related
        most = max(0, MOST_NEIGHBORS - len(named))
        return (*map(self.summary, named), *self.alike(entry_id, most, named))


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


def _characters(entry: Entry) -> int:
    return sum(len(edition.raw) for edition in entry.editions.values())
