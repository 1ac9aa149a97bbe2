"""One server over the shipped content, of two workers, and the ways to talk to it."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support import shipped
from tests.support.inside import Inside
from tests.support.server import COMMAND, Server, environment

T = TypeVar("T")
Work = Callable[[Client], Awaitable[T]]

ENGLISH_LOG = """Traceback (most recent call last):
  File "roll/a.py", line 1, in f
    self.node2pg[node_rank]
KeyError: 1
"""


@pytest.fixture(scope="session")
def agents_server(
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    inside: Callable[..., AbstractContextManager[Inside]],
) -> Iterator[Inside | Server]:
    """Two workers, for whatever answers a request must not need what another has kept; one server, in this process, in
    `make quick`."""
    if "not server" in request.config.option.markexpr:
        with inside() as server:
            yield server
        return
    running = shipped.start(tmp_path_factory.mktemp("agents"), workers="2")
    yield running
    running.stop()


def over_http(server: Inside | Server, work: Work[T], mode: str = "auto") -> T:
    """What `work` comes to with a client of `/mcp`; `mode` as the SDK has it."""

    async def run() -> T:
        async with Client(f"{server.base}/mcp", mode=mode) as client:
            return await work(client)

    return asyncio.run(run())


def over_stdio(folder: Path, work: Work[T], *arguments: str, **settings: str) -> T:
    """What `work` comes to with a client of `jieda mcp`."""
    environ = environment({"JIEDA_DATA": str(folder / "data")} | settings)
    started = StdioServerParameters(
        command=sys.executable, args=[*COMMAND[1:], "mcp", *arguments], env=environ
    )

    async def run() -> T:
        # What the process says of itself is not part of the protocol.
        with Path(os.devnull).open("w") as nowhere:
            async with Client(stdio_client(started, errlog=nowhere)) as client:
                return await work(client)

    return asyncio.run(run())
