"""Kills of whole servers, parent and workers: whatever is killed and when, the next start answers rightly.

A `jieda serve` with one to three workers is hit while it builds from nothing, starts, reloads under requests or stops:
by SIGKILL or SIGTERM, all of it at once, the parent alone or one worker. All that was hit must be gone, and the port
free, within some seconds of a SIGTERM or of the loss of the parent; a worker must be replaced. The next server must
serve what a builder makes of the same content that nothing ever happened to, and answer searches, logs, entries and
images as that does, from every worker; and it must leave nothing behind of those before it: no half-written file, no
folder for figures, no word of a dead worker, nothing among the temporary files.
"""

import json
import random
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from itertools import cycle
from pathlib import Path
from statistics import median

from jieda.snapshot.snapshot import Analyzers

from trials.asked import questions
from trials.running import Running
from trials.site import Place, lasting

MOST_WORKERS = 3
HITS = ("all", "all", "parent", "worker")
"""What is hit; all of it twice as often."""
NEVER = 120.0
"""Seconds after which something will not happen any more."""
ENDED = (0, -signal.SIGTERM)
"""Exit codes of a server that was told to stop, the second before it had begun to listen to that."""


class Servers:
    """One place, the server on it, and what it must answer."""

    def __init__(self, folder: Path, entries: int, seed: int, port: int, patience: float) -> None:
        self.chance = random.Random(seed)
        self.place = Place.make(folder, entries, seed)
        self.port, self.patience = port, patience
        self.reference = Place(self.place.content, folder / "reference").knowledge(Analyzers())
        self.number = 0
        self.usual = 3.0
        """Seconds of a start, as of the last one."""
        self.faults: list[str] = []
        self.stops: list[float] = []
        """Seconds from a SIGTERM to the end."""
        self.ends: list[float] = []
        """Seconds from the death of a parent to the end of its workers."""

    def change(self) -> None:
        """Another text for one entry."""
        self.number += 1
        self.place.change(self.number)

    def start(self) -> Running:
        """A server that may or may not be ready."""
        return Running.start(self.place, self.port, self.chance.randint(1, MOST_WORKERS))

    def started(self, after: str) -> Running:
        """A server that is ready, and was found to answer rightly after something."""
        running, began = self.start(), time.monotonic()
        try:
            running.until_ready()
            self.usual = time.monotonic() - began
            self.check(running, after)
            left = lasting(lambda: self.leftovers(running))
            self.faults += [f"{after}: {each} is left" for each in left]
        except (OSError, HTTPException, ValueError) as error:
            self.faults.append(f"{after}: a bad start: {error}")
        return running

    def stop(self, running: Running, after: str) -> None:
        """Tells a server to stop, as an operator does."""
        running.tell(signal.SIGTERM, frozenset({running.process.pid}))
        self.gone(running, after, self.stops)

    def gone(self, running: Running, after: str, times: list[float]) -> None:
        """Waits for the end of a server that must end by itself."""
        try:
            times.append(running.until_gone(NEVER))
        except TimeoutError as error:
            self.faults.append(f"{after}: the server does not end: {error}")
            running.bury()
            return
        if times[-1] > self.patience:
            self.faults.append(f"{after}: the server took {times[-1]:.1f} s to end")
        if times is self.stops and running.process.returncode not in ENDED:
            self.faults.append(f"{after}: exit code {running.process.returncode}")

    def check(self, running: Running, after: str) -> None:
        """Notes what is answered wrongly. Raises OSError, HTTPException where nothing is."""
        self.reference.build()
        for question in questions(self.reference.snapshot, f"change{self.number:06}"):
            for _ in range(2 * running.workers):
                status, content, _ = running.ask(question.path, question.body)
                if status != 200 or not question.is_answered_by(content):
                    self.faults.append(f"{after}: {question.path} is answered wrongly ({status})")
        for _ in range(2 * running.workers):
            ready = json.loads(running.ask("/readyz")[1])
            if ready["status"] != "ready":
                self.faults.append(f"{after}: {ready['status']}: {ready['degraded']}")

    def leftovers(self, running: Running) -> list[str]:
        """What those before have left, or what is being written at this moment, while a server runs."""
        data, pids = self.place.data, running.pids()
        dead = [path for path in (data / "workers").glob("*.json") if _pid(path) not in pids]
        figures = list(data.with_name("tmp").iterdir())
        left = [*dead, *figures[running.workers > 1 :]]
        return [*self.place.leftovers(), *(path.name for path in left)]


