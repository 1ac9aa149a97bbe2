"""A process that helps the builder: it is given tasks and hands back what it made of them. Both ends of it.

It writes nothing, and ends with the builder's process, however that ends.
"""

import contextlib
import os
import pickle
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from app.bound_process import BoundProcess
from app.snapshot.garbage import rarely_searched
from app.snapshot.versions import code_version

Chunk = Sequence[Any]
Work = Callable[[Any], Any]
"""What is done with each task of a chunk."""

PATIENCE = 300.0
"""Seconds that a chunk may take; a process that takes longer hangs."""


class Helper:
    """The builder's end. `chunks` are what the process has to do, in its order."""

    def __init__(self) -> None:
        """Raises OSError where no process can be started."""
        self.line, theirs = Pipe()
        self.chunks: deque[Chunk] = deque()
        self._since = 0.0
        self._lost = False
        self._process = BoundProcess(partial(help_out, theirs, code_version()))
        # Where the program ends in the middle of a build, it is ended, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()
        self._messages: queue.SimpleQueue[object] = queue.SimpleQueue()
        # In a thread: a process that hangs does not listen, and the builder must not hang with it.
        self._sender = threading.Thread(target=self._send, daemon=True)
        self._sender.start()

    @property
    def is_lost(self) -> bool:
        """Whether nothing comes from it any more."""
        return self._lost or bool(self.chunks and time.monotonic() - self._since > PATIENCE)

    def learn(self, work: Work) -> None:
        """What it is to do with the tasks that are given to it from now on."""
        self._messages.put(work)

    def give(self, chunk: Chunk) -> None:
        """More to do."""
        if not self.chunks:
            self._since = time.monotonic()
        self.chunks.append(chunk)
        self._messages.put(list(chunk))

    def take(self) -> tuple[Chunk, Sequence[Any] | None]:
        """The first of its chunks and what it made of that, waited for: None where it could not."""
        try:
            made = self.line.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._lost = True
            return (), None
        self._since = time.monotonic()
        return self.chunks.popleft(), made

    def end(self) -> None:
        """Ends the process, now."""
        self._process.kill()
        self._process.join()
        self._messages.put(None)
        self._sender.join()
        self.line.close()

    def _send(self) -> None:
        try:
            while (message := self._messages.get()) is not None:
                self.line.send(message)
        except OSError:
            self._lost = True


def help_out(line: Connection, version: str) -> None:
    """The other end: does what comes on `line` until that is closed. `version` is that of the builder's code."""
    # Who interrupts a program means the builder.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # In a thread: the builder must never wait for this process to listen, which may wait for the builder to do so.
    threading.Thread(target=_receive, args=(line, messages), daemon=True).start()
    if version != code_version():
        return  # the sources were replaced since the builder read them: other code makes other facts
    work: Work = len
    with rarely_searched():
        while True:
            message = pickle.loads(messages.get())  # noqa: S301 - from the builder, over a pipe that nobody else has
            if callable(message):
                work = message
            else:
                line.send(_done(work, message))


def _receive(line: Connection, messages: "queue.SimpleQueue[bytes]") -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            messages.put(line.recv_bytes())
    os._exit(0)


def _done(work: Work, tasks: Chunk) -> list[Any] | None:
    try:
        return [work(task) for task in tasks]
    except Exception:  # noqa: BLE001 - the builder does it again, and meets whatever it is
        return None
