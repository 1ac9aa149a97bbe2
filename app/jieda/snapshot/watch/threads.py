"""Threads that a process cannot do without: one that dies of anything is told of by name, and begins again."""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds until a thread that died begins again; doubled each time."""


class Threads:
    """The threads of one owner, daemons all of them: a process that is told to end waits for none of them."""

    def __init__(self, stop: threading.Event, tell: Callable[[str], None]) -> None:
        """`tell` is called with what to say of one that died."""
        self._stop, self._tell = stop, tell
        self._threads: list[threading.Thread] = []

    def start(self, name: str, work: Callable[[], None]) -> None:
        """Has a thread do some work, again where it dies of it."""
        thread = threading.Thread(target=self._run, args=(name, work), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def join(self, seconds: float) -> None:
        """Waits so long for each of them."""
        for thread in self._threads:
            thread.join(seconds)

    def _run(self, name: str, work: Callable[[], None]) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                work()
            except BaseException as error:  # MemoryError, too: nobody else would notice
                log.critical("the thread %s died: it begins again", name, exc_info=True)
                self._tell(f"the thread {name} died of {type(error).__name__}")
            else:
                return
            if self._stop.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE)
