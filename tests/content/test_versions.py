"""Versions as data: what an entry holds for, and the logs, lists of packages and questions that say another."""

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from html import unescape
from pathlib import Path

import httpx
import jieda
import pytest
from jieda.entry import Validity
from jieda.versions import doubtful_version

from tests.content.test_check import jieda as command
from tests.support.small_content import TAXONOMY, edition, load_checked, write

LOG = "RuntimeError: the widget cannot frobnicate the gadget"
FIX = "## Fix\n\nTurn it.\n"
FIELDS = {
    "kind": "error",
    "topics": "[memory]",
    "symptoms": "[frobnicate]",
    "signatures": "['the widget cannot frobnicate']",
}
PACKAGES = {"slime-rl": "slime", "ray-core": "ray"}
VALID = Validity({"slime": ">=0.2,<0.3", "ray-Core": ">=2.44"}, {"megatron-core": "0.15.0"})


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("slime==0.3.0\nray==2.44", "slime 0.3.0"),
        ("slime==0.2.4\nray==2.44", ""),
        ("slime @ git+https://github.com/THUDM/slime.git@v0.1.0", "slime 0.1.0"),
        ("site-packages/slime-0.3.1.dist-info/METADATA", "slime 0.3.1"),
        ("INFO Slime version: 0.3.0rc1", "slime 0.3.0rc1"),
        ("slime v0.2.4 改完还是报错", ""),
        ("slime 0.3.0 下还是报错", "slime 0.3.0"),
        ("megatron_core==0.14.1", ""),
        ("megatron_core==0.15.0+cu124", "megatron-core 0.15.0"),
        ("slime 0.3.0a1b2, slime ٠.٣.٠", "slime 0.3.0a1"),
        ("both slime==0.2.4 and slime==0.3.0", ""),
        ("slime_rl==0.3.0\nray==2.44", "slime 0.3.0"),
        ("Ray==2.43", "ray-Core 2.43"),
        ("not-slime==0.3.0, slime_plugins==0.3.0, 0.3.0, slime at 10.0.0.1", ""),
        ("", ""),
    ],
)
def test_a_version_counts_where_it_is_said_of_a_program_that_the_entry_names(
    text: str, doubtful: str
) -> None:
    assert doubtful_version(VALID, text, PACKAGES) == doubtful


@pytest.fixture
def content(tmp_path: Path) -> Path:
    held = {"versions": "{slime: '>=0.2,<0.3'}", "verified": "{on: 2026-01-02, with: slime 0.2.4}"}
    return write(
        tmp_path / "content",
        {
            "taxonomy.yaml": TAXONOMY,
            "en/roll/old.md": edition("Widget fails", FIX, **FIELDS, **held, fixed_in="{slime: 0.3.0}"),
            "zh/roll/old.md": edition("小部件报错", "## 解决办法\n\n拧紧。\n", **FIELDS, **held),
        },
    )


def test_what_twins_disagree_in_and_ranges_that_are_none_are_reported(content: Path, tmp_path: Path) -> None:
    told = "`fixed_in` must be equal to that of"
    assert sum(told in each.message for each in load_checked(content).problems) == 1
    faulty = edition("A", versions="{slime: about 3}", verified="{on: 2026-01-02}", fixed_in="soon")
    found = load_checked(write(tmp_path / "faulty", {"en/roll/a.md": faulty})).problems
    assert {each.message.split()[0] for each in found if each.rule == "field"} == {
        "`versions`",
        "`verified`",
        "`fixed_in`",
    }


