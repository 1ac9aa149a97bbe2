"""The door that every embedder is behind: texts to vectors, near each other where the texts mean nearly the same."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Of length 1, shape (width,)."""
Vectors = NDArray[np.float32]
"""A vector for each of some texts, shape (texts, width)."""


class Embedder(Protocol):
    """Turns texts into vectors, whatever their language. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Of the weights and the release: vectors are compared with those of the same name only."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text. The first call may take seconds."""
