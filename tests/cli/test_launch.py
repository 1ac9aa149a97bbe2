"""The `jieda` script: what it runs, and from where."""

import subprocess
import sys
from pathlib import Path

import pytest
from jieda.version import VERSION

from tests.support.command import jieda, process

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


def test_the_shell_completes_commands_and_their_options() -> None:
    def typed(words: str) -> dict[str, str]:
        count = str(words.count(" "))
        return {"_JIEDA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}

    assert jieda(**typed("jieda sea")).stdout == "plain,search\n"
    assert process(**typed("jieda search --fr")).stdout == "plain,--framework\n"