def test_every_surface_says_which_versions_and_that_it_may_not_apply(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    (content / "zh/roll/old.md").unlink()
    client = serve(content, gaps="1", workbench="1")
    entry = client.get("/api/v1/entries/roll/old").json()
    assert entry["versions"] == {"slime": ">=0.2,<0.3"}
    assert entry["fixed_in"] == {"slime": "0.3.0"}
    assert entry["verified"] == {"on": "2026-01-02", "with": "slime 0.2.4"}
    page = client.get("/zh/entries/roll/old").text
    assert "slime 0.3.0 已修复；2026-01-02 用 slime 0.2.4 验证过" in page
    for version, doubt in (("0.3.1", "slime 0.3.1"), ("0.2.4", "")):
        log = f"slime=={version}\n{LOG}"
        found = client.post("/api/v1/diagnose", json={"text": log}).json()
        assert found["matches"][0]["may_not_apply_to"] == doubt
        text = client.post("/api/v1/diagnose.txt", content=log, params={"lang": "en"}).text
        assert ("may not apply to slime 0.3.1" in text) is bool(doubt)
        asked = {"q": f"widget fails slime {version}", "lang": "en"}
        assert client.get("/api/v1/search", params=asked).json()["hits"][0]["may_not_apply_to"] == doubt
        assert ("may not apply" in client.get("/en/search", params=asked).text) is bool(doubt)
        assert ("may not apply" in client.post("/en/diagnose", data={"text": log}).text) is bool(doubt)
    late = client.get("/en/maintain").text.partition("Not verified for 180 days")[2]
    assert "Widget fails" in late


def test_what_was_tried_within_half_a_year_is_not_listed_as_unverified_however_old_it_is(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    """What nobody ever tried counts from the day on which it was written."""
    for days in (10, 200):
        tried = f"{{on: {date.today() - timedelta(days)}, with: slime 0.2.4}}"
        write(content, {f"en/roll/tried{days}.md": edition("Widget creaks", FIX, **FIELDS, verified=tried)})
    write(content, {"en/roll/written.md": edition("Widget is new", updated=f"{date.today()}")})
    page = serve(content, gaps="1", workbench="1").get("/en/maintain").text
    late = page.partition('id="unverified"')[2].partition("</section>")[0]
    assert {each for each in ("old", "tried10", "tried200", "written") if f"roll/{each}" in late} == {
        "old",
        "tried200",
    }


def test_a_filter_by_version_leaves_out_what_says_that_it_is_for_others(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    """Entries that say nothing of versions always stay; a framework goes by its own and pip's name, however spelled."""
    taxonomy = TAXONOMY.replace("    homepage:", "    packages: [Pai_ROLL]\n    homepage:")
    held = {"taxonomy.yaml": taxonomy, "en/roll/any.md": edition("Widget fails again", FIX, **FIELDS)}
    write(
        content,
        held | {"en/roll/new.md": edition("Widget fails late", FIX, **FIELDS, versions="{pai-Roll: '>=2'}")},
    )
    client = serve(content)

    def found(path: str, *versions: str) -> set[str]:
        asked = {"q": "widget fails"} if path.endswith("search") else {}
        answer = client.get(path, params={"version": versions, **asked}).json()
        items = answer.get("hits", answer.get("items"))
        assert answer["total"] == len(items)
        return {each["id"].partition("/")[2] for each in items}

    for path in ("/api/v1/search", "/api/v1/entries"):
        assert found(path) == {"any", "new", "old"}
        assert found(path, "slime 0.2.4") == {"any", "new", "old"}
        assert found(path, "slime==0.3.1") == {"any", "new"}
        assert found(path, "pai_roll 1.0") == {"any", "old"}
        assert found(path, "slime:v0.3", "roll-1.0") == {"any"}
        assert found(path, "slime 0.2.4", "slime 0.3.1") == {"any", "new", "old"}
    refused = client.get("/api/v1/search", params={"q": "widget", "version": "0.2.4"})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "field": "version",
            "message": "“0.2.4” is not a program with a version. "
            "Write the name of a program, a space and a version, such as 0.2.4.",
        }
    ]


def test_the_page_offers_to_leave_out_what_may_not_apply(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    new = edition("Widget fails late", FIX, **FIELDS, versions="{roll: '>=2'}")
    client = serve(write(content, {"en/roll/new.md": new}))
    asked = {"q": "widget fails"}
    assert "version=" not in client.get("/en/search", params=asked).text
    client.cookies.set("jieda_framework", "roll:1.0")
    page = client.get("/en/search", params=asked).text
    assert "may not apply to roll 1.0" in page
    (offered,) = re.findall(r'href="([^"]*version=[^"]*)"', page)
    narrowed = client.get(unescape(offered)).text
    assert "entries/roll/new" in page
    assert "entries/roll/new" not in narrowed
    assert "entries/roll/old" in narrowed
    assert 'name="version" value="roll 1.0"' in narrowed


def test_the_command_filters_by_version(content: Path, tmp_path: Path) -> None:
    (content / "zh/roll/old.md").unlink()
    search = ("search", "widget fails", "--json", "--content", content, "--for-version")
    settings = {"JIEDA_SEMANTIC": "0", "JIEDA_DATA": str(tmp_path / "data")}
    for version, total in (("slime 0.2.4", 1), ("slime 0.3.1", 0)):
        assert json.loads(command(*search, version, **settings).stdout)["total"] == total
    assert "“latest” is not a program with a version" in command(*search, "latest", **settings).stderr


def test_python_filters_by_version(content: Path, tmp_path: Path) -> None:
    (content / "zh/roll/old.md").unlink()
    with jieda.open(content, data=tmp_path / "data", semantic=False) as base:
        assert base.search("widget fails", version="slime 0.2.4").total == 1
        (way_out,) = base.search("widget fails", version="slime 0.3.1").suggestions
        assert (way_out.type, "slime 0.3.1" in way_out.text) == ("drop_filter", True)
        assert "version" not in way_out.url


def test_an_entry_goes_out_through_the_command_and_comes_back_by_load(content: Path, tmp_path: Path) -> None:
    settings = {"JIEDA_SEMANTIC": "0", "JIEDA_DATA": str(tmp_path / "data")}
    read = command("read", "roll/old", "--lang", "en", "--json", "--content", content, **settings)
    line = tmp_path / "one.jsonl"
    line.write_text(json.dumps(json.loads(read.stdout)) + "\n", encoding="utf-8")
    target = write(tmp_path / "target", {"taxonomy.yaml": TAXONOMY})
    assert command("load", line, "--into", target).exit_code == 0
    text = (target / "en/roll/old.md").read_text()
    assert "versions: {slime: '>=0.2,<0.3'}" in text
    assert "verified: {on: '2026-01-02', with: 'slime 0.2.4'}" in text
