"""A server over a place, as a process of its own with children: started, looked at, told to stop and buried."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trials.site import Place

SECONDS_TO_START = 300.0
LOOK_AGAIN = 0.05
COMMAND = (sys.executable, "-c", "from jieda.cli.launch import main; main()", "serve")
"""As the `jieda` script does it: a worker is not made to import what started it."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server in a session of its own: whatever it starts can be found by that."""

    process: subprocess.Popen[bytes]
    place: Place
    port: int
    workers: int

    @classmethod
    def start(cls, place: Place, port: int, workers: int, **settings: str) -> "Running":
        """A server that reloads what changes. What it says goes to `server.log` beside the data directory."""
        # What it must answer is worked out without the extra, whether or not it is installed.
        given = {
            "port": str(port),
            "workers": str(workers),
            "reload_content": "1",
            "limits": "0",
            "semantic": "0",
        }
        given |= settings
        scratch = place.data.with_name("tmp")
        scratch.mkdir(exist_ok=True)
        environment = place.environment(**given) | {"TMPDIR": str(scratch)}
        with place.data.with_name("server.log").open("ab") as sink:
            process = subprocess.Popen(
                COMMAND, env=environment, stdout=sink, stderr=sink, start_new_session=True
            )
        return cls(process, place, port, workers)

    def pids(self) -> frozenset[int]:
        """All its processes that live."""
        self.process.poll()
        found = [path for path in Path("/proc").iterdir() if path.name.isdecimal()]
        return frozenset(int(path.name) for path in found if _session(path) == self.process.pid)

    def serving(self) -> tuple[int, ...]:
        """Its processes that say that they answer requests."""
        told = {int(path.name.partition("-")[0]) for path in (self.place.data / "workers").glob("*.json")}
        return tuple(sorted(told & self.pids()))

    def until_ready(self) -> None:
        """Returns when all its workers answer. Raises TimeoutError."""
        until = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < until and self.process.poll() is None:
            if len(self.serving()) >= self.workers and self.status("/readyz") == 200:
                return
            time.sleep(LOOK_AGAIN)
        raise TimeoutError(f"the server is not ready (its exit code: {self.process.poll()})")

    def status(self, path: str) -> int:
        """What a request is answered with; 0 where it is not."""
        try:
            return self.ask(path)[0]
        except (OSError, http.client.HTTPException):
            return 0

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Status, body and headers of an answer. Raises OSError, HTTPException."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"Content-Type": "application/json"} if body else {}
            connection.request("POST" if body else "GET", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def tell(self, what: signal.Signals, whom: frozenset[int]) -> None:
        """Sends a signal to some of its processes, the first of all last."""
        for pid in sorted(whom, reverse=True):
            try:
                os.kill(pid, what)
            except ProcessLookupError:
                continue

    def until_gone(self, patience: float) -> float:
        """How many seconds it takes until no process is left and nobody listens. Raises TimeoutError."""
        began = time.monotonic()
        _until(lambda: not self.pids() and is_free(self.port), patience)
        self.process.wait()
        return time.monotonic() - began

    def bury(self) -> None:
        """Kills whatever is left of it."""
        self.tell(signal.SIGKILL, self.pids())
        _until(lambda: not self.pids(), SECONDS_TO_START)
        self.process.wait()


def is_free(port: int) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _until(happened: Callable[[], bool], patience: float) -> None:
    until = time.monotonic() + patience
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {patience:.0f} s")
        time.sleep(LOOK_AGAIN)


def _session(process: Path) -> int:
    """The session of a process that lives, 0 for any other."""
    try:
        state, _, _, session, *_ = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return 0
    return 0 if state in {"Z", "X"} else int(session)
