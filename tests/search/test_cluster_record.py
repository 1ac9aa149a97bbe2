"""What the cluster keeps of a document comes back as it was, and noise in it is noticed."""

import pytest

from app.errors import IndexUnreadable
from app.search.cluster.record import digest, key_mark, read_record, source_of, tag_mark
from app.search.index.fields import ZONES
from app.search.weights import WEIGHTING
from tests.search.contract import document

HELD = document(
    "f/one",
    zones={"title_en": "t:a", "body_en": "t:a t:a x:显存", "code": "x:\ud800"},
    keys=("k:title",),
    facets={"framework": ("f",), "topic": ("t", "u")},
)


def packed() -> str:
    return str(source_of(HELD, [2.0] * len(ZONES), WEIGHTING)["record"])


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
