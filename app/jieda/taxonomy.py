"""The words that entries are sorted and found by: tags, their closed lists, and groups of the glossary."""

from collections.abc import Mapping
from dataclasses import dataclass

from jieda.entry import Entry, Language, Summary


@dataclass(frozen=True, slots=True)
class Tag:
    """A value of framework, kind, topic or error type, named in both languages."""

    id: str
    name: Mapping[Language, str]
    description: Mapping[Language, str]
    homepage: str = ""
    repository: str = ""


FACETS = ("framework", "kind", "topic", "error_type")
"""The tags that hits are counted and filtered by, in the order they are shown."""


def facet_values(entry: Entry | Summary) -> dict[str, tuple[str, ...]]:
    """The tags of an entry, by facet."""
    return {
        "framework": (entry.framework,),
        "kind": (entry.kind.value,),
        "topic": entry.topics,
        "error_type": entry.error_types,
    }


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The closed lists of tags; each mapping keeps the file's order."""

    framework: Mapping[str, Tag]
    kind: Mapping[str, Tag]
    topic: Mapping[str, Tag]
    error_type: Mapping[str, Tag]

    def facet(self, name: str) -> Mapping[str, Tag]:
        """The tags of one of `FACETS`."""
        return {
            "framework": self.framework,
            "kind": self.kind,
            "topic": self.topic,
            "error_type": self.error_type,
        }[name]


@dataclass(frozen=True, slots=True)
class GlossaryGroup:
    """Words and phrases that mean the same, in both languages."""

    en: tuple[str, ...]
    zh: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All members, English first."""
        return self.en + self.zh
