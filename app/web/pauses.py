"""Keep Python's search for cyclic garbage from holding everybody up: a whole one takes a tenth of a second here."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from anyio.to_thread import run_sync

from app.snapshot.build.garbage import THRESHOLDS
from app.snapshot.knowledge import Knowledge

SECONDS_BETWEEN = 60.0


@asynccontextmanager
async def short_pauses(knowledge: Knowledge) -> AsyncIterator[None]:
    """While this is open, what is served is not searched for garbage, over and over, on account of single requests.

    For a process that does nothing but serve.
    """
    gc.set_threshold(*THRESHOLDS)
    await run_sync(settle)
    task = asyncio.create_task(settle_again(knowledge))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def settle_again(knowledge: Knowledge) -> None:
    """Settles some time after each swap: what is served since is looked at no more, and what was before can go."""
    settled = knowledge.snapshot.generation
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        generation = knowledge.snapshot.generation
        if generation != settled:
            await run_sync(settle)
            settled = generation


def settle() -> None:
    """Takes all that lives now for what stays."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
