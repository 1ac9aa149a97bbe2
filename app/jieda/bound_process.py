"""A process that ends with its parent, even while it is still importing.

The parent holds one end of a pipe and never writes to it. When the parent ends, for whatever reason, the operating
system closes that end. Unpickling the target imports the whole application, which takes seconds on a busy machine, so
the process starts watching first.
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
"""Seconds that work in progress may take after SIGTERM."""


class BoundProcess(SpawnProcess):
    """A spawned process that watches its parent before it unpickles its target. The main program should be one that a
    new process does not import again, such as one of `jieda.cli.launch`."""

    def __init__(self, target: Callable[[], object]) -> None:
        super().__init__(target=target)
        self._child_end, self._parent_end = Pipe(duplex=False)

    def start(self) -> None:
        """Start the process, and close the parent's copy of the child's end of the pipe."""
        super().start()
        self._child_end.close()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the pipe first, then everything else."""
        state = {
            name: value for name, value in self.__dict__.items() if name not in {"_child_end", "_parent_end"}
        }
        return _start_watching, (self._child_end,), state


def _start_watching(parent: Connection) -> BoundProcess:
    """Watch the parent, as the new process's first act; return the process before its state is unpickled."""
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    return BoundProcess.__new__(BoundProcess)


def _end_with_parent(parent: Connection) -> None:
    """End this process once its parent is gone: by SIGTERM and, if that does not suffice, by force."""
    with contextlib.suppress(EOFError, OSError):
        parent.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
