"""Spreads work over processes where there is much of it; nothing depends on them.

What a helper cannot do, or has not done when it dies, is done by the builder itself, which so meets whatever is wrong
with it.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import Any, TypeVar

from app.snapshot.helper import Chunk, Helper
from app.snapshot.machine import free_memory, processors

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST = 8
"""Helpers where nobody says how many."""
NEEDED = 256 << 20
"""Bytes that are to be free for each of them: it takes some 110 MB, and more where entries are long."""
CHUNK = 16
"""Tasks that are sent at once."""
AHEAD = 2
"""Chunks that a helper has, so that it does not wait for the builder."""
LOOK = 0.5
"""Seconds until the builder looks whether it is to stop."""


def room() -> int:
    """Helpers that the machine has room for."""
    return min(processors(), MOST, free_memory() // NEEDED)


class Helpers:
    """As many processes as are wanted, started when they are worth it, and ended with the block that this is entered
    for. Not safe to share between threads."""

    def __init__(self, processes: int = 1) -> None:
        """With 1, all is done in this process; with 0, there are as many as there is `room` for."""
        self._processes = processes
        self._helpers: list[Helper] = []

    def __enter__(self) -> "Helpers":
        return self

    def __exit__(self, *_: object) -> None:
        """Ends them all, now."""
        for helper in self._helpers:
            helper.end()
        self._helpers = []

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
        if self._processes == 1 or len(first) <= worth:
            return _alone(tasks, here, pause)
        if not self._helpers and (wanted := self._processes or room()) > 1:
            self._start(wanted)
        for helper in self._helpers:
            helper.learn(there)
        return self._shared(tasks, here, pause)

    def _start(self, wanted: int) -> None:
        try:
            for _ in range(wanted):
                self._helpers.append(Helper())
        except OSError as error:
            log.warning("no process can be started to help with the build: %s", error)

    def _shared(
        self, tasks: Iterator[Task], here: Callable[[Task], Result], pause: Callable[[], None]
    ) -> Iterator[Result]:
        left: deque[Chunk] = deque()
        while chunk := list(islice(tasks, CHUNK)):
            while self._helpers and all(len(helper.chunks) >= AHEAD for helper in self._helpers):
                yield from self._taken(left, pause)
            if self._helpers:
                min(self._helpers, key=lambda helper: len(helper.chunks)).give(chunk)
            else:
                left.append(chunk)
            while left:
                yield from _alone(left.popleft(), here, pause)
        while any(helper.chunks for helper in self._helpers):
            yield from self._taken(left, pause)
        yield from _alone(chain.from_iterable(left), here, pause)

    def _taken(self, left: deque[Chunk], pause: Callable[[], None]) -> Iterator[Any]:
        """What some helpers have made; what they could not make goes to those that are `left`."""
        pause()
        busy = {helper.line: helper for helper in self._helpers if helper.chunks}
        for line in wait(list(busy), LOOK):
            chunk, made = next(helper for each, helper in busy.items() if each is line).take()
            if made is None:
                left.append(chunk)
            else:
                yield from made
        for helper in [each for each in self._helpers if each.is_lost]:
            log.warning("a process that helped to build is gone: what it had to do is done here")
            self._helpers.remove(helper)
            helper.end()
            left.extend(helper.chunks)


def _alone(
    tasks: Iterable[Task], here: Callable[[Task], Result], pause: Callable[[], None]
) -> Iterator[Result]:
    for task in tasks:
        pause()
        yield here(task)
