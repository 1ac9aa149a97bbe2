"""What one process serves: it follows the pointer, opens the generation and swaps one name."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.errors import IndexUnreadable, JiedaError
from app.snapshot.analyzers import Analyzers
from app.snapshot.facts import FILE_NAME, FactStore, FactsUnreadable
from app.snapshot.generation import CURRENT, GenerationUnreadable, current_name, read_generation
from app.snapshot.health import BuilderStatus, Health, read_status
from app.snapshot.records import RecordUnreadable
from app.snapshot.snapshot import SHOWN, Snapshot, open_snapshot
from app.snapshot.workers import Announcement

log = logging.getLogger(__name__)

INTERVAL = 0.05
"""Seconds between two looks at the pointer: one system call each."""
FIRST_PATIENCE, LONGEST_PATIENCE = 0.2, 60.0
"""Seconds between two tries to open a generation that could not be opened."""

UNREADABLE = (GenerationUnreadable, IndexUnreadable, FactsUnreadable, RecordUnreadable, OSError)

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
        self._name = ""
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

    def health(self) -> Health:
        """How this process and the builder fare."""
        status = read_status(self._data)
        return Health(status.state, self._failure or _degraded(status))

    def catch_up(self) -> bool:
        """Opens the current generation where it is not the one that is served; True where it was swapped in.

        Raises one of UNREADABLE; what was served before goes on being served.
        """
        with self._swap:
            name = current_name(self._data)
            if not name:
                raise GenerationUnreadable("there is none yet")
            if name == self._name:
                self._failure = ""
                return False
            before = self._snapshot.opened if self._snapshot else None
            generation = read_generation(self._data, name)
            snapshot = open_snapshot(generation, self._data, self._store(), self._analyzers, before)
            self._snapshot, self._name, self._failure = snapshot, name, ""
            if self._announcement is not None:
                self._announcement.say(name)
        log.info("serving generation %s: %d entries", name[:SHOWN], len(snapshot.library))
        return True

    def announce(self) -> None:
        """Tells the other processes from now on what is served here."""
        self._announcement = Announcement(self._data)
        self._announcement.say(self._name)

    def withdraw(self) -> None:
        """Serves nothing any more, as far as the other processes are concerned."""
        if self._announcement is not None:
            self._announcement.withdraw()

    def follow(self, stop: threading.Event) -> None:
        """Catches up whenever the pointer moves, until stopped. For a thread of its own."""
        seen: object = None
        patience, again = FIRST_PATIENCE, 0.0
        while not stop.wait(INTERVAL):
            pointer = self._pointer()
            if pointer == seen and time.monotonic() < again:
                continue
            if pointer == seen and not self._failure:
                continue
            try:
                self.catch_up()
                patience = FIRST_PATIENCE
            except UNREADABLE as error:
                self._give_notice(error)
                patience = min(2 * patience, LONGEST_PATIENCE)
                again = time.monotonic() + patience
            except Exception:  # a follower that dies silently would leave a worker stale for good
                log.exception("the current generation cannot be opened")
                self._failure = "unexpected: see the log"
                patience = min(2 * patience, LONGEST_PATIENCE)
                again = time.monotonic() + patience
            seen = pointer

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

    def _store(self) -> FactStore:
        path = self._data / FILE_NAME
        if self._facts is None or not self._facts.is_at(path):
            # The one before is not closed: the snapshot that is served still reads from it.
            self._facts = FactStore(path, writable=False)
        return self._facts


def _degraded(status: BuilderStatus) -> str:
    if status.state == "failed":
        return f"the last build failed: {status.reason}"
    return status.note
