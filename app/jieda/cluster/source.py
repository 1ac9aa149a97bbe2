"""A document as it is sent to the cluster, and how terms are spelled there, so that it takes all of them and tells them
apart. Only candidates are found by it: they are judged by the index that lies beside each generation."""

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from jieda.search.index.document import Document
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
FORM = 4
"""Raise it when the same document makes other features: then no index is taken over."""
MOST_HITS = 10_000
SMALLEST = 1e-30
"""Least value of a feature: the cluster refuses 0, and floats of 32 bits end here."""


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


@dataclass(frozen=True, slots=True)
class Shape:
    """How an index is spread over the nodes."""

    shards: int
    replicas: int


def index_body(shape: Shape) -> dict[str, object]:
    """What an index is created with. It has its replicas from the start: a node may be lost while it is loaded."""
    plain = {"type": "keyword", "doc_values": False}
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
            },
        },
    }


def source_of(document: Document, weighting: Weighting) -> str:
    """The JSON that is sent of a document: its terms by weighted frequency, as precise as the cluster keeps it."""
    zones = [document.zones.get(zone, {}) for zone in ZONES]
    norms = weighting.norms([sum(counts.values()) for counts in zones])
    worth = (np.array([weighting.zones[zone].weight for zone in ZONES]) / norms).tolist()
    frequencies: defaultdict[str, float] = defaultdict(float)
    for counts, each in zip(zones, worth, strict=True):
        for term, count in counts.items():
            frequencies[term] += each * count
    kinds = weighting.kinds
    fields = {
        "id": document.id,
        "features": {
            feature(term): float(f"{max(found * kinds.get(term[0], 1.0), SMALLEST):.4g}")
            for term, found in frequencies.items()
        },
        "terms": list(map(spelled, frequencies)),
        "keys": list(map(spelled, document.keys)),
        "atoms": list(map(spelled, chain.from_iterable((*text.atoms, BREAK) for text in document.texts))),
        **{facet: list(document.facets.get(facet, ())) for facet in (*FACETS, EDITION)},
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
