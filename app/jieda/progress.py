"""Reports the progress of long work in the log, and thus at the terminal."""

import logging
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

EVERY = 2.0
"""Seconds between log lines; shorter work logs nothing."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def with_progress(items: Iterable[T], total: int, doing: str) -> Iterator[T]:
    """Yield the items, of which there are `total`, and log every few seconds how many are done."""
    due = time.monotonic() + EVERY
    for number, item in enumerate(items, 1):
        yield item
        if time.monotonic() >= due:
            log.info("%s: %d of %d", doing, number, total)
            due = time.monotonic() + EVERY
