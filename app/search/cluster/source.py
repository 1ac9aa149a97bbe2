"""A document as it is sent to the cluster: JSON, put together from what was made of each of its terms once.

A corpus repeats its words. Number, digest and JSON of a term are kept, so that a document of a thousand terms is a few
calls over arrays and a few joins; term by term, in Python, it took five times as long.
"""

import base64
import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from app.search.cluster.record import (
    BYTE,
    DIGEST,
    EDITION,
    HEAD,
    digest,
    digests,
    key_mark,
    tag_mark,
)
from app.search.cluster.wire import BREAK, feature, spelled
from app.search.index.document import Document
from app.search.index.fields import ZONES, Weighting
from app.search.index.writing import Passage
from app.taxonomy import FACETS

SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and floats of 32 bits end here."""
REMEMBERED = 1 << 17
"""Terms, and as many atoms and gaps; of more, all are forgotten."""

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
        if max(len(self._terms), len(self._atoms), len(self._texts)) > REMEMBERED:
            self._forget()
        held = [document.zones.get(zone, {}) for zone in ZONES]
        lengths = [sum(counts.values()) for counts in held]
        rows = _Rows(self._terms, held)
        facets = {facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION)}
        marks = [key_mark(key) for key in document.keys]
        marks += [tag_mark(facet, value) for facet, values in facets.items() for value in values]
        names, spellings = self._terms.names, self._terms.spelled
        fields = {
            "id": _json(document.id),
            "features": _object(map(names.__getitem__, rows.terms), self._values(rows, lengths)),
            "terms": f"[{','.join(map(spellings.__getitem__, rows.terms))}]",
            "keys": _json([spelled(key) for key in document.keys]),
            "atoms": self._atoms.of(
                chain.from_iterable((*passage.atoms, BREAK) for passage in document.passages)
            ),
            **{facet: _json(values) for facet, values in facets.items()},
            "record": _json(_in_base64(rows.record(lengths, marks))),
            "texts": _json(_in_base64(zlib.compress(self._passages(document.passages).encode(), 1))),
        }
        return _object((f'"{name}":' for name in fields), fields.values())

    def _values(self, rows: "_Rows", lengths: Sequence[int]) -> list[str]:
        """The weighted frequency of each term, as precise as the cluster keeps it."""
        weights = [self._weighting.zones[zone].weight for zone in ZONES]
        worth = np.array(weights) / self._weighting.norms(lengths)
        found = np.bincount(rows.owners, worth[rows.zones] * rows.counts, len(rows.terms))
        values = np.maximum(found * self._terms.worth[rows.terms], SMALLEST).tolist()
        # One call for all of them.
        return (" ".join(["%.4g"] * len(values)) % tuple(values)).split()

    def _passages(self, passages: Sequence[Passage]) -> str:
        texts = self._texts.of
        return f"[{','.join(f'[{one.region:d},{texts(one.atoms)},{texts(one.gaps)}]' for one in passages)}]"


class _Rows:
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
