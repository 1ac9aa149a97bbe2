"""Load for a while: workers under a content change a second and readers whose connections must never go back in time.

    python -m trials.soak [--minutes 10] [--workers 4] [--readers 4] [--entries 60] [--seed 1] [--port PORT]

Prints the requests and those that failed, the steps backwards that one connection saw, how long a change took to be
seen, and the memory of all processes together, from the second minute to the end.
"""

import argparse
import http.client
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from trials.running import COMMAND
from trials.site import Place

PERIOD = 1.0
"""Seconds between two changes."""
SETTLED = 60.0
"""Seconds after which memory should not grow any more."""
LOOK_EVERY, A_MINUTE = 5, 12
"""Changes between two looks at memory, and looks that are taken together: it is given back once a minute."""
SECONDS_TO_START = 300.0
PAUSE = 0.02
PAGES = (
    "/en/",
    "/en/entries/frame0/entry-0",
    "/zh/search?q=显存",
    "/api/v1/search?q=change&verbatim=1",
    "/api/v1/entries?limit=50",
    "/api/v1/suggest?q=en",
    "/readyz",
)
CHANGED = "/api/v1/entries/frame0/entry-0.md"


@dataclass
class Seen:
    """What readers saw. `first` has when each change was first seen, `lags` how long it took."""

    requests: int = 0
    failed: list[str] = field(default_factory=list)
    backwards: int = 0
    made: dict[int, float] = field(default_factory=dict)
    first: dict[int, float] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the start, and MiB."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, failure: str) -> None:
        """One request, and what was wrong with it."""
        with self.lock:
            self.requests += 1
            if failure:
                self.failed.append(failure)

    def saw(self, number: int) -> None:
        """A change was seen."""
        with self.lock:
            self.first.setdefault(number, time.monotonic())

    def lags(self) -> list[float]:
        """Seconds from the writing of a change to the first sight of it, for those that were seen."""
        return [at - self.made[number] for number, at in self.first.items() if number in self.made]


class Reader:
    """Asks again and again, on connections that are kept for a while: one connection never goes back in time."""

    def __init__(self, port: int, chance: random.Random, seen: Seen) -> None:
        self._port, self._chance, self._seen = port, chance, seen
        self._number = 0

    def read(self, stop: threading.Event) -> None:
        """Until told to stop."""
        while not stop.is_set():
            connection, self._number = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30), 0
            try:
                for _ in range(self._chance.randint(1, 20)):
                    self._ask(connection)
                    if stop.wait(PAUSE):
                        break
            except (OSError, http.client.HTTPException) as error:
                self._seen.note(f"{type(error).__name__}: {error}")
            finally:
                connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> None:
        path = CHANGED if self._chance.random() < 0.5 else self._chance.choice(PAGES)
        connection.request("GET", path.replace("显存", "%E6%98%BE%E5%AD%98"))
        answer = connection.getresponse()
        text = answer.read().decode()
        self._seen.note("" if answer.status == 200 else f"{path}: {answer.status}")
        if path == CHANGED and (found := re.search(r"change(\d+)", text)):
            number = int(found[1])
            self._seen.backwards += number < self._number
            self._number = number
            self._seen.saw(number)


@contextmanager
def serving(place: Place, port: int, workers: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server over a place that reloads what changes, as a process of its own."""
    environment = place.environment(port=str(port), workers=str(workers), reload_content="1", limits="0")
    log = place.data.with_name("server.log")
    with log.open("wb") as sink:
        process = subprocess.Popen(COMMAND, env=environment, stdout=sink, stderr=sink)
    try:
        _until_ready(process, port, place.data, workers)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def _until_ready(process: subprocess.Popen[bytes], port: int, data: Path, workers: int) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and process.poll() is None:
        if workers == 1 or len(list((data / "workers").glob("*.json"))) >= workers:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            finally:
                connection.close()
        time.sleep(0.2)
    raise TimeoutError("the server is not ready")


def memory_of(parent: int) -> float:
    """MiB of a process and its children; what they share counts once."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    total = 0
    for pid in (str(parent), *children):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
        except OSError:  # a helper that has ended meanwhile
            continue
        found = re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)
        total += int(found[1]) if found else 0
    return total / 1024


def soak(seconds: float, workers: int, readers: int, entries: int, seed: int, port: int) -> Seen:  # noqa: PLR0913, PLR0917 - what a soak is
    """Runs it; what was seen."""
    seen, stop = Seen(), threading.Event()
    with tempfile.TemporaryDirectory(prefix="jieda-soak-") as folder:
        place = Place.make(Path(folder), entries, seed)
        with serving(place, port, workers) as process:
            threads = [
                threading.Thread(target=Reader(port, random.Random(seed + each), seen).read, args=(stop,))
                for each in range(readers)
            ]
            for thread in threads:
                thread.start()
            _change(place, seen, process.pid, seconds)
            stop.set()
            for thread in threads:
                thread.join()
    return seen


def _change(place: Place, seen: Seen, pid: int, seconds: float) -> None:
    start, number = time.monotonic(), 0
    while (at := time.monotonic() - start) < seconds:
        number += 1
        seen.made[number] = time.monotonic()
        place.change(number)
        if number % LOOK_EVERY == 0:
            seen.memory.append((at, memory_of(pid)))
        time.sleep(max(0.0, start + number * PERIOD - time.monotonic()))


def report(seen: Seen) -> str:
    """The figures, a line each."""
    lags = sorted(seen.lags()) or [float("nan")]
    lines = [
        f"requests {seen.requests}, failed {len(seen.failed)}, steps backwards {seen.backwards}",
        f"changes {len(seen.made)}, seen {len(seen.first)}; seconds until first seen: median {median(lags):.2f}, "
        f"95% {lags[int(len(lags) * 0.95)]:.2f}, most {lags[-1]:.2f}",
    ]
    settled = [mib for at, mib in seen.memory if at >= SETTLED]
    if len(settled) >= 2 * A_MINUTE:
        early, late = fmean(settled[:A_MINUTE]), fmean(settled[-A_MINUTE:])
        lines.append(f"memory {early:.0f} MiB in minute 2, {late:.0f} at the end: {late / early - 1:+.1%}")
    return "\n".join([*lines, *sorted(set(seen.failed))[:20]])


def main() -> int:
    """0 where no request failed and no reader went back."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    for name, usual in (("workers", 4), ("readers", 4), ("entries", 60), ("seed", 1), ("port", 8766)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    seen = soak(given.minutes * 60, given.workers, given.readers, given.entries, given.seed, given.port)
    print(report(seen))
    return 1 if seen.failed or seen.backwards else 0


if __name__ == "__main__":
    sys.exit(main())