def _pid(path: Path) -> int:
    """Of the process that a file is named after."""
    return int(path.name.partition("-")[0])


@contextmanager
def busy(servers: Servers, running: Running) -> Iterator[None]:
    """Changes and requests meanwhile. No answer may be a failure of ours."""
    stop = threading.Event()

    def change() -> None:
        while not stop.wait(0.3):
            servers.change()

    def ask() -> None:
        while not stop.wait(0.01):
            if (status := running.status("/api/v1/search?q=entry0")) not in {0, 200, 503}:
                servers.faults.append(f"a request is answered with {status}")

    threads = [threading.Thread(target=work) for work in (change, ask, ask)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def hit(servers: Servers, running: Running, after: str) -> None:
    """Kills some or all of a server, or tells it to stop, and sees to the end of the rest."""
    what, whom = servers.chance.choice((signal.SIGKILL, signal.SIGTERM)), servers.chance.choice(HITS)
    workers = running.serving()
    if whom == "worker" and "stop" not in after and len(workers) == running.workers > 1:
        _hit_worker(servers, running, what, f"{after}, a worker")
        return
    running.tell(what, running.pids() if whom == "all" else frozenset({running.process.pid}))
    times = servers.stops if what is signal.SIGTERM else servers.ends
    servers.gone(running, f"{after}, {what.name} for {whom}", times)


def _hit_worker(servers: Servers, running: Running, what: signal.Signals, after: str) -> None:
    victim, until = servers.chance.choice(running.serving()), time.monotonic() + NEVER
    running.tell(what, frozenset({victim}))
    while victim in running.pids() and time.monotonic() < until:
        time.sleep(0.05)
    try:
        running.until_ready()
    except TimeoutError:
        servers.faults.append(f"{after}: it is not replaced")
    servers.stop(running, after)


def kill(servers: Servers, kills: int) -> Counter[str]:
    """Hits so many servers; how many in each phase.

    A server that was found to be well is hit while it reloads or stops; after every second of these another one, while
    it starts or builds. The next is looked at.
    """
    done: Counter[str] = Counter()
    running = servers.started("a first start")
    for phases in cycle(ROUNDS):
        for phase in phases:
            after = f"kill {done.total() + 1} ({phase})"
            KILLS[phase](servers, running, after)
            done[phase] += 1
        servers.change()
        running = servers.started(after)
        if done.total() >= kills:
            break
    servers.stop(running, "the last stop")
    return done


def _while_building(servers: Servers, running: Running, after: str) -> None:
    shutil.rmtree(servers.place.data)
    _while_starting(servers, running, after)


def _while_starting(servers: Servers, _before: Running, after: str) -> None:
    running = servers.start()
    time.sleep(1.2 * servers.usual * servers.chance.random())
    hit(servers, running, after)


def _while_reloading(servers: Servers, running: Running, after: str) -> None:
    with busy(servers, running):
        time.sleep(3 * servers.chance.random())
        hit(servers, running, after)


def _while_stopping(servers: Servers, running: Running, after: str) -> None:
    with busy(servers, running):
        time.sleep(servers.chance.random())
        running.tell(signal.SIGTERM, frozenset({running.process.pid}))
        time.sleep(servers.chance.random())
        hit(servers, running, after)


KILLS: dict[str, Callable[[Servers, Running, str], None]] = {
    "build": _while_building,
    "reload": _while_reloading,
    "start": _while_starting,
    "stop": _while_stopping,
}

ROUNDS = (("reload",), ("stop", "start"), ("reload",), ("stop", "build"))


def report(servers: Servers, killed: Counter[str]) -> str:
    """The figures, a line each."""
    lines = [f"servers killed {killed.total()} {dict(killed)}, faults {len(servers.faults)}"]
    for what, times in (("a SIGTERM", servers.stops), ("the death of the parent", servers.ends)):
        if times:
            lines.append(
                f"ends after {what}: {len(times)}, median {median(times):.1f} s, slowest {max(times):.1f} s"
            )
    return "\n".join([*lines, *servers.faults[:50]])


def attack(folder: Path, kills: int, entries: int, seed: int, port: int, patience: float) -> list[str]:  # noqa: PLR0913, PLR0917 - what there is to choose
    """Hits servers below `folder` and prints the figures; what went wrong."""
    folder.mkdir(parents=True)
    servers = Servers(folder, entries, seed, port, patience)
    print(report(servers, kill(servers, kills)), flush=True)
    if servers.faults:
        print((folder / "server.log").read_text(encoding="utf-8", errors="replace")[-5000:], file=sys.stderr)
    return servers.faults
