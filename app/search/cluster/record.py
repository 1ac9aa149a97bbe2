"""A document as it comes back from the cluster, where `source` sent it.

`features` is what candidates are found by, one number a term; `record` and `texts` are what they are judged by, exactly
as the embedded index would. The cluster never looks into these two. A record is arrays, one behind the other, that are
looked up as they come, without a Python object for each term:

    number of terms, of rows, of marks · HEAD
    digest of each term, sorted · digests of keys and tags, sorted · length of each zone
    how often a term stands in a zone, row by row · how many rows each term has · the zone of each row
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import IndexUnreadable
from app.search.cluster.wire import REMEMBERED
from app.search.index.fields import ZONES
from app.search.index.writing import Passage

EDITION = "edition"
HEAD = np.dtype("<u4")
DIGEST = np.dtype("<u8")
BYTE = np.dtype("u1")
Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Record:
    """What of a document is judged. Term `terms[i]` has the rows `starts[i]` to `starts[i + 1]` of `zones` and
    `counts`."""

    terms: Digests
    starts: NDArray[np.int64]
    zones: NDArray[np.uint8]
    counts: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    """Shape (zones,)."""
    marks: Digests
    """Of its keys, and its tags by facet; sorted."""

    @property
    def size(self) -> int:
        """Bytes, about."""
        arrays = (self.terms, self.starts, self.zones, self.counts, self.lengths, self.marks)
        return sum(array.nbytes + 120 for array in arrays)


@lru_cache(REMEMBERED)
def digest(term: str) -> int:
    """What stands for a term in a record: 64 bits, so that no two of millions are alike."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def digests(terms: Iterable[str]) -> Digests:
    """Of some terms, in their order."""
    return np.array([digest(term) for term in terms], DIGEST)


def key_mark(key: str) -> str:
    """What a key is known by among the marks."""
    return f"key {key}"


def tag_mark(facet: str, value: str) -> str:
    """What a tag is known by among the marks."""
    return f"{facet} {value}"


def read_record(packed: str) -> Record:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        terms, marks, lengths, counts, sizes, zones = _parts(_decoded(packed))
    except (ValueError, TypeError) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error
    starts = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    if starts[-1] != len(zones) or zones.max(initial=0) >= len(ZONES):
        raise IndexUnreadable("a document of the cluster: its parts do not fit")
    return Record(terms, starts, zones, counts, lengths, marks)


def _parts(data: bytes) -> Iterator[NDArray[Any]]:
    """The arrays of a record, one after the other. Raises ValueError where there is too little of it."""
    terms, rows, marks = np.frombuffer(data, HEAD, 3).tolist()
    place = 3 * HEAD.itemsize
    for kind, count in (
        (DIGEST, terms),
        (DIGEST, marks),
        (HEAD, len(ZONES)),
        (HEAD, rows),
        (BYTE, terms),
        (BYTE, rows),
    ):
        # A copy: in the data it begins at any place, which is slow to look up.
        yield np.frombuffer(data, kind, count, place).copy()
        place += count * kind.itemsize


def read_texts(packed: str) -> tuple[Passage, ...]:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        return tuple(Passage(region, tuple(atoms), tuple(gaps)) for region, atoms, gaps in _unpacked(packed))
    except (TypeError, ValueError) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error


def _unpacked(packed: str) -> Any:
    try:
        return json.loads(zlib.decompress(_decoded(packed)))
    except (ValueError, TypeError, binascii.Error, zlib.error) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error


def _decoded(packed: str) -> bytes:
    # The cluster gives back what it was sent without the padding.
    return base64.b64decode(packed.rstrip("=") + "==")
