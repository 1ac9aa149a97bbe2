"""What every worker serves, told to the others by a small file that each keeps while it lives."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WORKERS = "workers"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that answers requests: its id, and the generation it serves."""

    pid: int
    generation: str


class Announcement:
    """This process's word on what it serves. It holds for as long as the process lives and no longer: its file is
    locked, and a lock ends with whoever holds it. Where nothing can be written nothing is announced."""

    def __init__(self, data: Path) -> None:
        self._descriptor = -1
        with contextlib.suppress(OSError):
            folder = data / WORKERS
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / f"{os.getpid()}-{time.time_ns():x}.json"
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o660)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def say(self, generation: str) -> None:
        """This generation is what this process serves from now on."""
        if self._descriptor < 0:
            return
        content = json.dumps({"pid": os.getpid(), "generation": generation}).encode()
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))

    def withdraw(self) -> None:
        """This process serves nothing any more."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1


def living_workers(data: Path) -> tuple[Worker, ...]:
    """All workers that live; what dead ones left is removed."""
    return tuple(_living(data / WORKERS))


def served_generations(data: Path) -> frozenset[str]:
    """The generations that living workers serve."""
    return frozenset(worker.generation for worker in living_workers(data))


def _living(folder: Path) -> Iterator[Worker]:
    if folder.is_symlink():
        return
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), path.open("r+b") as file:
            if _is_free(file.fileno()):
                path.unlink()
                continue
            said = json.loads(file.read())
            yield Worker(int(said["pid"]), str(said["generation"]))


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
