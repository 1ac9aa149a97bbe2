"""GET /search and /suggest: what a client sees of them."""

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.support.small_content import edition, write


def search(client: httpx.Client, q: str, **params: Any) -> Any:
    """The whole answer; asserts that there is one."""
    answer = client.get("/api/v1/search", params=httpx.QueryParams({"q": q, **params}))
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.quick
def test_an_answer_has_every_field_of_the_contract_and_no_more(client: httpx.Client) -> None:
    found = search(client, "node2pg", lang="en")
    assert set(found) == {
        *("query", "total", "limit", "offset", "hits", "facets", "suggestions", "correction", "weak"),
        "absent_words",
        *("generation", "phrase_dropped", "operators", "judgement", "diagnosis"),
    }
    assert (found["query"], found["limit"], found["offset"]) == ("node2pg", 10, 0)
    assert set(found["hits"][0]) == {
        *("id", "framework", "kind", "topics", "error_types", "lang", "title", "applies_to", "snippet"),
        "may_not_apply_to",
        *("snippet_text", "snippet_marks", "snippet_code"),
        *("score", "reasons", "editions", "url", "api_url"),
    }
    assert set(found["hits"][0]["reasons"][0]) == {"type", "text", "via"}
    assert set(found["hits"][0]["editions"][0]) == {"lang", "title", "url", "stale"}
    assert set(found["facets"]) == {"framework", "kind", "topic", "error_type"}
    assert set(found["facets"]["framework"][0]) == {"value", "label", "count"}


