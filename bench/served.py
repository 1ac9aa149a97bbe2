"""Search, pages and diagnosis over HTTP, compared with the empty endpoint of the same server in the same run.

    python -m bench.served [--content DIRECTORY] [--data DIRECTORY] [--seconds N] [--workers 1 2]

A client in another process keeps 16 connections busy with one load after the other. Results are requests per second and
CPU milliseconds of the servers per request; ratios are to the empty endpoint (`/healthz`), measured just before each
load, in CPU time, which other work on the machine affects less. The server caches no responses, except for the rows
"repeated" and "other visitors". Content other than the shipped one is searched for its titles and words from them
instead of the judged queries; `--data` keeps its index. Tables are written to `bench/results/`.
"""

import argparse
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from urllib.parse import urlencode

from jieda.evaluation.figures import read_judged

from bench.tables import markdown, record

ROOT = Path(__file__).resolve().parent.parent
CONNECTIONS = 16
LONGEST, WORD = 400, 8
"""Characters of a query, and of a word cut from a title."""
TITLES = 200
TITLE = re.compile(r"^title: '?(.*?)'?$", re.MULTILINE)
TICKS = os.sysconf("SC_CLK_TCK")
LOG = "\n".join([*(f"[rank0]: step {n} loss 0.{n}" for n in range(200)), "KeyError: 1 node2pg", ""])


@dataclass(frozen=True, slots=True)
class Load:
    """Requests to send repeatedly, in order."""

    name: str
    requests: tuple[bytes, ...]
    keeps_answers: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """Results of one load: `rate` in requests per second, times in milliseconds; `cpu` of the server."""

    rate: float
    cpu: float
    middle: float
    slowest: float
    """95th percentile."""


def get(path: str, headers: str = "", **parameters: str) -> bytes:
    """Return a GET request; each of `headers` ends its line."""
    query = f"?{urlencode(parameters)}" if parameters else ""
    return f"GET {path}{query} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


def post(path: str, body: str) -> bytes:
    """Return a POST request with a text."""
    raw = body.encode()
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw


SHORT = (
    "node2pg",
    "vllm",
    "checkpoint",
    "oom",
    "loss nan",
    "显存",
    "续训",
    "卡住",
    "权重同步",
    "NCCL timeout",
)


