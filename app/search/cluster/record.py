"""A document as the cluster keeps it, and as it comes back.

`features` is what candidates are found by, one number a term; `words` and `texts` are what they are judged by, exactly
as the embedded index would. The cluster never looks into these two.
"""

import base64
import binascii
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.errors import IndexUnreadable
from app.search.cluster.wire import BREAK, feature, spelled
from app.search.index.document import Document
from app.search.index.fields import ZONES, Weighting
from app.search.index.writing import Passage
from app.taxonomy import FACETS

SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and floats of 32 bits end here."""
EDITION = "edition"

Averages = Sequence[float]
"""Average length of each zone of `fields.ZONES` over the documents that have it; 0 where none has."""


@dataclass(frozen=True, slots=True)
class Words:
    """What of a document is judged: the frequencies of its terms by number of the zone, the zones' lengths, its keys
    and its tags by facet."""

    terms: Mapping[str, Sequence[Sequence[int]]]
    lengths: Sequence[int]
    keys: frozenset[str]
    facets: Mapping[str, frozenset[str]]


def norms(lengths: Sequence[int], averages: Averages, weighting: Weighting) -> list[float]:
    """1 − b + b · len/avglen of each zone."""
    found = []
    for zone, length, average in zip(ZONES, lengths, averages, strict=True):
        b = weighting.zones[zone].b
        found.append(1 - b + b * length / average if average else 1.0)
    return found


def source_of(document: Document, averages: Averages, weighting: Weighting) -> dict[str, object]:
    """What is sent to the cluster of a document."""
    terms = _frequencies(document)
    lengths = [len(document.zones.get(zone, ())) for zone in ZONES]
    divisors = norms(lengths, averages, weighting)
    weights = [weighting.zones[zone].weight for zone in ZONES]
    features = {
        feature(term): max(
            SMALLEST,
            weighting.kinds.get(term[0], 1.0)
            * sum(weights[zone] * count / divisors[zone] for zone, count in counts),
        )
        for term, counts in terms.items()
    }
    facets = {facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION)}
    return {
        "features": features,
        "terms": [spelled(term) for term in terms],
        "keys": [spelled(key) for key in document.keys],
        "atoms": [spelled(atom) for passage in document.passages for atom in (*passage.atoms, BREAK)],
        **facets,
        "words": _packed({"t": terms, "l": lengths, "k": list(document.keys), "f": facets}),
        "texts": _packed([[one.region, one.atoms, one.gaps] for one in document.passages]),
    }


def read_words(packed: str) -> Words:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        found = _unpacked(packed)
        facets = {facet: frozenset(values) for facet, values in found["f"].items()}
        return Words(found["t"], found["l"], frozenset(found["k"]), facets)
    except (TypeError, KeyError, AttributeError) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error


def read_texts(packed: str) -> tuple[Passage, ...]:
    """Raises IndexUnreadable where it is not what was sent."""
    try:
        return tuple(Passage(region, tuple(atoms), tuple(gaps)) for region, atoms, gaps in _unpacked(packed))
    except (TypeError, ValueError) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error


def _frequencies(document: Document) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, zone in enumerate(ZONES):
        for term, count in Counter(document.zones.get(zone, ())).items():
            found.setdefault(term, []).append((number, count))
    return found


def _packed(value: object) -> str:
    # Escaped to ASCII: a lone surrogate, which a text may hold, has no other way there and back.
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)).decode()


def _unpacked(packed: str) -> Any:
    try:
        return json.loads(zlib.decompress(base64.b64decode(packed)))
    except (ValueError, TypeError, binascii.Error, zlib.error) as error:
        raise IndexUnreadable(f"a document of the cluster: {error}") from error
