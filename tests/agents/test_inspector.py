"""The inspector of the protocol, by its command line: a client that somebody else wrote, in another language.

    npm ci --prefix tests/agents/inspector --ignore-scripts

installs it; continuous integration does so where there is npm. Version 1, for version 2 needs a newer Node than many
have. Each call starts Node, and over stdio a server too; so two run at a time, and few tools stand for all, one of them
with a list and a number among its arguments: `test_tools.py` calls each of them both ways.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.agents.test_tools import CALLS
from tests.support.server import COMMAND, ROOT, Server, environment

INSPECTOR = ROOT / "tests/agents/inspector/node_modules/.bin/mcp-inspector"
AT_ONCE = 2

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(
        not INSPECTOR.is_file(),
        reason="the inspector is not installed: npm ci --prefix tests/agents/inspector",
    ),
]


def inspect(server: Server, over: str, *arguments: str) -> dict[str, Any]:
    """What the inspector prints for a method."""
    stdio = [sys.executable, *COMMAND[1:], "mcp", "--url", server.base]
    target = [f"{server.base}/mcp", "--transport", "http"] if over == "http" else stdio
    # What follows the command of a server belongs to it, but for the options that the inspector knows.
    done = subprocess.run(
        [INSPECTOR, "--cli", *target, *arguments],
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("over", "tools"), [("http", ["list", "read"]), ("stdio", ["diagnose"])])
def test_the_inspector_lists_and_calls_tools(server: Server, over: str, tools: list[str]) -> None:
    asked = [["--method", "tools/list"], *(called(name, CALLS[name]) for name in tools)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        listed, *answers = pool.map(lambda arguments: inspect(server, over, *arguments), asked)
    assert [tool["name"] for tool in listed["tools"]] == list(CALLS)
    for answer in answers:
        assert not answer.get("isError"), answer
        assert answer["structuredContent"]


def called(name: str, given: Mapping[str, Any]) -> list[str]:
    """The options that call a tool."""
    values = (f"--tool-arg={key}={plain(value)}" for key, value in given.items())
    return ["--method", "tools/call", "--tool-name", name, *values]


def plain(value: object) -> str:
    """A value as the inspector reads it: JSON where it is not text."""
    return value if isinstance(value, str) else json.dumps(value)
