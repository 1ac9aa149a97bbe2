"""The parts of a document whose terms are kept apart, and what an index is told of their worth."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

ZONES = (
    "title_en",
    "title_zh",
    "alias_en",
    "alias_zh",
    "symptom_en",
    "symptom_zh",
    "heading_en",
    "heading_zh",
    "body_en",
    "body_zh",
    "aside_en",
    "aside_zh",
    "code",
    "signature",
    "tag",
)
"""What terms are kept by. Asides are links to other entries, whose words are only half about this one."""

EDITION, UPDATED = "edition", "updated"
"""What documents are filtered by beside their tags."""

TITLES, BODIES, FRONTS, ELSEWHERE = range(4)
"""Where an exact writing may stand: in a title, in the text of a page, in what only search sees (aliases, symptoms,
signatures), or in what is not the entry's own writing (names of tags, the scope it applies to)."""


REGIONS = 4


@dataclass(frozen=True, slots=True)
class ZoneWeight:
    """`weight` multiplies term frequencies, `b` says how far length discounts them. A zone of `pivot` terms is neither
    discounted nor raised."""

    weight: float
    b: float
    pivot: float


@dataclass(frozen=True, slots=True)
class Weighting:
    """What an index needs to weigh occurrences: each zone of `ZONES`, each kind of term by its prefix, and `k1`,
    the weighted frequency at which a term has brought half of what it can bring. `gist` is what the mean of a
    document's vectors counts by beside the closest of them."""

    zones: Mapping[str, ZoneWeight]
    kinds: Mapping[str, float]
    k1: float
    gist: float = 0.0

    def norms(self, lengths: ArrayLike) -> NDArray[np.float64]:
        """1 − b + b · length/pivot of zones `lengths` terms long, both of shape (…, zones)."""
        b, pivots = np.array([(self.zones[zone].b, self.zones[zone].pivot) for zone in ZONES]).T
        norms: NDArray[np.float64] = 1 - b + b * np.asarray(lengths) / pivots
        return norms
