"""Who says a word: entries in the texts that tell their failure, and logs of the background."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.diagnosis.facts import BackgroundFacts, DiagnosisFacts

Array = NDArray[Any]


class TellingWords(Protocol):
    """The words of entries, which are numbers in the order of `ids`."""

    @property
    def ids(self) -> Sequence[str]:
        """Their ids."""

    @property
    def documents(self) -> int:
        """How many of them tell a failure."""

    def holders(self, word: str) -> tuple[Array, Array]:
        """The entries that have a word, ascending, and in how many texts each has it."""


class CountedWords:
    """The words of some entries, counted here and now."""

    def __init__(self, entries: Sequence[DiagnosisFacts]) -> None:
        self.ids: Sequence[str] = tuple(each.entry_id for each in entries)
        self.documents = len(entries)
        held: dict[str, tuple[list[int], list[int]]] = {}
        for number, each in enumerate(entries):
            for word, count in each.words.items():
                numbers, counts = held.setdefault(word, ([], []))
                numbers.append(number)
                counts.append(count)
        self._held = {word: (np.array(of), np.array(counts)) for word, (of, counts) in held.items()}

    def holders(self, word: str) -> tuple[Array, Array]:
        """As `TellingWords.holders`."""
        return self._held.get(word, NOBODY)


class BackgroundWords:
    """The words of logs that no entry explains."""

    def __init__(self, logs: Iterable[BackgroundFacts]) -> None:
        found = tuple(logs)
        places: dict[str, list[int]] = {}
        for place, log in enumerate(found):
            for word in log.words:
                places.setdefault(word, []).append(place)
        self._places: Mapping[str, Sequence[int]] = places
        self.names = tuple(log.name for log in found)

    def __len__(self) -> int:
        return len(self.names)

    def holders(self, word: str) -> Sequence[int]:
        """The numbers of the logs that have a word."""
        return self._places.get(word, ())


NOBODY: tuple[Array, Array] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
