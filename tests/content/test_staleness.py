"""Which twin has fallen behind, as a team would see it while editing."""

import os
from pathlib import Path

import pytest
from jieda.content.authoring.source_text import sync_twins
from jieda.content.read.load import Loaded
from jieda.entry import Language

from tests.support.small_content import edition, load_checked, write

EN, ZH = Language.EN, Language.ZH


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twins that are in sync."""
    files = {"en/roll/a.md": edition("A"), "zh/roll/a.md": edition("甲", "## 回答\n\n是。\n")}
    write(tmp_path, files)
    sync_twins(Loaded([tmp_path]).corpus, ["roll/a"])
    return tmp_path


def stale(folder: Path) -> frozenset[Language]:
    return load_checked(folder).entries["roll/a"].stale


def edit(folder: Path, lang: Language, old: str, new: str, *, at: float = 0) -> None:
    path = folder / lang / "roll/a.md"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    if at:
        os.utime(path, (at, at))


def test_synced_twins_are_not_stale(folder: Path) -> None:
    assert stale(folder) == frozenset()
    assert not load_checked(folder).problems


@pytest.mark.parametrize(("lang", "old"), [(EN, "Yes."), (ZH, "是。"), (EN, "'A'"), (ZH, "'甲'")])
def test_a_change_of_title_or_body_makes_the_twin_stale(folder: Path, lang: Language, old: str) -> None:
    edit(folder, lang, old, "'changed'")
    assert stale(folder) == {lang.other}
    (problem,) = load_checked(folder).problems
    assert (problem.path, problem.rule) == (f"{lang.other}/roll/a.md", "sync")
    assert "jieda sync roll/a" in problem.message


def test_a_change_of_the_twin_that_is_older_by_its_date_still_makes_the_other_stale(folder: Path) -> None:
    edit(folder, ZH, "2026-01-02", "2026-09-09")
    assert stale(folder) == frozenset()
    edit(folder, EN, "Yes.", "No.")
    assert stale(folder) == {ZH}


@pytest.mark.parametrize("newer", [EN, ZH])
def test_where_both_changed_the_later_date_counts(folder: Path, newer: Language) -> None:
    edit(folder, EN, "Yes.", "No.")
    edit(folder, ZH, "是。", "否。")
    edit(folder, newer, "2026-01-02", "2026-01-03")
    assert stale(folder) == {newer.other}


@pytest.mark.parametrize("newer", [EN, ZH])
def test_where_both_changed_on_one_day_the_file_time_counts(folder: Path, newer: Language) -> None:
    edit(folder, EN, "Yes.", "No.", at=1_800_000_000 + (newer is EN))
    edit(folder, ZH, "是。", "否。", at=1_800_000_000 + (newer is ZH))
    assert stale(folder) == {newer.other}


def test_where_nothing_tells_which_is_newer_both_are_stale(folder: Path) -> None:
    edit(folder, EN, "Yes.", "No.", at=1_800_000_000)
    edit(folder, ZH, "是。", "否。", at=1_800_000_000)
    assert stale(folder) == {EN, ZH}


def test_syncing_ends_it_and_a_front_matter_edit_does_not_start_it(folder: Path) -> None:
    edit(folder, EN, "Yes.", "No.")
    sync_twins(Loaded([folder]).corpus, ["roll/a"])
    assert stale(folder) == frozenset()
    edit(folder, EN, "topics: [memory]", "topics: []")
    assert stale(folder) == frozenset()


def test_another_unicode_form_or_line_end_is_no_change(folder: Path) -> None:
    edit(folder, EN, "Yes.", "Caf\u00e9.")
    sync_twins(Loaded([folder]).corpus, ["roll/a"])
    edit(folder, EN, "Caf\u00e9.", "Cafe\u0301.")
    path = folder / "en/roll/a.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert stale(folder) == frozenset()


def test_twins_that_were_never_synced_are_reported_and_not_called_stale(tmp_path: Path) -> None:
    write(tmp_path, {"en/roll/a.md": edition("A"), "zh/roll/a.md": edition("甲", "## 回答\n\n是。\n")})
    assert stale(tmp_path) == frozenset()
    assert {(each.path, each.rule) for each in load_checked(tmp_path).problems} == {
        ("en/roll/a.md", "sync"),
        ("zh/roll/a.md", "sync"),
    }


def test_where_twins_contradict_each_other_the_newer_is_served(folder: Path) -> None:
    edit(folder, ZH, "topics: [memory]", "topics: []")
    edit(folder, ZH, "2026-01-02", "2026-01-03")
    library = load_checked(folder)
    assert library.entries["roll/a"].topics == ()
    (problem,) = library.problems
    assert (problem.path, problem.line, problem.rule) == ("en/roll/a.md", 4, "twins")
