"""The live documents of several segments, numbered as one: from 0, in the order of their ids."""

from collections.abc import Sequence

import numpy as np

from app.errors import IndexUnreadable
from app.search.index.array_file import Array
from app.search.index.fields import ZONES, Weighting
from app.search.index.manifest import IndexManifest
from app.search.index.protocol import Scores
from app.search.index.segment import Segment


class Collection:
    """`numbers[i][n]` is the number here of document n of segment i, or −1 where that is deleted; ascending within a
    segment. `gains` is what a term that occurs once brings to tf~, a zone's weight over its `Weighting.norms`: of each
    document one zone after the other."""

    def __init__(self, segments: Sequence[Segment], manifest: IndexManifest, weighting: Weighting) -> None:
        """Raises IndexUnreadable where the deletions are not of these segments, or an id is live twice."""
        self.segments = tuple(segments)
        live = [_live(one, manifest.deleted.get(one.name, ())) for one in segments]
        found = [
            (document_id, place)
            for place, document_id in enumerate(document_id for one in segments for document_id in one.ids)
        ]
        kept = np.concatenate([*live, np.zeros(0, dtype=np.bool_)])
        ordered = sorted(pair for pair, keep in zip(found, kept.tolist(), strict=True) if keep)
        self.ids = tuple(document_id for document_id, _ in ordered)
        if len(set(self.ids)) != len(self.ids):
            raise IndexUnreadable("a document is in two segments")
        numbers = np.full(len(found), -1, dtype=np.int32)
        numbers[[place for _, place in ordered]] = np.arange(len(ordered), dtype=np.int32)
        ends = np.cumsum([len(one) for one in segments], dtype=np.int64).tolist()
        self.numbers: tuple[Array, ...] = tuple(
            numbers[end - len(one) : end] for one, end in zip(segments, ends, strict=True)
        )
        self.places = self._placed()
        """The segment of each document, and its number there, shape (2, documents)."""
        self.gains = self._gains(weighting)

    def __len__(self) -> int:
        return len(self.ids)

    def renumbered(self, segment: int, documents: Array) -> Array:
        """Numbers here of documents of a segment, without the deleted."""
        numbers = self.numbers[segment][documents]
        return numbers[numbers >= 0]

    def live(self, segment: int) -> Array:
        """Which documents of a segment are live."""
        return self.numbers[segment] >= 0

    def placed(self, segment: int, numbers: Array) -> Array:
        """Of some documents those that a segment has, by their numbers there."""
        segments, places = self.places[:, numbers]
        here: Array = places[segments == segment]
        return here

    def _placed(self) -> Array:
        placed = np.zeros((2, len(self)), dtype=np.int32)
        for segment, numbers in enumerate(self.numbers):
            live = np.flatnonzero(numbers >= 0)
            placed[0, numbers[live]], placed[1, numbers[live]] = segment, live
        return placed

    def _gains(self, weighting: Weighting) -> Scores:
        lengths = np.zeros((len(ZONES), len(self)))
        for number, segment in enumerate(self.segments):
            live = self.live(number)
            lengths[:, self.numbers[number][live]] = segment.lengths[:, live]
        weights = np.array([weighting.zones[zone].weight for zone in ZONES])
        gains: Scores = weights / weighting.norms(lengths.T)
        return gains.reshape(-1)


def _live(segment: Segment, deleted: Sequence[int]) -> Array:
    live = np.ones(len(segment), dtype=np.bool_)
    if deleted and not 0 <= min(deleted) <= max(deleted) < len(segment):
        raise IndexUnreadable(f"{segment.name}: deletes documents that it does not have")
    live[list(deleted)] = False
    return live
