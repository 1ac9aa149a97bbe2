"""What became of an entry stands on its page, word by word, where its files lie in a git repository."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from jieda.cli.main import main
from jieda.content.read.history import blocks_between

from tests.support.git import git
from tests.support.inside import Inside
from tests.support.small_content import edition, write

Served = Callable[..., httpx.Client]
SUMMARY = {"en": "What changed in this entry", "zh": "本条目的修改记录"}


def revised(folder: Path, subject: str, **bodies: str) -> None:
    """Commits other bodies of the one entry, by language."""
    for lang, body in bodies.items():
        heading = {"en": "Answer", "zh": "回答"}[lang]
        text = edition("Sharding", body=f"## {heading}\n\n{body}\n", updated=f"2026-01-{len(subject):02}")
        write(folder, {f"{lang}/roll/shards.md": text})
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", subject)


def test_each_language_shows_its_changes_latest_first(serve: Served, tmp_path: Path) -> None:
    """Whatever the folders around it are named."""
    folder = write(tmp_path / 'the team\'s "内容"' / "our content", {})
    git(folder.parent, "init", "--quiet")
    revised(folder, "Begin", en="Set shards to 4.", zh="把分片数设为 4。")
    revised(folder, "Take eight", en="Set shards to 8.", zh="把分片数设为 8。")
    revised(folder, "Escape <b>", en="Set shards to 8 & ranks.")
    client = serve(folder)
    english = client.get("/en/entries/roll/shards").text
    assert SUMMARY["en"] in english
    assert english.index("Escape &lt;b&gt;") < english.index("Take eight")
    assert "Set shards to <del>4</del><ins>8</ins>." in english
    assert "&amp; ranks</ins>." in english
    assert "Begin" not in english.partition(SUMMARY["en"])[2]
    assert "updated:" not in english
    chinese = client.get("/zh/entries/roll/shards").text
    assert "把分片数设为 <del>4</del><ins>8</ins>。" in chinese
    assert "Escape" not in chinese.partition(SUMMARY["zh"])[2]


def test_a_commit_with_the_next_change_joins_the_history_which_another_name_does_not_end(
    serve: Served, tmp_path: Path
) -> None:
    folder = write(tmp_path / "content", {})
    git(folder, "init", "--quiet")
    revised(folder, "Begin", en="Set shards to 4.")
    revised(folder, "Take eight", en="Set shards to 8.")
    client = serve(folder, reload_token="s3cret-token")

    def page(slug: str) -> str:
        client.post("/api/v1/reload", headers={"Authorization": "Bearer s3cret-token"}).raise_for_status()
        return client.get(f"/en/entries/roll/{slug}").text

    assert "Take nine" not in page("shards")
    body = "## Answer\n\nSet shards to 9.\n"
    write(folder, {"en/roll/shards.md": edition("Sharding", body, updated="2026-01-09")})
    assert "Take nine" not in page("shards")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Take nine")
    assert "Take nine" in page("shards"), "the commit of what is served already"
    moved = CliRunner().invoke(main, ["mv", "roll/shards", "roll/pieces", "--content", str(folder)])
    assert moved.exit_code == 0, moved.output
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Rename it")
    moved_page = page("pieces")
    assert moved_page.index("Rename it") < moved_page.index("Set shards to <del>8</del><ins>9</ins>.")
    assert "Set shards to <del>4</del><ins>8</ins>." in moved_page


def test_a_repository_that_git_does_not_open_is_in_the_log(
    inside: Callable[..., AbstractContextManager[Inside]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = write(tmp_path / "content", {})
    git(folder, "init", "--quiet")
    with inside(folder):
        assert not caplog.records, "without a commit, there is nothing to miss"
    revised(folder, "Begin", en="Set shards to 4.")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with inside(folder):
        assert caplog.text.count("safe.directory") == 1


def test_a_start_asks_git_for_a_history_only_where_there_is_a_new_commit(
    inside: Callable[..., AbstractContextManager[Inside]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data = write(tmp_path / "content", {}), str(tmp_path / "data")
    git(folder, "init", "--quiet")
    revised(folder, "Begin", en="Set shards to 4.")
    revised(folder, "Take eight", en="Set shards to 8.")

    def page() -> str:
        with inside(folder, data=data) as served, served.client() as client:
            return client.get("/en/entries/roll/shards").text

    def let_git_log(*, fail: bool) -> None:
        real = shutil.which("git", path=path)
        refuse = 'case " $* " in *" log "*) exit 1;; esac\n' if fail else ""
        wrapper.write_text(f'#!/bin/sh\n{refuse}exec {real} "$@"\n')

    path, wrapper = os.environ["PATH"], tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.touch(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{path}")
    let_git_log(fail=False)
    assert "<del>4</del><ins>8</ins>" in page()
    let_git_log(fail=True)
    assert "<del>4</del><ins>8</ins>" in page()
    revised(folder, "Take nine", en="Set shards to 9.")
    assert SUMMARY["en"] not in page()  # what git cannot say now it is asked again
    let_git_log(fail=False)
    assert "<del>8</del><ins>9</ins>" in page()


def test_nothing_shows_without_a_repository(serve: Served, tmp_path: Path) -> None:
    client = serve(write(tmp_path / "content", {"en/roll/shards.md": edition("Sharding")}))
    page = client.get("/en/entries/roll/shards").text
    assert "Sharding" in page
    assert SUMMARY["en"] not in page


def test_of_texts_too_long_to_compare_all_is_shown_unless_they_are_the_same() -> None:
    long = "a line\n" * 3000
    assert blocks_between(long, long) == ()
    ((old, new),) = blocks_between(long, f"{long}one more\n")
    assert (old.text, new.text) == (long, f"{long}one more\n")
