"""A process that ends with its parent, even while it is still importing.

The parent holds the other end of a pipe that nothing is ever written to. The system closes it when the parent ends,
however it ends, on any system with pipes. Unpickling the target imports the whole application, which takes seconds on a
busy machine: so the watch begins before that.
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
"""Time for work in progress after SIGTERM."""


class BoundProcess(SpawnProcess):
    """A spawned process that unpickles its target only after it has begun to watch its parent. The main program should
    be one that a new process does not import again, such as one of `jieda.cli.launch`."""

    def __init__(self, target: Callable[[], object]) -> None:
        super().__init__(target=target)
        self._theirs, self._ours = Pipe(duplex=False)

    def start(self) -> None:
        """Start the process, and close the parent's copy of its end of the pipe."""
        super().start()
        self._theirs.close()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the pipe first, then everything else."""
        state = {name: value for name, value in self.__dict__.items() if name not in {"_theirs", "_ours"}}
        return _start_watching, (self._theirs,), state


def _start_watching(parent: Connection) -> BoundProcess:
    """Start the watch, first of all in the new process; return the process before its state is unpickled."""
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    return BoundProcess.__new__(BoundProcess)


def _end_with_parent(parent: Connection) -> None:
    """End this process as soon as its parent is gone: by SIGTERM, and if that does not suffice, by force."""
    with contextlib.suppress(EOFError, OSError):
        parent.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
