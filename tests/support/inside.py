"""A real server on a free port inside the test process, for tests of responses rather than of the process."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI
from jieda.cli import server as door
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers
from jieda.web.app import create_app

from tests.support.server import PATIENCE, client_of

PLAIN = Analyzers()
"""The analyzer of content without a dictionary."""


@dataclass(frozen=True)
class Inside:
    """A server in this process."""

    base: str
    """Scheme, host and port."""
    data: Path

    def client(self, **options: object) -> httpx.Client:
        """Return a client of this server."""
        return client_of(self.base, **options)


def application(folder: Path, content: Path, **settings: str) -> FastAPI:
    """Create the application for `content` without a server; settings as in `server.start`."""
    given = {"content": str(content), "data": str(folder / "data")} | settings
    chosen = Settings.load({f"JIEDA_{name.upper()}": value for name, value in given.items()})
    knowledge = Knowledge(chosen, analyzers=PLAIN)
    knowledge.open()
    return create_app(chosen, knowledge)


@contextmanager
def serving(folder: Path, content: str | Path, analyzers: Analyzers, **settings: str) -> Iterator[Inside]:
    """Serve `content` with its index in `folder`; settings as in `server.start`.

    It shares this process's imports and, for content without a dictionary, its analyzer, which otherwise dominate
    startup.
    """
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))  # and held: others could take a port that is only looked up
    port = str(listening.getsockname()[1])
    given = {"content": str(content), "data": str(folder / "data"), "port": port} | settings
    chosen = Settings.load({f"JIEDA_{name.upper()}": value for name, value in given.items()})
    app = create_app(chosen, Knowledge(chosen, analyzers=analyzers))
    options = door.uvicorn_options(chosen) | {"log_config": None}
    server = uvicorn.Server(uvicorn.Config(app, **options))
    thread = threading.Thread(target=server.run, args=([listening],), name="server under test", daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while not server.started:
            assert thread.is_alive(), "the server ended"
            assert time.monotonic() < deadline, "the server is not ready"
            time.sleep(0.01)
        yield Inside(f"http://127.0.0.1:{chosen.port}", chosen.data)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
