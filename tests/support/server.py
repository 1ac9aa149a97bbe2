"""A real server process on a free port; its output is available to failed tests."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-c", "from jieda.cli.launch import main; main()")
"""The `jieda` command of this checkout, installed or not."""
SECONDS_TO_START = 240.0
SECONDS_TO_STOP = 60.0
PATIENCE = 60.0
"""Seconds after which an event is assumed never to happen, even on a busy machine."""


@dataclass(frozen=True)
class Server:
    """A running `jieda serve`."""

    process: subprocess.Popen[bytes]
    base: str
    """Scheme, host and port."""
    output: Path
    data: Path

    def client(self, **options: object) -> httpx.Client:
        """Return a client of this server."""
        return client_of(self.base, **options)

    def log(self) -> str:
        """Return the output so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop the process and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(SECONDS_TO_STOP)


def client_of(base: str, **options: object) -> httpx.Client:
    """Return a client that ignores proxy settings of the environment."""
    # Nothing is encrypted here, and loading CA certificates takes longer than most requests.
    return httpx.Client(base_url=base, trust_env=False, verify=False, timeout=PATIENCE, **options)  # type: ignore[arg-type]


def _ports() -> Iterator[int]:
    """Yield ports below those that the system hands out by itself, none twice and other ones in each process of a run:
    a server that takes seconds to listen must not find another test's there."""
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 8
    yield from random.SystemRandom().sample(range(10_000 + process, 30_000, 8), 2_500)


_PORTS = _ports()


def free_port() -> int:
    """Return a port on which nothing listens right now."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("every port is taken")


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this environment with its JIEDA settings replaced by `settings`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("JIEDA_")}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ours = {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    return inherited | ours | dict(settings)


def start(folder: Path, content: str | Path, **settings: str) -> Server:
    """Start a server whose index, output and working directory are `folder`.

    `settings` are named as in `jieda.settings.TABLE`. Raises AssertionError with the output where the server does not
    get ready.
    """
    port = free_port()
    data = folder / "data"
    chosen = {"content": str(content), "data": str(data), "port": str(port)} | settings
    output = folder / "output.log"
    with output.open("ab") as sink:
        process = subprocess.Popen(
            [*COMMAND, "serve"],
            cwd=folder,
            env=environment({f"JIEDA_{name.upper()}": value for name, value in chosen.items()}),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    server = Server(process, f"http://127.0.0.1:{chosen['port']}", output, Path(chosen["data"]))
    try:
        wait_until_ready(server)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return server


@contextmanager
def lasting(folder: Path, content: Path, **settings: str) -> Iterator[Callable[[], Server]]:
    """Yield a function that returns a running server, started as by `start`: the same one for every test, or a new one
    on the same files after a test has ended it."""
    running: list[Server] = []

    def get() -> Server:
        if not running or running[-1].process.poll() is not None:
            running.append(start(folder, content, **settings))
        return running[-1]

    yield get
    for server in running:
        server.stop()


def wait_until_ready(server: Server) -> None:
    """Return as soon as the server is ready. Raises AssertionError where it never is."""
    deadline = time.monotonic() + SECONDS_TO_START
    with server.client() as client:
        while time.monotonic() < deadline:
            code = server.process.poll()
            assert code is None, f"the server ended with {code}:\n{server.log()}"
            try:
                if client.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
    raise AssertionError(f"the server is not ready after {SECONDS_TO_START} s:\n{server.log()}")


def until(happened: Callable[[], bool]) -> None:
    """Return as soon as a condition holds. Raises AssertionError after PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
