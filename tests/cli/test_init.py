"""`jieda init`, and the page that goes from nothing to a site of one's own, by running what it says."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import yaml
from jieda.snapshot.snapshot import Analyzers
from jieda.usecases.gaps.redact import Redactor

from tests.support.command import Done, jieda
from tests.support.inside import Inside
from tests.support.server import COMMAND, ROOT, environment
from tests.support.shipped import open_snapshot

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(script: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """A script in a shell that knows `jieda`."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "jieda").write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    (tools / "jieda").chmod(0o755)
    environ = environment({"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"})
    return subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def follow(script: str) -> list[Done]:
    """What commands say, in this folder: those of `jieda` in this process, for which a new one costs many times as
    much, the lines between them in a shell."""
    pieces = re.split(r"^(jieda [^|&;<>$\n]+)\n", script, flags=re.MULTILINE)
    return [
        jieda(*shlex.split(piece)[1:]) if number % 2 else run(piece, Path.cwd())
        for number, piece in enumerate(pieces)
    ]


def test_the_page_about_a_faq_of_ones_own_holds(
    tmp_path: Path,
    inside: Callable[..., AbstractContextManager[Inside]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    english, chinese = (
        SHELL.findall((ROOT / f"docs/your-own-faq{each}.md").read_text(encoding="utf-8"))
        for each in ("", ".zh-CN")
    )
    assert english == chinese
    *blocks, serve = english
    assert serve == "jieda serve --reload-content --content faq/content\n"
    monkeypatch.chdir(tmp_path)
    said = [run(blocks[0], tmp_path), *(each for block in blocks[1:] for each in follow(block))]
    assert [each.returncode for each in said] == [0] * len(said), [each.stderr for each in said]
    printed = [each.stdout + each.stderr for each in said]
    assert "1 entry in 2 editions: no problems" in printed[0]
    assert "3 entries in 4 editions: no problems" in printed[-6]
    assert "password authentication failed for user  [exact]" in printed[-4]
    assert "How do I see which queries are slow?" in printed[-2]
    with inside(tmp_path / "faq" / "content") as server, server.client() as client:
        assert "<title>PG Answers" in client.get("/en/").text
        assert client.get("/en/entries").text.count("/en/entries/postgresql/") >= 3


def test_a_full_disk_is_told_in_a_line(tmp_path: Path) -> None:
    ended = run("ulimit -f 0; jieda init faq", tmp_path)
    assert ended.returncode != 0
    assert "cannot be written: File too large" in ended.stderr
    assert "None" not in ended.stderr
    assert not (tmp_path / "faq").exists(), "the next try would find a folder that is not empty"


def test_what_is_written_serves_and_checks_and_installs_nothing_by_a_name_that_anybody_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faq.md").write_text(
        "# FAQ\n\n## Why is vacuum slow?\n\nIt waits.\n\n## Can I stop it?\n\nYes.\n", encoding="utf-8"
    )
    made = jieda("init", "faq", "--field", "PostgreSQL", "--from", "faq.md")
    assert made.returncode == 0, made.stderr
    data = str(tmp_path / "data")
    assert "Connection refused" in jieda("search", "--content", "faq/content", "port", JIEDA_DATA=data).stdout
    assert len(list(tmp_path.glob("faq/content/en/postgresql/*.md"))) == 3
    files = {path: path.read_text(encoding="utf-8") for path in tmp_path.glob("faq/**/*") if path.is_file()}
    ours = {path for path, text in files.items() if re.search(r"\$(field|name|title|about|today)", text)}
    assert not ours
    assert "`content/en/postgresql/` and `content/zh/postgresql/`, one" in files[tmp_path / "faq/README.md"]
    assert files[tmp_path / "faq/nginx.conf"] == (ROOT / "deploy/nginx.conf").read_text(encoding="utf-8")
    for name in ("compose.yaml", ".pre-commit-config.yaml", ".github/workflows/entries.yaml"):
        commands = re.findall(r"jieda (check|fmt)", str(yaml.safe_load(files[tmp_path / "faq" / name])))
        assert commands or name == "compose.yaml"
    for hooks in (
        files[tmp_path / "faq/.pre-commit-config.yaml"],
        (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"),
    ):
        assert re.search(r"id: jieda-check\n(?: .*\n)*? +always_run: true", hooks), "a deletion has no files"
    # Until the name is ours there, whoever takes it would run in their builds.
    by_name = re.compile(r"(?:install|dependencies: \[|default:) *jieda\b(?!-)")
    texts = [*files.values(), *(each.read_text("utf-8") for each in (ROOT / "deploy").rglob("*.*"))]
    assert not [text for text in texts if by_name.search(text)]
    (tmp_path / "none.md").write_text("text\n", encoding="utf-8")
    nothing = jieda("init", "other", "--from", "none.md")
    assert (nothing.returncode, "none.md: no questions were found" in nothing.stdout) == (1, True)


def test_one_language_and_nothing_that_is_there_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = jieda("init", "my faq", "--lang", "zh", "--field", " 数据库", "--name", " ")
    next_step = "next: jieda serve --reload-content --content 'my faq/content'\n"
    assert (made.returncode, made.stderr) == (0, next_step)
    assert jieda("check", "--content", "my faq/content").returncode == 0
    assert not (tmp_path / "my faq" / "content" / "en").exists()
    readme = (tmp_path / "my faq" / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# 数据库问答\n\n条目在 `content/zh/answers/` 里，")
    taxonomy = (tmp_path / "my faq" / "content" / "taxonomy.yaml").read_text(encoding="utf-8")
    assert 'description: "关于数据库的问题。"' in taxonomy
    assert not re.search(r"en:|zh:|\$", taxonomy)
    again = jieda("init", "my faq")
    assert (again.returncode, again.stderr) == (2, "Error: my faq: is not empty\n")
    monkeypatch.chdir(tmp_path / "my faq")
    unnamed = jieda("check")
    assert unnamed.stderr.splitlines()[0].endswith("for the content in this folder: --content content")
    named = [
        jieda("check", "--content", "content"),
        jieda("check", JIEDA_CONTENT="content"),
        jieda("search", "x", "--url", "http://127.0.0.1:9"),
    ]
    assert not any("in this folder" in each.stderr for each in named)


@pytest.mark.parametrize(
    ("log", "signature"),
    [
        (
            'FATAL:  password authentication failed for user "app"',
            "FATAL: password authentication failed for user {quoted}",
        ),
        ("ERROR 1040 (HY000): Too many connections", "ERROR {int} (HY000): Too many connections"),
        ("canceling statement due to statement timeout", "canceling statement due to statement timeout"),
        ("thread 'main' panicked at src/main.rs:4:5", "thread {quoted} panicked at src/main.rs:4:5"),
    ],
)
def test_errors_of_any_program_make_a_signature(
    log: str, signature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.log").write_text(f"{log}\n", encoding="utf-8")
    assert jieda("init", "faq", "--field", "db").returncode == 0
    done = jieda("new", "db/it", "--from-log", "run.log", "--content", "faq/content")
    assert done.returncode == 0, done.stderr
    draft = Path("faq/content/en/db/it.md").read_text(encoding="utf-8")
    assert f"  - '{signature.replace(chr(39), chr(39) * 2)}'\n" in draft


def test_a_question_of_a_field_without_entries_can_be_read(tmp_path: Path, analyzers: Analyzers) -> None:
    assert jieda("init", tmp_path / "faq", "--field", "db").returncode == 0
    redactor = Redactor(open_snapshot(tmp_path / "data", analyzers, tmp_path / "faq" / "content"))
    assert (
        redactor.message('FATAL: password authentication failed for user "app"')
        == "FATAL: password authentication failed for user {quoted}"
    )
    assert (
        redactor.message('ERROR: relation "orders" does not exist at character 15')
        == "ERROR: relation {quoted} does not exist at character {num}"
    )
    assert redactor.message("password hunter2 of alice is wrong") == "password {word} of {word} is wrong"
