"""Runs the `jieda` command in tests."""

import os
import subprocess
from pathlib import Path

from click.testing import CliRunner
from jieda.cli.main import main

from tests.support.server import COMMAND, environment

Done = subprocess.CompletedProcess[str]


def jieda(*arguments: str | bytes | Path, given: str | bytes = "", **variables: str) -> Done:
    """Run the command inside this process, where everything is imported already: a fraction of a new process's cost,
    for tests that need neither a terminal nor signals.

    `given` is its standard input; of JIEDA settings it sees only `variables`. Unexpected exceptions propagate.
    """
    named = [os.fsdecode(each) for each in arguments]
    ours: dict[str, str | None] = {name: None for name in os.environ if name.startswith("JIEDA_")}
    ended = CliRunner().invoke(main, named, given, env=ours | variables, prog_name="jieda")
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Done(named, ended.exit_code, ended.stdout, ended.stderr)


def process(*arguments: str | bytes | Path, given: str = "", **variables: str) -> Done:
    """Run the command like `jieda`, but in a new process."""
    command, environ = [*COMMAND, *arguments], environment(variables)
    return subprocess.run(
        command, input=given, env=environ, capture_output=True, encoding="utf-8", check=False
    )
