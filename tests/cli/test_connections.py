"""Connections that are opened and not used: none of them is kept for ever, and none keeps others out."""

import asyncio
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

from app.cli import server
from app.settings import Settings
from tests.support.server import PATIENCE, free_port, until

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = b"x" * (64 << 20)
Start = Callable[..., int]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers with little, or with much where the path is /large."""
    if scope["type"] == "http":
        body = LARGE if scope["path"] == "/large" else b"here"
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class CoarseClock(asyncio.SelectorEventLoop):
    """Tells a time that stands still for a quarter of a second, as any clock does for a moment."""

    def time(self) -> float:
        return super().time() // 0.25 * 0.25


def run_with(clock: type[asyncio.AbstractEventLoop], each: uvicorn.Server) -> None:
    with asyncio.Runner(loop_factory=clock) as runner:
        runner.run(each.serve())


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts servers whose patience is short: `start(bounds…)` gives the port."""
    monkeypatch.setattr(server, "SECONDS_FOR_HEADERS", 0.4)
    monkeypatch.setattr(server, "SECONDS_WITHOUT_READING", 0.4)
    monkeypatch.setattr(server, "SECONDS_BETWEEN_LOOKS", 0.1)
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def begin(clock: type[asyncio.AbstractEventLoop] | None = None, **bounds: Any) -> int:
        settings = replace(Settings.load({}), port=free_port(), trusted_proxies=())
        options = server.options(settings)
        wanted = replace(server.Bounds.of(settings), **bounds)
        options["http"] = partial(server.Connection, bounds=wanted)
        options["log_config"] = None
        each = uvicorn.Server(uvicorn.Config(application, **options))
        thread = threading.Thread(target=each.run if clock is None else partial(run_with, clock, each))
        thread.start()
        running.append((each, thread))
        until(lambda: each.started)
        return settings.port

    yield begin
    for each, thread in running:
        each.should_exit = True
        thread.join(PATIENCE)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def answers(port: int) -> bool:
    with connected(port) as client:
        client.sendall(REQUEST)
        return client.recv(1000).startswith(b"HTTP/1.1 200")


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


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX: ", REQUEST])
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


def test_of_connections_that_come_at_one_time_the_first_goes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SECONDS_FOR_HEADERS", PATIENCE)
    port = start(CoarseClock, most=5)
    for _ in range(10):
        with ExitStack() as silent:
            for _ in range(20):
                silent.enter_context(connected(port))
            assert [answers(port) for _ in range(10)] == [True] * 10


@pytest.mark.parametrize("bound", ["most", "of_one_client"])
def test_silent_connections_keep_nobody_out(
    start: Start, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(server, "SECONDS_FOR_HEADERS", PATIENCE)
    port = start(**{bound: 20})
    silent = [connected(port) for _ in range(60)]
    assert all(answers(port) for _ in range(10))
    closed = 0
    for each in silent:
        each.settimeout(0.01)
        try:
            closed += is_closed(each)
        except TimeoutError:
            continue
    assert closed >= 40
    for each in silent:
        each.close()
