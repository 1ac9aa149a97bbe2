"""How alike documents are to what is asked, by the vectors that segments hold."""

import numpy as np

from app.search.index.array_file import Array
from app.search.index.collection import Collection
from app.search.index.protocol import Numbers, Scores
from app.search.meaning.embedder import Vector
from app.search.meaning.vectors import STEPS

CLOSEST = 32
"""Documents whose sayings are looked at one by one: those whose mean is closest to what is asked, and as many of those
that hold its words. With one document in ten no figure of any set changed, and every other one costs time."""


class EmbeddedLikeness:
    """The vectors of a collection: the mean of each document gathered, the rest left where it is mapped."""

    def __init__(self, collection: Collection, gist: float) -> None:
        """`gist` is what the mean of a document counts by beside its closest saying."""
        self._gist = gist
        self._size = len(collection)
        widths = {one.meaning.shape[1] for one in collection.segments if len(one.meaning)}
        # Of two embedders, neither can be compared with the other: the index is being made anew.
        self._width = widths.pop() if len(widths) == 1 else 0
        self._means = np.zeros((self._size, self._width), dtype=np.int8)
        self._sayings: list[Array] = [np.zeros((0, self._width), dtype=np.int8)] * self._size
        if self._width:
            self._gather(collection)

    def of(self, vector: Vector, by_words: Scores) -> Scores:
        """The cosine with the closest saying of a document, and `gist` times that with its mean; 0 for documents that
        were not looked at. `by_words` is what each scores without."""
        likeness = np.zeros(self._size)
        if len(vector) != self._width:
            return likeness
        means = _cosines(self._means, vector)
        chosen = self._closest(means, by_words)
        # One by one: a document's sayings fit into a processor's cache, all that were chosen do not.
        closest = [_cosines(self._sayings[number], vector).max() for number in chosen.tolist()]
        likeness[chosen] = np.array(closest) + self._gist * means[chosen]
        return likeness

    def _closest(self, means: Scores, by_words: Scores) -> Numbers:
        """Numbers of the documents to look at; all of them have something to say."""
        if self._size <= CLOSEST:
            chosen = np.arange(self._size)
        else:
            leading = (np.argpartition(-each, CLOSEST)[:CLOSEST] for each in (means, by_words))
            chosen = np.unique(np.concatenate([*leading]))
        return np.array([number for number in chosen.tolist() if len(self._sayings[number])], dtype=np.intp)

    def _gather(self, collection: Collection) -> None:
        for place, segment in enumerate(collection.segments):
            for document, number in enumerate(collection.numbers[place].tolist()):
                vectors = segment.vectors(document)
                if number >= 0 and len(vectors):
                    self._means[number], self._sayings[number] = vectors[0], vectors[1:]


def _cosines(kept: Array, vector: Vector) -> Scores:
    # Not `@`: BLAS would wake its threads for it, which wait longer than they work.
    cosines: Scores = np.einsum("ij,j->i", kept.astype(np.float32), vector) / STEPS
    return cosines
