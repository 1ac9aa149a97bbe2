"""Take another's turn: attacks from this machine on a server of this machine, and what another reader sees of them.

    python -m trials.attacks [--seconds 10] [--turns 2] [--workers 1] [--entries 60] [--only NAME …]

Prints, for each attack, how long `/healthz` and the diagnosis of one line take another reader, beside what they take
alone, in turns of so many seconds each, the slowest answer in the first seconds, and how many of his requests failed.
Ends with 1 where one failed, an attack got what it should not get, or a lack of memory was not told or not outlived.
"""

import argparse
import http.client
import json
import multiprocessing
import multiprocessing.pool
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles

from trials.running import COMMAND, Running
from trials.site import Place


@dataclass(frozen=True)
class Target:
    """A server that is attacked, and how the attacker and whoever measures tell each other when."""

    port: int
    place: Place
    began: Event
    stop: Event

    def begin(self) -> None:
        """The attack is in full swing, and has what is left of this machine's processors from now on."""
        os.nice(NICE)
        self.began.set()


Attack = Callable[[Target], None]
"""Says when it is in full swing, and goes on until told to stop."""

READER = "127.0.0.200"
HALF = b"POST /api/v1/diagnose HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"
FORWARDED_HALF = (
    b"POST /preferences HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\nContent-Length: 1000\r\n\r\nx"
)
UNREAD = b"GET /en/llms-full.txt HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n" * 50
LINE = "RuntimeError: CUDA error at 0x7f00, rank {} of 8, step {}\n"
MEBIBYTE = 1 << 20
FEW_FILES = 256
SECONDS_TO_BEGIN = 300.0
"""For an attacker to be in full swing, on a machine however busy."""
FIRST_SECONDS = 3.0
"""In which more than a thousand requests begin: they are answered in the order in which they came."""
PAUSE = 0.02
CHANGED_ENTRY = "/api/v1/entries/frame0/entry-0.md"
PREFIXES = """prefixes:
  - {name: one, lines: ['{any} {any} {any} {any} {any} |'], examples: ['a b c d e |']}
  - {name: two, lines: ['{any}a{any}a{any}a{any}a{any}a|'], examples: ['aaaaa|']}
"""
"""Content of somebody hostile: each of them took seconds a line when it was made into one regular expression."""
HARD_LINES = "\n".join(f"{number} {'a ' * 230}" for number in range(130)).encode()
"""What nearly matches them, small enough for the lane of small logs."""
ACCEPTED = "application/json, text/event-stream"
NICE = 19
"""Attackers sit on other machines: they may not have this one's processors before the server does."""


def hold(said: bytes, addresses: int, of_each: int, target: Target) -> None:
    """Keep sockets open that have said so much, from some addresses (0: the one of a trusted proxy; whoever else asks
    from this machine has no limits on requests)."""
    hosts = [f"127.0.1.{number + 1}" for number in range(addresses)] or ["127.0.0.1"]
    held: list[socket.socket] = []
    for number in range(of_each * len(hosts)):
        with suppress(OSError):
            each = socket.create_connection(("127.0.0.1", target.port), 5, (hosts[number % len(hosts)], 0))
            held.append(each)
            each.sendall(said)
            each.setblocking(False)
    target.begin()
    while not target.stop.wait(0.2):
        for each in held:
            with suppress(OSError):
                each.send(b"x" if b"Content-Length" not in said and said else b"")


def send(path: str, kind: str, body: bytes, target: Target, forwarded: str = "203.0.113.9") -> None:
    """Ask again and again, with a body where there is one, for one client that a trusted proxy names."""
    headers = {"X-Forwarded-For": forwarded, "Content-Type": kind, "Accept": ACCEPTED}
    for number in count():
        if target.stop.is_set():
            return
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=30)
            connection.request("POST" if body else "GET", path.format(number), body, headers)
            connection.getresponse().read()
            connection.close()


def threads_of(times: int, attack: Attack, target: Target) -> None:
    """Attack on several connections at once: waiting for answers takes no processor."""
    target.begin()
    from_threads = multiprocessing.pool.ThreadPool(times)
    from_threads.map(lambda _: attack(target), range(times))


