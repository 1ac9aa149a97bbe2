"""What comes first, what is corrected, and what is said where nothing is found. The entries are in `corpus.RANK`.

What does not apply: tags name groups of entries, so a tag is found and filtered by but is not a rank of its own between
title and text; authors cannot boost an entry; queries that find nothing are counted, never recorded.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.field.asking import first, ids, search
from tests.field.corpus import FILES
from tests.support.small_content import write


@pytest.mark.parametrize("q", ["OOM", "oom", "Oom?", "ＯＯＭ"])
def test_an_entry_called_by_the_word_beats_texts_that_repeat_or_contain_it(
    field: httpx.Client, q: str
) -> None:
    found = ids(field, q)
    assert found[0] == "rank/exact-title"
    assert "rank/inner-word" in found


def test_a_title_beats_an_alias_beats_signature_and_heading_beat_a_mention(field: httpx.Client) -> None:
    places = {"in-title": 0, "in-alias": 1, "in-signature": 2, "in-heading": 2, "in-body": 3}
    found = [found.removeprefix("rank/") for found in ids(field, "quorum")]
    assert set(places) <= set(found)
    order = [places[one] for one in found if one in places]
    assert order == sorted(order), found


def test_both_words_of_a_query_side_by_side_beat_a_title_that_has_the_commoner_one(
    field: httpx.Client,
) -> None:
    assert ids(field, "hopper valve")[:2] == ["rank/both-words", "rank/one-word"]


@pytest.mark.parametrize(
    ("q", "entry"),
    [("Node.js", "rank/node-js"), ("node.js", "rank/node-js"), ("do_not_be_so", "rank/stop-words")],
)
def test_small_words_inside_identifiers_are_not_thrown_away(field: httpx.Client, q: str, entry: str) -> None:
    assert first(field, q) == entry


def test_a_sentence_copied_from_an_entry_comes_first(field: httpx.Client) -> None:
    sentence = "The last shard of an epoch is padded with copies of the first rows."
    for q in (sentence, f'"{sentence}"', sentence.lower().rstrip(".")):
        assert first(field, q) == "rank/sentence", q


def test_a_word_that_exists_is_never_taken_for_a_similar_one(field: httpx.Client) -> None:
    for q, entry in (("tensor", "rank/tensor"), ("censor", "rank/censor")):
        answer = search(field, q)
        assert [found["id"] for found in answer["hits"]] == [entry]
        assert answer["correction"] == ""
        assert not [reason for reason in answer["hits"][0]["reasons"] if reason["type"] == "typo"]


def test_a_slip_is_corrected_below_whatever_is_spelled_right(field: httpx.Client) -> None:
    """`tenzor` exists nowhere; `device` does, and alone outweighs what `tenzor` may have meant."""
    answer = search(field, "tenzor wrong device")
    assert answer["hits"][0]["id"] == "rank/tensor"
    assert answer["correction"] == "tensor wrong device"
    assert search(field, "tenzor wrong device", verbatim=True)["correction"] == ""
    page = field.get("/en/search", params={"q": "tenzor wrong device"})
    assert "tensor wrong device" in page.text
    assert "verbatim=1" in page.text


def test_a_number_that_is_one_off_is_not_found(field: httpx.Client) -> None:
    assert "rank/parcel-223" in ids(field, "2000")
    assert ids(field, "2001") == []
    assert first(field, "XYZ-123") == "rank/parcel-123"
    assert first(field, "XYZ-223") == "rank/parcel-223"


@pytest.mark.parametrize(
    ("q", "meant"),
    [
        ("OutOfMemroyError", "outofmemoryerror"),
        ("JSONDecodeErorr", "jsondecodeerror"),
        ("weathr", "weather"),
    ],
)
def test_a_slip_in_a_plain_word_or_error_name_is_corrected(field: httpx.Client, q: str, meant: str) -> None:
    answer = search(field, q)
    assert answer["correction"].casefold() == meant
    assert answer["hits"]


def test_a_slip_in_an_error_name_is_corrected_where_only_its_dotted_name_is_written(
    client: httpx.Client,
) -> None:
    assert search(client, "OutOfMemroyError")["hits"]


def test_near_misses_of_words_are_offered_apart_from_results(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    field = serve(write(tmp_path / "content", FILES))
    q = "weather barter zzyzx qwrtp plmkn bvcxw nhytg"
    answer = search(field, q)
    assert (answer["total"], answer["hits"]) == (0, [])
    near = [way for way in answer["suggestions"] if way["type"] == "near_miss"]
    assert near
    page = field.get("/en/search", params={"q": q}).text
    assert 'class="card"' not in page
    assert 'id="near"' in page
    links = [f'href="{urlsplit(way["url"]).path}"' for way in near]
    assert all(link in page for link in links)
    assert page.index('id="near"') < page.index(links[0])
    nowhere = field.get("/zh/search", params={"q": "qwrtpzx"})
    assert (nowhere.status_code, 'class="nothing"' in nowhere.text) == (200, True)
