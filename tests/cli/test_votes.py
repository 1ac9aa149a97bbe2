"""`jieda votes` as a process: what maintainers see of what readers said."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.support.server import COMMAND, Server, environment
from tests.support.small_content import edition, write


def printed(data: Path, *arguments: str) -> str:
    """What the command prints for a data directory."""
    run = subprocess.run(
        [*COMMAND, "votes", *arguments],
        env=environment({"JIEDA_DATA": str(data)}),
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_the_entry_that_helped_least_comes_first(tmp_path: Path, start_server: Callable[..., Server]) -> None:
    content = write(tmp_path, {"en/roll/good.md": edition("Good"), "en/roll/bad.md": edition("Bad")})
    running = start_server(content)
    assert printed(running.data) == "No votes yet.\n"
    with running.client() as client:
        for entry, solved in (("good", "yes"), ("good", "yes"), ("bad", "no"), ("bad", "yes")):
            client.cookies.clear()
            assert client.post(f"/en/entries/roll/{entry}", data={"solved": solved}).status_code == 303
    lines = [re.split(r"\s+", line.strip()) for line in printed(running.data).splitlines()]
    assert lines == [["1", "no", "1", "yes", "en", "roll/bad"], ["0", "no", "2", "yes", "en", "roll/good"]]
    assert printed(running.data, "--since", "2999-01-01") == "No votes yet.\n"
