"""Two languages, one entry: what is shown to whom, and what happens when twins drift apart.

What does not apply, or is tested elsewhere:

- A translation whose original was deleted: no language is the original, and a directory may hold one language only,
  so an edition without twin is served, and listed as lacking one.
- The switch's following of the section that is being read needs a script; tests/e2e has it. That twins share the
  anchors it needs is tested here.
"""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tests.field.asking import ids, search
from tests.field.corpus import TAXONOMY, en, zh
from tests.support.command import Done, jieda
from tests.support.small_content import write

TOKEN = {"Authorization": "Bearer s3cret-token"}
HEADING_IDS = re.compile(r'<h[2-6][^>]*\bid="([^"]+)"')


def cards(page: str) -> list[str]:
    """The address that each result on a search page leads to."""
    return re.findall(r'<li class="card">.*?<h2><a href="([^"]+)"', page, re.DOTALL)


def switch_target(page: str) -> str:
    """Where the language switch of a page leads back to."""
    form = re.search(r'<form[^>]*id="language".*?</form>', page, re.DOTALL)
    assert form
    found = re.search(r'name="next" value="([^"]+)"', form.group())
    assert found
    return found.group(1).replace("&amp;", "&")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("q", ["broadcast", "工作进程", "貔貅", "workers broadcast", "pool 工作进程"])
def test_an_entry_is_found_once_by_either_edition_and_shown_in_the_readers_language(
    field: httpx.Client, q: str, lang: str
) -> None:
    found = [one for one in search(field, q, lang=lang)["hits"] if one["id"] == "twin/both"]
    assert [one["lang"] for one in found] == [lang]
    assert [edition["lang"] for edition in found[0]["editions"]] == ["en", "zh"]
    page = field.get(f"/{lang}/search", params={"q": q}).text
    assert cards(page).count(f"/{lang}/entries/twin/both") == 1
    other = {"en": "zh", "zh": "en"}[lang]
    assert f"/{other}/entries/twin/both" not in cards(page)
    card = re.search(rf'<li class="card">(?:(?!</li>).)*/{lang}/entries/twin/both"', page, re.DOTALL)
    assert card
    assert 'class="editions"' not in card[0], "a result says which languages it has only where one is missing"


def test_a_word_that_only_the_other_language_has_is_found(field: httpx.Client) -> None:
    for q, entry, held, lang in (
        ("麒麟", "twin/chinese-only", "zh", "en"),
        ("quokka", "twin/english-only", "en", "zh"),
    ):
        found = search(field, q, lang=lang)["hits"]
        assert [(one["id"], one["lang"]) for one in found] == [(entry, held)]
        assert [edition["lang"] for edition in found[0]["editions"]] == [held]


def test_what_is_missing_in_which_language_can_be_looked_up(field: httpx.Client) -> None:
    items = field.get("/api/v1/translations", params={"limit": 50}).json()
    pages = [
        field.get("/api/v1/translations", params={"limit": 50, "offset": offset}).json()["items"]
        for offset in range(0, items["total"], 50)
    ]
    state = {item["id"]: (item["en"], item["zh"]) for page in pages for item in page}
    assert state["twin/both"] == ("present", "present")
    assert state["twin/english-only"] == ("present", "missing")
    assert state["twin/chinese-only"] == ("missing", "present")


def test_results_can_be_kept_to_one_language(field: httpx.Client) -> None:
    q = "quokka 麒麟 broadcast"
    assert set(ids(field, q)) == {"twin/both", "twin/english-only", "twin/chinese-only"}
    assert set(ids(field, q, edition="zh")) == {"twin/both", "twin/chinese-only"}
    assert set(ids(field, q, edition="en")) == {"twin/both", "twin/english-only"}
    assert field.get("/api/v1/search", params={"q": q, "edition": "fr"}).status_code == 422


def run(*arguments: str, content: Path) -> Done:
    """The outcome of a `jieda` command over a content directory."""
    return jieda(*arguments, JIEDA_CONTENT=str(content))


