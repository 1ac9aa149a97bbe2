"""What a builder works with."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from jieda.disk import make_room, set_aside
from jieda.snapshot.analyzers import Analyzers
from jieda.snapshot.build.helpers import Helpers
from jieda.snapshot.store.facts import FILE_NAME, FactStore

Value = TypeVar("Value")

SUFFIXES = ("", "-wal", "-shm")
"""Of the files that a store of facts consists of."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """The store of a data directory, open, those who help, and what is analyzed with. `pause` is called between pieces
    of work; what it raises ends a build. For one thread."""

    data: Path
    facts: FactStore
    analyzers: Analyzers
    helpers: Helpers
    pause: Callable[[], None]

    @classmethod
    def open(
        cls, data: Path, analyzers: Analyzers, helpers: Helpers, pause: Callable[[], None]
    ) -> "Workshop":
        """Of a data directory. Raises FactsUnreadable, OSError."""
        for suffix in SUFFIXES:
            make_room(data / f"{FILE_NAME}{suffix}")
        return cls(data, FactStore(data / FILE_NAME, writable=True), analyzers, helpers, pause)

    @property
    def is_current(self) -> bool:
        """Whether the store is still the one in the data directory."""
        return self.facts.is_at(self.data / FILE_NAME)


def discard_facts(data: Path) -> None:
    """Takes a damaged store out of the way. Raises OSError."""
    for suffix in SUFFIXES:
        path = data / f"{FILE_NAME}{suffix}"
        if os.path.lexists(path):
            set_aside(path)


class Last(Generic[Value]):
    """Keeps one value with what it was made from. Not safe to share between threads."""

    def __init__(self) -> None:
        self._made: tuple[tuple[object, ...], Value] | None = None

    def of(self, make: Callable[[], Value], *inputs: object) -> Value:
        """The value made from `inputs`, which are compared by value: quickly, where most of them are the same objects.

        What `make` raises is raised here.
        """
        if self._made is None or self._made[0] != inputs:
            self._made = (inputs, make())
        return self._made[1]
