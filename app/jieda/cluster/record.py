"""A document as it is sent to the cluster and comes back, and how terms are spelled there, so that it takes all of them
and tells them apart.

`features` is what candidates are found by, one number a term; `record` and `texts` are what they are judged by, exactly
as the embedded index would. The cluster never looks into these two. A record is arrays, one behind the other, that are
looked up as they come, without a Python object for each term:

    number of terms, of rows, of marks · HEAD
    digest of each term, sorted · digests of keys and tags, sorted · length of each zone
    how often a term stands in a zone, row by row · how many rows each term has · the zone of each row

A corpus repeats its words. Number, digest and JSON of a term are kept while documents are sent, so that a document of a
thousand terms is a few calls over arrays and a few joins; term by term, in Python, it took five times as long.
"""

import base64
import binascii
import hashlib
import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jieda.errors import IndexUnreadable
from jieda.search.index.document import Document, IndexedText
from jieda.search.index.fields import EDITION, ZONES, Weighting
from jieda.taxonomy import FACETS

LONGEST = 256
"""Bytes of a term that are sent as they are. The cluster refuses whole documents for terms of 32,766 bytes."""
DIGESTED = "\x01"
"""Starts the digest of a term that is too long or no valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Stands between two texts among the atoms, so that no phrase is found across them; no atom contains it."""
REMEMBERED = 1 << 16
"""Terms: most are in many documents."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})


@lru_cache(REMEMBERED)
def spelled(term: str) -> str:
    """A term as the cluster keeps it."""
    try:
        if len(term.encode()) <= LONGEST:
            return term
    except UnicodeEncodeError:  # a lone surrogate, which no other program takes
        pass
    return DIGESTED + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def feature(term: str) -> str:
    """A term as the name of a feature: with a dot in it, it would be indexed and never found."""
    return spelled(term).translate(ESCAPES)


HEAD = np.dtype("<u4")
DIGEST = np.dtype("<u8")
BYTE = np.dtype("u1")
Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class ClusterRecord:
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


def read_record(packed: str) -> ClusterRecord:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        terms, marks, lengths, counts, sizes, zones = _parts(_decoded(packed))
    except (ValueError, TypeError) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error
    starts = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    if starts[-1] != len(zones) or zones.max(initial=0) >= len(ZONES):
        raise IndexUnreadable("a document of the cluster: its parts do not fit")
    return ClusterRecord(terms, starts, zones, counts, lengths, marks)


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


def read_texts(packed: str) -> tuple[IndexedText, ...]:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        return tuple(
            IndexedText(region, tuple(atoms), tuple(separators))
            for region, atoms, separators in _unpacked(packed)
        )
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


FORM = 3
"""Raise it when the same document makes other features or another record: then no index is taken over."""
MOST_HITS = 10_000


@dataclass(frozen=True, slots=True)
class Shape:
    """How an index is spread over the nodes."""

    shards: int
    replicas: int


def index_body(shape: Shape) -> dict[str, object]:
    """What an index is created with. It has its replicas from the start: a node may be lost while it is loaded."""
    plain = {"type": "keyword", "doc_values": False}
    # Beside the documents, not among their stored fields: these are compressed together, and read together.
    kept = {"type": "binary", "doc_values": True}
    return {
        "settings": {
            "number_of_shards": shape.shards,
            "number_of_replicas": shape.replicas,
            "refresh_interval": "-1",
            "max_result_window": MOST_HITS,
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_meta": {"form": FORM},
            "properties": {
                "features": {"type": "rank_features"},
                "terms": plain,
                "keys": plain,
                "atoms": {
                    "type": "text",
                    "analyzer": "keyword",
                    "index_options": "positions",
                    "position_increment_gap": 0,
                    "norms": False,
                },
                **{facet: {"type": "keyword"} for facet in (*FACETS, EDITION)},
                "id": {"type": "keyword"},
                "record": kept,
                "texts": kept,
            },
        },
    }


SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and floats of 32 bits end here."""
REMEMBERED_TERMS = 1 << 17
"""Terms, and as many atoms and separators; of more, all are forgotten."""

Numbers = NDArray[np.int64]


class _Made(dict[str, str]):
    """What is made of a string, once."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> str:
        made = self[text] = self._make(text)
        return made

    def of(self, texts: Iterable[str]) -> str:
        """JSON of a list."""
        return f"[{','.join(map(self.__getitem__, texts))}]"


class _Terms(dict[str, int]):
    """Terms by number, and what is sent of each."""

    def __init__(self, kinds: Callable[[str], float]) -> None:
        super().__init__()
        self._kinds = kinds
        self.names: list[str] = []
        """As names of features, with a colon behind."""
        self.spelled: list[str] = []
        self._digests, self._worth = array("Q"), array("d")

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        self.names.append(f"{_json(feature(term))}:")
        self.spelled.append(_json(spelled(term)))
        self._digests.append(digest(term))
        self._worth.append(self._kinds(term[0]))
        return number

    @property
    def digests(self) -> NDArray[np.uint64]:
        """By number; not to be kept."""
        return np.frombuffer(self._digests, np.uint64)

    @property
    def worth(self) -> NDArray[np.float64]:
        """Weight of each term's kind, by number; not to be kept."""
        return np.frombuffer(self._worth, np.float64)


