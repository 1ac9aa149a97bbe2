"""Tells how far long work has come: to the log, and so to whoever waits at a terminal."""

import logging
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

EVERY = 2.0
"""Seconds between two lines; what is done sooner says nothing."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def told(items: Iterable[T], total: int, doing: str) -> Iterator[T]:
    """Hand on the items, of which there are `total`, and tell now and then how many are done."""
    due = time.monotonic() + EVERY
    for number, item in enumerate(items, 1):
        yield item
        if time.monotonic() >= due:
            log.info("%s: %d of %d", doing, number, total)
            due = time.monotonic() + EVERY
