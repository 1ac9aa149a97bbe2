"""Shared parts of all use cases, made once per application or command."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from jieda.diagnosis.answers import Diagnosis
from jieda.entry import Language
from jieda.errors import TooBusy
from jieda.helpers import Helper, collect_and_freeze
from jieda.metrics import Metrics
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Snapshot
from jieda.snapshot.store.facts import code_version
from jieda.usecases.gaps.recorder import Note, Recorder
from jieda.usecases.secrets import without_secrets

log = logging.getLogger(__name__)

SECONDS_TO_EXPLAIN = 60.0
"""Timeout for an answer, including the start of the process; a process that takes longer is considered hung."""
SECONDS_IDLE = 300.0
"""Idle time after which the process ends to free its memory."""
NICE = 10
"""Nice value of the process: all other work has priority."""

Question = tuple[str, str, Language, str]
"""A generation, a log, the language of the answer, and a framework or an empty text."""


class LogProcess:
    """A separate process that diagnoses large logs: regular expressions hold the interpreter lock while they run, which
    would block every search. This side starts it for the first large log, and anew once it has ended."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._process: Helper | None = None
        self._reader: LogReader | None = None

    def explain(self, question: Question, knowledge: Knowledge) -> Diagnosis | None:
        """Return the diagnosis of a log by the generation in `question`; None if the process cannot provide it."""
        with self._lock:
            if self._process and not self._process.is_alive():
                self.end()
            try:
                process = self._process = self._process or Helper(code_version, SECONDS_IDLE)
            except OSError as error:
                log.warning("the process for large logs cannot be started: %s", error)
                return None
            reader = self._reader = self._reader or LogReader(replace(self._settings, data=knowledge.data))
            found = process.do(reader, [question], SECONDS_TO_EXPLAIN)
            if process.is_lost:
                log.warning("the process for large logs died or does not answer")
                self.end()
            return found[0] if found else None

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
        self._process = None


class LogReader:
    """The other side of `LogProcess`: diagnoses logs with the current generation, opened when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._knowledge: Knowledge | None = None

    def __call__(self, question: Question) -> Diagnosis | None:
        """Return the diagnosis of a log; None if its generation is not the current one."""
        generation, text, lang, framework = question
        if self._knowledge is None:
            os.nice(NICE)
            self._knowledge = Knowledge(self._settings, follow_only=True)
        if not self._knowledge.ready or self._knowledge.snapshot.generation != generation:
            self._knowledge.open()
            # Otherwise every garbage collection during a diagnosis would scan the whole snapshot again.
            collect_and_freeze()
        snapshot = self._knowledge.snapshot
        is_same = snapshot.generation == generation
        return without_secrets(snapshot.diagnoser.diagnose(text, lang, framework)) if is_same else None


T = TypeVar("T")


class Offload(Protocol):
    """Runs work off the event loop, in a server in a thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """Return the result of `work`. Raises what `work` raises."""


async def at_once(work: Callable[[], T]) -> T:
    """Run work directly: an `Offload` for a process in which nothing else needs the event loop."""
    return work()


MOST_VALUES = 500


class OncePerGeneration(Generic[T]):
    """Cache of the latest MOST_VALUES for the generation requested last: clients may name keys without end, such as
    versions. Requests for a value that is being made wait for it.

    Belongs to one event loop.
    """

    def __init__(self, offload: Offload, count: Callable[[str], None] = lambda _: None) -> None:
        """`count` is called with `hit` or `miss` for each requested value."""
        self._offload = offload
        self._count = count
        self._generation = ""
        self._values: dict[Hashable, T] = {}
        self._locks: dict[Hashable, asyncio.Lock] = {}

    async def get(self, generation: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of `key` for a generation, made by `make` the first time. Raises what `make` raises."""
        if generation != self._generation:
            self._generation, self._values, self._locks = generation, {}, {}
        values, locks = self._values, self._locks
        if key in values:
            self._count("hit")
            return values[key]
        async with locks.setdefault(key, asyncio.Lock()):
            self._count("hit" if key in values else "miss")
            if key not in values:
                values[key] = await self._offload(make)
                for oldest in [*values][:-MOST_VALUES]:
                    del values[oldest]
                    locks.pop(oldest, None)
        return values[key]


STEPS_OF_A_REQUEST = 5
"""Iterations of the event loop in which a request on a new connection is accepted, read and answered."""
LARGE_LOG = 1 << 16
"""Logs with more characters wait for other large ones; smaller ones have a lane of their own."""
LARGE_LOGS = (1, 17)
"""Maximum in progress, in a process of their own, and waiting; if each has a megabyte, the last waits some 10 s."""
SMALL_LOGS = (2, 64)
MOST_CHARACTERS = 16 << 20
"""Maximum of characters of all logs in a lane together, unless there is only one."""


class Turns:
    """Limits how many logs are in progress and how many wait, so that neither memory nor waiting time is unbounded.

    Belongs to one event loop.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._room = at_once + waiting
        self._characters = MOST_CHARACTERS

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[None]:
        """Wait for a turn to work on `size` characters. Raises TooBusy if too much is waiting already."""
        # One that is larger than all may be is read alone.
        if not self._room or size > self._characters < MOST_CHARACTERS:
            raise TooBusy
        self._room -= 1
        self._characters -= size
        try:
            async with self._free:
                yield
        finally:
            self._room += 1
            self._characters += size


@dataclass(frozen=True, slots=True)
class Service:
    """Shared parts of all use cases.

    `offload` runs work that may take longer than a millisecond, in a server in a thread, to keep the event loop free.
    """

    knowledge: Knowledge
    metrics: Metrics
    settings: Settings
    offload: Offload
    recorder: Recorder | None = None
    """Records gaps once it is started; None if that is switched off."""
    log_process: LogProcess | None = None
    """Process that diagnoses large logs; None to do it in this process."""
    large_logs: Turns = field(default_factory=lambda: Turns(*LARGE_LOGS))
    small_logs: Turns = field(default_factory=lambda: Turns(*SMALL_LOGS))
    _searching: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(
        cls, settings: Settings, knowledge: Knowledge, offload: Offload = at_once, *, alone: bool = False
    ) -> "Service":
        """Make the service of one process. `alone`: it does nothing else, and may start another for large logs."""
        metrics = Metrics()
        return cls(
            knowledge=knowledge,
            metrics=metrics,
            settings=settings,
            offload=offload,
            recorder=Recorder(settings, knowledge, metrics) if settings.gaps else None,
            log_process=LogProcess(settings) if alone else None,
        )

    @asynccontextmanager
    async def search_turn(self) -> AsyncIterator[None]:
        """Wait for a turn to search on the event loop: simultaneous searches would otherwise run without a pause, and
        quick requests would wait for all of them."""
        async with self._searching:
            for _ in range(STEPS_OF_A_REQUEST if self.offload is not at_once else 0):
                await asyncio.sleep(0)
            yield

    def note(self, note: Note | None) -> None:
        """Record a note, if there is one and notes are recorded."""
        if self.recorder is not None and note is not None:
            self.recorder.note(note)

    def current(self) -> Snapshot:
        """Return the served snapshot. A request takes it once, at its start, so that no answer mixes two generations.

        Raises RuntimeError before a snapshot was opened.
        """
        return self.knowledge.snapshot
