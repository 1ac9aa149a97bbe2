"""A part of a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Window:
    """At most `limit` items after the first `offset`."""

    limit: int
    offset: int

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """That part of `items`."""
        return items[self.offset : self.offset + self.limit]
