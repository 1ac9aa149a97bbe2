"""Helper processes, which share the work of a build or a server; both can do without them.

One thread per helper sends it chunks of tasks. If a helper fails at a chunk, dies or hangs, the parent repeats the
chunk, and raises the error itself if there is one. (The standard library's process pool waits forever if a process is
killed while it answers.)
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

MAX_PROCESSES = 8
"""Maximum if no number is configured."""
BYTES_PER_PROCESS = 256 << 20
"""Free memory required per process: it takes some 110 MB, and more for long entries."""
CHUNK = 16
"""Tasks per message."""
LOOK = 0.5
"""Seconds between checks whether the build has to stop."""
PATIENCE = 300.0
"""Seconds without a finished chunk after which the processes count as hung."""

GC_THRESHOLDS = (5000, 10, 20)
"""A large log creates a hundred thousand objects, freed once it is answered; building an entry creates ten thousand,
most of them freed afterwards."""

CGROUP = Path("/sys/fs/cgroup")
"""Control group (version 2) of this container."""
MEMORY = Path("/proc/meminfo")
UNKNOWN = 1 << 40


class Helpers:
    """A pool of helper processes, started once there is enough work and ended when its `with` block is left. Not
    thread-safe."""

    def __init__(self, version: Callable[[], str], processes: int = 1) -> None:
        """`version`: as for `Helper`. With 1 process, this one does all the work; 0 uses as many as processors
        and memory allow."""
        self._version, self._processes = version, processes
        self._helpers: list[Helper] = []

    def __enter__(self) -> "Helpers":
        return self

    def __exit__(self, *_: object) -> None:
        self._end_all()
        self._helpers = []

    def map(
        self, tasks: Iterable[Task], work: Callable[[Task], Result], alone: int, pause: Callable[[], None]
    ) -> Iterator[Result]:
        """Yield the result of `work` for each task, in any order. More than `alone` tasks are shared among processes:
        `work`, tasks and results must be picklable.

        Calls `pause` now and then. Raises what `pause` or `work` raises.
        """
        tasks = iter(tasks)
        first = list(islice(tasks, alone + 1))
        tasks = chain(first, tasks)
        if self._processes == 1 or len(first) <= alone:
            return _run_here(tasks, work, pause)
        if not self._helpers:
            self._start(
                self._processes or min(processors(), MAX_PROCESSES, free_memory() // BYTES_PER_PROCESS)
            )
        return self._share(tasks, work, pause)

    def _start(self, wanted: int) -> None:
        try:
            for _ in range(wanted if wanted > 1 else 0):
                self._helpers.append(Helper(self._version))
        except OSError as error:
            log.warning("cannot start a helper process for the build: %s", error)

    def _share(
        self, tasks: Iterator[Task], work: Callable[[Task], Result], pause: Callable[[], None]
    ) -> Iterator[Result]:
        chunks: Iterator[list[Task]] = iter(lambda: list(islice(tasks, CHUNK)), [])
        pending: dict[Future[list[Result] | None], tuple[Helper, list[Task]]] = {}
        done: list[tuple[Helper, list[Task], list[Result] | None]] = []
        idle, seconds = self._helpers, 0.0
        with ThreadPoolExecutor(len(self._helpers) or 1) as threads:
            try:
                while True:
                    alive = (helper for helper in idle if not helper.is_lost)
                    for helper, chunk in zip(alive, chunks, strict=False):
                        pending[threads.submit(helper.do, work, chunk)] = helper, chunk
                    for helper, chunk, results in done:
                        if helper.is_lost:
                            log.warning("a helper process of the build is gone: its work is done here")
                        yield from _run_here(chunk, work, pause) if results is None else results
                    if not pending:
                        break
                    pause()
                    finished, _ = wait(pending, LOOK, FIRST_COMPLETED)
                    seconds = 0.0 if finished else seconds + LOOK
                    if seconds > PATIENCE:
                        self._end_all()
                    done = [(*pending.pop(future), future.result()) for future in finished]
                    idle = [helper for helper, _, _ in done]
            finally:
                if pending:
                    self._end_all()
        yield from _run_here(chain.from_iterable(chunks), work, pause)

    def _end_all(self) -> None:
        for helper in self._helpers:
            helper.end()


class Helper:
    """A process that works on tasks; it ends with this process, however that ends."""

    def __init__(self, version: Callable[[], str], idle: float | None = None) -> None:
        """`version` identifies the code that results depend on: a process with different code does nothing. Without a
        task for `idle` seconds, the process ends. Raises OSError if it cannot be started."""
        self.is_lost = False
        self._work: Work | None = None
        self._pipe, theirs = Pipe()
        self._process = BoundProcess(partial(run_helper, theirs, version, version(), idle))
        # If the program ends meanwhile, the helper is killed, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()

    def do(self, work: Work, chunk: Sequence[Any], seconds: float | None = None) -> list[Any] | None:
        """Wait for the results of a chunk and return them; None if `work` failed, or if the helper is gone or has not
        answered within `seconds`, which makes it lost."""
        try:
            if self._work is not work:
                self._pipe.send(work)
                self._work = work
            self._pipe.send(chunk)
            if not self._pipe.poll(seconds):
                raise TimeoutError
            results: list[Any] | None = self._pipe.recv()
        except (EOFError, OSError):
            self.is_lost = True
            return None
        return results

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        """Kill the process. A pending `do` returns None."""
        self.is_lost = True
        self._process.kill()
        self._process.join()


def run_helper(pipe: Connection, version: Callable[[], str], expected: str, idle: float | None) -> None:
    """Run in the helper process: work on tasks from `pipe` until it is closed or silent for `idle` seconds."""
    # An interrupt is meant for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*GC_THRESHOLDS)
    if version() != expected:
        return  # the sources were replaced meanwhile: other code gives other results
    work: Work = len
    with suppress(EOFError, OSError):
        while pipe.poll(idle):
            message = pipe.recv()
            if callable(message):
                work = message
                continue
            try:
                results = [work(task) for task in message]
            except Exception:  # noqa: BLE001 - the parent repeats the chunk and raises the error
                results = None
            pipe.send(results)


def _run_here(
    tasks: Iterable[Task], work: Callable[[Task], Result], pause: Callable[[], None]
) -> Iterator[Result]:
    for task in tasks:
        pause()
        yield work(task)


@contextmanager
def collect_garbage_rarely() -> Iterator[None]:
    """Collect garbage less often within this block; a full build of 1,000 entries takes some 15% less time."""
    before = gc.get_threshold()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def collect_and_freeze() -> None:
    """Collect garbage and move all live objects out of the collector's reach."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def processors(cgroup: Path = CGROUP) -> int:
    """Count the processors available to this process or its container, at least one."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _read_text(cgroup / "cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        count = min(count, int(quota) // int(period))
    return max(1, count)


def free_memory(cgroup: Path = CGROUP, memory: Path = MEMORY) -> int:
    """Return the bytes of available memory; a large number if unknown."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _read_text(memory), re.MULTILINE)
    free = int(match[1]) << 10 if match else UNKNOWN
    limit, used = _read_text(cgroup / "memory.max"), _read_text(cgroup / "memory.current")
    if limit.isdecimal() and used.isdecimal():
        free = min(free, max(0, int(limit) - int(used)))
    return free


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
