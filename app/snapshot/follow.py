"""What one process serves: it follows the pointer, opens the generation and swaps one name."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.errors import ClusterUnavailable, IndexUnreadable, JiedaError
from app.snapshot.analyzers import Analyzers
from app.snapshot.facts import FILE_NAME, FactStore, FactsUnreadable
from app.snapshot.generation import (
    CURRENT,
    ENTRIES,
    INDEX,
    GenerationUnreadable,
    Pointer,
    current_name,
    generation_folder,
    read_generation,
    read_pointer,
)
from app.snapshot.health import BuilderStatus, Health, read_status
from app.snapshot.questions import Questions
from app.snapshot.records import RecordUnreadable
from app.snapshot.snapshot import SHOWN, Opened, Snapshot, open_snapshot
from app.snapshot.workers import Announcement

log = logging.getLogger(__name__)

INTERVAL = 0.05
"""Seconds between two looks at the pointer: one system call each."""
LOOK_AT_FILES = 1.0
"""Seconds between two looks at the files that are mapped into memory: one system call for each of them."""
FIRST_PATIENCE, LONGEST_PATIENCE = 0.2, 60.0
"""Seconds between two tries to open a generation that could not be opened."""

CHANGED, WRONG = "was changed on disk", "does not answer as it should"
"""What may speak against what is served."""

UNREADABLE = (GenerationUnreadable, IndexUnreadable, FactsUnreadable, RecordUnreadable, OSError)

Stamps = frozenset[tuple[str, int, int, int]]
"""Name, inode, size and time of files."""

Mend = Callable[[str], None]
"""Called with the name of a generation that cannot be opened."""


class Follower:
    """Holds the current snapshot of one process."""

    def __init__(self, data: Path, analyzers: Analyzers, mend: Mend) -> None:
        self._data = data
        self._mend = mend
        self._analyzers = analyzers
        self._facts: FactStore | None = None
        self._announcement: Announcement | None = None
        self._snapshot: Snapshot | None = None
        self._at = Pointer()
        """Where the pointer stood when what is served was opened."""
        self._files: Stamps = frozenset()
        self._suspicion = ""
        """What speaks against what is served, where anything does."""
        self._questions = Questions()
        self._failure = ""
        self._swap = threading.Lock()

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before the first one was opened."""
        if self._snapshot is None:
            raise RuntimeError("no snapshot yet: nothing has been opened")
        return self._snapshot

    @property
    def ready(self) -> bool:
        """Whether there is a snapshot."""
        return self._snapshot is not None

    def health(self, own: BuilderStatus) -> Health:
        """How this process and the builder fare; `own` is how the builder of this process does."""
        status = max(read_status(self._data), own, key=lambda each: each.at)
        degraded = self._failure or _degraded(status) or self._unwritable()
        engine = self._analyzers.engine
        return Health(status.state, degraded, engine.failure if engine else None)

    @property
    def opened(self) -> Opened | None:
        """The generation that is served, as it was read."""
        return self._snapshot.opened if self._snapshot else None

    def catch_up(self) -> bool:
        """Opens the current generation where it is not the one that is served; True where it was swapped in.

        Raises one of UNREADABLE; what was served before goes on being served.
        """
        with self._swap:
            pointer = read_pointer(self._data)
            if not pointer.name:
                raise GenerationUnreadable("there is none yet")
            if pointer == self._at:
                self._failure = ""
                return False
            files = stamps(self._data, pointer.name)
            before = self._before(pointer.name)
            generation = read_generation(self._data, pointer.name)
            snapshot = open_snapshot(generation, self._data, self._store(), self._analyzers, before)
            self._snapshot, self._at, self._failure = snapshot, pointer, ""
            self._files, self._suspicion = files, ""
            if self._announcement is not None:
                self._announcement.say(pointer.name)
        log.info("serving generation %s: %d entries", pointer.name[:SHOWN], len(snapshot.library))
        return True

    def _before(self, name: str) -> Opened | None:
        """What is open and may be taken over: not what was changed on disk, nor what was made anew because of it."""
        made_anew = name == self._at.name
        return self._snapshot.opened if self._snapshot and not (self._suspicion or made_anew) else None

    def announce(self) -> None:
        """Tells the other processes from now on what is served here."""
        self._announcement = Announcement(self._data)
        self._announcement.say(self._at.name)

    def withdraw(self) -> None:
        """Serves nothing any more, as far as the other processes are concerned."""
        if self._announcement is not None:
            self._announcement.withdraw()

    def follow(self, stop: threading.Event) -> None:
        """Catches up whenever the pointer moves, until stopped. For a thread of its own."""
        seen: object = None
        patience, again, look = FIRST_PATIENCE, 0.0, 0.0
        while not stop.wait(INTERVAL):
            pointer, at = self._pointer(), time.monotonic()
            if pointer == seen and at < again:
                continue
            if pointer == seen and not self._failure:
                if at < look:
                    continue
                look = at + LOOK_AT_FILES
                self._suspicion = self._suspect()
                if not self._suspicion:
                    continue
            try:
                self._catch_up_or_examine()
            except UNREADABLE as error:
                self._give_notice(error)
            except Exception:  # a follower that dies silently would leave a worker stale for good
                log.exception("the current generation cannot be opened")
                self._failure = "unexpected: see the log"
            patience = min(2 * patience, LONGEST_PATIENCE) if self._failure else FIRST_PATIENCE
            again = time.monotonic() + patience if self._failure else 0.0
            seen = pointer

    def _suspect(self) -> str:
        """What speaks against what is served; empty where nothing does."""
        if stamps(self._data, self._at.name) != self._files:
            return CHANGED
        if not self._questions.are_due(self.snapshot):
            return ""
        try:
            # What was asked before is asked of the same files read anew: answers may be remembered.
            known = self._questions.know(self.snapshot)
            is_right = self._questions.are_answered_by(self._read_anew() if known else self.snapshot)
        except ClusterUnavailable:  # `watch_cluster` sees to that; the files are as good as before
            return ""
        except Exception:  # noqa: BLE001 - noise in an index may make anything of a search
            is_right = False
        return "" if is_right else WRONG

    def _read_anew(self) -> Snapshot:
        """What is served, from its files. Raises one of UNREADABLE."""
        generation = read_generation(self._data, self._at.name)
        return open_snapshot(generation, self._data, self._store(), self._analyzers)

    def _catch_up_or_examine(self) -> None:
        if not self.catch_up() and self._suspicion:
            name, suspicion, before = self._at.name, self._suspicion, self._snapshot
            log.warning("generation %s %s: it is examined", name[:SHOWN], suspicion)
            self._failure = f"what is served {suspicion}"
            files = stamps(self._data, name)
            self._mend(name)
            if self._failure or self._snapshot is not before:
                return
            # Nothing is wrong with the files; if anything is, it is with what was made of them.
            if suspicion == WRONG and not self._questions.are_answered_by(self._read_anew()):
                self._failure, self._suspicion = f"what is served {suspicion}", suspicion
                return
            self._files, self._suspicion = files, ""

    def _give_notice(self, error: BaseException) -> None:
        name = current_name(self._data)
        log.warning("generation %s cannot be opened: %s", name[:SHOWN] or "(none)", error)
        self._failure = "the current generation cannot be opened"
        with contextlib.suppress(JiedaError, *UNREADABLE):
            self._mend(name)

    def _pointer(self) -> object:
        try:
            status = (self._data / CURRENT).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _unwritable(self) -> str:
        return "" if os.access(self._data, os.W_OK) else "the data directory cannot be written"

    def _store(self) -> FactStore:
        path = self._data / FILE_NAME
        if self._facts is None or not self._facts.is_at(path):
            # The one before is not closed: the snapshot that is served still reads from it.
            self._facts = FactStore(path, writable=False)
        return self._facts


def stamps(data: Path, name: str) -> Stamps:
    """What tells whether the files of a generation that are read while it is served are still those of before."""
    found = []
    with contextlib.suppress(OSError):
        folder = generation_folder(data, name)
        for path in (folder / ENTRIES, *(folder / INDEX).iterdir()):
            status = path.stat()
            found.append((path.name, status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(found)


def _degraded(status: BuilderStatus) -> str:
    if status.state == "failed":
        return f"the last build failed: {status.reason}"
    return status.note
