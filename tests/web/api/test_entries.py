"""The entries, the closed lists and the state of the content over HTTP."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from jieda.han import has_han

from tests.support.server import ROOT
from tests.support.shipped import ENTRIES
from tests.support.small_content import edition, load_checked, write

ENTRY = "roll/node2pg-keyerror"


def test_an_entry_has_every_field_of_the_contract(client: httpx.Client) -> None:
    entry = client.get(f"/api/v1/entries/{ENTRY}", params={"lang": "zh"}).json()
    assert set(entry) == {
        *("id", "framework", "kind", "topics", "error_types", "lang", "editions", "title", "applies_to"),
        *("html", "markdown", "fix", "headings", "related", "source", "updated", "stale", "url", "api_url"),
        *("generation", "signatures", "symptoms", "aliases", "formerly", "synced_with", "applies_anywhere"),
        *("versions", "fixed_in", "verified"),
    }
    assert entry["lang"] == "zh"
    assert entry["fix"].strip() in entry["markdown"]
    assert {heading["anchor"] for heading in entry["headings"]} >= {"fix"}
    assert set(entry["source"][0]) == {"title", "url", "license"}
    assert [each["lang"] for each in entry["editions"]] == ["en", "zh"]
    assert entry["related"]
    for neighbor in entry["related"]:
        assert client.get(neighbor["api_url"]).json()["title"]


def test_links_between_entries_lead_to_pages_in_the_readers_language(client: httpx.Client) -> None:
    seen = 0
    parts = [client.get("/api/v1/entries", params={"limit": 50, "offset": at}) for at in (0, 50, 100)]
    for entry in (one for part in parts for one in part.json()["items"]):
        html = client.get(entry["api_url"], params={"lang": "zh"}).json()["html"]
        assert "entry:" not in html
        assert "entry-image:" not in html
        ours = str(client.base_url).rstrip("/")
        for address in html.split(f'href="{ours}')[1:]:
            page = address.partition('"')[0]
            assert page.startswith("/zh/entries/")
            assert client.get(page).status_code == 200, page
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("source", ["0", "1"])
def test_markdown_is_for_reading_or_the_file(client: httpx.Client, lang: str, source: str) -> None:
    file = (ROOT / "content" / lang / f"{ENTRY}.md").read_text(encoding="utf-8")
    entry = client.get(f"/api/v1/entries/{ENTRY}", params={"lang": lang}).json()
    accepting = {"Accept": "text/markdown"}
    asked = {"lang": lang, "source": source}
    by_suffix = client.get(f"/api/v1/entries/{ENTRY}.md", params=asked)
    page = client.get(f"/{lang}/entries/{ENTRY}.md", params={"source": source})
    page_by_accept = client.get(f"/{lang}/entries/{ENTRY}", params={"source": source}, headers=accepting)
    for answer in (by_suffix, page, page_by_accept):
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        if source == "1":
            assert answer.text == file
            continue
        assert answer.text.startswith(f"# {entry['title']}\n\n")
        assert entry["applies_to"] in answer.text
        assert entry["markdown"].strip() in answer.text
        for each in entry["source"]:
            assert f"- [{each['title']}]({each['url']})" in answer.text


def test_entries_are_listed_latest_first_with_filters_and_a_day(client: httpx.Client) -> None:
    def listed(**params: Any) -> Any:
        return client.get("/api/v1/entries", params=httpx.QueryParams({"limit": 50, **params})).json()

    whole = listed()
    assert (whole["total"], len(whole["items"])) == (ENTRIES, 50)
    days = [item["updated"] for item in whole["items"]]
    assert days == sorted(days, reverse=True)
    assert {item["framework"] for item in listed(framework="slime")["items"]} == {"slime"}
    assert listed(updated_since="2999-01-01")["total"] == 0
    assert 0 < listed(updated_since=days[0])["total"] <= ENTRIES
    last = listed(limit=5, offset=ENTRIES - 2)
    assert (last["total"], len(last["items"])) == (ENTRIES, 2)


@pytest.mark.parametrize("path", ["frameworks", "kinds", "topics", "error-types"])
def test_tags_are_named_in_the_language_asked_for_and_counted(client: httpx.Client, path: str) -> None:
    filters = {"frameworks": "framework", "kinds": "kind", "topics": "topic", "error-types": "error_type"}
    english, chinese = (
        client.get(f"/api/v1/{path}", params={"lang": lang, "limit": 50}).json() for lang in ("en", "zh")
    )
    assert [item["id"] for item in english["items"]] == [item["id"] for item in chinese["items"]]
    assert [item["name"] for item in english["items"]] != [item["name"] for item in chinese["items"]] or (
        path == "frameworks"
    )
    assert [item["description"] for item in english["items"]] != [
        item["description"] for item in chinese["items"]
    ]
    for item in english["items"]:
        listed = client.get("/api/v1/entries", params={filters[path]: item["id"]}).json()
        assert item["count"] == listed["total"]
        assert client.get(item["url"]).status_code == 200
    assert ("homepage" in english["items"][0]) == (path == "frameworks")


def test_every_list_has_the_same_frame_and_limits(client: httpx.Client) -> None:
    for path in ("entries", "frameworks", "kinds", "topics", "error-types", "problems", "translations"):
        answer = client.get(f"/api/v1/{path}").json()
        assert set(answer) == {"total", "limit", "offset", "items", "generation"}, path
        assert (answer["limit"], answer["offset"]) == (10, 0)
        assert len(answer["items"]) == min(answer["total"], 10)
        assert client.get(f"/api/v1/{path}", params={"limit": 51}).status_code == 422


def test_the_state_of_translations_is_told(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    content = write(
        tmp_path,
        {
            "en/roll/both.md": edition("Both"),
            "zh/roll/both.md": edition("两者"),
            "en/roll/english-only.md": edition("English only"),
            "zh/roll/chinese-only.md": edition("只有中文"),
        },
    )
    with serve(content) as client:
        items = {item["id"]: item for item in client.get("/api/v1/translations").json()["items"]}
        assert (items["roll/english-only"]["en"], items["roll/english-only"]["zh"]) == ("present", "missing")
        assert (items["roll/chinese-only"]["en"], items["roll/chinese-only"]["zh"]) == ("missing", "present")
        assert "missing" not in items["roll/both"].values()
        answer = client.get("/api/v1/entries/roll/chinese-only", params={"lang": "en"})
        assert answer.status_code == 200
        assert answer.json()["lang"] == "zh"
        assert answer.headers["content-language"] == "zh-CN"


def test_a_broken_file_is_reported_and_everything_else_is_served(
    serve: Callable[..., httpx.Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    content = write(
        tmp_path,
        {
            "en/roll/good.md": edition("Good"),
            "en/roll/broken.md": "---\ntitle: [unclosed\n---\n\n## Answer\n",
            "en/roll/binary.md": "---\ntitle: x\n",
        },
    )
    (content / "en/roll/binary.md").write_bytes(b"\xff\xfe\x00")
    with serve(content) as client:
        problems = client.get("/api/v1/problems").json()["items"]
        kept_out = {problem["path"]: problem for problem in problems if not problem["served"]}
        assert set(kept_out) == {"en/roll/broken.md", "en/roll/binary.md"}
        assert kept_out["en/roll/broken.md"]["line"] > 0
        assert kept_out["en/roll/broken.md"]["message"]
        assert client.get("/api/v1/entries/roll/good").status_code == 200
        assert client.get("/api/v1/entries/roll/broken").status_code == 404
        assert client.get("/readyz").json()["problems"] == len(problems)
    for path, problem in kept_out.items():
        assert f"{path}:{problem['line']}: {problem['rule']}: " in caplog.text


def test_an_old_id_leads_to_the_new_one(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    content = write(tmp_path, {"en/roll/new-name.md": edition("New name", formerly="[roll/old-name]")})
    with serve(content) as client:
        moved = client.get("/api/v1/entries/roll/old-name", params={"lang": "zh"})
        assert (moved.status_code, moved.headers["location"]) == (
            308,
            "/api/v1/entries/roll/new-name?lang=zh",
        )
        moved = client.get("/api/v1/entries/roll/old-name.md")
        assert (moved.status_code, moved.headers["location"]) == (308, "/api/v1/entries/roll/new-name.md")


def test_a_draft_shows_nowhere(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    content = write(
        tmp_path,
        {
            "en/roll/shown.md": edition("Shown", related="[roll/hidden]"),
            "en/roll/hidden.md": edition("Zebracode hidden", draft="true", formerly="[roll/was-hidden]"),
        },
    )
    with serve(content) as client:
        assert client.get("/api/v1/entries/roll/hidden").status_code == 404
        assert client.get("/api/v1/entries/roll/was-hidden").status_code == 404
        for q in ("Zebracode", "draft:true OR *", "draft:true"):
            assert "roll/hidden" not in client.get("/api/v1/search", params={"q": q}).text, q
        for path in ("entries", "translations", "frameworks", "suggest?q=Zebra", "entries/roll/shown"):
            answer = client.get(f"/api/v1/{path}")
            assert "Zebracode" not in answer.text, path
        assert client.get("/api/v1/entries").json()["total"] == 1
        assert client.get("/api/v1/frameworks").json()["items"][0]["count"] == 1


ANSWERS = (
    "problems?limit=50",
    "entries",
    "translations",
    "search?q=zebra",
    "suggest?q=zeb",
    "frameworks",
    "topics",
)


def test_what_is_wrong_with_drafts_is_for_those_who_work_on_them(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    error = {"kind": "error", "error_types": "[oom]", "signatures": "['zebra is out of stripes']"}
    files = {
        "en/roll/shown.md": edition(
            "Shown", "## Answer\n\n[x](zebra-later.md) `wild`\n", related="[roll/zebra-later]"
        ),
        "en/roll/twin.md": edition("Twin", "## Answer\n\n[gone](no-such.md)\n"),
        "zh/roll/twin.md": edition("孪生", "## Answer\n\n`zebra_secret`\n", draft="true"),
        "en/roll/claims.md": edition("Zebra later", aliases="[A zebra]"),
        "en/roll/zebra-later.md": edition("Zebra later", "## Fix\n\nTODO\n", **error | {"draft": "true"}),
        "en/roll/zebra-broken.md": edition("Zebra", draft="true", kind="zebra"),
        "en/roll/zebra-yaml.md": "---\ndraft: true\ntitle: [zebra\n---\n\nZebra.\n",
        "en/zebra/new.md": edition("Zebra", draft="true"),
        "samples/roll/zebra-later/one.log": "nothing of the kind\n",
    }
    content = write(tmp_path / "content", files)
    with serve(content) as client:
        told = client.get("/api/v1/problems?limit=50").json()
        for path in (*ANSWERS, "/readyz"):
            answer = client.get(path if path.startswith("/") else f"/api/v1/{path}").text
            for leaked in (
                "zebra-later",
                "zebra-broken",
                "zebra-yaml",
                "zebra/new",
                "zebra_secret",
                "zh/roll/twin",
            ):
                assert leaked not in answer, (path, leaked)
            assert str(tmp_path) not in answer
        assert [(each["path"], each["rule"]) for each in told["items"]] == [("en/roll/twin.md", "link")]
        assert client.get("/readyz").json()["problems"] == told["total"] == 1
        (chinese,) = client.get("/api/v1/problems?lang=zh").json()["items"]
        assert has_han(chinese["message"])
    whole = load_checked(content).problems
    assert {problem.path for problem in whole if problem.draft} >= set(files) - {"en/roll/claims.md"}
