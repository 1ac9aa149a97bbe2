"""A process that ends with the one that started it, from its first moment on: also while it still imports.

The parent holds the other end of a pipe that nothing is ever written to. The system closes it when the parent is gone,
however it went, on any system that has pipes. What runs in the process comes with it and is made of the whole
application, whose imports take seconds on a busy machine: so the watch begins before any of that is read.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

SECONDS_TO_END = 9.0
"""For what is under way when a process is told to end."""


class BoundProcess(SpawnProcess):
    """A process as the standard library has it. Whatever is given to it is read after the watch over the parent began;
    the program that is run should be one that a new process does not import again, such as one of
    `jieda.cli.launch`."""

    def __init__(self, target: Callable[[], object]) -> None:
        super().__init__(target=target)
        self._theirs, self._ours = Pipe(duplex=False)

    def start(self) -> None:
        """Start it, and leave it its end of the pipe."""
        super().start()
        self._theirs.close()

    def __reduce__(self) -> tuple[object, ...]:
        """As it is sent: the pipe first, then everything else."""
        state = {name: value for name, value in self.__dict__.items() if name not in {"_theirs", "_ours"}}
        return _watched, (self._theirs,), state


def _watched(parent: Connection) -> BoundProcess:
    """In the new process, and the first thing done there: the process before anything of its own is known."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return BoundProcess.__new__(BoundProcess)


def _end_with(parent: Connection) -> None:
    """End this process as soon as its parent is gone, as if it had been told to; at last without asking."""
    with contextlib.suppress(EOFError, OSError):
        parent.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
