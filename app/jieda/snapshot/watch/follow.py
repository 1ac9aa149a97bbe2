"""The follower of a process watches the pointer, opens the current generation and swaps the snapshot."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from jieda.disk import set_aside
from jieda.errors import ClusterUnavailable, IndexUnreadable, JiedaError
from jieda.snapshot.snapshot import SHORT_NAME, Analyzers, Snapshot, open_snapshot
from jieda.snapshot.store.facts import FILE_NAME, FactStore, FactsUnreadable
from jieda.snapshot.store.generation import (
    Generation,
    GenerationUnreadable,
    Pointer,
    generation_folder,
    read_pointer,
)
from jieda.snapshot.store.processes import Announcement

log = logging.getLogger(__name__)

POINTER_INTERVAL = 0.05
"""Seconds between two checks of the pointer, a small file."""
FILES_INTERVAL = 1.0
"""Seconds between two checks of the memory-mapped files, with a system call per file."""
FIRST_RETRY, LONGEST_RETRY = 0.2, 60.0
"""Seconds between two attempts to open a generation, doubled each time."""

DAMAGED = (GenerationUnreadable, IndexUnreadable, FactsUnreadable)
UNREADABLE = (*DAMAGED, OSError)

Stamps = frozenset[tuple[str, int, int, int]]
"""Name, inode, size and modification time of each file."""


class Follower:
    """Holds the current snapshot of one process."""

    def __init__(self, data: Path, analyzers: Analyzers, repair: Callable[[], None]) -> None:
        """`repair` has the current generation rebuilt if it is missing."""
        self._data = data
        self._repair = repair
        self._analyzers = analyzers
        self._facts: FactStore | None = None
        self.announcement = Announcement(data)
        self.served: Snapshot | None = None
        self._pointer = Pointer()
        """The pointer when the served snapshot was opened."""
        self._files: Stamps = frozenset()
        self.failure = ""
        """Why the current generation is not served, without a path; empty if it is."""
        self._lock = threading.Lock()

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before the first one has been opened."""
        if self.served is None:
            raise RuntimeError("nothing has been opened yet")
        return self.served

    def catch_up(self) -> None:
        """Open the current generation unless it is already served.

        Raises one of UNREADABLE and keeps serving the previous snapshot. A damaged generation is set aside.
        """
        with self._lock:
            pointer = read_pointer(self._data)
            if pointer == self._pointer and pointer.generation:
                self.failure = ""
                return
            try:
                files, snapshot = stamps(self._data, pointer.generation), self._open(pointer.generation)
            except DAMAGED as error:
                self._set_aside(pointer, error)
                raise
            self.served, self._pointer, self._files, self.failure = snapshot, pointer, files, ""
            self.announcement.update(pointer.generation)
        log.info("serving generation %s: %d entries", pointer.generation[:SHORT_NAME], len(snapshot.library))

    def _open(self, name: str) -> Snapshot:
        if not name:
            raise GenerationUnreadable("there is none yet")
        # If the generation was rebuilt under the same name, the open parts may be damaged: reuse none.
        before = self.served if name != self._pointer.generation else None
        return open_snapshot(Generation(self._data, name), self._data, self._store(), self._analyzers, before)

    def _set_aside(self, pointer: Pointer, error: BaseException) -> None:
        """Set a damaged generation aside, so that the next build rewrites it."""
        if not pointer.generation:
            return
        log.warning("generation %s cannot be opened: %s", pointer.generation[:SHORT_NAME], error)
        folder = generation_folder(self._data, pointer.generation)
        transient = isinstance(error, FactsUnreadable) and error.transient
        if folder.is_dir() and not transient and read_pointer(self._data) == pointer:
            with contextlib.suppress(OSError):
                set_aside(folder)

    def announce(self) -> None:
        """Start to tell other processes which generation this one serves."""
        self.announcement.start()
        self.announcement.update(self._pointer.generation)

    def follow(self, stop: threading.Event) -> None:
        """Catch up whenever the pointer moves, until stopped. Run it in its own thread."""
        last: Pointer | None = None
        retry, next_check = FIRST_RETRY, 0.0
        while not stop.wait(POINTER_INTERVAL):
            pointer, now = read_pointer(self._data), time.monotonic()
            if pointer == last and now < next_check:
                continue
            if pointer != last or self.failure or self._is_changed():
                self._reopen()
            retry = min(2 * retry, LONGEST_RETRY) if self.failure else FIRST_RETRY
            next_check = now + (retry if self.failure else FILES_INTERVAL)
            last = pointer

    def _reopen(self) -> None:
        """Open the current generation; if that fails, have it rebuilt."""
        try:
            self.catch_up()
        except UNREADABLE:
            self.failure = "the current generation cannot be opened"
            with contextlib.suppress(JiedaError, *UNREADABLE):
                self._repair()

    def _is_changed(self) -> bool:
        """Whether files have changed since they were opened; if so, set the generation aside."""
        if stamps(self._data, self._pointer.generation) == self._files:
            return False
        self.reject("it was changed on disk")
        return True

    def reject(self, reason: str) -> None:
        """Set the served generation aside if it is still current; `follow` then has it rebuilt."""
        with self._lock:
            self._set_aside(self._pointer, GenerationUnreadable(reason))
            self._pointer = Pointer(self._pointer.generation)

    def _store(self) -> FactStore:
        if self._facts is None or not self._facts.is_current:
            # The previous store stays open for the served snapshot.
            self._facts = FactStore(self._data / FILE_NAME, writable=False)
        return self._facts


def stamps(data: Path, name: str) -> Stamps:
    """Return the stamps of a generation's files, by which later changes are detected."""
    result = []
    with contextlib.suppress(OSError):
        for folder, _, files in os.walk(generation_folder(data, name)):
            for file in files:
                status = Path(folder, file).stat()
                result.append((file, status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(result)


CLUSTER_INTERVAL = 2.0
"""Seconds between two checks of the cluster."""


def watch_cluster(follower: Follower, stop: threading.Event) -> None:
    """Check until stopped that the cluster still has the served index, and have a lost one rebuilt. Run it in its own
    thread."""
    while not stop.wait(CLUSTER_INTERVAL):
        with contextlib.suppress(ClusterUnavailable):  # which `Engine.failure` reports
            if follower.served and not follower.served.index.is_there():
                follower.reject("the cluster has lost its index")
