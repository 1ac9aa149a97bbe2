"""Watches content directories by polling and says when they have changed and come to rest."""

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

log = logging.getLogger(__name__)

INTERVAL = 0.25
"""Seconds between two looks. A change is acted on when two looks in a row agree."""

Fingerprint = frozenset[tuple[str, int, int]]


def fingerprint(directories: Sequence[Path]) -> Fingerprint:
    """Path, time and size of every file below; the contents are not read."""
    return frozenset(item for directory in directories for item in _files(str(directory)))


def _files(directory: str) -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(directory) as items:
            for item in items:
                if item.name.startswith("."):
                    continue
                if item.is_dir():
                    yield from _files(item.path)
                else:
                    status = item.stat()
                    yield item.path, status.st_mtime_ns, status.st_size
    except FileNotFoundError:
        return  # removed between two looks: the next one sees what is there


class Watcher:
    """Calls `changed` on a thread of its own after the content has changed, until stopped."""

    def __init__(self, directories: Sequence[Path], changed: Callable[[], object]) -> None:
        self._directories = tuple(directories)
        self._changed = changed
        self._stop = threading.Event()
        self._acted_on = fingerprint(self._directories)
        self._thread = threading.Thread(target=self._run, name="jieda-watch", daemon=True)

    def start(self) -> None:
        """Begins to watch; a change since construction counts."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; a change being acted on is finished first."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        last_seen = self._acted_on
        while not self._stop.wait(INTERVAL):
            try:
                seen = fingerprint(self._directories)
                if seen == last_seen and seen != self._acted_on:
                    self._acted_on = seen
                    self._changed()
                last_seen = seen
            except Exception:  # a watcher that dies silently would leave a server stale for good
                log.exception("content could not be looked at or reloaded")
