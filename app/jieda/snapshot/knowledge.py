"""What a process knows: the snapshot that it serves, and the builder where it has one."""

import atexit
import logging
import os
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jieda.disk import remove, temporary_folders
from jieda.errors import ContentError, JiedaError
from jieda.settings import Settings
from jieda.snapshot.build.builder import BuildAbandoned, Built
from jieda.snapshot.snapshot import SHOWN, Analyzers, Snapshot, analyzers_of
from jieda.snapshot.store.facts import FactsUnreadable
from jieda.snapshot.store.generation import current_name, read_pointer
from jieda.snapshot.store.processes import (
    LOOK_AGAIN,
    BuilderStatus,
    BuildRefused,
    ask,
    lead,
    read_status,
    reason_of,
    serving_workers,
)
from jieda.snapshot.watch.follow import UNREADABLE, Follower, watch_cluster
from jieda.snapshot.watch.keep import EXPECTED, Keeper, Threads, Watch, WatchMode

log = logging.getLogger(__name__)

TOLD_FOR = 60.0
"""Seconds for which it is told that a thread died."""
SECONDS_TO_SPREAD = 10.0
"""How long a reload waits for the other workers."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a process can say about what it serves. `degraded` is empty where all is well, and names no path."""

    builder: str
    degraded: str
    cluster: str | None = None
    """Why the cluster cannot be searched, empty where it can; None where there is none."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a build that somebody asked for came to."""

    generation: str
    changed: bool


@dataclass(frozen=True, slots=True)
class ReloadOutcome:
    """What a reload came to. `behind`: process ids of workers that do not serve `generation` yet."""

    changed: bool
    generation: str
    workers: int
    behind: tuple[int, ...]


