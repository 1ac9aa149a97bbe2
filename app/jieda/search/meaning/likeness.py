"""Which of some texts mean the same: by their vectors, whatever their language."""

from collections.abc import Iterator, Sequence

import numpy as np

from jieda.search.meaning.embedder import Embedder

BLOCK = 512
"""Texts that are compared with all others at a time."""


def alike(embedder: Embedder, texts: Sequence[str], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of places whose texts are at least as near as `least`, a cosine; the first place is the smaller one."""
    if not texts:
        return
    vectors = embedder.embed(texts)
    for first in range(0, len(texts), BLOCK):
        near = vectors[first : first + BLOCK] @ vectors.T >= least
        for row, column in np.argwhere(near):
            if first + row < column:
                yield int(first + row), int(column)
