"""`jieda check --json` and `--changed-since`: what editors and continuous integration use."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jieda.content.check.rules import CORPUS_RULES, FILE_RULES, TWIN_RULES
from jieda.entry import Language
from jieda.locales.translations import catalog

from tests.content.test_check import GOOD, jieda, synced
from tests.support.git import git
from tests.support.server import COMMAND, ROOT, environment
from tests.support.small_content import TAXONOMY, edition, write

BROKEN = {
    "en/roll/link.md": edition("Links", "## Answer\n\nYes.\n\n[gone](gone.md)\n"),
    "en/roll/none.md": "---\ntitle: [\n---\n",
}


def data(*arguments: str | Path, code: int = 1) -> dict[str, Any]:
    run = jieda("check", "--json", *arguments)
    assert run.exit_code == code, run.output
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_json_says_where_how_bad_and_what_to_do(tmp_path: Path) -> None:
    folder = synced(tmp_path, GOOD | BROKEN)
    found = data("--content", folder)
    assert (found["entries"], found["editions"], found["changed_since"]) == (3, 4, None)
    assert found["notes"] == []
    link, broken = found["problems"]
    assert link == {
        "file": "en/roll/link.md",
        "path": str(folder / "en/roll/link.md"),
        "line": 13,
        "severity": "warning",
        "rule": "link",
        "message": "'gone.md': roll/gone does not exist",
        "hint": "Correct the address, or remove the link.",
        "draft": False,
    }
    assert (broken["file"], broken["severity"], broken["rule"]) == ("en/roll/none.md", "error", "yaml")
    lines = jieda("check", "--content", folder).stdout.splitlines()
    assert [
        f"{each['file']}:{each['line']}: {each['rule']}: {each['message']}" for each in found["problems"]
    ] == lines


def test_a_file_is_found_in_the_directory_that_has_it(tmp_path: Path) -> None:
    base, team = synced(tmp_path / "base", GOOD | BROKEN), write(tmp_path / "team", {})
    problem, *_ = data("--content", base, "--content", team)["problems"]
    assert problem["path"] == str(base / "en/roll/link.md")


def test_nothing_wrong_is_an_empty_list(tmp_path: Path) -> None:
    assert data("--content", synced(tmp_path, GOOD), code=0)["problems"] == []


@pytest.mark.slow
def test_notes_are_not_problems(tmp_path: Path) -> None:
    folder = synced(tmp_path, GOOD | {"glossary.yaml": "- {en: [unheard], zh: [没听过的]}\n"})
    found = data("--search", "--content", folder, code=0)
    assert [each["rule"] for each in found["notes"]] == ["unanswered", "anywhere"]
    assert {each["severity"] for each in found["notes"]} == {"note"}


def test_every_rule_has_a_hint() -> None:
    modules = [*(ROOT / "app/jieda/content").rglob("*.py"), ROOT / "app/jieda/usecases/check.py"]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    calls = r'(?:[Pp]roblem|Complaint|UnservableError|_report)\([^"]*?\d?, "([a-z-]+)", '
    tables = r'(?:\brule, message = |\([A-Z]+, )"([a-z-]+)", ?\w'
    named = set(re.findall(calls, sources)) | set(re.findall(tables, sources))
    named |= {*FILE_RULES, *TWIN_RULES, *CORPUS_RULES} | {"signature", "sample", "shared"}
    for lang in Language:
        hints = {
            key.removeprefix("check.hint."): text
            for key, text in catalog(lang).items()
            if "check.hint." in key
        }
        assert named == hints.keys()
        assert all(hint.endswith("." if lang is Language.EN else "。") for hint in hints.values())


@pytest.mark.parametrize(
    "front",
    [
        "title: [",
        "title: a: b",
        "title: @a",
        "title: [a\nkind: b",
        "title: {a: b",
        "title: 'a",
        'title: "a\\q"',
        " title: a\nkind: b",
        "title: 'a' b",
        "topics:\n- a\nb: c\n- d",
        "title: |x\n  a",
        "title: a\nkind\ntopics: b",
        "title: - a",
    ],
)
def test_what_the_parser_of_yaml_says_is_told_in_chinese(tmp_path: Path, front: str) -> None:
    folder = synced(tmp_path, GOOD | {"en/roll/none.md": f"---\n{front}\n---\n"})
    problem = data("--content", folder, "--lang", "zh")["problems"][0]
    assert problem["rule"] == "yaml"
    assert re.search(r"(缺|不能|应该|没有|对不上).*：请用空格缩进", problem["message"])


def test_a_reader_of_chinese_is_told_in_chinese_which_commands_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = {"en/roll/d.md": edition("D", draft="true", topics="[x]")}
    folder = synced(tmp_path, GOOD | BROKEN | draft)
    path = folder / "zh/roll/a.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n改过。\n", encoding="utf-8")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    run = jieda("check", "--content", folder)
    assert "en/roll/link.md:13: link: 'gone.md'：roll/gone 不存在\n" in run.stdout
    assert ": draft: unknown-tag: `topics`：分类表里没有 'x'" in run.stdout
    assert "再运行 `jieda sync roll/a`" in run.stdout
    assert run.stderr == "3 个条目，4 个语言版本：3 个文件里有 3 个问题；1 份草稿还有 1 处没写完\n"
    told = data("--content", folder)["problems"]
    assert not any(each["message"].isascii() or each["hint"].isascii() for each in told)
    assert jieda("check", "--lang", "en", "--content", folder).stdout.isascii()


# ---- --changed-since


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose content, in a folder of it, had problems before the work began."""
    folder = synced(
        tmp_path / "work" / "content", GOOD | BROKEN | {"en/roll/c.md": edition("C", related="[roll/b]")}
    )
    write(
        folder, {"en/roll/stray.txt": "x", "en/roll/elsewhere.md": edition("E", related="[roll/a, roll/b]")}
    )
    (folder.parent / "README.md").write_text("Ours\n", encoding="utf-8")
    git(folder.parent, "init", "--quiet", "--initial-branch=main")
    commit(folder.parent)
    git(folder.parent, "checkout", "--quiet", "-b", "work")
    return folder


