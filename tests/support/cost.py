"""Asserts linear cost by a ratio within one run, independent of other load on the machine."""

import gc
import math
import time
from collections.abc import Callable

RUNS = 5
SLACK = 0.005
"""Seconds below which a cost is too small to compare."""


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Assert that eight times `size` costs about eight times as much; a quadratic cost would be 64 times as high.

    Measures CPU time of this process and repeats up to `RUNS` times if it seems too high: load makes some runs slower
    but none faster. `work(size)` is called anew each time, so its cached inputs must differ by size.
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
    """Return CPU seconds of this process, which exclude other processes, with the garbage collector off: it would scan
    leftovers of earlier tests."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        work(size)
        return time.process_time() - start
    finally:
        if collecting:
            gc.enable()
