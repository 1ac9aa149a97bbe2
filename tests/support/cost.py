"""Whether a cost grows with its input and no faster: a ratio within one run, whatever else the machine does."""

import gc
import math
import time
from collections.abc import Callable

RUNS = 5
SLACK = 0.005
"""Seconds: below this, a cost is too small to be compared."""


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Asserts that eight times `size` costs about eight times as much; a quadratic cost would be 64 times as high.

    Processor time of this process, measured again where it seems too much, up to `RUNS` times: a busy machine makes
    some runs slower and none faster. `work(size)` is called anew for each, so that what it caches under its input has
    to differ by size.
    """
    work(size)  # whatever is made only once
    once = eightfold = math.inf
    for _ in range(RUNS):
        once = min(once, cpu_seconds(work, size))
        eightfold = min(eightfold, cpu_seconds(work, 8 * size))
        if eightfold < 24 * once + SLACK:
            return
    raise AssertionError(f"{once * 1000:.1f} ms, then {eightfold * 1000:.1f} ms")


def cpu_seconds(work: Callable[[int], object], size: int) -> float:
    """In time that other processes do not share, and without the garbage collector, which looks through all that the
    tests before have left."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        work(size)
        return time.process_time() - start
    finally:
        if collecting:
            gc.enable()
