"""Notices that content has changed: by events of the system, by looking now and then, or both."""

import contextlib
import logging
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from enum import StrEnum
from pathlib import Path, PurePath

from watchfiles import Change, watch
from watchfiles.main import FileChange

log = logging.getLogger(__name__)

REST_MS, LONGEST_MS = 50, 500
"""Changes are acted on when nothing has changed for REST_MS, at the latest after LONGEST_MS."""
STEP_MS = 250
"""How long one wait for events lasts: as soon as it is over the other reasons to act are looked at."""


Folder = tuple[str, int, int]
"""A path, and the device and inode that are there: of another folder of that name nothing is heard."""


class WatchMode(StrEnum):
    """How changes are noticed. `auto` believes in events and looks now and then all the same."""

    AUTO = "auto"
    EVENTS = "events"
    POLL = "poll"


AUTO_SHARE, AUTO_LEAST = 50.0, 2.0
POLL_SHARE, POLL_LEAST = 10.0, 0.5
"""A look is taken when that many times the time of the last look has gone by, and at least so many seconds."""


class Watch:
    """Waits for changes below some folders. For one thread."""

    def __init__(self, mode: WatchMode) -> None:
        self._mode = mode
        self._folders: frozenset[Folder] = frozenset()
        self._replaced = False
        """Whether one of these went or came since: what is watched is then no longer what is at its path."""
        self._events: Generator[set[FileChange], None, None] | None = None

    def period(self, cost: float) -> float:
        """Seconds between two looks where one takes `cost` seconds; infinite where events alone are believed."""
        if self._mode is WatchMode.EVENTS and self._events is not None:
            return float("inf")
        if self._mode is WatchMode.AUTO and self._events is not None:
            return max(AUTO_LEAST, AUTO_SHARE * cost)
        return max(POLL_LEAST, POLL_SHARE * cost)

    def cover(self, folders: frozenset[str], stop: threading.Event) -> bool:
        """Watches these folders from now on; True where they are others than before, also where they have the same
        names, so that what happened meanwhile may have gone unnoticed."""
        if self._mode is WatchMode.POLL:
            return False
        found = frozenset(_identified(folders))
        if found == self._folders and not self._replaced:
            return False
        self._folders, self._replaced, self._events = found, False, None
        if found:
            self._watch(stop)
        return True

    def _watch(self, stop: threading.Event) -> None:
        self._events = watch(
            *sorted(path for path, _, _ in self._folders),
            watch_filter=_counts,
            debounce=LONGEST_MS,
            step=REST_MS,
            stop_event=stop,
            rust_timeout=STEP_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        )
        # The watch begins with the first wait.
        self._next(stop)

    def changed(self, stop: threading.Event, seconds: float) -> bool:
        """Waits until something has changed and come to rest, or so many seconds have gone by (False)."""
        end = time.monotonic() + seconds
        while not stop.is_set() and time.monotonic() < end:
            if self._next(stop):
                return True
        return False

    def _next(self, stop: threading.Event) -> bool:
        if self._events is None:
            stop.wait(STEP_MS / 1000)
            return False
        try:
            changes = next(self._events, None) or set()
        except OSError as error:
            # Out of watches, or a folder is gone: look at the files until they are others.
            log.warning("changes are not announced by the system (%s): looking for them instead", error)
            self._events = None
            return False
        folders = {path for path, _, _ in self._folders}
        self._replaced |= any(path in folders and change is not Change.modified for change, path in changes)
        return bool(changes)


def _identified(folders: Iterable[str]) -> Iterator[Folder]:
    """Those of the folders that there are; of the others the one above tells when they come."""
    for path in folders:
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            yield path, status.st_dev, status.st_ino


def _counts(_change: Change, path: str) -> bool:
    name = PurePath(path).name
    return not name.startswith(".") and not name.endswith("~")
