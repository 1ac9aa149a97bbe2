"""What a process knows: the snapshot that it serves, and the builder where it has one."""

import atexit
import logging
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.disk import remove, temporary_folders
from app.errors import JiedaError
from app.settings import Settings
from app.snapshot.analyzers import Analyzers, analyzers_of
from app.snapshot.built import BuildAbandoned, Built
from app.snapshot.facts import FactsUnreadable
from app.snapshot.follow import UNREADABLE, Follower
from app.snapshot.health import Health, reason_of
from app.snapshot.keep import EXPECTED, Keeper
from app.snapshot.requests import BuildRefused, Outcome, ask, build_on_request
from app.snapshot.snapshot import SHOWN, Snapshot
from app.snapshot.watch import Watch, WatchMode
from app.snapshot.watch_cluster import watch_cluster
from app.snapshot.workers import living_workers

log = logging.getLogger(__name__)

SECONDS_TO_SPREAD = 10.0
"""How long a reload waits for the other workers."""
LOOK_AGAIN = 0.05


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
        self, settings: Settings, *, follow_only: bool = False, analyzers: Analyzers | None = None
    ) -> None:
        """`analyzers` where others of this process have some already."""
        self._settings = settings
        self._follow_only = follow_only
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._built: Built | None = None
        self._analyzers = analyzers or analyzers_of(settings)
        self._use(settings.data, "")

    def _use(self, data: Path, note: str) -> None:
        self.data = data
        """Where generations are kept: the settings' directory, or another where that one cannot be written."""
        processes = self._settings.build_processes
        self._keeper = Keeper(self._settings.content, data, self._analyzers, note, processes)
        self._follower = Follower(data, self._analyzers, self._mend)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before `open`."""
        return self._follower.snapshot

    @property
    def ready(self) -> bool:
        """Whether there is a snapshot."""
        return self._follower.ready

    def health(self) -> Health:
        """How this process and the builder fare; says nothing that names a path."""
        return self._follower.health(self._keeper.status)

    def open(self) -> None:
        """Brings the current generation up to date with the content and opens it.

        Where that cannot be done and there is a generation of before, that one is opened, degraded. Where the
        data directory cannot be used at all, a temporary one is. Raises ContentError where the taxonomy, glossary
        or dictionary is broken and there is nothing of before; JiedaError where no directory can be used.
        """
        if self._follow_only and self._caught_up():
            return
        try:
            self._built = self._keeper.build()
        except EXPECTED as error:
            if self._caught_up():
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
        self._follower.announce()
        self._thread("jieda-follow", self._follow)
        if self._analyzers.engine is not None:
            watching = partial(watch_cluster, self._follower, self._mend, self._stop)
            self._thread("jieda-cluster", watching)
        if not self._follow_only:
            self.watch()

    def watch(self) -> None:
        """Builds from now on when the content changes, if the settings say so, and repairs a failed build."""
        if self._settings.reload_content:
            self._keeper.watch(Watch(WatchMode(self._settings.watch)), self._built)
        else:
            self._keeper.persist()

    def lead(self) -> None:
        """Builds from now on for the processes that follow: when the content changes, if the settings say so, and on
        request."""
        self.watch()
        self._thread("jieda-requests", self._build_on_request)

    def stop(self) -> None:
        """Ends all that `start` began; a build under way is abandoned."""
        self._stop.set()
        self._keeper.stop()
        self._follower.withdraw()
        for thread in self._threads:
            thread.join(2.0)

    def rebuild(self) -> "Future[Outcome]":
        """A build that sees the content as it is now, made by the process that this one follows, if there is one.

        Its failures are those of `Builder.build`, and BuildRefused.
        """
        wish: Future[Outcome] = Future()
        threading.Thread(target=self._fulfill, args=(wish,), name="jieda-request", daemon=True).start()
        return wish

    def spread(self, built: Outcome) -> ReloadOutcome:
        """Waits until every worker serves a generation that was built, or SECONDS_TO_SPREAD have gone by."""
        deadline = time.monotonic() + SECONDS_TO_SPREAD
        self._caught_up()
        while True:
            workers = living_workers(self.data)
            behind = tuple(worker.pid for worker in workers if worker.generation != built.generation)
            if not behind or time.monotonic() > deadline or self._stop.is_set():
                return ReloadOutcome(built.changed, built.generation[:SHOWN], max(1, len(workers)), behind)
            time.sleep(LOOK_AGAIN)

    def _follow(self) -> None:
        self._follower.follow(self._stop)

    def _thread(self, name: str, target: object) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)  # type: ignore[arg-type] # a bound method
        self._threads.append(thread)
        thread.start()

    def _open_built(self) -> None:
        try:
            self._follower.catch_up()
        except UNREADABLE as error:
            log.warning("%s: the generation is made anew", error)
            self._mend(self._built.generation if self._built else "")

    def _caught_up(self) -> bool:
        try:
            self._follower.catch_up()
        except UNREADABLE as error:
            log.warning("the current generation cannot be opened: %s", error)
            return False
        return True

    def _mend(self, name: str) -> None:
        try:
            self._rebuilt(name)
        except (BuildAbandoned, BuildRefused, *EXPECTED):
            return  # told by the keeper
        self._follower.catch_up()

    def _fulfill(self, wish: "Future[Outcome]") -> None:
        try:
            wish.set_result(self._rebuilt())
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            wish.set_exception(error)

    def _rebuilt(self, suspect: str = "") -> Outcome:
        if self._follow_only and (outcome := ask(self.data, suspect)):
            return outcome
        self._built = built = self._keeper.build(suspect)
        return Outcome(built.generation, built.changed)

    def _build_on_request(self) -> None:
        try:
            build_on_request(self.data, self._keeper.request, self._stop)
        except OSError as error:
            log.warning("no build on request: %s", error)  # workers build for themselves

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
