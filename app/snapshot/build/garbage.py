"""How often Python searches for cyclic garbage: by itself it does so over and over where much is made that stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (5000, 10, 20)
"""New objects until the youngest are searched, and how often before their elders are: a large log makes some hundred
thousand objects, which are gone when it is answered, and an entry that is built some ten thousand, which mostly are."""


@contextmanager
def rarely_searched() -> Iterator[None]:
    """Searches seldom while this lasts; a build from nothing of 1,000 entries takes some 15% less time."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
