"""The follower of one process: watches the pointer, opens the current generation and swaps the snapshot."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from jieda.disk import set_aside
from jieda.errors import ClusterUnavailable, IndexUnreadable, JiedaError
from jieda.search.index.embedded import EmbeddedIndex
from jieda.snapshot.snapshot import SHOWN, Analyzers, Snapshot, open_snapshot
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

INTERVAL = 0.05
"""Seconds between two checks of the pointer, a small file."""
LOOK_AT_FILES = 1.0
"""Seconds between two checks of the memory-mapped files: one system call per file."""
FIRST_PATIENCE, LONGEST_PATIENCE = 0.2, 60.0
"""Seconds between two attempts to open a generation that could not be opened."""

DAMAGED = (GenerationUnreadable, IndexUnreadable, FactsUnreadable)
UNREADABLE = (*DAMAGED, OSError)

Stamps = frozenset[tuple[str, int, int, int]]
"""Name, inode, size and modification time of each file."""


class Follower:
    """Holds the current snapshot of one process."""

    def __init__(self, data: Path, analyzers: Analyzers, mend: Callable[[], None]) -> None:
        """`mend` has the current generation rebuilt if it is missing."""
        self._data = data
        self._mend = mend
        self._analyzers = analyzers
        self._facts: FactStore | None = None
        self.announcement = Announcement(data)
        self.served: Snapshot | None = None
        self._at = Pointer()
        """The pointer when the served snapshot was opened."""
        self._files: Stamps = frozenset()
        self.failure = ""
        """Why the current generation is not served, without a path; empty if it is."""
        self._swap = threading.Lock()

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before the first one was opened."""
        if self.served is None:
            raise RuntimeError("nothing has been opened yet")
        return self.served

    def catch_up(self) -> None:
        """Open the current generation unless it is served already.

        Raises one of UNREADABLE, and keeps serving the previous snapshot. A damaged generation is set aside.
        """
        with self._swap:
            pointer = read_pointer(self._data)
            if pointer == self._at and pointer.generation:
                self.failure = ""
                return
            try:
                files, snapshot = stamps(self._data, pointer.generation), self._open(pointer.generation)
            except DAMAGED as error:
                self._set_aside(pointer, error)
                raise
            self.served, self._at, self._files, self.failure = snapshot, pointer, files, ""
            self.announcement.say(pointer.generation)
        log.info("serving generation %s: %d entries", pointer.generation[:SHOWN], len(snapshot.library))

    def _open(self, name: str) -> Snapshot:
        if not name:
            raise GenerationUnreadable("there is none yet")
        # If the generation was rebuilt under the same name, the parts already open may be damaged: reuse none.
        before = self.served if name != self._at.generation else None
        return open_snapshot(Generation(self._data, name), self._data, self._store(), self._analyzers, before)

    def _set_aside(self, pointer: Pointer, error: BaseException) -> None:
        """Set a damaged generation aside, so that the next build writes it again."""
        if not pointer.generation:
            return
        log.warning("generation %s cannot be opened: %s", pointer.generation[:SHOWN], error)
        folder = generation_folder(self._data, pointer.generation)
        passing = isinstance(error, FactsUnreadable) and error.passing
        if folder.is_dir() and not passing and read_pointer(self._data) == pointer:
            with contextlib.suppress(OSError):
                set_aside(folder)

    def announce(self) -> None:
        """Start to announce to other processes which generation this one serves."""
        self.announcement.start()
        self.announcement.say(self._at.generation)

    def follow(self, stop: threading.Event) -> None:
        """Catch up whenever the pointer moves, until stopped. Run it in its own thread."""
        seen: Pointer | None = None
        patience, again = FIRST_PATIENCE, 0.0
        while not stop.wait(INTERVAL):
            pointer, at = read_pointer(self._data), time.monotonic()
            if pointer == seen and at < again:
                continue
            if pointer != seen or self.failure or self._is_changed():
                self._renew()
            patience = min(2 * patience, LONGEST_PATIENCE) if self.failure else FIRST_PATIENCE
            again = at + (patience if self.failure else LOOK_AT_FILES)
            seen = pointer

    def _renew(self) -> None:
        """Open the current generation; if that fails, have it rebuilt."""
        try:
            self.catch_up()
        except UNREADABLE:
            self.failure = "the current generation cannot be opened"
            with contextlib.suppress(JiedaError, *UNREADABLE):
                self._mend()

    def _is_changed(self) -> bool:
        """Whether files were changed since they were opened; if so, set the generation aside."""
        if stamps(self._data, self._at.generation) == self._files:
            return False
        self.reject("it was changed on disk")
        return True

    def reject(self, reason: str) -> None:
        """Set the served generation aside if it is still the current one; `follow` then has it rebuilt."""
        with self._swap:
            self._set_aside(self._at, GenerationUnreadable(reason))
            self._at = Pointer(self._at.generation)

    def _store(self) -> FactStore:
        if self._facts is None or not self._facts.is_current:
            # The previous store stays open: the served snapshot still reads from it.
            self._facts = FactStore(self._data / FILE_NAME, writable=False)
        return self._facts


def stamps(data: Path, name: str) -> Stamps:
    """Return the stamps of a generation's files, to detect later changes."""
    found = []
    with contextlib.suppress(OSError):
        for folder, _, files in os.walk(generation_folder(data, name)):
            for file in files:
                status = Path(folder, file).stat()
                found.append((file, status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(found)


LOOK_AGAIN = 2.0
"""Seconds between two checks."""


def watch_cluster(follower: Follower, stop: threading.Event) -> None:
    """Check, until stopped, that the cluster still has the served index, and have a lost one rebuilt. Run it in its
    own thread."""
    while not stop.wait(LOOK_AGAIN):
        served = follower.served
        if served and served.index.is_remote and not _is_there(served.index):
            follower.reject("the cluster has lost its index")


def _is_there(index: EmbeddedIndex) -> bool:
    """Whether the cluster has the index; assumed if it does not answer, which `Engine.failure` reports."""
    with contextlib.suppress(ClusterUnavailable):
        return index.is_there()
    return True
