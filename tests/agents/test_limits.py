"""`/mcp` under the limits of everything else, and what of a call is nowhere afterwards."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run

import httpx
import pytest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.web.app import create_app
from jieda.web.http.clients import is_our_host, is_our_origin
from mcp.client.client import Client
from mcp_types.version import LATEST_PROTOCOL_VERSION, OLDEST_SUPPORTED_VERSION

from tests.agents.conftest import over_http
from tests.support.server import ROOT, Server, environment
from tests.support.small_content import edition, write

HEADERS = {"Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_a_page_whose_name_was_pointed_here_is_refused(server: Server) -> None:
    port = server.base.rpartition(":")[2]
    with server.client() as client:
        rebound = client.post("/mcp", json=PING, headers=HEADERS | {"Host": f"evil.example:{port}"})
        foreign = client.post("/mcp", json=PING, headers=HEADERS | {"Origin": f"http://evil.example:{port}"})
        sandboxed = client.post("/mcp", json=PING, headers=HEADERS | {"Origin": "null"})
        own = client.post("/mcp", json=PING, headers=HEADERS | {"Origin": f"http://localhost:{port}"})
    assert [each.status_code for each in (rebound, foreign, sandboxed, own)] == [400, 403, 403, 200]
    # That list is empty by default: with the site alone in it, the server would answer to its own name no more.
    assert "in JIEDA_ALLOWED_HOSTS, beside this server's own names" in foreign.json()["detail"]


@pytest.mark.parametrize(
    ("settings", "host", "origin", "host_is_ours", "page_is_ours"),
    [
        ({}, "localhost:8000", None, True, True),
        ({}, "[::1]:8000", "http://[::1]:8000", True, True),
        ({}, "faq.example.com", "https://faq.example.com", False, False),
        (
            {"JIEDA_BASE_URL": "https://faq.example.com"},
            "faq.example.com",
            "https://faq.example.com",
            True,
            True,
        ),
        ({"JIEDA_BASE_URL": "https://faq.example.com"}, "evil.example", "https://evil.example", False, False),
        ({"JIEDA_ALLOWED_HOSTS": "*.example.com"}, "a.example.com", "https://b.example.com:8443", True, True),
        # Every name is answered to, and the pages of every site are not let in for that.
        ({"JIEDA_ALLOWED_HOSTS": "*"}, "faq.example.com", "http://evil.example", True, False),
        ({"JIEDA_ALLOWED_HOSTS": "*"}, "faq.example.com", "http://localhost:3000", True, True),
        (
            {"JIEDA_ALLOWED_HOSTS": "*", "JIEDA_BASE_URL": "https://faq.example.com"},
            "faq.example.com",
            "https://faq.example.com",
            True,
            True,
        ),
        # In a container it cannot know its names, and a browser still tells whose page it is.
        ({"JIEDA_HOST": "0.0.0.0"}, "10.0.0.7:8000", "http://evil.example", True, False),
        ({}, "localhost", "chrome-extension://localhost", True, False),
    ],
)
def test_whose_names_and_pages_are_ours(
    settings: dict[str, str], host: str, origin: str | None, *, host_is_ours: bool, page_is_ours: bool
) -> None:
    loaded = Settings.load(settings)
    assert (is_our_host(host, loaded), is_our_origin(origin, loaded)) == (host_is_ours, page_is_ours)


def test_size_and_method_are_limited_as_everywhere(server: Server) -> None:
    with server.client() as client:
        json = HEADERS | {"Content-Type": "application/json"}
        large = client.post("/mcp", content=b"x" * (7 << 20), headers=json)
        streams = [client.get(path, headers={"Accept": "text/event-stream"}) for path in ("/mcp", "/mcp/")]
        nonsense = client.post("/mcp/", content=b"{", headers=json)
        # Half of an emoji, as where a log was cut.
        half = client.post(
            "/mcp", content=str(PING).replace("'", '"').replace("ping", r"\ud83d"), headers=json
        )
    assert [each.status_code for each in (large, *streams, nonsense)] == [413, 405, 405, 400]
    assert half.json()["error"]["data"] == "?"
    assert {stream.headers["allow"] for stream in streams} == {"POST"}
    assert large.json()["type"] == "urn:jieda:problem:too-large"
    # A message may have six bytes for each that is read.
    assert large.json()["detail"].startswith("At most 6 MiB")


@pytest.mark.parametrize("version", [None, OLDEST_SUPPORTED_VERSION, LATEST_PROTOCOL_VERSION])
@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_no_json_is_told_what_to_be(
    server: Server, content_type: str, version: str | None
) -> None:
    headers = (
        HEADERS | {"Content-Type": content_type} | ({"MCP-Protocol-Version": version} if version else {})
    )
    with server.client() as client:
        answer = client.post("/mcp", content=b"planted-log", headers=headers | {"Accept-Language": "zh"})
    assert answer.status_code == 415
    problem = answer.json()
    assert problem["type"] == "urn:jieda:problem:not-json-rpc"
    assert "application/json" in problem["detail"]
    assert "请用 POST" in problem["detail"]
    assert "planted-log" not in answer.text


@pytest.mark.parametrize("version", [None, OLDEST_SUPPORTED_VERSION, LATEST_PROTOCOL_VERSION])
@pytest.mark.parametrize(
    "body",
    [
        "planted-log",
        '"planted-log"',
        '{"jsonrpc": "2.0", "id": 1, "method": ["planted-log"]}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["planted-log"]}',
        '{"jsonrpc": "2.0", "id": ["planted-log"], "method": "tools/list"}',
        '[{"jsonrpc": "2.0", "id": 1, "method": "planted-log"}]',
        '{"jsonrpc": "2.0", "id": true, "method": "planted-log"}',
        '{"jsonrpc": "2.0", "id": 1, "result": "planted-log"}',
        "[" * 100_000,
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": ["planted-log"]}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {"cursor": ["planted-log"]}}',
    ],
)
def test_a_message_that_is_none_is_not_quoted(server: Server, body: str, version: str | None) -> None:
    headers = (
        HEADERS
        | {"Content-Type": "application/json"}
        | ({"MCP-Protocol-Version": version} if version else {})
    )
    with server.client() as client:
        answer = client.post("/mcp", content=body.encode(), headers=headers)
    assert answer.status_code in {400, 422} or "error" in answer.json()
    assert "planted-log" not in answer.text
    assert "planted-log" not in server.log()


def test_what_is_sent_is_in_no_log_and_its_secrets_in_no_answer(server: Server) -> None:
    planted = "planted-5f1d-of-mine"
    log = (
        f'Traceback (most recent call last):\n  File "/home/{planted}/train.py", line 3, in f\n'
        f"    self.node2pg[node_rank]\nKeyError: 1\nValueError: api_key={planted} is not valid\n"
    )

    async def work(client: Client) -> list[str]:
        answers = [
            await client.call_tool("diagnose", {"text": log}),
            await client.call_tool("diagnose", {"text": f"ValueError: api_key={planted} is not valid"}),
            await client.call_tool("diagnose", {"text": planted, "framework": planted}),
            await client.call_tool("search", {"query": planted, planted: planted}),
            await client.call_tool("read", {"id": planted}),
        ]
        prompt = await client.get_prompt("explain-this-log", {"log": log})
        return [str(each.model_dump()) for each in (*answers, prompt)]

    first, second, _, *others = over_http(server, work)
    assert [text.count(planted) for text in (first, second, *others)] == [0, 0, 0, 0, 0]
    # Of a failure that nothing explains the line is told, not what it says.
    assert "line 1: ValueError" in second
    assert planted not in server.log()


def test_without_the_extra_the_command_and_the_address_say_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "import sys; sys.modules['mcp'] = None; from jieda.cli.main import main; main(['mcp'])"
    command = run(
        [sys.executable, "-c", start],
        env=environment({}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert command.returncode == 2
    assert "pip install 'mcp>=2.3'" in command.stderr
    assert command.stdout == ""

    monkeypatch.setitem(sys.modules, "mcp", None)
    settings = Settings.load({"JIEDA_DATA": str(tmp_path)})
    app = create_app(settings, Knowledge(settings))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/mcp", json=PING)

    answer = asyncio.run(ask())
    assert answer.status_code == 404
    assert "mcp>=2.3" in answer.json()["detail"]


def test_one_address_says_three_times_of_an_entry_whether_it_helped(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    said = {"id": "roll/first", "outcome": "unclear"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    by_proxy = HEADERS | {"X-Forwarded-For": "203.0.113.9"}
    with serve(write(tmp_path, {"en/roll/first.md": edition("First")})) as client:
        asked = call | {"params": {"name": "report_outcome", "arguments": said}}
        told = [client.post("/mcp", json=asked, headers=by_proxy).json()["result"] for _ in range(4)]
        by_api = client.post("/api/v1/outcomes", json=said, headers=by_proxy).json()
    assert [each["structuredContent"].get("kept", False) for each in told] == [True, True, True, False]
    assert by_api["kept"] is False
