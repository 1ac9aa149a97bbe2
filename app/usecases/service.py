"""What every use case needs, made once by whoever composes an application or a command."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from app.errors import TooBusy
from app.metrics import Metrics
from app.settings import Settings
from app.snapshot.knowledge import Knowledge
from app.snapshot.snapshot import Snapshot
from app.usecases.gaps.recorder import Keeping, Note, Recorder
from app.usecases.log_process import LogProcess
from app.usecases.once import Offload, at_once

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
    """How much of what a visitor sends is read."""

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

    def note(self, note: Note | None) -> None:
        """Takes something down, if anything is."""
        if self.recorder is not None and note is not None:
            self.recorder.note(note)

    def current(self) -> Snapshot:
        """What is served now. A request takes it once, at its start, so that no answer mixes two generations.

        Raises RuntimeError before there is anything.
        """
        return self.knowledge.snapshot
