"""What the cluster keeps of a document comes back as it was, and noise in it is noticed."""

import json
from dataclasses import replace
from typing import Any

import pytest
from jieda.cluster import record
from jieda.cluster.record import SourceWriter, digest, key_mark, read_record, read_texts, tag_mark
from jieda.errors import IndexUnreadable
from jieda.search.index.document import Document, IndexedText
from jieda.search.index.fields import ZONES
from jieda.search.weights import WEIGHTING

from tests.search.contract import document

HELD = document(
    "f/one",
    zones={"title_en": "t:a", "body_en": "t:a t:a x:显存", "code": "x:\ud800"},
    keys=("k:title",),
    facets={"framework": ("f",), "topic": ("t", "u")},
)


def sent(one: Document, *before: Document) -> dict[str, Any]:
    """What is sent of a document, after some others."""
    writer = SourceWriter(WEIGHTING)
    found: dict[str, Any] = json.loads([writer.json_of(each) for each in (*before, one)][-1])
    return found


def packed() -> str:
    return str(sent(HELD)["record"])


@pytest.mark.parametrize("padding", ["", "="])
def test_a_record_has_every_term_by_zone_the_lengths_and_the_marks(padding: str) -> None:
    """The cluster gives back what it was sent without the padding."""
    record = read_record(packed().rstrip("=") + padding)
    found = {
        term: list(zip(record.zones[start:end].tolist(), record.counts[start:end].tolist(), strict=True))
        for term, start, end in zip(
            record.terms.tolist(), record.starts[:-1].tolist(), record.starts[1:].tolist(), strict=True
        )
    }
    title, body, code = (ZONES.index(zone) for zone in ("title_en", "body_en", "code"))
    assert found == {
        digest("t:a"): [(title, 1), (body, 2)],
        digest("x:显存"): [(body, 1)],
        digest("x:\ud800"): [(code, 1)],
    }
    assert record.terms.tolist() == sorted(found)
    assert {zone: length for zone, length in zip(ZONES, record.lengths.tolist(), strict=True) if length} == {
        "title_en": 1,
        "body_en": 3,
        "code": 1,
    }
    marks = [key_mark("k:title"), *(tag_mark("topic", each) for each in "tu"), tag_mark("framework", "f")]
    assert set(map(digest, marks)) <= set(record.marks.tolist())


def test_a_record_that_is_not_what_was_sent_is_an_error() -> None:
    whole = packed()
    for broken in ("", "AAAA", whole[: len(whole) // 2], "A" + whole[1:40] + "____" + whole[44:]):
        with pytest.raises(IndexUnreadable):
            read_record(broken)


def test_features_are_weighted_frequencies_under_names_that_the_cluster_finds() -> None:
    one = replace(HELD, zones={"title_en": {"t:a": 2}, "body_en": {"t:a": 1, "x:1.5": 1, "x:50%": 1}})
    zones, kinds = WEIGHTING.zones, WEIGHTING.kinds
    title, body = (
        one.weight / (1 - one.b + one.b * length / one.pivot)
        for one, length in ((zones["title_en"], 2), (zones["body_en"], 3))
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


def test_texts_come_back_as_they_were_and_no_phrase_goes_across_two() -> None:
    passages = (IndexedText(0, ("a", "显"), ("\n", " \ud800", "\n")), IndexedText(1, ("b",), ("\n--", "\n")))
    found = sent(replace(HELD, texts=passages))
    assert read_texts(found["texts"]) == passages
    assert found["atoms"] == ["a", "显", "\n", "b", "\n"]


def test_a_document_is_sent_alike_whatever_was_sent_before(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [replace(HELD, id=f"f/{word}", zones={"body_en": {f"t:{word}": 1, "t:a": 1}}) for word in "xyz"]
    assert sent(HELD, *others) == sent(HELD)
    monkeypatch.setattr(record, "REMEMBERED_TERMS", 1)
    assert sent(HELD, *others) == sent(HELD)


def test_a_document_without_a_word_can_be_sent() -> None:
    found = sent(replace(HELD, zones={}, keys=(), facets={}))
    assert (found["features"], found["terms"]) == ({}, [])
    assert len(read_record(found["record"]).terms) == 0
