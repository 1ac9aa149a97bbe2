"""What a search or a list is narrowed by."""

from dataclasses import dataclass

from app.entry import Entry, Language, Summary
from app.taxonomy import FACETS, facet_values


@dataclass(frozen=True, slots=True)
class Filters:
    """Or within one facet, and between facets. `edition` keeps entries that have that edition."""

    framework: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    error_type: tuple[str, ...] = ()
    edition: Language | None = None

    def facet(self, name: str) -> tuple[str, ...]:
        """The values asked for in one of `entry.FACETS`."""
        return {
            "framework": self.framework,
            "kind": self.kind,
            "topic": self.topic,
            "error_type": self.error_type,
        }[name]

    def without(self, name: str) -> "Filters":
        """These filters without the facet `name` (or `edition`)."""
        kept = {facet: self.facet(facet) for facet in FACETS if facet != name}
        return Filters(**kept, edition=None if name == "edition" else self.edition)

    def with_only(self, name: str, *values: str) -> "Filters":
        """These filters with the facet `name` narrowed to some values."""
        kept = {facet: self.facet(facet) for facet in FACETS}
        return Filters(**kept | {name: values}, edition=self.edition)

    def admit(self, entry: Entry | Summary) -> bool:
        """Whether an entry has a value of each facet that is filtered by, and the edition."""
        values = facet_values(entry)
        tagged = all(not self.facet(facet) or set(self.facet(facet)) & set(values[facet]) for facet in FACETS)
        return tagged and (self.edition is None or self.edition in entry.editions)

    def __bool__(self) -> bool:
        return bool(self.framework or self.kind or self.topic or self.error_type or self.edition)
