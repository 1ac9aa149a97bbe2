"""The vocabulary that classifies and filters entries: tags, glossary groups and filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from jieda.entry import Entry, Language, Summary, fold_program
from jieda.errors import UnknownTag


@dataclass(frozen=True, slots=True)
class Tag:
    """A value of framework, kind, topic or error type, named in both languages."""

    id: str
    name: Mapping[Language, str]
    description: Mapping[Language, str]
    homepage: str = ""
    repository: str = ""
    packages: tuple[str, ...] = ()
    """Names of its pip packages that differ from its id."""


FACETS = ("framework", "kind", "topic", "error_type")
"""The facets that hits are counted and filtered by, in display order."""
HOLDS = "holds"
"""The facet of `Validity.holds`: used to filter entries, never shown as a tag."""


def facet_values(entry: Entry | Summary) -> dict[str, tuple[str, ...]]:
    """Return the tags of an entry by facet, and its versions under HOLDS."""
    return {
        "framework": (entry.framework,),
        "kind": (entry.kind.value,),
        "topic": entry.topics,
        "error_type": entry.error_types,
        HOLDS: entry.validity.holds,
    }


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The closed lists of tags; each mapping keeps the file's order."""

    framework: Mapping[str, Tag]
    kind: Mapping[str, Tag]
    topic: Mapping[str, Tag]
    error_type: Mapping[str, Tag]

    def facet(self, name: str) -> Mapping[str, Tag]:
        """Return the tags of one of `FACETS`."""
        tags: Mapping[str, Tag] = getattr(self, name)
        return tags

    def name_of(self, facet: str, value: str, lang: Language) -> str:
        """Return the name of a tag, or `value` itself if there is no such tag."""
        tag = self.facet(facet).get(value)
        return tag.name[lang] if tag else value

    @property
    def packages(self) -> Mapping[str, str]:
        """The framework of each package whose name differs from its framework's, both folded."""
        tags = self.framework.values()
        return {fold_program(package): fold_program(tag.id) for tag in tags for package in tag.packages}


@dataclass(frozen=True, slots=True)
class GlossaryGroup:
    """Synonymous words and phrases, in both languages."""

    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All members, English first."""
        return self.en + self.zh


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters on entries: OR within one facet, AND between facets. `edition` keeps entries with an edition;
    `version`, such as `slime 0.2.4`, drops entries that are for other versions only: `Library.read_filters` turns it
    into the values of HOLDS that are `ruled_out`."""

    framework: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    error_type: tuple[str, ...] = ()
    edition: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()

    def facet(self, name: str) -> tuple[str, ...]:
        """Return the values chosen in one of `FACETS`, or as `edition` or `version`."""
        values: tuple[str, ...] = getattr(self, name)
        return values

    @property
    def chosen(self) -> tuple[str, ...]:
        """The facets with a filter, `edition` and `version` included."""
        return tuple(name for name in (*FACETS, "edition", "version") if getattr(self, name))

    def without(self, name: str) -> "Filters":
        """Return these filters without the facet `name` (or `edition`, or `version`)."""
        return self.with_only(name)

    def with_only(self, name: str, *values: str) -> "Filters":
        """Return these filters with the facet `name` (or `edition`, or `version`) set to `values`."""
        ruled_out = () if name == "version" else self.ruled_out
        return replace(self, **{name: values, "ruled_out": ruled_out})

    def admit(self, entry: Entry | Summary) -> bool:
        """Whether an entry passes all filters."""
        values = facet_values(entry)
        for facet in FACETS:
            if self.facet(facet) and set(self.facet(facet)).isdisjoint(values[facet]):
                return False
        in_version = set(self.ruled_out).isdisjoint(values[HOLDS])
        return in_version and not (self.edition and entry.editions.keys().isdisjoint(self.edition))

    def known(self, taxonomy: Taxonomy) -> "Filters":
        """Return these filters with tags spelled as in the taxonomy. Raises UnknownTag for the first unknown one."""
        known = {
            facet: tuple(known_tag(facet, tag, taxonomy) for tag in self.facet(facet)) for facet in FACETS
        }
        return replace(self, **known)

    def __bool__(self) -> bool:
        return bool(self.chosen)


def known_tag(facet: str, value: str, taxonomy: Taxonomy) -> str:
    """Return the id of a tag, whose case does not matter. Raises UnknownTag if the taxonomy lacks it."""
    tags, folded = taxonomy.facet(facet), value.casefold()
    found = value if value in tags else next((tag for tag in tags if tag.casefold() == folded), None)
    if found is None:
        raise UnknownTag(facet=facet, value=value[:100], known=", ".join(tags))
    return found


MAX_RANKED_OFFSET = 10_000
MAX_LIST_OFFSET = 1_000_000
"""Nothing is ranked in a list, so its last page costs no more than the first."""


@dataclass(frozen=True, slots=True)
class Window:
    """At most `limit` items after the first `offset`."""

    limit: int
    offset: int

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        return items[self.offset : self.offset + self.limit]
