"""Spreads work over processes where there is much of it; nothing depends on them.

Each process has a thread here that gives it chunks of tasks. What it cannot do, or has not done when it dies or hangs,
the builder does itself, which so meets whatever is wrong with it. (The pool of processes of the standard library waits
for ever where one is killed while it answers.)
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
from queue import SimpleQueue
from typing import Any, TypeVar

from jieda.bound_process import BoundProcess
from jieda.snapshot.store.facts import code_version

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Any], Any]

MOST = 8
"""Processes where nobody says how many."""
NEEDED = 256 << 20
"""Bytes that are to be free for each of them: it takes some 110 MB, and more where entries are long."""
CHUNK = 16
"""Tasks that are sent at once."""
LOOK = 0.5
"""Seconds until the builder looks whether it is to stop."""
PATIENCE = 300.0
"""Seconds in which some chunk has to be done; processes that take longer hang."""

THRESHOLDS = (5000, 10, 20)
"""New objects until the youngest are searched, and how often before their elders are: a large log makes some hundred
thousand objects, which are gone when it is answered, and an entry that is built some ten thousand, which mostly are."""

CGROUP = Path("/sys/fs/cgroup")
"""Of this container, as Linux shows it (version 2)."""
MEMORY = Path("/proc/meminfo")
UNKNOWN = 1 << 40


class Helpers:
    """As many processes as are wanted, started when they are worth it, and ended with the block that this is entered
    for. Not safe to share between threads."""

    def __init__(self, processes: int = 1) -> None:
        """With 1, all is done in this process; with 0, there are as many as there is room for."""
        self._processes = processes
        self._all: list[Helper] = []
        self._idle: SimpleQueue[Helper] = SimpleQueue()

    def __enter__(self) -> "Helpers":
        return self

    def __exit__(self, *_: object) -> None:
        for helper in self._all:
            helper.end()
        self._all, self._idle = [], SimpleQueue()

    def map(
        self,
        tasks: Iterable[Task],
        here: Callable[[Task], Result],
        there: Callable[[Task], Result],
        worth: int,
        pause: Callable[[], None],
    ) -> Iterator[Result]:
        """What `here` makes of each task, in any order. `there` makes the same in another process, which is done with
        more tasks than are `worth` it; it can be pickled, as can tasks and results.

        `pause` is called now and then; what it or `here` raises ends this.
        """
        tasks = iter(tasks)
        first = list(islice(tasks, worth + 1))
        tasks = chain(first, tasks)
        if self._processes != 1 and len(first) > worth and not self._all:
            self._start(self._processes or min(processors(), MOST, free_memory() // NEEDED))
        if self._processes == 1 or len(first) <= worth:
            return _alone(tasks, here, pause)
        return self._shared(tasks, here, there, pause)

    def _start(self, wanted: int) -> None:
        try:
            for _ in range(wanted if wanted > 1 else 0):
                self._all.append(Helper())
                self._idle.put(self._all[-1])
        except OSError as error:
            log.warning("no process can be started to help with the build: %s", error)

    def _shared(
        self,
        tasks: Iterator[Task],
        here: Callable[[Task], Result],
        there: Callable[[Task], Result],
        pause: Callable[[], None],
    ) -> Iterator[Result]:
        chunks: Iterator[list[Task]] = iter(lambda: list(islice(tasks, CHUNK)), [])
        under_way: dict[Future[list[Result] | None], list[Task]] = {}
        seconds = 0.0
        with ThreadPoolExecutor(len(self._all) or 1) as threads:
            try:
                while self._alive:
                    # One more than there are processes, so that none waits for the builder.
                    for chunk in islice(chunks, len(self._alive) + 1 - len(under_way)):
                        under_way[threads.submit(self._done, there, chunk)] = chunk
                    if not under_way:
                        return
                    pause()
                    done, _ = wait(under_way, LOOK, FIRST_COMPLETED)
                    seconds = 0.0 if done else seconds + LOOK
                    if seconds > PATIENCE:
                        self._lose(self._alive)
                    for future in done:
                        made = future.result()
                        chunk = under_way.pop(future)
                        yield from _alone(chunk, here, pause) if made is None else made
            finally:
                if under_way:
                    self._lose(self._alive)
        for future, chunk in under_way.items():
            made = future.result()
            yield from _alone(chunk, here, pause) if made is None else made
        yield from _alone(chain.from_iterable(chunks), here, pause)

    @property
    def _alive(self) -> "list[Helper]":
        return [helper for helper in self._all if not helper.is_lost]

    def _done(self, there: Work, chunk: Sequence[Any]) -> list[Any] | None:
        """What some process makes of a chunk; None where it could not. In a thread."""
        helper = self._idle.get()
        made = helper.do(there, chunk)
        # Also one that is gone: whoever gets it next is told at once.
        self._idle.put(helper)
        return made

    def _lose(self, helpers: "Sequence[Helper]") -> None:
        for helper in helpers:
            helper.end()


class Helper:
    """A process that is given tasks; it writes nothing, and ends with the builder's process, however that ends."""

    def __init__(self) -> None:
        """Raises OSError where no process can be started."""
        self.is_lost = False
        self._work: Work | None = None
        self._line, theirs = Pipe()
        self._process = BoundProcess(partial(help_out, theirs, code_version()))
        # Where the program ends in the middle of a build, it is ended, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()

    def do(self, work: Work, chunk: Sequence[Any]) -> list[Any] | None:
        """What it makes of a chunk, waited for; None where it could not, whatever the reason."""
        if self.is_lost:
            return None
        try:
            if self._work is not work:
                self._line.send(work)
                self._work = work
            self._line.send(chunk)
            made: list[Any] | None = self._line.recv()
        except (EOFError, OSError):
            log.warning("a process that helped to build is gone: what it had to do is done here")
            self.is_lost = True
            return None
        return made

    def end(self) -> None:
        """Ends the process, now. Whoever waits for it is told."""
        self.is_lost = True
        self._process.kill()
        self._process.join()


def help_out(line: Connection, version: str) -> None:
    """The other end: does what comes on `line` until that is closed. `version` is that of the builder's code."""
    # Who interrupts a program means the builder.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*THRESHOLDS)
    if version != code_version():
        return  # the sources were replaced since the builder read them: other code makes other facts
    work: Work = len
    with suppress(EOFError, OSError):
        while True:
            message = line.recv()
            if callable(message):
                work = message
                continue
            try:
                made = [work(task) for task in message]
            except Exception:  # noqa: BLE001 - the builder does it again, and meets whatever it is
                made = None
            line.send(made)


def _alone(
    tasks: Iterable[Task], here: Callable[[Task], Result], pause: Callable[[], None]
) -> Iterator[Result]:
    for task in tasks:
        pause()
        yield here(task)


@contextmanager
def rarely_searched() -> Iterator[None]:
    """Searches seldom while this lasts; a build from nothing of 1,000 entries takes some 15% less time."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def processors(cgroup: Path = CGROUP) -> int:
    """How many this process may keep busy, at least one; also in a container that is given less than there is."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _text(cgroup / "cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        count = min(count, int(quota) // int(period))
    return max(1, count)


def free_memory(cgroup: Path = CGROUP, memory: Path = MEMORY) -> int:
    """Bytes that are to be had; a large number where nothing says so."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text(memory), re.MULTILINE)
    free = int(found[1]) << 10 if found else UNKNOWN
    limit, used = _text(cgroup / "memory.max"), _text(cgroup / "memory.current")
    if limit.isdecimal() and used.isdecimal():
        free = min(free, max(0, int(limit) - int(used)))
    return free


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
