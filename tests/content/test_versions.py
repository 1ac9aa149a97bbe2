"""Versions as data: what an entry holds for, and the logs, lists of packages and questions that say another."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from jieda.entry import Validity
from jieda.versions import doubtful_version

from tests.support.server import ROOT
from tests.support.small_content import TAXONOMY, edition, load_checked, write

LOG = "RuntimeError: the widget cannot frobnicate the gadget"
FIX = "## Fix\n\nTurn it.\n"
FIELDS = {
    "kind": "error",
    "topics": "[memory]",
    "symptoms": "[frobnicate]",
    "signatures": "['the widget cannot frobnicate']",
}
VALID = Validity({"slime": ">=0.2,<0.3"}, {"megatron-core": "0.15.0"})


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
        ("both slime==0.2.4 and slime==0.3.0", ""),
        ("not-slime==0.3.0, slime_plugins==0.3.0, 0.3.0, slime at 10.0.0.1", ""),
        ("", ""),
    ],
)
def test_a_version_counts_where_it_is_said_of_a_program_that_the_entry_names(
    text: str, doubtful: str
) -> None:
    assert doubtful_version(VALID, text) == doubtful


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
        text = client.post("/api/v1/diagnose", content=log, params={"lang": "en"}).text
        assert ("may not apply to slime 0.3.1" in text) is bool(doubt)
        asked = {"q": f"widget fails slime {version}", "lang": "en"}
        assert client.get("/api/v1/search", params=asked).json()["hits"][0]["may_not_apply_to"] == doubt
        assert ("may not apply" in client.get("/en/search", params=asked).text) is bool(doubt)
        assert ("may not apply" in client.post("/en/diagnose", data={"text": log}).text) is bool(doubt)
    late = client.get("/en/maintain").text.partition("Not verified for 180 days")[2]
    assert "Widget fails" in late


def test_an_entry_goes_out_through_the_command_and_comes_back_by_load(content: Path, tmp_path: Path) -> None:
    jieda = [sys.executable, "-m", "jieda.cli.main"]
    read = subprocess.run(
        [*jieda, "read", "roll/old", "--lang", "en", "--json", "--content", str(content)],
        capture_output=True,
        cwd=ROOT,
        check=True,
        timeout=120,
    )
    target = write(tmp_path / "target", {"taxonomy.yaml": TAXONOMY})
    line = json.dumps(json.loads(read.stdout)) + "\n"
    subprocess.run(
        [*jieda, "load", "-", "--into", str(target)], input=line.encode(), cwd=ROOT, check=True, timeout=120
    )
    text = (target / "en/roll/old.md").read_text()
    assert "versions: {slime: '>=0.2,<0.3'}" in text
    assert "verified: {on: '2026-01-02', with: 'slime 0.2.4'}" in text
