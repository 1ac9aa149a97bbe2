"""All entries, loaded and cross-checked: an immutable collection."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.entry import FACETS, Entry, GlossaryGroup, Language, Problem, Sample, Taxonomy, facet_values


@dataclass(frozen=True, slots=True)
class Library:
    """What the content directories hold.

    `entries` and everything derived from it leaves out drafts and files that cannot be served.
    `digest` covers every content file that influences what is served, found or diagnosed.
    """

    entries: Mapping[str, Entry]
    taxonomy: Taxonomy
    glossary: tuple[GlossaryGroup, ...]
    dictionary: tuple[str, ...]
    """Lines of dictionary.txt in jieba's form, `word` or `word frequency`, without comments."""
    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...]
    formerly: Mapping[str, str]
    """Old id to the id of today."""
    images: Mapping[str, Path]
    """`<lang>/<framework>/<file name>` to the file, for the images that lie beside editions."""
    digest: str

    def image(self, lang: Language, path: str) -> Path | None:
        """The file of `<framework>/<file name>` beside the edition that a reader of `lang` is shown."""
        return self.images.get(f"{lang}/{path}") or self.images.get(f"{lang.other}/{path}")

    def tagged(self, facet: str, value: str) -> tuple[Entry, ...]:
        """Entries that carry a tag, latest change first."""
        return latest_first(entry for entry in self.entries.values() if value in facet_values(entry)[facet])

    def related(self, entry: Entry, limit: int = 6) -> tuple[Entry, ...]:
        """Neighbors: the ones the entry names, then those that share most of its tags."""
        named = [self.entries[other] for other in entry.related if other in self.entries]
        taken = {entry.id, *entry.related}
        ranked = sorted(
            ((affinity(entry, other), other) for other in self.entries.values() if other.id not in taken),
            key=lambda pair: (-pair[0], pair[1].id),
        )
        return tuple((named + [other for score, other in ranked if score > 1])[:limit])


def latest_first(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """`entries`, latest change first; those of one day by id."""
    return tuple(sorted(entries, key=lambda entry: (-entry.updated.toordinal(), entry.id)))


def affinity(one: Entry, other: Entry) -> int:
    """How near two entries are: shared topics and error types count twice a shared framework."""
    tags, others = facet_values(one), facet_values(other)
    weights = {"framework": 1, "kind": 0, "topic": 2, "error_type": 2}
    return sum(weights[facet] * len(set(tags[facet]) & set(others[facet])) for facet in FACETS)


def count_tags(entries: Iterable[Entry], facet: str) -> dict[str, int]:
    """How many of `entries` carry each value of a facet."""
    counts: dict[str, int] = {}
    for entry in entries:
        for value in facet_values(entry)[facet]:
            counts[value] = counts.get(value, 0) + 1
    return counts
