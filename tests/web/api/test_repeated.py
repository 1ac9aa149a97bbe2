"""Searches that are asked again: the same answer to the byte, and only as long as it holds."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from jieda.snapshot.snapshot import Snapshot
from jieda.web.http.respond import AnswerCache
from jieda.web.pages import entry as entry_pages
from jieda.web.pages.entry import entry_page

from tests.support.inside import Inside
from tests.support.server import ROOT
from tests.support.small_content import edition, write

SEARCH = "/api/v1/search"
PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"lang": "zh", "limit": "3", "offset": "2"},
    {"framework": ["slime", "roll"], "kind": "error"},
    {"verbatim": "true", "lang": "zh"},
    {"unfinished": "true", "edition": "en"},
)
OWN = {"date", "x-request-id"}
"""Headers that no two answers share."""
COUNTED = 'jieda_search_cache_total{{outcome="{}"}} {}'


Serve = Callable[..., httpx.Client]


@pytest.fixture(scope="module")
def both(inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[list[httpx.Client]]:
    """Clients of two servers over the shipped content: one keeps answers, the other works each out."""
    with ExitStack() as stack:
        settings = {"limits": "0", "base_url": "https://faq.example.com"}
        servers = [stack.enter_context(inside(cache=size, **settings)) for size in ("16", "0")]
        yield [stack.enter_context(each.client()) for each in servers]


def said(client: httpx.Client, path: str, parameters: dict[str, Any], **headers: str) -> Any:
    answer = client.get(path, params=httpx.QueryParams(parameters), headers=headers)
    shown = {name: value for name, value in answer.headers.items() if name not in OWN}
    return answer.status_code, shown, answer.content


@pytest.mark.slow
def test_what_is_kept_is_what_would_be_worked_out(both: list[httpx.Client]) -> None:
    keeping, working = both
    lines = (ROOT / "tests" / "judged.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["query"] for line in lines[::108]]
    for number, text in enumerate([*texts, "", "zzzzqqqq", "KeyError: 1 node2pg", "显存", "memroy"]):
        parameters = {"q": text} | PARAMETERS[number % len(PARAMETERS)]
        expected = said(working, SEARCH, parameters)
        assert expected[0] == 200
        # Made and kept, sent again, and found again by somebody who asks in other words.
        assert said(keeping, SEARCH, parameters) == expected
        assert said(keeping, SEARCH, parameters) == expected
        assert said(keeping, SEARCH, dict(reversed(parameters.items()))) == expected
        page = said(working, "/en/search", {"q": text})[2]
        assert [said(keeping, "/en/search", {"q": text})[2] for _ in range(2)] == [page, page]


ENTRY = "/en/entries/roll/node2pg-keyerror"


@pytest.mark.slow
def test_entries_are_sent_again_as_they_were(both: list[httpx.Client]) -> None:
    keeping, working = both
    asked: tuple[dict[str, str], ...] = (
        {},
        {"Cookie": "jieda_theme=dark"},
        {"Cookie": "jieda_voted=yes"},
        {"Accept": "text/markdown"},
        {"Accept-Encoding": "identity"},
    )
    bodies = set()
    for headers in asked:
        for path in (ENTRY, f"{ENTRY}.md", ENTRY.replace("/en/", "/zh/"), "/en/entries/roll/nowhere"):
            expected = said(working, path, {}, **headers)
            assert [said(keeping, path, {}, **headers) for _ in range(2)] == [expected, expected]
            bodies.add(expected[2])
    assert len(bodies) >= 6


def test_a_page_is_made_once_for_all_who_see_the_same(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(*given: Any, **named: Any) -> str:
        made.append(given)
        return entry_page(*given, **named)

    monkeypatch.setattr(entry_pages, "entry_page", counted)
    path = "/en/entries/roll/a"
    looks: tuple[dict[str, str], ...] = ({}, {"Cookie": "jieda_theme=dark"}, {"Cookie": "jieda_voted=yes"})
    with serve(write(tmp_path, {f"{lang}/roll/a.md": edition("Memory") for lang in ("en", "zh")})) as client:
        bodies = [
            [client.get(path, headers={"Accept-Language": lang, **look}).content for lang in ("en", "zh, en")]
            for look in looks
        ]
        bodies.append([client.get(path.replace("/en/", "/zh/")).content])
        # Of two lines only the first counts, so that they are not what one line with both is.
        in_two = client.get(path, headers=[("Accept", "text/markdown"), ("Accept", "text/html")])
        in_one = client.get(path, headers={"Accept": "text/markdown,text/html"})
    assert [in_two.text[:2], in_one.text[:2]] == ["# ", "<!"]
    assert [len(set(each)) for each in bodies] == [1, 1, 1, 1]
    assert len({each[0] for each in bodies}) == 4
    assert len(made) == 4


@pytest.mark.slow
def test_a_client_that_has_an_answer_is_told_so(both: list[httpx.Client]) -> None:
    for path, parameters in ((SEARCH, {"q": "oom"}), (ENTRY, {})):
        answers = []
        for client in both:
            tag = said(client, path, parameters)[1]["etag"]
            again = [said(client, path, parameters, **{"If-None-Match": tag}) for _ in range(2)]
            assert [each[0] for each in again] == [304, 304]
            answers += again
            assert said(client, path, parameters, **{"If-None-Match": 'W/"other"'})[0] == 200
        assert answers == answers[:1] * 4


@pytest.mark.slow
def test_head_is_answered_like_get(both: list[httpx.Client]) -> None:
    for path, parameters in ((SEARCH, {"q": "oom head"}), (ENTRY, {}), ("/en/", {})):
        for client in both:
            heads = [client.head(path, params=parameters) for _ in range(2)]
            got = client.get(path, params=parameters)
            for head in heads:
                assert (head.status_code, head.content) == (200, b"")
                assert {head.headers[name] for name in ("etag", "content-length", "content-type")} == {
                    got.headers[name] for name in ("etag", "content-length", "content-type")
                }


def test_the_same_question_is_searched_once_and_others_are_not_mixed_up(serve: Serve, tmp_path: Path) -> None:
    pages = {
        f"{lang}/roll/{name}.md": edition(f"Out of memory {name} {lang}")
        for lang in ("en", "zh")
        for name in "ab"
    }
    with serve(write(tmp_path, pages)) as client:
        first = client.get(SEARCH, params={"q": "memory"})
        for path in (SEARCH, SEARCH, "/en/search"):
            client.get(path, params={"q": "memory"})
        text = client.get("/metrics").text
        assert COUNTED.format("miss", "2.0") in text
        assert 'jieda_searches_total{outcome="found"} 4.0' in text
        assert f'jieda_requests_total{{method="GET",route="{SEARCH}",status="200"}} 3.0' in text
        titles = {
            str(sorted(asked.items())): [
                hit["title"] for hit in client.get(SEARCH, params=asked).json()["hits"]
            ]
            for asked in (
                {"q": "memory"},
                {"q": "memory", "lang": "zh"},
                {"q": "memory", "limit": "1"},
                {"q": "memory", "limit": "1", "offset": "1"},
                {"q": "memory", "topic": "memory", "kind": "error"},
            )
        }
        assert len({tuple(each) for each in titles.values()}) == 5
        chinese = client.get(SEARCH, params={"q": "memory"}, headers={"Accept-Language": "zh"})
        assert chinese.json()["hits"][0]["lang"] == "zh"
        assert first.json()["hits"][0]["lang"] == "en"


def test_nothing_is_kept_where_that_is_switched_off(serve: Serve, tmp_path: Path) -> None:
    with serve(write(tmp_path, {"en/roll/a.md": edition("Memory")}), cache="0") as client:
        for _ in range(3):
            client.get(SEARCH, params={"q": "memory"})
        text = client.get("/metrics").text
    assert COUNTED.format("miss", "3.0") in text
    assert 'outcome="hit"' not in text


@pytest.mark.quick
def test_new_content_is_found_at_once(serve: Serve, tmp_path: Path) -> None:
    content = write(tmp_path, {"en/roll/a.md": edition("Memory")})
    with serve(content, reload_token="s3cret-token") as client:
        before = [client.get(SEARCH, params={"q": "memory"}).json() for _ in range(2)]
        write(tmp_path, {"en/roll/b.md": edition("More memory")})
        client.post("/api/v1/reload", headers={"Authorization": "Bearer s3cret-token"})
        after = [client.get(path, params={"q": "memory"}) for path in (SEARCH, SEARCH, "/en/search")]
    assert [each["total"] for each in before] == [1, 1]
    assert [each.json()["total"] for each in after[:2]] == [2, 2]
    assert after[0].json()["generation"] != before[0]["generation"]
    assert "More" in after[2].text


def test_what_is_kept_is_bounded_and_of_one_snapshot(shipped: Snapshot) -> None:
    """Read again, a generation is another snapshot: what its damaged files answered must not be answered again."""
    one, two = shipped, replace(shipped)
    assert one.generation == two.generation
    kept = AnswerCache(capacity=100)
    assert kept.get(one, "a") is None
    for name in "abc":
        kept.put(one, name, name.upper(), 33)
    kept.get(one, "a")
    kept.put(one, "d", "D", 33)
    assert [kept.get(one, name) for name in "abcd"] == ["A", None, "C", "D"]
    kept.put(one, "e", "E", 95)
    assert [kept.get(one, name) for name in "acde"] == [None, None, None, "E"]
    kept.put(one, "f", "F", 101)
    assert kept.get(one, "f") is None
    assert kept.get(two, "e") is None
    kept.put(one, "e", "E", 1)
    assert kept.get(two, "e") is None
