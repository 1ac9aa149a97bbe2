"""Where index terms stand in the lines of an edition, in a form that is looked up without being read.

    number of terms · digest of each term, ascending · first occurrence of each term, and the end of the last one ·
    line, start and length of each occurrence

Little-endian, numbers of 4 bytes and digests of 8. An edition has a thousand terms and more, and a search
asks each of its ten hits for some twenty.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER, DIGEST_SIZE = 4, 8
"""Bytes of a term's digest: that two of a million terms have the same is less likely than one in ten million."""
KEPT = 1 << 14
"""Terms whose digests are at hand: editions share most of theirs."""

Place = tuple[int, int, int]
"""The number of a line, and start and end in that line's text, in characters."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Terms to look for, with what each is worth; `digests` of shape (terms,)."""

    weights: Sequence[float]
    digests: NDArray[np.uint64]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> "Wanted":
        """Terms by name."""
        return cls(tuple(weights.values()), _digests(weights))


class Places:
    """The places of all terms of an edition."""

    def __init__(self, data: bytes) -> None:
        """Raises ValueError where `data` is not what `packed` makes."""
        self._data = data
        (count,) = np.frombuffer(data, "<u4", 1).tolist()
        starts = NUMBER + DIGEST_SIZE * count
        self._digests = np.frombuffer(data, "<u8", count, NUMBER)
        self._starts = np.frombuffer(data, "<u4", count + 1, starts)
        self._rows = np.frombuffer(data, "<u4", -1, starts + NUMBER * (count + 1)).reshape(-1, 3)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._data)

    def standing(self, wanted: Wanted) -> Iterator[tuple[float, list[Place]]]:
        """Of the terms that occur what each is worth, and its places in order."""
        if not len(self._digests):
            return
        at = np.minimum(self._digests.searchsorted(wanted.digests), len(self._digests) - 1)
        for number in np.flatnonzero(self._digests[at] == wanted.digests).tolist():
            yield wanted.weights[number], self._of(int(at[number]))

    def first(self, term: str) -> Place | None:
        """Where a term stands first."""
        found = next(self.standing(Wanted.of({term: 1.0})), None)
        return found[1][0] if found else None

    def _of(self, number: int) -> list[Place]:
        rows: list[Any] = self._rows[self._starts[number] : self._starts[number + 1]].tolist()
        return [(line, start, start + length) for line, start, length in rows]


def packed(terms: Iterable[str], rows: NDArray[np.integer]) -> bytes:
    """Places as `Places` reads them: of the term of each occurrence line, start and length, `rows` of shape
    (occurrences, 3) in the order of the text."""
    digests = _digests(terms)
    order = np.argsort(digests, kind="stable")
    distinct, starts = np.unique(digests[order], return_index=True)
    pieces = (
        np.array([len(distinct)], "<u4"),
        distinct,
        np.append(starts, len(digests)).astype("<u4"),
        rows[order].astype("<u4"),
    )
    return b"".join(piece.tobytes() for piece in pieces)


def _digests(terms: Iterable[str]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(map(_digest, terms)), "<u8")


@lru_cache(KEPT)
def _digest(term: str) -> bytes:
    # A query may hold half of a surrogate pair.
    return hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=DIGEST_SIZE).digest()
