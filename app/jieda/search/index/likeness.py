"""Similarity of documents to an embedded query, by the vectors of the segments.

Vectors are many and long: their sign bits preselect those worth comparing in full.
"""

from dataclasses import dataclass

import numpy as np

from jieda.search.index.array_file import Array, ranges
from jieda.search.index.collection import Collection
from jieda.search.index.protocol import Numbers, Scores, Similarity
from jieda.search.index.segment import Segment
from jieda.search.meaning.embedder import (
    STEPS,
    Quantized,
    Signs,
    Vector,
    count_differing,
    sign_words,
    signs_of,
)
from jieda.search.weights import GIST

CLOSEST = 32
"""Documents whose sayings are compared: this many whose mean is closest to the query, and this many of the best by
words. Comparing one document in ten changed no figure of any set, and each further one costs time."""

MEANS, SHARE_OF_MEANS = 320, 8
"""Means compared in full: one in SHARE_OF_MEANS, those with the fewest differing signs, and at least MEANS. They
include 99.0% of the 32 that are truly closest in 1,281 entries, and 99.9% in 10,000 vectors of sentences."""

SLACK = 20
"""Sayings of a document are compared in full if they have at most this many more differing signs than its closest one.
In 98 of 100 documents the most similar saying is among them, in the others a nearly as similar one."""


RELATED, UNRELATED = 0.82, 0.24
"""Cosine of a title with the gist of its own entry, and of another one, under the encoder that weights and thresholds
were chosen with: means over the shipped entries."""
SAMPLE = 256
"""Entries that determine the scale of another encoder; the scale by 32 differs by a hundredth from that by 81."""
LEAST_APART = 0.05


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps cosines of an encoder to the scale that weights were chosen for. Encoders differ: with some, any two texts
    have a cosine of .8."""

    factor: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, titles: Quantized, gists: Quantized) -> "Scale":
        """Compute the scale from a title and the gist of each of some entries."""
        if len(titles) < 2:
            return cls()
        one, other = (rows.astype(np.float32) / STEPS for rows in (titles, gists))
        own = float(np.einsum("ij,ij->i", one, other).mean())
        total = float(one.sum(axis=0) @ other.sum(axis=0))
        others = (total / len(one) - own) / (len(one) - 1)
        factor = (RELATED - UNRELATED) / max(own - others, LEAST_APART)
        return cls(factor, UNRELATED - factor * others)

    def __call__(self, cosines: Scores, weight: float = 1.0) -> Scores:
        """Map a weighted sum of cosines; `weight` is the sum of the weights."""
        scaled: Scores = self.factor * cosines + self.shift * weight
        return scaled


class EmbeddedLikeness:
    """The vectors of a collection: the means of all documents in one array, the others in the mapped segments."""

    def __init__(self, collection: Collection, *, to_scale: bool = False) -> None:
        """`to_scale`: the vectors are of another encoder than the one that weights were chosen with."""
        self._segments = collection.segments
        self._size = len(collection)
        widths = {one.meaning.shape[1] for one in collection.segments if len(one.meaning)}
        # Vectors of two embedders cannot be compared: the index is being rebuilt.
        self._width = widths.pop() if len(widths) == 1 else 0
        self._places = collection.places
        self._has_vectors = np.zeros(self._size, np.bool_)
        """Whether a document has vectors."""
        self._means: Quantized = np.zeros((self._size, self._width), np.int8)
        self._signs: Signs = np.zeros((self._size, sign_words(self._width)), np.uint64)
        if self._width:
            self._gather_means(collection)
        self._scale = self._scale_by_titles() if to_scale else Scale()

    def of(self, vector: Vector, by_words: Scores) -> Similarity:
        """Return the similarity of each document; `by_words` is its score by words alone."""
        similar = Similarity(np.zeros(self._size), np.zeros(self._size))
        if not self._width or len(vector) != self._width:
            return similar
        asked = signs_of(vector[np.newaxis])
        chosen = self._choose(vector, asked, by_words)
        places, documents = self._places[:, chosen]
        for place in np.unique(places).tolist():
            here = places == place
            found = self._compare(self._segments[place], documents[here], vector, asked)
            similar.text[chosen[here]] = self._scale(found.text, 1 + GIST)
            similar.title[chosen[here]] = self._scale(found.title)
        return similar

    def _choose(self, vector: Vector, asked: Signs, by_words: Scores) -> Numbers:
        """Return the numbers of the documents to compare; all of them have vectors."""
        near = _least(count_differing(self._signs, asked), max(MEANS, self._size // SHARE_OF_MEANS))
        nearest = near[_least(-_cosines(self._means[near], vector), CLOSEST)]
        chosen = np.union1d(nearest, _least(-by_words, CLOSEST))
        compared: Numbers = chosen[self._has_vectors[chosen]]
        return compared

    def _compare(self, segment: Segment, documents: Numbers, vector: Vector, asked: Signs) -> Similarity:
        starts = segment.meaning_starts[documents]
        counts = segment.meaning_starts[documents + 1] - starts
        means = np.cumsum(counts) - counts
        rows = ranges(starts, counts)
        differ = count_differing(segment.signs[rows], asked)
        differ[means] = self._width
        near = differ <= np.repeat(np.minimum.reduceat(differ, means) + SLACK, counts)
        near[means] = True
        titled = np.repeat(means + segment.titles[documents], counts) >= np.arange(len(rows))
        near |= titled
        cosines = np.full(len(rows), -1.0)
        cosines[near] = _cosines(segment.meaning[rows[near]], vector)
        gists = cosines[means]
        cosines[means] = -1
        told = np.maximum.reduceat(cosines, means) + GIST * gists
        return Similarity(told, np.maximum.reduceat(np.where(titled, cosines, -1.0), means))

    def _scale_by_titles(self) -> Scale:
        embedded = np.flatnonzero(self._has_vectors)
        sample = embedded[:: -(-len(embedded) // SAMPLE) or 1]
        titles = [
            self._segments[place].vectors(document)[1]
            for place, document in self._places[:, sample].T.tolist()
        ]
        return Scale.of(np.array(titles, np.int8), self._means[sample])

    def _gather_means(self, collection: Collection) -> None:
        for place, segment in enumerate(collection.segments):
            starts = segment.meaning_starts
            documents = np.flatnonzero((collection.numbers[place] >= 0) & (np.diff(starts) > 0))
            numbers = collection.numbers[place][documents]
            self._has_vectors[numbers] = True
            self._means[numbers] = segment.meaning[starts[documents]]
            self._signs[numbers] = segment.signs[starts[documents]]


def _least(values: Array, count: int) -> Numbers:
    """Return the indices of the `count` smallest values, or of all values if there are no more."""
    return np.argpartition(values, count)[:count] if count < len(values) else np.arange(len(values))


def _cosines(kept: Array, vector: Vector) -> Scores:
    # Not `@`: BLAS would wake its threads, which wait longer than they work.
    cosines: Scores = np.einsum("ij,j->i", kept.astype(np.float32), vector) / STEPS
    return cosines
