"""How the costs of content grow with its size: build, edit, start, check, reload and memory.

    python -m bench.growth [ENTRIES...]

By default 42, 1,000 and 10,000 generated entries in two languages. CPU seconds include helper processes, as many as
JIEDA_BUILD_PROCESSES says (by default none); seconds until an edit is searchable are wall time with WORKERS workers
under a trickle of requests. The table is written to `bench/results/`, with a plot of the CPU times in `growth.svg`.
"""

import http.client
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx

from bench.content import Maker
from bench.plots import plot_growth
from bench.tables import markdown, record

SIZES = (42, 1_000, 10_000)
WORKERS = 4
PORT = 8765
SETTLED = 2.5
"""Seconds after which modification times are trusted: newer files are read again."""
READY_WITHIN = 3600.0
TRIES = 40
"""Requests per round, each on a new connection, enough to reach all 4 workers."""

PROBE = """
import json, os, resource, sys, time
from pathlib import Path
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.build.builder import Builder
content, data, edited = map(Path, sys.argv[1:])
def used():
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)
def spent(what):
    start = used(); what(); return used() - start
processes = int(os.environ.get("JIEDA_BUILD_PROCESSES", "1"))
builder = Builder([content], data, Analyzers(), processes=processes)
started = time.monotonic()
took = {"build from nothing": spent(builder.build)}
took["build from nothing, s"] = time.monotonic() - started
time.sleep(2.5)
took["look again"] = spent(builder.build)
took["nothing changed"] = spent(builder.build)
text = edited.read_text()
edited.write_text(text + "\\nMore of it.\\n")
took["one edit"] = spent(builder.build)
cold = Builder([content], data, Analyzers())
took["nothing changed, cold"] = spent(cold.build)
edited.write_text(text + "\\nStill more of it.\\n")
cold = Builder([content], data, Analyzers())
took["one edit, cold"] = spent(cold.build)
print(json.dumps(took))
"""

OPEN = """
import json, os, random, statistics, time
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
knowledge = Knowledge(Settings.load(os.environ), follow_only=True)
knowledge.open()
took = {"start, generation present, CPU s": time.process_time()}
library, searcher = knowledge.snapshot.library, knowledge.snapshot.searcher
chosen = random.Random(42).choices(library.ids, k=200)
titles = [edition.title for each in chosen for edition in library.summary(each).editions.values()]
def asked():
    for title in titles:
        start = time.process_time(); searcher.search(SearchRequest(" ".join(title.split()[:3])))
        yield 1000 * (time.process_time() - start)
took["search, hits seen for the first time, CPU ms at p50"] = statistics.median(asked())
took["search, asked again after all others, CPU ms at p50"] = statistics.median(asked())
print(json.dumps(took))
"""


def main(sizes: tuple[int, ...]) -> None:
    """Measure each size, print and write a table."""
    results: dict[int, dict[str, float]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="jieda-growth-") as folder:
            results[size] = measure(size, Path(folder))
            print(json.dumps({size: results[size]}), file=sys.stderr)
    names = dict.fromkeys(name for figures in results.values() for name in figures)
    columns = ("entries", *(f"{size:,}" for size in results))
    rows = [
        (name, *(f"{figures[name]:.2f}" if name in figures else "" for figures in results.values()))
        for name in names
    ]
    print(markdown(columns, rows))
    record("growth", columns, rows)
    drawn = {
        name: {size: figures.get(name, 0.0) for size, figures in results.items()}
        for name in names
        if name.endswith("CPU s")
    }
    plot_growth("growth.svg", "processor time, s", drawn)


def measure(size: int, folder: Path) -> dict[str, float]:
    """Return all figures of one size."""
    content, data = folder / "content", folder / "data"
    Maker(size).write(content)
    time.sleep(SETTLED)
    environment = {
        **os.environ,
        "JIEDA_CONTENT": str(content),
        "JIEDA_DATA": str(data),
        "JIEDA_PORT": str(PORT),
        "JIEDA_WORKERS": str(WORKERS),
        "JIEDA_RELOAD_CONTENT": "1",
        "JIEDA_RELOAD_TOKEN": "bench",
        "JIEDA_SEMANTIC": "0",
    }
    edited = content / "en/frame0/entry-0.md"
    figures = {
        "check, CPU s": _cpu_of([sys.executable, "-m", "jieda.cli.main", "check", "--content", str(content)])
    }
    took = _json_of([sys.executable, "-c", PROBE, str(content), str(data), str(edited)], environment)
    figures |= {name if name.endswith(", s") else f"{name}, CPU s": value for name, value in took.items()}
    figures["build from nothing, CPU ms per entry"] = 1000 * took["build from nothing"] / size
    figures |= _json_of([sys.executable, "-c", OPEN], environment)
    return figures | serve(environment, edited)


def _cpu_of(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _json_of(command: list[str], environment: Mapping[str, str]) -> dict[str, float]:
    run = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return figures


def serve(environment: Mapping[str, str], edited: Path) -> dict[str, float]:
    """Return the figures of a server with several workers."""
    command = [sys.executable, "-m", "jieda.cli.main", "serve"]
    server = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(lambda: len(_generations()) == 1)
        figures: dict[str, float] = {}
        for way in ("by watching", "by POST /reload"):
            word = f"zebrafish{way[-5:-1].strip().lower()}x{len(figures)}"
            edited.write_text(edited.read_text() + f"\n{word}\n")
            started = time.monotonic()
            if way == "by POST /reload":
                headers = {"Authorization": "Bearer bench"}
                httpx.post(_url("/api/v1/reload"), headers=headers, timeout=600, trust_env=False)
            _wait(lambda word=word: all(_found(word) for _ in range(TRIES)))  # type: ignore[misc] # bound now
            figures[f"edit to searchable in all workers {way}, s"] = time.monotonic() - started
        figures["PSS of a worker, MiB"] = _memory(server.pid)
        return figures
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def _url(path: str) -> str:
    return f"http://127.0.0.1:{PORT}{path}"


def _found(word: str) -> bool:
    # A new connection, so that any worker may respond.
    return bool(_get(f"/api/v1/search?q={word}&verbatim=1")["total"])


def _get(path: str) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    try:
        connection.request("GET", path)
        answer: dict[str, object] = json.load(connection.getresponse())
    finally:
        connection.close()
    return answer


def _generations() -> set[str]:
    try:
        return {str(_get("/readyz").get("generation", "")) for _ in range(TRIES)}
    except OSError:
        return set()


def _wait(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen")
        time.sleep(0.02)


def _memory(parent: int) -> float:
    """Return the largest proportional set size of a worker, in MiB."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    sizes = []
    for child in children:
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        rollup = Path(f"/proc/{child}/smaps_rollup").read_text()
        if b"spawn_main" in command and (found := re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)):
            sizes.append(int(found[1]) / 1024)
    return max(sizes, default=0.0)


if __name__ == "__main__":
    main(tuple(int(size) for size in sys.argv[1:]) or SIZES)
