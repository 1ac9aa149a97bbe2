"""The `jieda` command as tests run it."""

import os
import subprocess
from pathlib import Path

from click.testing import CliRunner
from jieda.cli.main import main

from tests.support.server import COMMAND, environment

Done = subprocess.CompletedProcess[str]


def jieda(*arguments: str | bytes | Path, given: str | bytes = "", **variables: str) -> Done:
    """The command inside this process, which has imported everything already: a fraction of what a process of its own
    costs, for tests that need neither a terminal nor signals.

    It has `given` on its standard input, and no settings of this environment but the `variables`. What it does not
    expect is raised here.
    """
    named = [os.fsdecode(each) for each in arguments]
    ours: dict[str, str | None] = {name: None for name in os.environ if name.startswith("JIEDA_")}
    ended = CliRunner().invoke(main, named, given, env=ours | variables, prog_name="jieda")
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Done(named, ended.exit_code, ended.stdout, ended.stderr)


def process(*arguments: str | bytes | Path, given: str = "", **variables: str) -> Done:
    """As `jieda`, as a process of its own."""
    command, environ = [*COMMAND, *arguments], environment(variables)
    return subprocess.run(
        command, input=given, env=environ, capture_output=True, encoding="utf-8", check=False
    )
