"""What a snapshot must know: a few questions drawn from itself, asked when it is new and again now and then."""

import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from app.entry import Language
from app.search.answers import SearchRequest
from app.snapshot.snapshot import Snapshot

TITLES = 4
LONGEST_LOG = 1 << 14
"""Characters of a log that is asked about: a search takes milliseconds, a long log a second."""
WORD = re.compile(r"[^\W\d_]{2}")
"""What a title must have to be asked about."""
SOON, AGAIN = 5.0, 20.0
"""Seconds since the last time after which a snapshot is asked that is new, or the same."""
SHARE = 100.0
"""The same one is not asked before that many times the processor time that it took has gone by: on a machine with much
else to do it takes long, and a damage must not stay unseen for that."""


@dataclass(frozen=True, slots=True)
class Question:
    """A title or a log, and the entry that answers it."""

    text: str
    is_log: bool
    lang: Language
    entry_id: str

    def is_answered_by(self, snapshot: Snapshot) -> bool:
        """Whether the title finds its entry first, or the log is explained by its own. Raises what a search does."""
        if self.is_log:
            matches = snapshot.diagnoser.diagnose(self.text, self.lang).matches
            return self.entry_id in {match.entry.id for match in matches}
        asked = SearchRequest(text=self.text, lang=self.lang, verbatim=True, limit=1)
        return [hit.entry.id for hit in snapshot.searcher.search(asked).hits] == [self.entry_id]


class Questions:
    """Knows which questions a generation has answered rightly, and asks them again. For one thread."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._cost = 0.0
        self._generation = ""
        self._known: frozenset[Question] = frozenset()

    def are_due(self, snapshot: Snapshot) -> bool:
        """Whether it is time to ask."""
        wait = max(AGAIN, SHARE * self._cost) if snapshot.generation == self._generation else SOON
        return time.monotonic() - self._last >= wait

    def know(self, snapshot: Snapshot) -> bool:
        """Whether the generation has been asked before."""
        return snapshot.generation == self._generation

    def are_answered_by(self, snapshot: Snapshot) -> bool:
        """Whether any title finds its entry, and all that was answered rightly before is again. Raises what a search
        does."""
        began = time.thread_time()
        asked = {question: question.is_answered_by(snapshot) for question in drawn(snapshot)}
        self._cost = time.thread_time() - began
        self._last = time.monotonic()
        titles = [is_right for question, is_right in asked.items() if not question.is_log]
        # One may be missed by nobody's fault, such as a title that two entries bear.
        if len(titles) == TITLES and not any(titles):
            return False
        if self.know(snapshot) and not all(asked.get(question, True) for question in self._known):
            return False
        self._generation = snapshot.generation
        self._known = frozenset(question for question, is_right in asked.items() if is_right)
        return True


def drawn(snapshot: Snapshot) -> Iterator[Question]:
    """A few questions, the same for the same generation and others for another."""
    library = snapshot.library
    chance = random.Random(snapshot.generation)  # noqa: S311 - nothing is secret about them
    for entry_id in chance.sample(library.ids, min(TITLES, len(library.ids))):
        edition = next(iter(library.summary(entry_id).editions.values()))
        if WORD.search(edition.title):
            yield Question(edition.title, is_log=False, lang=edition.lang, entry_id=entry_id)
    for entry_id in chance.sample(sorted(library.sampled), min(1, len(library.sampled))):
        logs = (sample.text for sample in library.samples(entry_id) if len(sample.text) <= LONGEST_LOG)
        for log in [*logs][:1]:
            yield Question(log, is_log=True, lang=Language.EN, entry_id=entry_id)
