"""What the words of a log say for the entries that share any with it."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jieda.diagnosis.telling import Array
from jieda.log.shown import Passage


@dataclass(frozen=True, slots=True)
class Heard:
    """A word of a passage: who of the entries, or of the background, says it, and its log ratio under each."""

    shown: str
    entries: Array
    ratios: Array


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the words of a passage, by entry or log: their log ratios, how many it says, and how many speak for it."""

    ratios: Array
    said: Array
    speaking: Array


@dataclass(frozen=True, slots=True)
class Saying:
    """A passage, for all entries alike.

    `against` are the log-odds, at most 0, that the background log called `rival` says the passage as well; `unheard`
    those, at most 0, of the words that nobody says. `spelled` has each whole word as it stands in the passage.
    """

    passage: Passage
    words: Sequence[Heard]
    against: float
    rival: str
    unheard: float
    spelled: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Told:
    """What the words of a passage say for the entry at a `place`: log-odds, without what speaks against all."""

    place: int
    log_odds: float
    by: Saying

    @property
    def shared(self) -> tuple[str, ...]:
        """The words that speak for the entry, the strongest first."""
        found = []
        for word in self.by.words:
            place = int(word.entries.searchsorted(self.place))
            if place < len(word.entries) and word.entries[place] == self.place and word.ratios[place] > 0:
                found.append((float(word.ratios[place]), word.shown))
        return tuple(dict.fromkeys(name for _, name in sorted(found, reverse=True)))


class Telling:
    """What a log says for each entry, by the passage that says most for it.

    Arrays are by the entry's place in `ids`, which ascend. Thousands of entries may share a word with a log: `Told` is
    made for those that are asked for.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self._sayings: list[Saying] = []
        self._log_odds = np.zeros(len(ids))
        self._best = np.full(len(ids), -np.inf)
        self._speaking = np.zeros(len(ids), dtype=np.int64)
        self._chosen = np.full(len(ids), -1)

    def hear(self, saying: Saying, sums: Sums, log_odds: Array) -> None:
        """Chooses a passage for the entries for which it says more than those before it: `log_odds` for each entry."""
        best = log_odds + saying.against
        better = (sums.said > 0) & (best > self._best)
        self._best[better] = best[better]
        self._log_odds[better] = log_odds[better]
        self._speaking[better] = sums.speaking[better]
        self._chosen[better] = len(self._sayings)
        self._sayings.append(saying)

    @property
    def sharing(self) -> Array:
        """The places of the entries that share a word with the log, ascending."""
        return np.flatnonzero(self._chosen >= 0)

    def place(self, entry_id: str) -> int | None:
        """That of an entry, if it shares a word with the log."""
        place = bisect_left(self.ids, entry_id)
        shares = place < len(self.ids) and self.ids[place] == entry_id and self._chosen[place] >= 0
        return place if shares else None

    def log_odds(self, places: Array) -> tuple[Array, Array]:
        """For some of these entries, `against` included; and `unheard`."""
        unheard = np.array([saying.unheard for saying in self._sayings])
        return self._best[places], unheard[self._chosen[places]]

    def speaking(self, places: Array) -> Array:
        """How many words speak for each of these entries."""
        return self._speaking[places]

    def at(self, place: int) -> Told:
        """All that is said for one of these entries."""
        return Told(place, float(self._log_odds[place]), self._sayings[self._chosen[place]])
