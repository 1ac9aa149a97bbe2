"""Connections that are opened and not used: none of them is kept for ever, and none keeps others out."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import uvicorn
from jieda.cli import server
from jieda.cli.server import ConnectionLimits, LimitedConnection
from jieda.settings import Settings

from tests.support.server import PATIENCE, free_port, until

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"
CHUNKS = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 300_000
LARGE = b"x" * (64 << 20)
Start = Callable[..., int]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers with little, or with much where the path is /large; reads the body first."""
    if scope["type"] == "http":
        while scope["method"] == "POST" and (await receive()).get("more_body"):
            continue
        body = LARGE if scope["path"] == "/large" else b"here"
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts servers whose patience is short: `start(limits…)` gives the port."""
    monkeypatch.setattr(server, "SECONDS_FOR_HEADERS", 0.4)
    monkeypatch.setattr(server, "SECONDS_WITHOUT_READING", 0.4)
    monkeypatch.setattr(server, "SECONDS_BETWEEN_CHECKS", 0.1)
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def begin(**limits: Any) -> int:
        settings = replace(Settings.load({}), port=free_port(), trusted_proxies=())
        options = server.uvicorn_options(settings)
        wanted = replace(ConnectionLimits.of(settings), **limits)
        options["http"] = partial(LimitedConnection, limits=wanted)
        options["log_config"] = None
        each = uvicorn.Server(uvicorn.Config(application, **options))
        thread = threading.Thread(target=each.run)
        thread.start()
        running.append((each, thread))
        until(lambda: each.started)
        return settings.port

    yield begin
    for each, thread in running:
        each.should_exit = True
        thread.join(PATIENCE)


def connected(port: int, host: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE, (host, 0))


def answers(port: int, host: str = "127.0.0.1") -> bool:
    with connected(port, host) as client:
        try:
            client.sendall(REQUEST)
            return client.recv(1000).startswith(b"HTTP/1.1 200")
        except ConnectionError:
            return False


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1000) == b""
    except ConnectionError:
        return True


def is_gone(client: socket.socket) -> bool:
    """Whether nobody takes another byte."""
    try:
        client.sendall(b"x")
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX: ", REQUEST, HALF, CHUNKS])
def test_whoever_does_not_say_what_he_wants_is_hung_up_on(start: Start, said: bytes) -> None:
    with connected(start()) as client:
        client.sendall(said)
        if said == REQUEST:
            while not client.recv(1000).endswith(b"here"):
                continue
            client.sendall(b"GET /again HTTP/1.1\r\n")
        assert is_closed(client)


def test_headers_that_arrive_by_the_byte_do_not_keep_a_connection(start: Start) -> None:
    with connected(start()) as client:
        deadline = time.monotonic() + PATIENCE
        client.sendall(b"GET / HTTP/1.1\r\nX: ")
        while time.monotonic() < deadline and not is_gone(client):
            time.sleep(0.02)
        assert time.monotonic() < deadline


def test_whoever_never_reads_is_hung_up_on_and_a_reader_gets_all(start: Start) -> None:
    port = start()
    with connected(port) as silent, connected(port) as reader:
        for each in (silent, reader):
            each.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        received = 0
        while received < len(LARGE):
            chunk = reader.recv(1 << 20)
            assert chunk
            received += len(chunk)
        time.sleep(1.0)
        received = 0
        with suppress(ConnectionError):
            while chunk := silent.recv(1 << 20):
                received += len(chunk)
        assert received < len(LARGE)


def test_a_body_may_take_its_time_as_long_as_it_comes(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LEAST_RATE", 2.0)
    with connected(start()) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n")
        for _ in range(20):
            client.sendall(b"x")
            time.sleep(0.06)
        assert client.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("said", [b"", HALF])
def test_one_client_takes_no_more_than_its_share(
    start: Start, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(server, "SECONDS_FOR_HEADERS", PATIENCE)
    port = start(most=30, of_one_client=20)
    with ExitStack() as all_of_them:
        held = [all_of_them.enter_context(connected(port, "127.0.0.2")) for _ in range(60)]
        for each in held:
            with suppress(ConnectionError):
                each.sendall(said)
        assert all(answers(port) for _ in range(10))
        closed = 0
        for each in held:
            each.settimeout(0.05)
            with suppress(TimeoutError):
                closed += is_closed(each)
        assert closed == 40


def test_more_connections_than_there_may_be_are_refused_until_some_go(start: Start) -> None:
    port = start(most=10, of_one_client=10)
    with ExitStack() as silent:
        for _ in range(10):
            silent.enter_context(connected(port))
        until(lambda: answers(port))
