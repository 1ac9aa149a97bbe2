"""Keeps the current generation up to date: builds on request and when the content changes, which is detected by file
system events, polling, or both."""

import contextlib
import logging
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from watchfiles import Change, watch
from watchfiles.main import FileChange

from jieda.errors import ClusterUnavailable, ContentError, IndexUnreadable
from jieda.snapshot.build.builder import BuildAbandoned, Builder, BuildResult
from jieda.snapshot.build.files import ContentMoved
from jieda.snapshot.snapshot import SHORT_NAME
from jieda.snapshot.store.facts import FactsUnreadable
from jieda.snapshot.store.processes import (
    ANSWER,
    POLL_INTERVAL,
    STATUS,
    BuildAnswer,
    BuilderStatus,
    last_request,
    reason_of,
    write_record,
)

log = logging.getLogger(__name__)

QUIET_MS, MAX_DELAY_MS = 50, 500
"""Changes are reported once nothing has changed for QUIET_MS, after MAX_DELAY_MS at the latest."""
WAIT_MS = 250
"""Duration of one wait for events, after which other reasons to act are checked."""


Folder = tuple[str, int, int]
"""Path, device and inode: a watch does not report changes in a new folder at the same path."""


AUTO_FACTOR, AUTO_MIN = 50.0, 2.0
POLL_FACTOR, POLL_MIN = 10.0, 0.5
"""The polling period is this multiple of the time that the last poll took, and at least so many seconds."""


