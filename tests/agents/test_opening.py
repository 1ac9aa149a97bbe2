"""The first answers of `jieda mcp`: those of the SDK, but at once.

    python -m tests.agents.test_opening

writes them anew where what the tools say has changed.
"""

import asyncio
import io
import json
import queue
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from jieda.agents import tools
from jieda.agents.answering import Context
from jieda.agents.opening import FILE, INITIALIZE, INITIALIZED, LAST_ANSWERS, LIST_TOOLS, PING, Opening
from jieda.agents.protocol import serve_stdio
from jieda.client import Remote
from jieda.presentation.urls import Urls

from tests.support.server import COMMAND, environment
from tests.support.shipped import CONTENT, copy_data

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def message(method: str, number: int | None = None, **params: Any) -> str:
    named = {"jsonrpc": "2.0", "method": method} | ({} if number is None else {"id": number})
    return json.dumps(named | ({"params": params} if params else {})) + "\n"


def beginning(version: str) -> list[str]:
    hello = message(INITIALIZE, 0, protocolVersion=version, **CLIENT)
    return [hello, message(INITIALIZED), message(LIST_TOOLS, 1)]


class Talk:
    """Gives the SDK a line when it has answered the one before, and keeps what it says."""

    def __init__(self, lines: list[str]) -> None:
        self._lines, self.answers = lines, list[dict[str, Any]]()
        self._answered: queue.Queue[None] = queue.Queue()

    def readline(self) -> str:
        if self.answers or len(self._lines) < 3:
            expected = 1 if len(self._lines) == 2 else 0 if len(self._lines) == 1 else 1
            for _ in range(expected):
                self._answered.get(timeout=60)
        return self._lines.pop(0) if self._lines else ""

    def write(self, line: str) -> int:
        self.answers.append(json.loads(line))
        self._answered.put(None)
        return len(line)

    def flush(self) -> None:
        pass


def no_server() -> Context:
    return Context(Remote(Urls(base_url="http://127.0.0.1:9")))


def of_sdk(version: str) -> dict[str, Any]:
    """What the SDK answers, with the name of the site left open."""
    talk, context = Talk(beginning(version)), no_server()
    asyncio.run(serve_stdio(context, talk))  # type: ignore[arg-type] # lines in and out
    hello, listed = (answer["result"] for answer in talk.answers)
    return {INITIALIZE: hello | {"instructions": tools.INSTRUCTIONS}, LIST_TOOLS: listed}


def written() -> str:
    """The file; of the answers nothing but the version differs from one to another."""
    found = [of_sdk(version) for version in VERSIONS]
    assert [each[INITIALIZE].pop("protocolVersion") for each in found] == [*VERSIONS]
    assert all(each == found[0] for each in found)
    return json.dumps({"versions": VERSIONS} | found[0], ensure_ascii=False, indent=1) + "\n"


def test_the_fixed_text_is_what_the_sdk_would_answer() -> None:
    assert FILE.read_text(encoding="utf-8") == written(), "python -m tests.agents.test_opening"


def test_an_id_that_no_encoding_holds_is_answered() -> None:
    hello = json.loads(message(INITIALIZE, 0, protocolVersion=VERSIONS[-1], **CLIENT)) | {"id": "\ud800"}
    answers = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    opening = Opening(io.StringIO(json.dumps(hello) + "\n"), answers, lambda answer: answer)
    opening.answer(lambda: False, lambda: None)
    answers.seek(0)
    assert json.loads(answers.read())["id"] == "\ud800"


def test_a_log_that_was_cut_within_an_emoji_is_answered() -> None:
    call = message("tools/call", 1, name="diagnose", arguments={"text": "\ud83d"})
    answers = io.StringIO()
    asyncio.run(
        serve_stdio(
            no_server(), Opening(io.StringIO("".join(beginning("2025-06-18")[:2]) + call), answers, dict)
        )
    )
    assert json.loads(answers.getvalue().splitlines()[-1])["id"] == 1


def test_the_end_waits_for_no_request_that_was_taken_back() -> None:
    lines = [
        message("tools/call", 1),
        message("notifications/cancelled", requestId=1),
        "[\n",
        "\n",
        '{"id": []}\n',
        '{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
        '{"jsonrpc": "2.0", "id": 2}\n',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": [1]}\n',
        "1",
    ]
    answers = io.StringIO()
    opening = Opening(io.StringIO("".join(lines)), answers, lambda answer: answer)
    start = time.monotonic()
    assert list(iter(opening.readline, "")) == lines[:2]
    assert time.monotonic() - start < LAST_ANSWERS / 2
    refused = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert [(each["id"], each["error"]["code"]) for each in refused] == [
        (None, -32700),
        (None, -32600),
        (2, -32600),
        (3, -32600),
        (None, -32600),
    ]


@pytest.mark.server
def test_a_client_goes_on_where_the_fixed_text_ends(tmp_path: Path) -> None:
    environ = environment({"JIEDA_DATA": str(copy_data(tmp_path)), "JIEDA_CONTENT": str(CONTENT)})
    with subprocess.Popen(
        [*COMMAND, "mcp"], stdin=-1, stdout=-1, stderr=-1, text=True, env=environ
    ) as started:
        assert started.stdin
        assert started.stdout
        started.stdin.write("\ufeff")  # as .NET begins
        for number, line in enumerate(beginning("2025-06-18")):
            started.stdin.write(line)
            started.stdin.flush()
            if number != 1:
                answer = json.loads(started.stdout.readline())["result"]
        assert [tool["name"] for tool in answer["tools"]] == [tool.name for tool in tools.TOOLS]
        started.stdin.write(message(PING, 2) + message("tools/call", 3, name="read", arguments={"id": "x/y"}))
        started.stdin.flush()
        told = [json.loads(started.stdout.readline()) for _ in range(2)]
        assert [each["id"] for each in told] == [2, 3]
        assert told[1]["result"]["isError"]
        started.stdin.write(
            message("tools/call", 4, name="diagnose", arguments={"text": "KeyError: 1\n" * 20_000})
        )
        started.stdin.close()
        assert json.loads(started.stdout.readline())["id"] == 4, (
            "all that was asked is answered before the end"
        )
        assert started.wait(60) == 0


@pytest.mark.server
def test_an_interrupt_ends_it_while_it_waits_for_a_line(tmp_path: Path) -> None:
    environ = environment({"JIEDA_DATA": str(tmp_path), "JIEDA_CONTENT": str(CONTENT)})
    with subprocess.Popen([*COMMAND, "mcp"], stdin=-1, stdout=-1, text=True, env=environ) as started:
        assert started.stdin
        assert started.stdout
        started.stdin.write(beginning("2025-06-18")[0])
        started.stdin.flush()
        assert started.stdout.readline()
        started.send_signal(signal.SIGINT)
        assert started.wait(30) == -signal.SIGINT


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
