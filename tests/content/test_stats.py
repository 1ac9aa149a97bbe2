"""`jieda stats`: how much there is, and in what state."""

import json
from pathlib import Path

import pytest

from tests.content.test_check import ERROR, FIX, GOOD, jieda, synced
from tests.support.small_content import edition

FILES = GOOD | {
    "en/roll/draft.md": edition("Not yet", draft="true"),
    "en/roll/half.md": edition("Half", updated="2025-06-01"),
    "zh/roll/half.md": edition("一半", "## 回答\n\n是。\n", draft="true"),
    "en/roll/old.md": edition("Old", FIX, **ERROR | {"kind": "error", "updated": "2020-01-01"}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = synced(tmp_path, FILES)
    path = folder / "en/roll/a.md"
    path.write_bytes(path.read_bytes() + b"\nOne thing more.\n")
    return folder


def test_everything_is_counted_by_framework_and_kind(folder: Path) -> None:
    run = jieda("stats", "--json", "--on", "2026-01-31", "--content", folder)
    assert run.exit_code == 0
    figures = json.loads(run.stdout)
    assert figures["on"] == "2026-01-31"
    assert figures["all"] == {
        "entries": 4,
        "drafts": 2,
        "editions": {"en": 4, "zh": 1},
        "stale": {"en": 0, "zh": 1},
        "samples": 2,
        "ages": {"<= 30 days": 2, "<= 90 days": 0, "<= 180 days": 0, "<= 365 days": 1, "older": 1},
    }
    assert figures["frameworks"] == {"roll": figures["all"]}
    assert {kind: group["entries"] for kind, group in figures["kinds"].items()} == {
        "error": 2,
        "how-to": 1,
        "concept": 1,
    }
    assert figures["kinds"]["error"]["stale"] == {"en": 0, "zh": 1}


def test_the_table_has_the_same_numbers(folder: Path) -> None:
    lines = jieda("stats", "--on", "2026-01-31", "--content", folder).stdout.splitlines()
    head = (
        "entries en zh stale en stale zh drafts samples <= 30 days <= 90 days <= 180 days <= 365 days older"
    )
    assert lines[0].split() == head.split()
    chinese = jieda("stats", "--on", "2026-01-31", "--content", folder, LC_ALL="zh_CN.UTF-8").stdout
    assert chinese.splitlines()[0].split()[:7] == "条目 en zh en 过时 zh 过时".split()
    assert [line.split() for line in lines[1:]] == [
        ["roll", *"4 4 1 0 1 2 2 2 0 0 1 1".split()],
        ["error", *"2 2 1 0 1 0 2 1 0 0 0 1".split()],
        ["how-to", *"1 1 0 0 0 0 0 1 0 0 0 0".split()],
        ["concept", *"1 1 0 0 0 2 0 0 0 0 1 0".split()],
        ["all", *"4 4 1 0 1 2 2 2 0 0 1 1".split()],
    ]


def test_an_empty_directory_has_nothing_to_count(tmp_path: Path) -> None:
    run = jieda("stats", "--content", synced(tmp_path, {}))
    assert (run.exit_code, len(run.stdout.splitlines())) == (0, 2)