class Watch:
    """Waits for changes in some folders. For one thread. `mode` is the setting `watch`."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._folders: frozenset[Folder] = frozenset()
        self._replaced = False
        """Whether a watched folder was removed or created since: another folder may be at its path now."""
        self._events: Generator[set[FileChange], None, None] | None = None

    def period(self, cost: float) -> float:
        """Return the seconds between two polls if one takes `cost` seconds; infinite if only events are used."""
        if self._events is None:
            return max(POLL_MIN, POLL_FACTOR * cost)
        return float("inf") if self._mode == "events" else max(AUTO_MIN, AUTO_FACTOR * cost)

    def cover(self, folders: frozenset[str], stop: threading.Event) -> bool:
        """Watch these folders from now on. Return whether they differ from those watched before, if only by inode: some
        changes may have gone unnoticed."""
        if self._mode == "poll":
            return False
        existing = frozenset(_with_inodes(folders))
        if existing == self._folders and not self._replaced:
            return False
        self._folders, self._replaced, self._events = existing, False, None
        if existing:
            self._watch(stop)
        return True

    def _watch(self, stop: threading.Event) -> None:
        self._events = watch(
            *sorted(path for path, _, _ in self._folders),
            watch_filter=lambda _, path: not PurePath(path).name.startswith(".") and not path.endswith("~"),
            debounce=MAX_DELAY_MS,
            step=QUIET_MS,
            stop_event=stop,
            rust_timeout=WAIT_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=True,
        )
        # Watching begins with the first wait.
        self._next(stop)

    def changed(self, stop: threading.Event, seconds: float) -> bool:
        """Wait for changes until there are no more for a moment; return False if there are none within `seconds`."""
        end = time.monotonic() + seconds
        while not stop.is_set() and time.monotonic() < end:
            if self._next(stop):
                return True
        return False

    def _next(self, stop: threading.Event) -> bool:
        if self._events is None:
            stop.wait(WAIT_MS / 1000)
            return False
        try:
            changes = next(self._events, None) or set()
        except OSError as error:
            # Too many watches, or a folder is gone: poll until the set of folders changes.
            log.warning("the system does not report file changes (%s): polling instead", error)
            self._events = None
            return False
        folders = {path for path, _, _ in self._folders}
        self._replaced |= any(path in folders and change is not Change.modified for change, path in changes)
        return bool(changes)


def _with_inodes(folders: Iterable[str]) -> Iterator[Folder]:
    """Yield the folders that exist; a missing one is reported by its parent when it is created."""
    for path in folders:
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            yield path, status.st_dev, status.st_ino


FIRST_RETRY, LONGEST_RETRY = 1.0, 60.0
"""Seconds until a failed build is retried: doubled each time, but at most AUTO_FACTOR times what it took."""
PASSING_ERRORS = (ContentMoved, OSError, FactsUnreadable, IndexUnreadable, ClusterUnavailable)
"""Errors after which another build may succeed: the disk was full, somebody deleted what was being built."""
EXPECTED_ERRORS = (ContentError, *PASSING_ERRORS)
"""Errors that do not indicate a bug."""
UNEMBEDDED = "some entries are found by words only: embedding them failed"


class Keeper:
    """Runs the builder of a process, one build at a time, whoever asks for it."""

    def __init__(self, builder: Builder, data: Path, stop: threading.Event, note: str = "") -> None:
        """`builder`: builds in `data`; `stop`: once it is set, no build begins; `note`: part of the status, on what is
        unusual about `data`."""
        self._builder, self._data, self._stop, self._note = builder, data, stop, note
        self._logged = ""
        """The last generation whose problems were logged."""
        self.status = BuilderStatus()
        """Status of this builder, in case it cannot be written for other processes."""
        self._built: BuildResult | None = None
        """The last build that succeeded."""
        self._retryable = False
        """Whether a retry may do better than the last build, because what went wrong may pass."""
        self._building, self._lock = threading.Lock(), threading.Lock()
        self._next: Future[BuildResult] | None = None
        """The build that was requested but has not begun."""

    def build(self) -> BuildResult:
        """Build the content as it is now. All who ask before the build begins share it.

        Raises what `Builder.build` raises, and BuildAbandoned after `stop`.
        """
        with self._lock:
            is_first = self._next is None
            shared = self._next = self._next or Future()
        if is_first:
            try:
                with self._building:
                    with self._lock:
                        self._next = None
                    shared.set_result(self._build())
            except BaseException as error:  # noqa: BLE001 - everyone who waits gets it
                shared.set_exception(error)
        return shared.result()

    def _build(self) -> BuildResult:
        if self._stop.is_set():
            raise BuildAbandoned
        self.report(state="building")  # what is degraded remains so until a build succeeds
        started = time.perf_counter()
        try:
            built = self._built = self._builder.build()
        except (BuildAbandoned, SystemExit, KeyboardInterrupt):
            self.report(state="idle")
            raise
        except BaseException as error:  # whatever it is, the status must say that the content is out of date
            if self._stop.is_set():  # a process that ends stops the helpers and threads of a build
                raise BuildAbandoned from error
            is_bug, reason = not isinstance(error, EXPECTED_ERRORS), reason_of(error)
            if is_bug or reason != self.status.reason:  # retries would repeat it
                log.warning("the build in %s failed: %s", self._data, error, exc_info=is_bug)
            self._retryable = isinstance(error, PASSING_ERRORS)
            self.report(state="failed", reason=reason)
            raise
        self._retryable = built.lacks_vectors
        seconds = time.perf_counter() - started
        if built.changed:
            self.report(builds=self.status.builds + 1, seconds=self.status.seconds + seconds)
        self.report(state="idle", reason="", note=self._note or (UNEMBEDDED if built.lacks_vectors else ""))
        self._log_build(built, seconds)
        return built

    def _log_build(self, built: BuildResult, seconds: float) -> None:
        name, entries, problems = built.generation[:SHORT_NAME], built.entries, len(built.problems)
        if built.changed:
            text = "built generation %s in %.2f s: %d entries, %d problems"
            log.info(text, name, seconds, entries, problems)
        if built.generation != self._logged:
            for problem in built.problems:
                log.info("%s", problem)
            if omitted := sum(not problem.served for problem in built.problems):
                log.warning("files left out for a mistake: %d; `jieda check` names them", omitted)
            self._logged = built.generation

    def report(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes, at=time.time())
        write_record(self._data / STATUS, self.status)

    def answer_requests(self) -> None:
        """Build whenever a worker requests it, until stopped. Run it in its own thread."""
        done = last_request(self._data)
        while not self._stop.wait(POLL_INTERVAL):
            request = last_request(self._data)
            if request == done:
                continue
            try:
                answer = BuildAnswer(request, self.build().generation)
            except BuildAbandoned:
                return
            except Exception as error:  # noqa: BLE001 - the worker that asked gets it
                answer = BuildAnswer(request, "", str(error) or type(error).__name__)
            write_record(self._data / ANSWER, answer)
            done = request

    def follow_content(self, watch: Watch | None) -> None:
        """Build whenever `watch` detects a change, until stopped. Retry builds if that may help, with or without it.
        Run it in its own thread."""
        cost, retry = 0.0, 0.0
        while not self._stop.is_set():
            if watch is None:
                self._stop.wait(retry or FIRST_RETRY)
                if not self._retryable:
                    retry = 0.0
                    continue
            elif self._built is None or not watch.cover(self._built.folders, self._stop):
                watch.changed(self._stop, retry or watch.period(cost))
            if self._stop.is_set():
                return
            started = time.perf_counter()
            try:
                if not self.build().changed:
                    cost = time.perf_counter() - started
                failed = self._retryable
            except BuildAbandoned:
                return
            except Exception:  # noqa: BLE001 - it was logged, and the build is retried
                failed = True
            longest = min(LONGEST_RETRY, AUTO_FACTOR * (time.perf_counter() - started))
            retry = max(FIRST_RETRY, min(2 * retry, longest)) if failed else 0.0
