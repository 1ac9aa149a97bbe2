"""Search by vectors: the similarity of documents to an embedded query.

Vectors are many and long, so their sign bits preselect those that are compared in full.
"""

import numpy as np

from jieda.search.index.array_file import ranges
from jieda.search.index.collection import Collection
from jieda.search.index.protocol import Numbers, Scores, Similarity
from jieda.search.index.segment import Segment
from jieda.search.meaning.embedder import (
    STEPS,
    Quantized,
    Signs,
    Vector,
    cosines,
    count_differing,
    sign_words,
    signs_of,
    smallest,
)
from jieda.search.weights import CENTROID_WEIGHT

CLOSEST = 32
"""Documents whose chunks are compared: this many whose centroid is closest to the query, and this many of the best by
words. Comparing one document in ten changed no figure of any set, and each further one costs time."""

CENTROIDS, SHARE_OF_CENTROIDS = 320, 8
"""Centroids compared in full: one in SHARE_OF_CENTROIDS, those with the fewest differing signs, and at least CENTROIDS.
They include 99.0% of the 32 that are truly closest in 1,281 entries, and 99.9% in 10,000 vectors of sentences."""

SLACK = 20
"""Chunks of a document are compared in full if they have at most this many more differing signs than its closest one.
In 98 of 100 documents the most similar chunk is among them, in the others a nearly as similar one."""


RELATED, UNRELATED = 0.82, 0.24
"""Cosine of a title with the centroid of its own entry, and of another one, under the encoder that weights and
thresholds were chosen with: means over the shipped entries."""
SAMPLE = 256
"""Entries by which another encoder is calibrated; the scale by 32 differs by a hundredth from that by 81."""
LEAST_APART = 0.05


class VectorIndex:
    """The vectors of a collection: the centroids of all documents in one array, the others in the mapped segments."""

    def __init__(self, collection: Collection, *, calibrated: bool = False) -> None:
        """`calibrated`: another encoder than the one that weights were chosen with made the vectors."""
        self._segments = collection.segments
        self._size = len(collection)
        widths = {one.meaning.shape[1] for one in collection.segments if len(one.meaning)}
        # Vectors of two embedders cannot be compared: the index is being rebuilt.
        self._width = widths.pop() if len(widths) == 1 else 0
        self._places = collection.places
        self._has_vectors = np.zeros(self._size, np.bool_)
        """Whether a document has vectors."""
        self._centroids: Quantized = np.zeros((self._size, self._width), np.int8)
        self._signs: Signs = np.zeros((self._size, sign_words(self._width)), np.uint64)
        if self._width:
            self._gather_centroids(collection)
        self._factor, self._shift = self._scale_by_titles() if calibrated else (1.0, 0.0)

    def similarity(self, vector: Vector, by_words: Scores) -> Similarity:
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
            # The text is a sum of cosines with weights of 1 and CENTROID_WEIGHT.
            similar.text[chosen[here]] = self._factor * found.text + self._shift * (1 + CENTROID_WEIGHT)
            similar.title[chosen[here]] = self._factor * found.title + self._shift
        return similar

    def _choose(self, vector: Vector, asked: Signs, by_words: Scores) -> Numbers:
        """Return the numbers of the documents to compare; all of them have vectors."""
        near = smallest(count_differing(self._signs, asked), max(CENTROIDS, self._size // SHARE_OF_CENTROIDS))
        nearest = near[smallest(-cosines(self._centroids[near], vector), CLOSEST)]
        chosen = np.union1d(nearest, smallest(-by_words, CLOSEST))
        return chosen[self._has_vectors[chosen]]

    def _compare(self, segment: Segment, documents: Numbers, vector: Vector, asked: Signs) -> Similarity:
        starts = segment.meaning_starts[documents]
        counts = segment.meaning_starts[documents + 1] - starts
        centroids = np.cumsum(counts) - counts
        rows = ranges(starts, counts)
        differ = count_differing(segment.signs[rows], asked)
        differ[centroids] = self._width
        near = differ <= np.repeat(np.minimum.reduceat(differ, centroids) + SLACK, counts)
        near[centroids] = True
        titled = np.repeat(centroids + segment.titles[documents], counts) >= np.arange(len(rows))
        near |= titled
        alike = np.full(len(rows), -1.0)
        alike[near] = cosines(segment.meaning[rows[near]], vector)
        central = alike[centroids]
        alike[centroids] = -1
        text = np.maximum.reduceat(alike, centroids) + CENTROID_WEIGHT * central
        return Similarity(text, np.maximum.reduceat(np.where(titled, alike, -1.0), centroids))

    def _scale_by_titles(self) -> tuple[float, float]:
        """Return factor and shift from the cosines of an encoder to the scale that weights were chosen for, by a title
        and the centroid of some entries. Encoders differ: with some, any two texts have a cosine of .8."""
        embedded = np.flatnonzero(self._has_vectors)
        sample = embedded[:: -(-len(embedded) // SAMPLE) or 1]
        if len(sample) < 2:
            return 1.0, 0.0
        titles = [
            self._segments[place].vectors(document)[1]
            for place, document in self._places[:, sample].T.tolist()
        ]
        one, other = (np.array(rows, np.float32) / STEPS for rows in (titles, self._centroids[sample]))
        own = float(np.einsum("ij,ij->i", one, other).mean())
        total = float(one.sum(axis=0) @ other.sum(axis=0))
        others = (total / len(one) - own) / (len(one) - 1)
        factor = (RELATED - UNRELATED) / max(own - others, LEAST_APART)
        return factor, UNRELATED - factor * others

    def _gather_centroids(self, collection: Collection) -> None:
        for place, segment in enumerate(collection.segments):
            starts = segment.meaning_starts
            documents = np.flatnonzero((collection.numbers[place] >= 0) & (np.diff(starts) > 0))
            numbers = collection.numbers[place][documents]
            self._has_vectors[numbers] = True
            self._centroids[numbers] = segment.meaning[starts[documents]]
            self._signs[numbers] = segment.signs[starts[documents]]
