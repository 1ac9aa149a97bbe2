"""Who says a word: entries in the texts that tell their failure, and logs of the background."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class TellingWords(Protocol):
    """The words of entries, which are numbers in the order of `ids`."""

    @property
    def ids(self) -> Sequence[str]:
        """Their ids, ascending."""

    @property
    def documents(self) -> int:
        """How many of them tell a failure."""

    def holders(self, word: str) -> tuple[Array, Array]:
        """The entries that have a word, ascending, and in how many texts each has it."""


class CountedWords:
    """The words of entries, or of logs that no entry explains, counted here and now."""

    def __init__(self, counted: Mapping[str, Mapping[str, int]]) -> None:
        """`counted`: in how many texts each has a word, by id or by the name of the log."""
        self.ids: Sequence[str] = tuple(sorted(counted))
        self.documents = len(counted)
        held: dict[str, tuple[list[int], list[int]]] = {}
        for number, each in enumerate(self.ids):
            for word, count in counted[each].items():
                numbers, counts = held.setdefault(word, ([], []))
                numbers.append(number)
                counts.append(count)
        self._held = {word: (np.array(of), np.array(counts)) for word, (of, counts) in held.items()}

    def holders(self, word: str) -> tuple[Array, Array]:
        """As `TellingWords.holders`."""
        return self._held.get(word, NOBODY)


NOBODY: tuple[Array, Array] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
