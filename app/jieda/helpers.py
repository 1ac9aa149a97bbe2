"""Helper processes, to which a build or a server hands work; both succeed without them.

A thread per process hands it chunks of tasks. Chunks that a helper fails at, or has not finished when it dies or hangs,
are done by the process itself, which so meets the error, if any. (The process pool of the standard library waits
forever if a process is killed while it answers.)
"""

import gc
import logging
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from jieda.bound_process import BoundProcess

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Any], Any]

MOST = 8
"""Maximum of processes if no number is configured."""
NEEDED = 256 << 20
"""Free bytes required per process: it takes some 110 MB, and more for long entries."""
CHUNK = 16
"""Tasks per message."""
LOOK = 0.5
"""Seconds between two checks whether the build is to stop."""
PATIENCE = 300.0
"""Seconds without any finished chunk after which the processes are considered hung."""

THRESHOLDS = (5000, 10, 20)
"""Thresholds of the garbage collector: a large log makes some hundred thousand objects, freed once it is answered, and
building an entry some ten thousand, most of them freed afterwards."""

CGROUP = Path("/sys/fs/cgroup")
"""Control group (version 2) of this container."""
MEMORY = Path("/proc/meminfo")
UNKNOWN = 1 << 40


class Helpers:
    """A pool of helper processes, started once there is enough work, and ended when its `with` block is left. Not safe
    to share between threads."""

    def __init__(self, version: Callable[[], str], processes: int = 1) -> None:
        """`version`: as for `Helper`. `processes`: 1 does all work in this process; 0 uses as many as processors and
        memory allow."""
        self._version, self._processes = version, processes
        self._all: list[Helper] = []

    def __enter__(self) -> "Helpers":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_all()
        self._all = []

    def map(
        self, tasks: Iterable[Task], work: Callable[[Task], Result], worth: int, pause: Callable[[], None]
    ) -> Iterator[Result]:
        """Yield the result of `work` for each task, in any order. More than `worth` tasks are shared with other
        processes: `work`, tasks and results must be picklable.

        `pause` is called now and then. Raises what `pause` or `work` raises.
        """
        tasks = iter(tasks)
        first = list(islice(tasks, worth + 1))
        tasks = chain(first, tasks)
        if self._processes == 1 or len(first) <= worth:
            return _work_here(tasks, work, pause)
        if not self._all:
            self._start(self._processes or min(processors(), MOST, free_memory() // NEEDED))
        return self._share(tasks, work, pause)

    def _start(self, wanted: int) -> None:
        try:
            for _ in range(wanted if wanted > 1 else 0):
                self._all.append(Helper(self._version))
        except OSError as error:
            log.warning("cannot start a helper process for the build: %s", error)

    def _share(
        self, tasks: Iterator[Task], work: Callable[[Task], Result], pause: Callable[[], None]
    ) -> Iterator[Result]:
        chunks: Iterator[list[Task]] = iter(lambda: list(islice(tasks, CHUNK)), [])
        under_way: dict[Future[list[Result] | None], tuple[Helper, list[Task]]] = {}
        done: list[tuple[Helper, list[Task], list[Result] | None]] = []
        idle, seconds = self._all, 0.0
        with ThreadPoolExecutor(len(self._all) or 1) as threads:
            try:
                while True:
                    alive = (helper for helper in idle if not helper.is_lost)
                    for helper, chunk in zip(alive, chunks, strict=False):
                        under_way[threads.submit(helper.do, work, chunk)] = helper, chunk
                    for helper, chunk, made in done:
                        if helper.is_lost:
                            log.warning("a helper process of the build is gone: its work is done here")
                        yield from _work_here(chunk, work, pause) if made is None else made
                    if not under_way:
                        break
                    pause()
                    finished, _ = wait(under_way, LOOK, FIRST_COMPLETED)
                    seconds = 0.0 if finished else seconds + LOOK
                    if seconds > PATIENCE:
                        self._end_all()
                    done = [(*under_way.pop(future), future.result()) for future in finished]
                    idle = [helper for helper, _, _ in done]
            finally:
                if under_way:
                    self._end_all()
        yield from _work_here(chain.from_iterable(chunks), work, pause)

    def _end_all(self) -> None:
        for helper in self._all:
            helper.end()


class Helper:
    """A process that works on tasks; it ends with this process, however that ends."""

    def __init__(self, version: Callable[[], str], idle: float | None = None) -> None:
        """`version` identifies the code that results depend on: a process with another one does nothing. `idle`:
        seconds without a task after which it ends, if given. Raises OSError if it cannot be started."""
        self.is_lost = False
        self._work: Work | None = None
        self._line, theirs = Pipe()
        self._process = BoundProcess(partial(help_out, theirs, version, version(), idle))
        # If the program ends meanwhile, the helper is killed, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()

    def do(self, work: Work, chunk: Sequence[Any], seconds: float | None = None) -> list[Any] | None:
        """Wait for the results of a chunk and return them; None if `work` failed, or if the helper did, which is then
        lost: it is gone, or has not answered within `seconds`."""
        try:
            if self._work is not work:
                self._line.send(work)
                self._work = work
            self._line.send(chunk)
            if not self._line.poll(seconds):
                raise TimeoutError
            made: list[Any] | None = self._line.recv()
        except (EOFError, OSError):
            self.is_lost = True
            return None
        return made

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        """Kill the process. A pending `do` returns None."""
        self.is_lost = True
        self._process.kill()
        self._process.join()


def help_out(line: Connection, version: Callable[[], str], expected: str, idle: float | None) -> None:
    """Run in the helper process: work on tasks from `line` until it is closed or silent for `idle` seconds."""
    # An interrupt is meant for the process that it helps.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*THRESHOLDS)
    if version() != expected:
        return  # the sources were replaced since: other code gives other results
    work: Work = len
    with suppress(EOFError, OSError):
        while line.poll(idle):
            message = line.recv()
            if callable(message):
                work = message
                continue
            try:
                made = [work(task) for task in message]
            except Exception:  # noqa: BLE001 - whoever gave the task repeats it and meets the error
                made = None
            line.send(made)


def _work_here(
    tasks: Iterable[Task], work: Callable[[Task], Result], pause: Callable[[], None]
) -> Iterator[Result]:
    for task in tasks:
        pause()
        yield work(task)


@contextmanager
def collect_garbage_rarely() -> Iterator[None]:
    """Collect garbage less often within this block; a full build of 1,000 entries takes some 15% less time."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def processors(cgroup: Path = CGROUP) -> int:
    """Return the number of processors available to this process or its container, at least one."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read_text(cgroup / "cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        count = min(count, int(quota) // int(period))
    return max(1, count)


def free_memory(cgroup: Path = CGROUP, memory: Path = MEMORY) -> int:
    """Return the bytes of available memory; a large number if unknown."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read_text(memory), re.MULTILINE)
    free = int(found[1]) << 10 if found else UNKNOWN
    limit, used = _read_text(cgroup / "memory.max"), _read_text(cgroup / "memory.current")
    if limit.isdecimal() and used.isdecimal():
        free = min(free, max(0, int(limit) - int(used)))
    return free


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
