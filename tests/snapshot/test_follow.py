"""How often a follower tries again what it cannot open."""

from itertools import pairwise
from pathlib import Path

import pytest
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.generation import point_to
from jieda.snapshot.watch import follow
from jieda.snapshot.watch.follow import LONGEST_RETRY, POINTER_INTERVAL, Follower

pytestmark = pytest.mark.quick

MINUTE = 60.0


class Clock:
    """Time that passes only where somebody waits; what a follower is stopped by."""

    def __init__(self, end: float) -> None:
        self.now, self.end = 0.0, end

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return self.now >= self.end


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Ten minutes."""
    made = Clock(10 * MINUTE)
    monkeypatch.setattr(follow, "time", made)
    return made


@pytest.fixture(autouse=True)
def lost(data: Path) -> None:
    """The pointer names a generation that is not there."""
    data.mkdir()
    point_to(data, "0" * 16, ())


def test_what_cannot_be_opened_is_tried_less_and_less_often(
    data: Path, plain_analyzers: Analyzers, clock: Clock
) -> None:
    tried: list[float] = []
    follower = Follower(data, plain_analyzers, lambda: tried.append(clock.now))
    follower.follow(clock)  # type: ignore[arg-type] # all that it asks of an event
    gaps = [after - before for before, after in pairwise(tried)]
    assert follower.failure
    assert gaps[0] < 1
    assert all(after >= before - POINTER_INTERVAL for before, after in pairwise(gaps))
    assert LONGEST_RETRY <= gaps[-1] + POINTER_INTERVAL <= LONGEST_RETRY + 3 * POINTER_INTERVAL


def test_what_is_mended_is_opened_at_once(
    builder: Builder, data: Path, plain_analyzers: Analyzers, clock: Clock
) -> None:
    def repair() -> None:
        if clock.now > 5 * MINUTE:
            builder.build()
            clock.end = clock.now + 3 * POINTER_INTERVAL

    follower = Follower(data, plain_analyzers, repair)
    follower.follow(clock)  # type: ignore[arg-type] # all that it asks of an event
    assert clock.now < 7 * MINUTE
    assert follower.served
    assert not follower.failure
