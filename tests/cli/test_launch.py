"""The `jieda` script: what it runs, and from where."""

import subprocess
import sys
from pathlib import Path

import pytest
from jieda.version import VERSION

from tests.support.server import environment

SCRIPT = "from jieda.cli.launch import main; main()"


@pytest.mark.parametrize("arguments", [("--version",), ("check", "--version"), ("health", "--version")])
def test_a_program_in_the_current_folder_is_not_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Content is checked where it lies, in a clone of whose files nobody knows what they are."""
    for name in ("jieda", "click", "http", "msgspec", "yaml"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n")
    jieda = [sys.executable, "-P", "-c", SCRIPT, *arguments]
    run = subprocess.run(jieda, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "planted" not in run.stderr
    if arguments == ("--version",):
        assert VERSION in run.stdout


@pytest.mark.parametrize(
    ("words", "completed"), [("jieda sea", "plain,search\n"), ("jieda search --fr", "plain,--framework\n")]
)
def test_the_shell_completes_commands_and_their_options(words: str, completed: str) -> None:
    typed = {"_JIEDA_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment(typed), capture_output=True, text=True, check=True
    )
    assert run.stdout == completed
