"""One builder at a time, over all processes that share a data directory."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.disk import make_room

LOCK = "build.lock"
LOOK_AGAIN = 0.05
"""Seconds between two tries for a lock that another process holds."""


@contextmanager
def building_alone(data: Path, pause: Callable[[], None]) -> Iterator[None]:
    """Holds the lock of a data directory; the system releases it when the process ends, however it ends.

    While another process holds it, `pause` is called now and then; what it raises ends the waiting. Raises
    OSError where the lock cannot be had at all.
    """
    path = data / LOCK
    make_room(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o660)
    try:
        while not _taken(descriptor):
            pause()
            time.sleep(LOOK_AGAIN)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
