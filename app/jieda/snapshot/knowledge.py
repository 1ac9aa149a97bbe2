"""The state of one process: the snapshot that it serves, and its builder, if any."""

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jieda.address import own_address
from jieda.disk import remove, temporary_folders
from jieda.errors import ContentError, JiedaError
from jieda.settings import Settings
from jieda.snapshot.build.builder import BuildAbandoned, Builder, BuildResult
from jieda.snapshot.snapshot import SHORT_NAME, Analyzers, Snapshot, analyzers_of
from jieda.snapshot.store.facts import FactsUnreadable
from jieda.snapshot.store.generation import read_pointer, read_record
from jieda.snapshot.store.processes import (
    POLL_INTERVAL,
    STATUS,
    BuilderStatus,
    BuildRefused,
    become_leader,
    has_leader,
    reason_of,
    request_build,
    serving_workers,
)
from jieda.snapshot.watch.follow import UNREADABLE, Follower, watch_cluster
from jieda.snapshot.watch.keep import EXPECTED_ERRORS, Keeper, Watch

log = logging.getLogger(__name__)

REPORTED_FOR = 60.0
"""Seconds for which `health` reports that a thread died."""
OWNERSHIP_INTERVAL = 1.0
"""Seconds between two checks that the data directory is still ours: somebody may delete it."""
RELOAD_TIMEOUT = 10.0
"""Seconds for which a reload waits for the other workers."""
RELOAD_FAILURES = (ContentError, OSError, FactsUnreadable, BuildAbandoned, BuildRefused)
"""Errors of a reload, except ClusterUnavailable, which is not about the content."""


@dataclass(frozen=True, slots=True)
class Health:
    """Health of a process and its builder. `degraded` says what is wrong, without a path; empty if nothing is."""

    builder: BuilderStatus
    degraded: str
    cluster: str | None = None
    """Why the cluster cannot be searched; empty if it can be, None if there is no cluster."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Result of a reload. `changed`: the served content has changed. `behind`: process ids of the `workers` that do
    not serve `generation` yet."""

    changed: bool
    generation: str
    workers: int
    behind: tuple[int, ...]


FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds until a thread that died is restarted, doubled each time."""


class Knowledge:
    """Opens the current generation, follows it and, unless `follow_only`, builds it from the configured content."""

    def __init__(
        self,
        settings: Settings,
        *,
        follow_only: bool = False,
        analyzers: Analyzers | None = None,
        leading: bool = False,
    ) -> None:
        """`analyzers`: those that this process already has. `leading`: take ownership of the data directory; raises
        JiedaError if another process owns it."""
        self._settings = settings
        self._follow_only = follow_only
        self._leading = leading
        self._address = own_address(settings.host, settings.port)
        self._stop = threading.Event()
        self._last_death = ("", 0.0)
        self._threads: list[threading.Thread] = []
        self._analyzers = analyzers or analyzers_of(settings)
        self._use(settings.data, "")

    def _use(self, data: Path, note: str) -> None:
        self.data = data
        """Directory of generations: the configured one, or a temporary one if that cannot be written."""
        if self._leading:
            try:
                become_leader(data, self._address)
            except OSError as error:
                # Then it cannot be written either, which the build reports.
                log.warning("cannot lock %s: %s", data, error)
        content, processes = self._settings.content, self._settings.build_processes
        builder = Builder(content, data, self._analyzers, self._stop.is_set, processes)
        self._keeper = Keeper(builder, data, self._stop, note)
        self._follower = Follower(data, self._analyzers, self._repair)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before `open`."""
        return self._follower.snapshot

    @property
    def ready(self) -> bool:
        return self._follower.served is not None

    def health(self) -> Health:
        """Return the health of this process and of the builder, without a path."""
        status = read_record(self.data / STATUS, BuilderStatus) or BuilderStatus()
        status = max(status, self._keeper.status, key=lambda known: known.at)
        engine, embedder, served = self._analyzers.engine, self._analyzers.embedder, self._follower.served
        reasons = (
            f"the search cluster: {engine.failure}" if engine and engine.failure else "",
            self._follower.failure,
            *(death for death, at in (self._last_death, status.died) if time.time() - at < REPORTED_FOR),
            f"the last build failed: {status.reason}" if status.reason else status.note,
            "" if os.access(self.data, os.W_OK) else "the data directory cannot be written",
            embedder.failure if embedder else "",
            "" if served is None or len(served.library) else "there are no entries",
        )
        return Health(status, next(filter(None, reasons), ""), engine.failure if engine else None)

    def _start(self, name: str, work: Callable[[], None]) -> None:
        """Start a thread that runs `work`, again after each exception. The process can end without waiting for it."""
        thread = threading.Thread(target=self._run, args=(name, work), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, name: str, work: Callable[[], None]) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                work()
            except BaseException as error:  # even MemoryError, which would go unnoticed otherwise
                log.critical("the thread %s died and is restarted", name, exc_info=True)
                self._note_death(f"the thread {name} died of {type(error).__name__}")
            else:
                return
            if self._stop.wait(pause):
                return
            pause = min(2 * pause, LONGEST_PAUSE)

    def _note_death(self, reason: str) -> None:
        self._last_death = (reason, time.time())
        if not self._follow_only:
            self._keeper.report(died=self._last_death)

    def open(self) -> None:
        """Bring the current generation up to date with the content and open it.

        If the build fails, open the previous generation, degraded. If the data directory cannot be used at all,
        use a temporary one. Raises ContentError if the taxonomy, glossary or dictionary is broken and there is no
        previous generation, or only one built from other directories than the configured ones; JiedaError if no
        directory can be used.
        """
        if self._follow_only and self._catch_up():
            return
        try:
            self._keeper.build()
        except EXPECTED_ERRORS as error:
            misleading = isinstance(error, ContentError) and self._is_from_elsewhere()
            if not misleading and self._catch_up():
                return
            if not isinstance(error, (OSError, FactsUnreadable)):
                raise
            self._build_elsewhere(error)
        self._open_built()

    def build(self) -> BuildResult:
        """Bring the generation in the data directory up to date and open it.

        Unlike `open`, falls back neither to the previous generation nor to another directory. Raises ContentError
        if the taxonomy, glossary or dictionary is broken, JiedaError if the data directory cannot be used.
        """
        try:
            built = self._keeper.build()
        except (OSError, FactsUnreadable) as error:
            raise JiedaError(f"{self.data}: the index cannot be written: {error}") from error
        self._open_built()
        return built

    def start(self) -> None:
        """Start to follow the current generation and, if configured, to build when the content changes."""
        if self._analyzers.embedder is not None:
            self._analyzers.embedder.open()
        self._follower.announce()
        self._start("jieda-follow", partial(self._follower.follow, self._stop))
        if self._analyzers.engine is not None:
            self._start("jieda-cluster", partial(watch_cluster, self._follower, self._stop))
        if not self._follow_only:
            self.watch()

    def watch(self) -> None:
        """Start to build when the content changes, if configured, and to retry failed builds."""
        watch = Watch(self._settings.watch) if self._settings.reload_content else None
        self._start("jieda-watch", partial(self._keeper.follow_content, watch))
        if self._leading:
            self._start("jieda-lead", self._keep_leading)

    def lead(self) -> None:
        """Start to build for the processes that follow, when the content changes, if configured, and on request."""
        self.watch()
        self._start("jieda-requests", self._keeper.answer_requests)

    def _keep_leading(self) -> None:
        while not self._stop.wait(OWNERSHIP_INTERVAL):
            with contextlib.suppress(OSError):  # the disk may be unavailable; checked again in a second
                if not has_leader(self.data):
                    become_leader(self.data, self._address)
                    log.warning("%s was deleted: starting anew, without votes and questions", self.data)

    def stop(self) -> None:
        """Stop everything that `start` started; a build in progress is abandoned."""
        self._stop.set()
        self._follower.announcement.withdraw()
        for thread in self._threads:
            thread.join(2.0)

    def reload(self) -> "Future[Reloaded]":
        """Build the content as it is now, in the process that this one follows if there is one, and wait until every
        worker serves it, for at most RELOAD_TIMEOUT.

        The future fails with ClusterUnavailable or one of RELOAD_FAILURES.
        """
        outcome: Future[Reloaded] = Future()
        threading.Thread(target=self._reload, args=(outcome,), name="jieda-reload", daemon=True).start()
        return outcome

    def _reload(self, outcome: "Future[Reloaded]") -> None:
        try:
            outcome.set_result(self._wait_for_workers(*self._rebuild()))
        except BaseException as error:  # noqa: BLE001 - the future passes it to the caller
            outcome.set_exception(error)

    def _wait_for_workers(self, generation: str, changed: bool) -> Reloaded:
        deadline = time.monotonic() + RELOAD_TIMEOUT
        self._catch_up()
        while True:
            workers = serving_workers(self.data)
            # Meanwhile another build may have moved the pointer on.
            served = generation, read_pointer(self.data).generation
            behind = tuple(worker.pid for worker in workers if worker.generation not in served)
            if not behind or time.monotonic() > deadline or self._stop.is_set():
                return Reloaded(changed, generation[:SHORT_NAME], max(1, len(workers)), behind)
            time.sleep(POLL_INTERVAL)

    def _open_built(self) -> None:
        # A generation that turns out to be damaged is rebuilt, once.
        if not self._catch_up():
            self._repair()

    def _is_from_elsewhere(self) -> bool:
        """Whether the current generation was built from other directories, as far as is recorded."""
        built_from = read_pointer(self.data).content
        return bool(built_from) and built_from != tuple(map(str, self._settings.content))

    def _catch_up(self) -> bool:
        try:
            self._follower.catch_up()
        except UNREADABLE:
            return False
        return True

    def _repair(self) -> None:
        try:
            self._rebuild()
        except (BuildAbandoned, BuildRefused, *EXPECTED_ERRORS):
            return  # reported by the keeper
        self._follower.catch_up()

    def _rebuild(self) -> tuple[str, bool]:
        """Return the name of the generation, and whether it differs from the one before."""
        before = read_pointer(self.data).generation
        if self._follow_only and (generation := request_build(self.data)):
            return generation, generation != before
        built = self._keeper.build()
        return built.generation, built.changed

    def _build_elsewhere(self, error: OSError | FactsUnreadable) -> None:
        """Build in a temporary directory, removed when this process ends. Raises JiedaError if none can be used."""
        note = (
            f"{reason_of(error)}: until a restart, a temporary directory is used, whose votes are lost then"
        )
        for folder in temporary_folders():
            atexit.register(remove, folder)
            self._use(folder, note)
            try:
                self._keeper.build()
            except (OSError, FactsUnreadable):
                continue
            log.warning("%s cannot be used (%s): using %s", self._settings.data, error, folder)
            return
        raise JiedaError(
            f"{self._settings.data}: cannot be used as data directory, nor can a temporary one: {error}"
        ) from error