class Knowledge:
    """Opens, follows and, unless it is told to follow only, builds what `settings` name."""

    def __init__(
        self,
        settings: Settings,
        *,
        follow_only: bool = False,
        analyzers: Analyzers | None = None,
        leading: bool = False,
    ) -> None:
        """`analyzers` where others of this process have some already. `leading`: this process is the one that owns the
        data directory; raises DirectoryTaken where another one does."""
        self._settings = settings
        self._follow_only = follow_only
        self._leading = leading
        self._stop = threading.Event()
        self._died = ("", 0.0)
        self._threads = Threads(self._stop, self._note_death)
        self._built: Built | None = None
        self._analyzers = analyzers or analyzers_of(settings)
        self._use(settings.data, "")

    def _use(self, data: Path, note: str) -> None:
        self.data = data
        """Where generations are kept: the settings' directory, or another where that one cannot be written."""
        if self._leading:
            try:
                lead(data, f"http://{self._settings.host}:{self._settings.port}")
            except OSError as error:
                # Nor written, which is told when it is built.
                log.warning("%s: it cannot be locked: %s", data, error)
        processes = self._settings.build_processes
        self._keeper = Keeper(self._settings.content, data, self._analyzers, note, processes)
        self._follower = Follower(data, self._analyzers, self._mend)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before `open`."""
        return self._follower.snapshot

    @property
    def ready(self) -> bool:
        return self._follower.opened is not None

    def health(self) -> Health:
        """How this process and the builder fare; says nothing that names a path."""
        status = max(read_status(self.data), self._keeper.status, key=lambda each: each.at)
        unwritable = "" if os.access(self.data, os.W_OK) else "the data directory cannot be written"
        died = (name for name, at in (self._died, status.died) if time.time() - at < TOLD_FOR)
        degraded = self._follower.failure or next(died, "") or _reason(status) or unwritable
        engine, embedder = self._analyzers.engine, self._analyzers.embedder
        degraded = degraded or (embedder.failure if embedder else "")
        return Health(status.state, degraded, engine.failure if engine else None)

    def _note_death(self, reason: str) -> None:
        self._died = (reason, time.time())

    def open(self) -> None:
        """Brings the current generation up to date with the content and opens it.

        Where that cannot be done and there is a generation of before, that one is opened, degraded. Where the
        data directory cannot be used at all, a temporary one is. Raises ContentError where the taxonomy, glossary
        or dictionary is broken and there is nothing of before, or only what was built from other directories: nobody
        asked for that; JiedaError where no directory can be used.
        """
        if self._follow_only and self._caught_up():
            return
        try:
            self._built = self._keeper.build()
        except EXPECTED as error:
            if not (isinstance(error, ContentError) and self._is_of_others()) and self._caught_up():
                return
            if not isinstance(error, (OSError, FactsUnreadable)):
                raise
            self._build_elsewhere(error)
        self._open_built()

    def build(self) -> Built:
        """Brings the generation in the data directory up to date and opens it.

        Unlike `open`, accepts neither a generation of before nor another directory. Raises
        ContentError where the taxonomy, glossary or dictionary is broken, JiedaError where nothing can be kept
        in the data directory.
        """
        try:
            self._built = self._keeper.build()
        except (OSError, FactsUnreadable) as error:
            raise JiedaError(f"{self.data}: the index cannot be written: {error}") from error
        self._open_built()
        return self._built

    def start(self) -> None:
        """Follows from now on, and builds when the content changes if the settings say so."""
        if self._analyzers.embedder is not None:
            self._analyzers.embedder.open()
        self._follower.announce()
        self._threads.start("jieda-follow", partial(self._follower.follow, self._stop))
        if self._analyzers.engine is not None:
            watching = partial(watch_cluster, self._follower, self._stop)
            self._threads.start("jieda-cluster", watching)
        if not self._follow_only:
            self.watch()

    def watch(self) -> None:
        """Builds from now on when the content changes, if the settings say so, and repairs a failed build."""
        watch = Watch(WatchMode(self._settings.watch)) if self._settings.reload_content else None
        self._keeper.watch(watch, self._built)

    def lead(self) -> None:
        """Builds from now on for the processes that follow: when the content changes, if the settings say so, and on
        request."""
        self.watch()
        self._keeper.serve_requests()

    def stop(self) -> None:
        """Ends all that `start` began; a build under way is abandoned."""
        self._stop.set()
        self._keeper.stop()
        self._follower.withdraw()
        self._threads.join(2.0)

    def rebuild(self) -> "Future[Rebuilt]":
        """A build that sees the content as it is now, made by the process that this one follows, if there is one.

        Its failures are those of `Builder.build`, and BuildRefused.
        """
        wish: Future[Rebuilt] = Future()
        threading.Thread(target=self._fulfill, args=(wish,), name="jieda-request", daemon=True).start()
        return wish

    def spread(self, built: Rebuilt) -> ReloadOutcome:
        """Waits until every worker serves a generation that was built, or SECONDS_TO_SPREAD have gone by."""
        deadline = time.monotonic() + SECONDS_TO_SPREAD
        self._caught_up()
        while True:
            workers = serving_workers(self.data)
            behind = tuple(worker.pid for worker in workers if worker.generation != built.generation)
            if not behind or time.monotonic() > deadline or self._stop.is_set():
                return ReloadOutcome(built.changed, built.generation[:SHOWN], max(1, len(workers)), behind)
            time.sleep(LOOK_AGAIN)

    def _open_built(self) -> None:
        # What turns out to be damaged is made anew once.
        if not self._caught_up():
            self._mend()

    def _is_of_others(self) -> bool:
        """Whether what was built before was built from other directories; older versions did not tell."""
        told = read_pointer(self.data).content
        return bool(told) and told != tuple(map(str, self._settings.content))

    def _caught_up(self) -> bool:
        try:
            self._follower.catch_up()
        except UNREADABLE:
            return False
        return True

    def _mend(self) -> None:
        try:
            self._rebuilt()
        except (BuildAbandoned, BuildRefused, *EXPECTED):
            return  # told by the keeper
        self._follower.catch_up()

    def _fulfill(self, wish: "Future[Rebuilt]") -> None:
        try:
            wish.set_result(self._rebuilt())
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            wish.set_exception(error)

    def _rebuilt(self) -> Rebuilt:
        before = current_name(self.data)
        if self._follow_only and (generation := ask(self.data)):
            return Rebuilt(generation, generation != before)
        self._built = built = self._keeper.build()
        return Rebuilt(built.generation, built.changed)

    def _build_elsewhere(self, error: OSError | FactsUnreadable) -> None:
        """Builds in a temporary directory, which goes with this process. Raises JiedaError where there is none."""
        note = f"{reason_of(error)}: content is kept in a temporary directory and made anew at each start"
        for folder in temporary_folders():
            atexit.register(remove, folder)
            self._use(folder, note)
            try:
                self._built = self._keeper.build()
            except (OSError, FactsUnreadable):
                continue
            log.warning("%s cannot be used (%s): using %s", self._settings.data, error, folder)
            return
        raise JiedaError(f"{self._settings.data}: nothing can be kept there: {error}") from error


def _reason(status: BuilderStatus) -> str:
    if status.state == "failed":
        return f"the last build failed: {status.reason}"
    return status.note
