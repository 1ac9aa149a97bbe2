"""Servers for tests that talk HTTP, and their output under a test that fails."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support import server as servers
from tests.support.server import Server

TAIL = 3000
"""Characters of a server's output shown under a failed test."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the shipped content, shared by all tests that change nothing."""
    running = servers.start(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx.Client]:
    """A client of `server`."""
    with server.client() as connected:
        yield connected


@pytest.fixture
def start_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Server]]:
    """Starts servers of a test's own: `start_server(content, **settings)`; stopped when the test is over."""
    started: list[Server] = []

    def start(content: str | Path = servers.ROOT / "content", **settings: str) -> Server:
        running = servers.start(tmp_path_factory.mktemp("own-server"), content, **settings)
        started.append(running)
        return running

    request.node.stash[OWN_SERVERS] = started
    yield start
    for each in started:
        each.stop()


OWN_SERVERS: pytest.StashKey[list[Server]] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what the servers of a failed test have written to its report."""
    report = yield
    if report.failed:
        fixtures = getattr(item, "funcargs", {}).values()
        shared = [each for each in fixtures if isinstance(each, Server)]
        for each in shared + item.stash.get(OWN_SERVERS, []):
            report.sections.append((f"output of the server at {each.base}", each.log()[-TAIL:]))
    return report