def join_in(target: Target) -> None:
    """Start another server on the same data directory, again and again."""
    target.begin()
    while not target.stop.is_set():
        environment = target.place.environment(port=str(target.port + 1))
        subprocess.run(COMMAND, env=environment, capture_output=True, check=False)


def log() -> bytes:
    """A log of a mebibyte, each line another."""
    lines: list[str] = []
    size = 0
    while size < MEBIBYTE - 100:
        lines.append(LINE.format(len(lines) % 8, len(lines)))
        size += len(lines[-1])
    return "".join(lines).encode()


def call() -> bytes:
    """A message of an agent with such a log in it."""
    arguments = {"name": "diagnose", "arguments": {"text": log().decode()}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}).encode()


ATTACKS: Mapping[str, Attack] = {
    "half-sent bodies, 11 addresses": partial(hold, HALF, 11, 100),
    "half-sent bodies, one client by a proxy": partial(hold, FORWARDED_HALF, 0, 1100),
    "silent, 12 addresses": partial(hold, b"", 12, 100),
    "headers by the byte, 12 addresses": partial(hold, b"GET / HTTP/1.1\r\nX: ", 12, 100),
    "answers that nobody reads": partial(hold, UNREAD, 0, 400),
    "20 large logs at a time": partial(
        threads_of, 20, partial(send, "/api/v1/diagnose", "text/plain", log())
    ),
    "20 large logs by an agent": partial(threads_of, 20, partial(send, "/mcp", "application/json", call())),
    "searches forwarded as this machine": partial(
        threads_of, 20, partial(send, "/api/v1/search?q=lost+chunk+{}", "", b"", forwarded="127.0.0.1")
    ),
    "lines against hostile prefixes": partial(
        threads_of, 20, partial(send, "/api/v1/diagnose", "text/plain", HARD_LINES)
    ),
    "servers on the same directory": join_in,
}


def begin(name: str, target: Target) -> None:
    """One attack, in a process of its own."""
    ATTACKS[name](target)


