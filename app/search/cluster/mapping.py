"""The form of an index in the cluster."""

from dataclasses import dataclass

from app.search.cluster.record import EDITION
from app.taxonomy import FACETS

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
