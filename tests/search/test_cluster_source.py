"""What the cluster is sent of a document is what it finds candidates by."""

import json
from dataclasses import replace
from typing import Any

import pytest
from jieda.cluster.bodies import source_of
from jieda.search.index.document import Document, IndexedText
from jieda.search.weights import KIND_WEIGHTS, ZONE_WEIGHTS

from tests.search.contract import document

HELD = document(
    "f/one",
    zones={"title_en": "t:a", "body_en": "t:a t:a x:显存", "code": "x:\ud800"},
    keys=("k:title",),
    facets={"framework": ("f",), "topic": ("t", "u")},
)


def sent(one: Document) -> dict[str, Any]:
    """What is sent of a document, which is UTF-8 whatever stands in it."""
    found: dict[str, Any] = json.loads(source_of(one).encode())
    return found


def test_features_are_weighted_frequencies_under_names_that_the_cluster_finds() -> None:
    one = replace(HELD, zones={"title_en": {"t:a": 2}, "body_zh": {"t:a": 1, "x:1.5": 1, "x:50%": 1}})
    zones, kinds = ZONE_WEIGHTS, KIND_WEIGHTS
    title, body = (
        one.weight / (1 - one.b + one.b * length / one.pivot)
        for one, length in ((zones["title_en"], 2), (zones["body_zh"], 3))
    )
    assert sent(one)["features"] == pytest.approx(
        {
            "t:a": kinds.get("t", 1.0) * (2 * title + body),
            "x:1%2E5": kinds.get("x", 1.0) * body,
            "x:50%25": kinds.get("x", 1.0) * body,
        },
        rel=1e-3,
    )
    assert set(sent(one)["terms"]) == {"t:a", "x:1.5", "x:50%"}


def test_no_phrase_goes_across_two_texts() -> None:
    passages = (IndexedText(0, ("a", "显"), ("\n", " \ud800", "\n")), IndexedText(1, ("b",), ("\n--", "\n")))
    assert sent(replace(HELD, texts=passages))["atoms"] == ["a", "显", "\n", "b", "\n"]


def test_a_document_without_a_word_can_be_sent() -> None:
    found = sent(replace(HELD, zones={}, keys=(), facets={}))
    assert (found["features"], found["terms"]) == ({}, [])