@pytest.mark.quick
def test_operators_narrow_and_are_told(client: httpx.Client) -> None:
    found = search(client, "memory framework:slime -host")
    assert {hit["framework"] for hit in found["hits"]} == {"slime"}
    assert found["operators"] == [
        {"text": "framework:slime", "without": "memory -host"},
        {"text": "-host", "without": "memory framework:slime"},
    ]
    completed = client.get("/api/v1/suggest", params={"q": "memory framework:sl"}).json()
    assert completed[0]["text"] == "memory framework:slime"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("KeyError: 1 node2pg", "roll/node2pg-keyerror"),
        ("lr_decay_steps", "roll/lr-decay-steps-assertion"),
        ("如何续训", "slime/resume-training"),
        ("Max retries exceeded with url: /get_model_info", "slime/sglang-max-retries"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_right_entry_comes_first_in_the_language_asked_for(
    client: httpx.Client, q: str, entry: str, lang: str
) -> None:
    first = search(client, q, lang=lang)["hits"][0]
    assert (first["id"], first["lang"]) == (entry, lang)
    assert first["url"] == f"{str(client.base_url).rstrip('/')}/{lang}/entries/{entry}"
    page, api = client.get(first["url"]), client.get(first["api_url"])
    assert (page.status_code, api.status_code) == (200, 200)
    assert page.headers["content-type"].startswith("text/html")
    assert api.json()["id"] == entry


@pytest.mark.quick
def test_a_snippet_is_escaped_and_marks_with_nothing_but_mark(client: httpx.Client) -> None:
    for q in (
        "batch_size 16 < chunks 32",
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "显存 OOM",
    ):
        for hit in search(client, q)["hits"]:
            without_marks = re.sub(r"</?mark>", "", hit["snippet"])
            assert "<" not in without_marks
            assert ">" not in without_marks
            assert unescape(without_marks)


def test_the_language_shown_comes_from_lang_then_the_header_then_english(client: httpx.Client) -> None:
    def shown(header: str, **params: str) -> str:
        answer = client.get(
            "/api/v1/search", params={"q": "node2pg", **params}, headers={"Accept-Language": header}
        )
        assert "Accept-Language" in answer.headers["vary"]
        return str(answer.json()["hits"][0]["lang"])

    assert shown("zh-TW,zh;q=0.9,en;q=0.8") == "zh"
    assert shown("en;q=0.3, zh;q=0.8") == "zh"
    assert shown("zh;q=0, en;q=0.1") == "en"
    assert shown("fr, *;q=0.5") == "en"
    assert shown("zh", lang="en") == "en"
    assert shown("en", lang="zh-Hant-TW") == "zh"


@pytest.mark.quick
def test_filters_are_or_within_one_and_and_between_them(client: httpx.Client) -> None:
    q = "out of memory"
    whole = search(client, q, limit=50)
    both = search(client, q, framework=["slime", "chatlearn"], limit=50)
    errors = search(client, q, framework=["slime", "chatlearn"], kind="error", limit=50)
    assert {hit["framework"] for hit in both["hits"]} == {"slime", "chatlearn"}
    assert {hit["id"] for hit in errors["hits"]} == {
        hit["id"] for hit in both["hits"] if hit["kind"] == "error"
    }
    assert errors["total"] < both["total"] < whole["total"]


def test_lang_never_filters_and_edition_does(client: httpx.Client) -> None:
    ids = [[hit["id"] for hit in search(client, "node2pg", lang=lang)["hits"]] for lang in ("en", "zh")]
    assert ids[0] == ids[1]
    kept = search(client, "显存", edition="zh", limit=50)["hits"]
    assert kept
    assert all("zh" in {edition["lang"] for edition in hit["editions"]} for hit in kept)


@pytest.mark.quick
def test_pages_of_a_list_follow_one_another(client: httpx.Client) -> None:
    whole = search(client, "训练", limit=50)
    assert whole["total"] > 6
    parts = [search(client, "训练", limit=3, offset=offset)["hits"] for offset in (0, 3)]
    assert [hit["id"] for part in parts for hit in part] == [hit["id"] for hit in whole["hits"][:6]]
    assert search(client, "训练", offset=10_000)["hits"] == []


def test_nothing_found_is_an_empty_result_and_not_an_error(client: httpx.Client) -> None:
    for q in ("", "   ", "***", "？？？", "---"):
        assert search(client, q)["hits"] == [], q


def test_a_filter_that_hides_everything_is_named_with_a_way_out(client: httpx.Client) -> None:
    found = search(client, "node2pg", framework="slime", lang="zh")
    ways = [way for way in found["suggestions"] if way["type"] == "drop_filter"]
    assert found["hits"] == []
    assert ways
    assert "slime" in ways[0]["text"]
    followed = parse_qs(urlsplit(ways[0]["url"]).query)
    assert followed == {"q": ["node2pg"]}
    assert client.get(ways[0]["url"]).status_code == 200


def test_every_way_out_says_what_it_takes_off(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    content = write(tmp_path, {"en/roll/one.md": edition("A stuck job")})
    with serve(content) as client:
        only_english = search(client, "stuck", lang="zh", edition="zh")
        assert [way["text"] for way in only_english["suggestions"]] == [
            "去掉筛选条件“edition=zh”后有 1 条结果"
        ]
        two = search(client, "stuck", lang="en", edition="zh", kind=["error", "how-to"])
        (way,) = two["suggestions"]
        assert way["text"] == "Search without any filter"
        assert client.get(way["url"]).status_code == 200
        kinds = search(client, "stuck", lang="en", kind=["error", "how-to"])
        assert kinds["suggestions"][0]["text"] == "1 result without the filter Error, How-to"


@pytest.mark.quick
def test_completions_lead_to_pages_that_exist(client: httpx.Client) -> None:
    seen = set()
    for q in ("node2", "--use-dyn", "显", "out of m", "ROLL"):
        answer = client.get("/api/v1/suggest", params={"q": q, "lang": "zh", "limit": 5})
        found = answer.json()
        assert isinstance(found, list)
        assert 0 < len(found) <= 5, q
        for each in found:
            assert set(each) == {"text", "type", "url", "applies_to"}
            assert bool(each["applies_to"]) == (each["type"] == "title")
            assert client.get(each["url"]).status_code == 200, each
            seen.add(each["type"])
    assert seen >= {"title", "identifier"}


def test_a_query_longer_than_is_read_is_cut_and_not_refused(client: httpx.Client) -> None:
    found = search(client, "node2pg " + "x" * 20_000)
    assert len(found["query"]) <= 2000
    assert found["hits"][0]["id"] == "roll/node2pg-keyerror"


def test_a_snippet_is_plain_text_with_ranges_as_well_as_html(client: httpx.Client) -> None:
    queries = ("oom", "显存不足", "max_tokens < 1")
    answers = [client.get("/api/v1/search", params={"q": query}).json() for query in queries]
    hits = [hit for answer in answers for hit in answer["hits"]]
    marked = 0
    for hit in hits:
        text, html, end = hit["snippet_text"], "", 0
        for mark in hit["snippet_marks"]:
            html += (
                escape(text[end : mark["start"]])
                + f"<mark>{escape(text[mark['start'] : mark['end']])}</mark>"
            )
            end, marked = mark["end"], marked + 1
        assert unescape(html + escape(text[end:])) == unescape(hit["snippet"])
    assert marked


def test_what_an_entry_has_as_code_is_code_in_its_snippet_and_on_the_page(client: httpx.Client) -> None:
    pieces = 0
    for lang, query in (("en", "max_tokens_per_gpu"), ("zh", "显存不足怎么办"), ("zh", "转换 checkpoint")):
        page = client.get(f"/{lang}/search", params={"q": query}).text
        shown = re.findall(r'<p class="snippet".*?>(.*?)</p>', page)
        hits = search(client, query, lang=lang)["hits"]
        on_page = {unescape(re.sub("<[^>]*>", "", each)): each for each in shown}
        for hit in hits:
            text = hit["snippet_text"]
            code = [text[span["start"] : span["end"]] for span in hit["snippet_code"]]
            markdown = client.get(hit["api_url"], params={"lang": lang}).json()["markdown"]
            assert all(each in markdown for each in code)
            assert "<code>" not in hit["snippet"]
            if text in on_page:
                written = re.findall("<code>(.*?)</code>", on_page[text])
                assert [unescape(re.sub("<[^>]*>", "", each)) for each in written] == code
                pieces += len(code)
    assert pieces > 10