def test_an_edition_is_stale_from_the_change_of_its_twin_until_they_are_synced(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    """Nothing is flagged by hand, and a typing slip is waved through without touching the other text."""
    english, chinese = "en/twin/pair.md", "zh/twin/pair.md"
    content = write(
        tmp_path / "content",
        {"taxonomy.yaml": TAXONOMY, english: en("A pair", "One."), chinese: zh("一对", "一。")},
    )
    assert run("sync", "twin/pair", content=content).returncode == 0

    with serve(content, reload_token="s3cret-token") as client:

        def stale() -> dict[str, bool]:
            assert client.post("/api/v1/reload", headers=TOKEN).status_code == 200
            editions = client.get("/api/v1/entries/twin/pair").json()["editions"]
            return {edition["lang"]: edition["stale"] for edition in editions}

        assert stale() == {"en": False, "zh": False}

        path = content / english
        path.write_text(path.read_text(encoding="utf-8").replace("One.", "One!"), encoding="utf-8")
        assert stale() == {"en": False, "zh": True}
        states = client.get("/api/v1/translations").json()["items"]
        assert [(item["en"], item["zh"]) for item in states] == [("present", "stale")]
        banner = re.search(
            r'<p class="note warn"[^>]*>(.*?)</p>', client.get("/zh/entries/twin/pair").text, re.DOTALL
        )
        assert banner
        assert 'href="/en/entries/twin/pair"' in banner.group(1)
        assert 'class="note warn"' not in client.get("/en/entries/twin/pair").text
        drift = run("check", content=content)
        assert drift.returncode == 1
        assert "twin/pair.md" in drift.stdout

        before = (content / chinese).read_text(encoding="utf-8").partition("## 回答")[2]
        assert run("sync", "twin/pair", content=content).returncode == 0
        assert (content / chinese).read_text(encoding="utf-8").partition("## 回答")[2] == before
        assert stale() == {"en": False, "zh": False}


@pytest.mark.parametrize("entry", ["slime/oom-max-tokens-per-gpu", "roll/node2pg-keyerror"])
def test_the_language_switch_keeps_the_entry_and_twins_share_their_sections(
    client: httpx.Client, entry: str
) -> None:
    pages = {lang: client.get(f"/{lang}/entries/{entry}").text for lang in ("en", "zh")}
    assert switch_target(pages["en"]) == f"/zh/entries/{entry}"
    assert switch_target(pages["zh"]) == f"/en/entries/{entry}"
    sections = {
        lang: re.findall(r'<section class="part[^>]*aria-labelledby="([^"]+)"', page)
        for lang, page in pages.items()
    }
    assert sections["en"] == sections["zh"]
    assert "fix" in sections["en"]
    assert set(sections["en"]) <= set(HEADING_IDS.findall(pages["zh"]))


def test_headings_in_chinese_have_anchors_that_can_be_linked_to(field: httpx.Client) -> None:
    page = field.get("/zh/entries/twin/anchors").text
    found = HEADING_IDS.findall(page)
    assert {"内存", "内存-2"} <= set(found)
    assert len(found) == len(set(found))
    headings = field.get("/api/v1/entries/twin/anchors", params={"lang": "zh"}).json()["headings"]
    assert {heading["anchor"] for heading in headings} <= set(found)
    links = re.findall(r'href="#([^"]+)"', page)
    assert {"内存", "内存-2"} <= {unquote(link) for link in links}


@pytest.mark.parametrize(("lang", "tag"), [("en", "en"), ("zh", "zh-CN")])
def test_languages_are_named_by_the_tags_that_browsers_and_crawlers_know(
    field: httpx.Client, lang: str, tag: str
) -> None:
    page = field.get(f"/{lang}/entries/twin/both").text
    assert re.search(rf'<html[^>]*lang="{tag}"', page)
    assert "zh_CN" not in page.replace('content="zh_CN"', "")
