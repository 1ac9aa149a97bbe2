"""The parts that every use case needs, made once for an application or a command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from jieda.errors import TooBusy
from jieda.metrics import Metrics
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import Keeping, Note, Recorder
from jieda.usecases.log_process import LogProcess

T = TypeVar("T")


class Offload(Protocol):
    """Does work away from the event loop, in a server by a thread."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """The result of `work`; what it raises is raised here."""


async def at_once(work: Callable[[], T]) -> T:
    """An `Offload` for a process in which nobody else waits for the event loop."""
    return work()


class OncePerGeneration(Generic[T]):
    """Keeps what was made for the generation asked for last. Whoever asks while a value is being made waits for it.

    Belongs to one event loop.
    """

    def __init__(self, offload: Offload, count: Callable[[str], None] = lambda _: None) -> None:
        """`count` is told whether what was asked for was there (`hit`) or had to be made (`miss`)."""
        self._offload = offload
        self._count = count
        self._generation = ""
        self._values: dict[Hashable, T] = {}
        self._locks: dict[Hashable, asyncio.Lock] = {}

    def another(self) -> "OncePerGeneration[T]":
        """One that holds nothing yet, counted together with this one."""
        return OncePerGeneration(self._offload, self._count)

    def held(self, generation: str, key: Hashable) -> T | None:
        """The value, if it has been made."""
        return self._values.get(key) if generation == self._generation else None

    async def get(self, generation: str, key: Hashable, make: Callable[[], T]) -> T:
        """The value of `key` for a generation; `make` makes it the first time. What it raises is raised here."""
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
        return values[key]


STEPS_OF_ANOTHER = 5
"""Of the event loop, in which a request on a new connection is accepted, read and answered."""
LARGE_LOG = 1 << 16
"""Characters from which on a log has to wait for other large ones; smaller ones have a lane of their own."""
LARGE_LOGS = (1, 17)
"""Worked on at a time, by a process of their own, and waiting: the last, all of a megabyte, waits some ten seconds."""
SMALL_LOGS = (2, 64)
MOST_CHARACTERS = 16 << 20
"""Of all the logs in a lane together."""


class Turns:
    """Lets a few work at a time and some wait, so that what waits takes neither memory nor time without bound.

    Belongs to one event loop.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._room = at_once + waiting
        self._characters = MOST_CHARACTERS

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[None]:
        """Entered when it is one's turn to work on `size` characters. Raises TooBusy where too much waits already."""
        if not self._room or size > self._characters:
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
class Limits:
    """Sizes up to which a query and a log are read."""

    query_chars: int
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Service:
    """The parts that all use cases share.

    `offload` does what can take longer than a millisecond: in a server a thread, so that the event loop goes on.
    """

    knowledge: Knowledge
    metrics: Metrics
    limits: Limits
    offload: Offload
    recorder: Recorder | None = None
    """Takes down what is asked in vain, where that is wanted and once it is started."""
    log_process: LogProcess | None = None
    """Where large logs are explained; None: here."""
    large_logs: Turns = field(default_factory=lambda: Turns(*LARGE_LOGS))
    small_logs: Turns = field(default_factory=lambda: Turns(*SMALL_LOGS))
    _searching: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(
        cls, settings: Settings, knowledge: Knowledge, offload: Offload = at_once, *, alone: bool = False
    ) -> "Service":
        """The service of one process. `alone`: it does nothing else, and may start another for large logs."""
        metrics = Metrics.create()
        keeping = Keeping(settings.gaps_days, settings.gaps_megabytes)
        recorder = Recorder(keeping, lambda: knowledge.data, lambda: knowledge.snapshot, metrics)
        return cls(
            knowledge=knowledge,
            metrics=metrics,
            limits=Limits(settings.max_query_chars, settings.max_log_bytes),
            offload=offload,
            recorder=recorder if settings.gaps else None,
            log_process=LogProcess(settings) if alone else None,
        )

    @asynccontextmanager
    async def search_turn(self) -> AsyncIterator[None]:
        """Entered when the event loop may search: searches that come together would be done in one go, and whoever
        asks for anything that is quick would wait for all of them."""
        async with self._searching:
            for _ in range(STEPS_OF_ANOTHER if self.offload is not at_once else 0):
                await asyncio.sleep(0)
            yield

    def note(self, note: Note | None) -> None:
        """Takes something down, if anything is."""
        if self.recorder is not None and note is not None:
            self.recorder.note(note)

    def current(self) -> Snapshot:
        """What is served now. A request takes it once, at its start, so that no answer mixes two generations.

        Raises RuntimeError before there is anything.
        """
        return self.knowledge.snapshot
