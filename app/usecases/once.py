"""Values made once for a generation, away from the event loop, and dropped with it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Protocol, TypeVar

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