def commit(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "Work")


def since(folder: Path, revision: str = "main") -> list[str]:
    run = jieda("check", "--changed-since", revision, "--content", folder)
    lines = run.stdout.splitlines()
    assert run.exit_code == bool(lines), run.output
    return sorted(":".join(line.split(":")[:3]) for line in lines)


def test_what_was_wrong_before_is_not_shown(repository: Path) -> None:
    assert len(jieda("check", "--content", repository).stdout.splitlines()) == 3
    run = jieda("check", "--changed-since", "main", "--content", repository)
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr.endswith("no problems since main; 3 older ones are not shown\n")


@pytest.mark.parametrize("committed", [True, False])
def test_all_problems_of_files_that_changed_are_shown(repository: Path, *, committed: bool) -> None:
    path = repository / "en/roll/link.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    write(repository, {"en/roll/new.md": edition("New", topics="[unheard]")})
    if committed:
        commit(repository.parent)
    assert since(repository) == ["en/roll/link.md:13: link", "en/roll/new.md:4: unknown-tag"]
    assert data("--changed-since", "main", "--content", repository)["changed_since"] == "main"


def test_problems_that_a_change_causes_elsewhere_are_shown(repository: Path) -> None:
    (repository / "en/roll/b.md").unlink()
    shutil.rmtree(repository / "samples")
    commit(repository.parent)
    assert {line[3:] for line in since(repository)} == {
        "roll/a.md:7: sample",
        "roll/c.md:7: related",
        "roll/elsewhere.md:7: related",
    }


def test_a_tag_that_is_taken_away_is_told_where_it_is_used(repository: Path) -> None:
    (repository / "taxonomy.yaml").write_text(TAXONOMY.replace("  memory:", "  other:"), encoding="utf-8")
    found = since(repository)
    assert "en/roll/a.md:4: unknown-tag" in found
    assert not any(": link" in line for line in found)


def test_what_others_changed_meanwhile_is_not_counted(repository: Path) -> None:
    root = repository.parent
    git(root, "checkout", "--quiet", "main")
    write(repository, {"en/roll/theirs.md": edition("Theirs", topics="[unheard]")})
    commit(root)
    git(root, "checkout", "--quiet", "work")
    assert since(repository) == []


@pytest.mark.slow
def test_a_repository_that_is_a_content_directory_itself(tmp_path: Path) -> None:
    folder = synced(tmp_path, GOOD | BROKEN)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    write(folder, {"en/roll/new.md": edition("New", topics="[unheard]")})
    command = [*COMMAND, "check", "--changed-since", "HEAD", "--content", "."]
    run = subprocess.run(
        command, cwd=folder, env=environment({}), capture_output=True, text=True, check=False
    )
    assert run.stdout == "en/roll/new.md:4: unknown-tag: `topics`: 'unheard' is not in the taxonomy\n"


@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("no-such-branch", "'no-such-branch' is not a revision of"),
        ("--output=x", "'--output=x' is not a revision of"),
    ],
)
def test_an_unknown_revision_is_an_error_that_says_what_to_do(
    repository: Path, revision: str, words: str
) -> None:
    run = jieda("check", f"--changed-since={revision}", "--content", repository)
    assert run.exit_code == 2
    assert words in run.stderr
    assert "fetch-depth: 0" in run.stderr
    assert "Traceback" not in run.stderr


def test_without_a_common_commit_the_whole_history_is_asked_for(repository: Path) -> None:
    git(repository.parent, "checkout", "--quiet", "--orphan", "island")
    write(repository, {"en/roll/new.md": edition("New")})
    commit(repository.parent)
    run = jieda("check", "--changed-since", "main", "--content", repository)
    assert run.exit_code == 2
    assert "have no commit in common" in run.stderr


def test_outside_of_a_repository_and_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = synced(tmp_path, GOOD)
    run = jieda("check", "--changed-since", "main", "--content", folder)
    assert (run.exit_code, "not a git repository" in run.stderr) == (2, True)
    monkeypatch.setenv("PATH", str(tmp_path))
    run = jieda("check", "--changed-since", "main", "--content", folder)
    assert (run.exit_code, "git is not installed" in run.stderr) == (2, True)
