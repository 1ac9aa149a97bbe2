"""Vectors in the form in which they are kept: whole numbers, a byte each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.search.meaning.embedder import Vectors

STEPS = 4 * 127
"""Whole numbers that a vector's 1 is divided into: what is beyond a quarter of its length in one direction, which few
vectors are, is cut off. No figure of any set changed by it, and a vector takes a quarter of the room."""

Kept = NDArray[np.int8]
"""Vectors times STEPS, shape (vectors, width)."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vectors of an entry: `rows` of `width` signed bytes each, the mean of its gist first."""

    width: int
    rows: bytes

    @classmethod
    def of(cls, vectors: Vectors, of_gist: int) -> "Meaning":
        """Keeps the vectors of all that an entry says; the first `of_gist` of them make up its gist."""
        mean = vectors[:of_gist].mean(axis=0, keepdims=True)
        whole = np.concatenate([mean / np.linalg.norm(mean), vectors])
        kept = np.clip(np.rint(whole * STEPS), -127, 127).astype(np.int8)
        return cls(whole.shape[1], kept.tobytes())

    def vectors(self) -> Kept:
        """The rows, shape (1 + sayings, width)."""
        return np.frombuffer(self.rows, dtype=np.int8).reshape(-1, self.width)
