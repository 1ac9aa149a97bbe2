"""The words of the texts that tell a failure, by document: what a diagnosis counts."""

from collections.abc import Sequence

import numpy as np

from app.search.index.array_file import Array
from app.search.index.collection import Collection


class EmbeddedTelling:
    """The words of live documents. Documents are numbers in the order of `ids`."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.ids: Sequence[str] = collection.ids
        telling = np.zeros(len(collection), dtype=np.bool_)
        for place, segment in enumerate(collection.segments):
            telling[collection.renumbered(place, np.unique(segment.telling.columns[0]))] = True
        self.documents = int(telling.sum())
        """How many have any."""

    def holders(self, word: str) -> tuple[Array, Array]:
        """The documents that have a word, ascending, and in how many texts each has it."""
        found = [
            (numbers[numbers >= 0], counts[numbers >= 0])
            for place, segment in enumerate(self._collection.segments)
            if (rows := segment.telling.rows(word)) is not None
            for counts in (segment.telling.columns[1][rows],)
            for numbers in (self._collection.numbers[place][segment.telling.columns[0][rows]],)
        ]
        if not found:
            return NOBODY
        numbers, counts = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(numbers, kind="stable")
        return numbers[order], counts[order]


NOBODY: tuple[Array, Array] = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
