"""The `jieda` script: what it runs, and from where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jieda.version import VERSION

from tests.support.command import jieda, process
from tests.support.small_content import edition, write

SCRIPT = "from jieda.cli.launch import main; main()"


@pytest.mark.parametrize("arguments", [("--version",), ("check", "--version"), ("health", "--version")])
def test_a_program_in_the_current_folder_is_not_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Content is checked where it lies, in a clone of whose files nobody knows what they are."""
    for name in ("jieda", "click", "http", "msgspec", "yaml"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n")
    command = [sys.executable, "-P", "-c", SCRIPT, *arguments]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "planted" not in run.stderr
    if arguments == ("--version",):
        assert VERSION in run.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serach", "x"), "No such command 'serach'. Did you mean 'search'?"),
        (("votes", "--since", "yesterday"), "'--since': 'yesterday' is not a day such as 2026-01-31"),
        (("stats", "--on", "31.1.2026"), "'--on': '31.1.2026' is not a day such as 2026-01-31"),
        (("sync", "roll/one", "--all"), "Name either the entries or --all."),
    ],
)
def test_a_mistyped_argument_is_told_with_what_it_should_be(arguments: tuple[str, ...], told: str) -> None:
    done = jieda(*arguments)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "locale", "told"),
    [
        (("diagnose",), "zh_CN.UTF-8", "日志是空的"),
        (("diagnose", "--lang", "zh"), "C", "日志是空的"),
        (("diagnose", "--lang", "en"), "zh_CN.UTF-8", "the log is empty"),
        (("sync", "slime/none"), "zh_CN.UTF-8", "slime/none 不是能读取的条目"),
        (
            ("votes", "--since", "no"),
            "zh_CN.UTF-8",
            "错误：'--since' 的值不对：'no' 不是 2026-01-31 这样的日期",
        ),
        (("search",), "zh_CN.UTF-8", "用法：jieda search [OPTIONS] QUERY..."),
        (("search", "-x"), "zh_CN.UTF-8", "错误：没有选项 '-x'。\n如果它不是选项，请写：jieda search -- -x"),
        (("check", "--content", "/none"), "zh_CN.UTF-8", "文件夹 '/none' 不存在。"),
        (("serve", "--cache", "-1"), "zh_CN.UTF-8", "JIEDA_CACHE（--cache）：不能小于 0，现在写的是 '-1'"),
        (("serve", "--port", "x"), "zh_CN.UTF-8", "JIEDA_PORT（--port）：应该是整数，现在写的是 'x'"),
        (("serve", "--workbench-write"), "zh_CN.UTF-8", "写入需要口令"),
        (("--none",), "zh_CN.UTF-8", "错误：没有选项 '--none'。"),
        (("diagnose", "/none"), "zh_CN.UTF-8", "错误：打不开文件 '/none'：没有这个文件或文件夹"),
        (("load", "--into", "/", "/none"), "zh_CN.UTF-8", "没有这个文件或文件夹"),
        (("read", "roll/x", "--url", "http://127.0.0.1:1"), "zh_CN.UTF-8", "http://127.0.0.1:1 没有响应"),
        (("run", "--lang", "zh", "--report", "/none/x", "true"), "C", "/none/x：无法写入"),
    ],
)
def test_what_a_command_refuses_is_said_in_the_language_of_the_answer(
    arguments: tuple[str, ...], locale: str, told: str
) -> None:
    done = jieda(*arguments, LC_ALL=locale)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_standard_streams_that_are_closed_stand_in_no_ones_way(tmp_path: Path) -> None:
    content = write(tmp_path / "content", {"en/roll/one.md": edition("One")})

    def shell(line: str) -> "subprocess.CompletedProcess[str]":
        command = ["sh", "-c", line, sys.executable, "-P", "-c", SCRIPT]
        environ = os.environ | {"JIEDA_DATA": str(tmp_path), "JIEDA_CONTENT": str(content)}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    empty = shell('"$0" "$@" diagnose <&-')
    assert (empty.returncode, "the log is empty" in empty.stderr) == (2, True)
    silent = shell('"$0" "$@" votes 2>&-')
    assert (silent.returncode, silent.stdout) == (0, "No votes yet.\n")
    full = shell('"$0" "$@" votes >/dev/full')
    assert (full.returncode, full.stderr.splitlines()[1:]) == (
        2,
        ["Error: the output cannot be written: No space left on device"],
    )
    unread = shell('"$0" "$@" health --help >/dev/full')
    assert (unread.returncode, unread.stderr) == (0, "")


def test_the_shell_completes_commands_and_their_options() -> None:
    def typed(words: str) -> dict[str, str]:
        count = str(words.count(" "))
        return {"_JIEDA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}

    assert jieda(**typed("jieda sea")).stdout == "plain,search\n"
    assert process(**typed("jieda search --fr")).stdout == "plain,--framework\n"