def queries(content: Path) -> tuple[list[str], Sequence[str]]:
    """Return long and short queries: judged ones and some words, or for other content its titles and words of them."""
    if content.samefile(ROOT / "content"):
        judged = read_judged(ROOT / "tests/judged.jsonl")
        return [one.query for one in judged if len(one.query) < LONGEST], SHORT
    pages = [page for lang in ("en", "zh") for page in sorted((content / lang).glob("*/*.md"))]
    read = (TITLE.search(page.read_text(encoding="utf-8")) for page in pages[:: len(pages) // TITLES + 1])
    titles = [found[1] for found in read if found]
    return titles, [title.split()[0][:WORD] for title in titles]


EMPTY = Load("empty endpoint", (get("/healthz"),))


def loads(content: Path) -> list[Load]:
    """Return the loads to measure."""
    entry = next((content / "en").glob("*/*.md")).relative_to(content / "en").with_suffix("").as_posix()
    judged, short = queries(content)
    # More visitors than cached responses, so that no response is repeated as it was.
    strangers = [f"Cookie: visitor={number}\r\nAccept-Encoding: gzip\r\n" for number in range(5000)]
    search = "/api/v1/search"
    return [
        EMPTY,
        Load("search, judged queries", tuple(get(search, q=text) for text in judged)),
        Load("search, short queries", tuple(get(search, q=text) for text in short)),
        Load("search, nothing found", tuple(get(search, q=f"zqx{n}vw") for n in range(200))),
        Load("search, repeated", tuple(get(search, q=text) for text in judged[:50]), keeps_answers=True),
        Load("search page", tuple(get("/en/search", q=text) for text in judged)),
        Load("entry page", (get(f"/en/entries/{entry}"), get(f"/zh/entries/{entry}"))),
        Load("entry page, compressed", (get(f"/en/entries/{entry}", strangers[0]),)),
        Load(
            "entry page, other visitors", tuple(get(f"/en/entries/{entry}", each) for each in strangers), True
        ),
        Load("completion", tuple(get("/api/v1/suggest", q=text[:5]) for text in judged)),
        Load("diagnosis, 4 KB", (post("/api/v1/diagnose", LOG),)),
    ]


class Connection:
    """A connection with one pending request at a time."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self._received = b""
        self._end = 0
        self.sent_at = 0.0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self._received, self._end, self.sent_at = b"", 0, time.perf_counter()
        self.socket.sendall(request)

    def is_answered(self) -> bool:
        """Read the available bytes; return whether the response is complete."""
        self._received += self.socket.recv(1 << 18)
        if not self._end:
            head, found, _ = self._received.partition(b"\r\n\r\n")
            if not found:
                return False
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self._end = len(head) + 4 + int(length.partition(b":")[2])
        return len(self._received) >= self._end


def ask_for(
    port: int,
    requests: Sequence[bytes],
    least: int,
    seconds: float,
    times: "multiprocessing.Queue[list[float]]",
) -> None:
    """Keep connections busy for some seconds and at least `least` requests; report the time of each response and, last,
    the total."""
    following, taken = cycle(requests), list[float]()
    with DefaultSelector() as selector:
        for _ in range(CONNECTIONS):
            connection = Connection(port)
            selector.register(connection.socket, EVENT_READ, connection)
            connection.ask(next(following))
        start = time.perf_counter()
        while time.perf_counter() - start < seconds or len(taken) < least:
            for key, _ in selector.select(1.0):
                connection = key.data
                if connection.is_answered():
                    taken.append(time.perf_counter() - connection.sent_at)
                    connection.ask(next(following))
        lasted = time.perf_counter() - start
        # Pending requests would be processed, and counted as waiting, during the next load.
        while selector.get_map():
            for key, _ in selector.select(1.0):
                if key.data.is_answered():
                    selector.unregister(key.fileobj)
    times.put([*taken, lasted])


def measure(port: int, process: int, load: Load, seconds: float) -> Figures:
    """Return the figures of one load, after every request has been answered at least once."""
    context = multiprocessing.get_context("spawn")
    for least, duration in ((len(load.requests) + CONNECTIONS, 0.5), (1, seconds)):
        times: multiprocessing.Queue[list[float]] = context.Queue()
        client = context.Process(target=ask_for, args=(port, load.requests, least, duration, times))
        before = processor_time(process)
        client.start()
        *taken, lasted = times.get()
        client.join()
        used = processor_time(process) - before
    taken.sort()
    middle, slowest = statistics.median(taken), taken[int(0.95 * len(taken))]
    return Figures(len(taken) / lasted, 1000 * used / len(taken), 1000 * middle, 1000 * slowest)


def processor_time(process: int) -> float:
    """Return CPU seconds of a process and its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(map(processor_time, map(int, children)))


@contextmanager
def serving(data: Path, content: Path, workers: int, cache: int) -> Iterator[tuple[int, int]]:
    """Run a server and yield its port and process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "DATA": data,
        "CONTENT": content,
        "PORT": port,
        "WORKERS": workers,
        "CACHE": cache,
        "LIMITS": 0,
    }
    environ = os.environ | {f"JIEDA_{name}": str(value) for name, value in settings.items()}
    with (data / "server.log").open("ab") as log:
        command = [sys.executable, "-c", "from jieda.cli.launch import main; main()", "serve"]
        process = subprocess.Popen(command, env=environ, cwd=ROOT, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 900
        while not is_ready(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError((data / "server.log").read_text(encoding="utf-8"))
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(30)


def is_ready(port: int) -> bool:
    """Return whether a server responds."""
    try:
        connection = Connection(port)
        connection.ask(get("/readyz"))
        while not connection.is_answered():
            continue
    except (OSError, RuntimeError):
        return False
    connection.socket.close()
    return True


COLUMNS = (
    "request",
    "requests/s",
    "p50, ms",
    "p95, ms",
    "processor, ms",
    "empty endpoint, processor ms",
    "of the empty endpoint",
)


def measure_all(data: Path, content: Path, workers: int, seconds: float) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a table."""
    for keeps in (False, True):
        with serving(data, content, workers, 16 if keeps else 0) as (port, process):
            for load in loads(content):
                if load.keeps_answers != keeps:
                    continue
                empty = measure(port, process, EMPTY, seconds / 2)
                found = measure(port, process, load, seconds)
                yield (
                    load.name,
                    f"{found.rate:.0f}",
                    f"{found.middle:.2f}",
                    f"{found.slowest:.2f}",
                    f"{found.cpu:.3f}",
                    f"{empty.cpu:.3f}",
                    f"{empty.cpu / found.cpu:.2f}",
                )


def main() -> None:
    """Print and write a table for each number of workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--content", type=Path, default=ROOT / "content")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for workers in given.workers:
            rows = [*measure_all(given.data or Path(folder), given.content, workers, given.seconds)]
            print(f"{workers} worker(s)\n\n{markdown(COLUMNS, rows)}\n", flush=True)
            record(f"served-{workers}", COLUMNS, rows)


if __name__ == "__main__":
    main()
