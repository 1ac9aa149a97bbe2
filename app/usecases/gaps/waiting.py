"""Searches that ended in vain, held for a while: whoever asks again and finds something had no gap to report.

All of it lives in the memory of one process. Who asked is a keyed hash whose key is made at start and written nowhere.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator

from app.gaps.gap import Gap

SECONDS = 120.0
"""In which somebody rephrases a question, or opens an entry after all."""
MOST = 5000
"""Searches that are held; one more, and the oldest counts as asked in vain."""


class Waiting:
    """For one thread. Times are seconds of any one clock."""

    def __init__(self, seconds: float = SECONDS, most: int = MOST) -> None:
        self._seconds = seconds
        self._most = most
        self._since: OrderedDict[tuple[bytes, Gap], float] = OrderedDict()
        self._of: defaultdict[bytes, set[Gap]] = defaultdict(set)

    def add(self, asker: bytes, gap: Gap, now: float) -> None:
        """Holds a gap. The same one of the same asker counts once."""
        if gap not in self._of[asker]:
            self._of[asker].add(gap)
            self._since[asker, gap] = now

    def found(self, asker: bytes) -> None:
        """Lets go of all that an asker asked in vain."""
        for gap in self._of.pop(asker, ()):
            del self._since[asker, gap]

    def due(self, now: float) -> Iterator[Gap]:
        """Takes out what has waited for long enough, and the oldest where there are too many."""
        while self._since:
            (asker, gap), since = next(iter(self._since.items()))
            if now - since < self._seconds and len(self._since) <= self._most:
                return
            del self._since[asker, gap]
            self._of[asker].discard(gap)
            if not self._of[asker]:
                del self._of[asker]
            yield gap

    def all(self) -> Iterator[Gap]:
        """Takes out everything."""
        yield from self.due(float("inf"))