def ask(port: int, path: str, body: bytes | None, headers: Mapping[str, str]) -> int:
    """The status of an answer to the other reader; 0 where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(READER, 0))
    try:
        connection.request("POST" if body else "GET", path, body, dict(headers))
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        return 0
    else:
        return answer.status
    finally:
        connection.close()


@dataclass
class Reader:
    """What another reader saw: seconds that `/healthz` and a diagnosis took, and how many failed."""

    health: list[float] = field(default_factory=list)
    line: list[float] = field(default_factory=list)
    failed: int = 0

    def read(self, port: int, until: float) -> None:
        """Ask until a moment of the monotonic clock."""
        while time.monotonic() < until:
            self._ask(port, "/healthz", None, self.health)
            if len(self.health) % 5 == 0:
                self._ask(port, "/api/v1/diagnose", LINE.format(1, len(self.health)).encode(), self.line)
            time.sleep(PAUSE)

    def _ask(self, port: int, path: str, body: bytes | None, kept: list[float]) -> None:
        began = time.monotonic()
        self.failed += ask(port, path, body, {"Content-Type": "text/plain"}) != 200
        kept.append(time.monotonic() - began)


@dataclass
class Measured:
    """A reader alone, in the first seconds of an attack, and in those that follow."""

    alone: Reader = field(default_factory=Reader)
    first: Reader = field(default_factory=Reader)
    attacked: Reader = field(default_factory=Reader)

    def take(self, name: str, running: Running, seconds: float) -> None:
        """Read in turns, alone and beside an attack: other work on this machine is the same for both."""
        self.alone.read(running.port, time.monotonic() + seconds)
        context = multiprocessing.get_context("spawn")
        target = Target(running.port, running.place, context.Event(), context.Event())
        process = context.Process(target=begin, args=(name, target))
        process.start()
        if not target.began.wait(SECONDS_TO_BEGIN):
            raise TimeoutError(f"{name}: it does not begin")
        self.first.read(running.port, time.monotonic() + min(FIRST_SECONDS, seconds))
        self.attacked.read(running.port, time.monotonic() + seconds)
        target.stop.set()
        process.join(30)
        process.kill()

    @property
    def failed(self) -> int:
        """Requests of the reader that failed while others attacked."""
        return self.first.failed + self.attacked.failed

    def __str__(self) -> str:
        health, line = (
            times(self.alone.health, self.attacked.health),
            times(self.alone.line, self.attacked.line),
        )
        slowest = 1000 * max(self.first.health, default=0.0)
        return (
            f"healthz p99 {health}, one line p99 {line}, first seconds {slowest:.0f} ms, failed {self.failed}"
        )


def p99(times: list[float]) -> float:
    """In milliseconds; of one answer alone, which is all that a busy machine may give in a short trial, that one."""
    return 1000 * (quantiles(times, n=100, method="inclusive")[98] if len(times) > 1 else sum(times))


def times(alone: list[float], attacked: list[float]) -> str:
    """Both p99, and how many times the second is the first."""
    before, behind = p99(alone), p99(attacked)
    return f"{before:.0f} → {behind:.0f} ms ({behind / before:.1f} times)" if before else "none"


def forged(port: int) -> list[str]:
    """What somebody gets who is forwarded as this machine, and should not."""
    found = []
    for forwarded in ("127.0.0.1", "::1", "127.0.0.1, 10.1.2.3"):
        headers = {"X-Forwarded-For": forwarded}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics", headers=headers)
        if connection.getresponse().status != 403:
            found.append(f"/metrics for {forwarded}")
        connection.close()
    return found


def starts_with(files: int, place: Place, port: int) -> bool:
    """Whether a server starts that may open so many files."""
    environment = place.environment(port=str(port))
    command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *COMMAND]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return process.wait(30) == 0
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(30)
        return True


def starved(running: Running) -> list[str]:
    """What is wrong with a server that gets no more memory while its content changes, and then gets some again."""
    pid = running.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_AS)
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[0])
    resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize(), usual[1]))
    running.place.change(1)
    told = within(SECONDS_TO_BEGIN, lambda: status(running) != "ready")
    resource.prlimit(pid, resource.RLIMIT_AS, usual)
    healed = within(
        SECONDS_TO_BEGIN,
        lambda: status(running) == "ready" and "change000001" in said(running, CHANGED_ENTRY),
    )
    print(
        f"no memory: told after {told:.1f} s, the change served {healed:.1f} s after there was some",
        flush=True,
    )
    if (ended := running.process.poll()) is not None:
        log = running.place.data.with_name("server.log").read_text("utf-8", "replace")
        return [f"it ends with {ended}, after saying\n{log[-2000:]}"]
    return [
        name for name, took in (("no memory is not told of", told), ("it does not heal", healed)) if took < 0
    ]


def said(running: Running, path: str) -> str:
    """What a request is answered with; empty where it is not."""
    with suppress(OSError, http.client.HTTPException):
        return running.ask(path)[1].decode()
    return ""


def status(running: Running) -> str:
    """What `/readyz` says; empty where it says nothing."""
    return str(json.loads(said(running, "/readyz") or "{}").get("status", ""))


def within(seconds: float, happened: Callable[[], bool]) -> float:
    """How long something took; -1 where it did not happen."""
    began = time.monotonic()
    while not happened():
        if time.monotonic() - began > seconds:
            return -1
        time.sleep(PAUSE)
    return time.monotonic() - began


def main() -> None:
    """Attacks one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--entries", type=int, default=60)
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--only", nargs="*", default=list(ATTACKS))
    given = parser.parse_args()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Place.make(Path(folder), given.entries, 1)
        (place.content / "failures.yaml").write_text(PREFIXES, encoding="utf-8")
        if starts_with(FEW_FILES - 1, place, given.port):
            faults.append(f"it starts with {FEW_FILES - 1} files")
        running = Running.start(place, given.port, given.workers, limits="1", reload_content="1")
        try:
            running.until_ready()
            faults += [f"a forged address gets {each}" for each in forged(given.port)]
            Reader().read(given.port, time.monotonic() + min(2.0, given.seconds))
            faults += starved(running)
            for name in given.only:
                found = Measured()
                for _ in range(given.turns):
                    found.take(name, running, given.seconds)
                print(f"{name}: {found}", flush=True)
                if found.failed:
                    faults.append(f"{name}: {found.failed} failed")
        finally:
            running.bury()
    print("\n".join(faults) or "faults 0")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