class SourceWriter:
    """Writes documents for one index. Not safe to share between threads."""

    def __init__(self, weighting: Weighting) -> None:
        self._weighting = weighting
        self._forget()

    def _forget(self) -> None:
        kinds = self._weighting.kinds
        self._terms = _Terms(lambda kind: kinds.get(kind, 1.0))
        self._atoms = _Made(lambda atom: _json(spelled(atom)))
        # Escaped to ASCII: a lone surrogate, which a text may hold, has no other way there and back.
        self._texts = _Made(json.dumps)

    def json_of(self, document: Document) -> str:
        """What is sent to the cluster of a document."""
        if max(len(self._terms), len(self._atoms), len(self._texts)) > REMEMBERED_TERMS:
            self._forget()
        held = [document.zones.get(zone, {}) for zone in ZONES]
        lengths = [sum(counts.values()) for counts in held]
        rows = _DocumentRows(self._terms, held)
        facets = {facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION)}
        marks = [key_mark(key) for key in document.keys]
        marks += [tag_mark(facet, value) for facet, values in facets.items() for value in values]
        names, spellings = self._terms.names, self._terms.spelled
        fields = {
            "id": _json(document.id),
            "features": _object(map(names.__getitem__, rows.terms), self._values(rows, lengths)),
            "terms": f"[{','.join(map(spellings.__getitem__, rows.terms))}]",
            "keys": _json([spelled(key) for key in document.keys]),
            "atoms": self._atoms.of(chain.from_iterable((*text.atoms, BREAK) for text in document.texts)),
            **{facet: _json(values) for facet, values in facets.items()},
            "record": _json(_in_base64(rows.record(lengths, marks))),
            "texts": _json(_in_base64(zlib.compress(self._texts_json(document.texts).encode(), 1))),
        }
        return _object((f'"{name}":' for name in fields), fields.values())

    def _values(self, rows: "_DocumentRows", lengths: Sequence[int]) -> list[str]:
        """The weighted frequency of each term, as precise as the cluster keeps it."""
        weights = [self._weighting.zones[zone].weight for zone in ZONES]
        worth = np.array(weights) / self._weighting.norms(lengths)
        found = np.bincount(rows.owners, worth[rows.zones] * rows.counts, len(rows.terms))
        values = np.maximum(found * self._terms.worth[rows.terms], SMALLEST).tolist()
        # One call for all of them.
        return (" ".join(["%.4g"] * len(values)) % tuple(values)).split()

    def _texts_json(self, texts: Sequence[IndexedText]) -> str:
        listed = self._texts.of
        return (
            f"[{','.join(f'[{one.region:d},{listed(one.atoms)},{listed(one.separators)}]' for one in texts)}]"
        )


class _DocumentRows:
    """How often each term of a document stands in each zone, terms in the order of their digests."""

    def __init__(self, known: _Terms, held: Sequence[Mapping[str, int]]) -> None:
        sizes = [len(counts) for counts in held]
        occurring = np.fromiter(map(known.__getitem__, chain.from_iterable(held)), np.int64, sum(sizes))
        present, places = np.unique(occurring, return_inverse=True)
        numbers = known.digests[present]
        order = np.argsort(numbers)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        keys = ranks[places] * len(ZONES) + np.repeat(np.arange(len(ZONES)), sizes)
        counts = np.fromiter(chain.from_iterable(one.values() for one in held), np.int64, sum(sizes))
        sorting = np.argsort(keys)
        self.counts = counts[sorting]
        self.owners, self.zones = np.divmod(keys[sorting], len(ZONES))
        """Places in `terms`, and zones, of each count."""
        self.terms: list[int] = present[order].tolist()
        self._digests = numbers[order]

    def record(self, lengths: Sequence[int], marks: Iterable[str]) -> bytes:
        """The record of the document."""
        kept = np.unique(digests(marks))
        sizes = np.bincount(self.owners, minlength=len(self.terms))
        arrays = (
            np.array([len(self.terms), len(self.counts), len(kept)], HEAD),
            self._digests.astype(DIGEST),
            kept,
            np.array(lengths, HEAD),
            self.counts.astype(HEAD),
            sizes.astype(BYTE),
            self.zones.astype(BYTE),
        )
        return b"".join(each.tobytes() for each in arrays)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(names: Iterable[str], values: Iterable[str]) -> str:
    return f"{{{','.join(map(str.__add__, names, values))}}}"


def _in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
