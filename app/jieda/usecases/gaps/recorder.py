"""Takes down what was asked in vain and what was read, off the way of the requests: they put a note into a bounded
queue, and one thread of each process redacts, waits, counts and writes.

A note holds what was typed for the moment until its turn, in memory only; all that is kept after it is redacted.
"""

import logging
import queue
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.entry import Language
from jieda.errors import frames_of
from jieda.feedback import FeedbackStore, FeedbackUnusable, Gap, GapOutcome, GapSource
from jieda.han import has_han
from jieda.metrics import Metrics
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.redact import LONGEST_READ, Redactor

log = logging.getLogger(__name__)

NOBODY = b""
"""An asker of whom nothing is known, such as an agent: nothing that they do later belongs to what they asked."""
MOST_NOTES = 1000
MOST_KEYS = 5000
"""Different gaps and entries that are counted in memory where the disk does not take them."""
SECONDS_BETWEEN_WRITES = 2.0
SECONDS_BETWEEN_LOOKS = 600.0
"""After which what is too old or too much is forgotten; and once at the first write."""
SECONDS_TO_END = 5.0
MOST_FAILURES = 3
SECONDS_TO_REFINE = 120.0
"""In which somebody rephrases a question, or opens an entry after all."""
MOST_WAITING = 5000
"""Searches that are held; one more, and the oldest counts as asked in vain."""
UNEXPLAINED = {Verdict.NEAR: GapOutcome.NEAR, Verdict.UNKNOWN: GapOutcome.UNKNOWN}


class Searched(NamedTuple):
    """A search that found nothing, or nothing that fits."""

    asker: bytes
    text: str
    outcome: GapOutcome


class AnswerFound(NamedTuple):
    """Somebody found something."""

    asker: bytes


class EntryRead(NamedTuple):
    """Somebody read an entry."""

    asker: bytes
    entry: str


class Unexplained(NamedTuple):
    """A log that no entry explains: the types of its first failures that wrap no others, the root before its
    consequences, and the message of the root, or what a search for the log would be."""

    types: tuple[str, ...]
    message: str
    outcome: GapOutcome
    lang: Language


Note = Searched | AnswerFound | EntryRead | Unexplained


def note_of_search(
    asker: bytes, request: SearchRequest, answer: SearchAnswer, diagnosis: Diagnosis | None
) -> Note | None:
    """A find, or a search in vain. What is still being typed is neither, nor is what filters kept from being found."""
    if request.unfinished or not request.text.strip():
        return None
    is_explained = diagnosis is not None and diagnosis.verdict is Verdict.KNOWN
    if is_explained or (answer.total and not answer.weak):
        return AnswerFound(asker)
    if request.filters or request.offset:
        return None
    outcome = GapOutcome.WEAK if answer.total else GapOutcome.NOTHING
    return Searched(asker, request.text[:LONGEST_READ], outcome)


def note_of_diagnosis(asker: bytes, diagnosis: Diagnosis, lang: Language) -> Note | None:
    """A find, or a log that no entry explains. A log without an error asks nothing."""
    if diagnosis.verdict is Verdict.KNOWN:
        return AnswerFound(asker)
    if diagnosis.verdict not in UNEXPLAINED:
        return None
    failures = diagnosis.roots[:MOST_FAILURES]
    message = failures[0].message if failures else diagnosis.query
    return Unexplained(
        tuple(failure.type for failure in failures if failure.type),
        message[:LONGEST_READ],
        UNEXPLAINED[diagnosis.verdict],
        lang,
    )


def gap_of(note: Unexplained, redactor: Redactor) -> Gap:
    """What may be kept of a log."""
    types = dict.fromkeys(map(redactor.failure, note.types))
    return Gap(GapSource.LOG, " ".join(types), redactor.message(note.message), note.outcome, note.lang)


class Waiting:
    """Searches that ended in vain, held for a while: whoever asks again and finds something had no gap to report.

    In the memory of one process, for one thread; times are seconds of any one clock. Who asked is a keyed hash whose
    key is made at start and written nowhere.
    """

    def __init__(self, seconds: float = SECONDS_TO_REFINE, most: int = MOST_WAITING) -> None:
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


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is kept for how long."""

    days: int
    megabytes: int
    refined_within: float = SECONDS_TO_REFINE


class Recorder:
    """Writes into the file of a directory once it is started. `directory` and `snapshot` are asked for each time: both
    may change."""

    def __init__(
        self,
        keeping: Keeping,
        directory: Callable[[], Path],
        snapshot: Callable[[], Snapshot],
        metrics: Metrics,
    ) -> None:
        self._keeping = keeping
        self._directory = directory
        self._snapshot = snapshot
        self._outcomes = metrics.gaps
        self._notes: queue.Queue[Note] = queue.Queue(MOST_NOTES)
        self._waiting = Waiting(keeping.refined_within)
        self._asked: Counter[Gap] = Counter()
        self._reads: Counter[str] = Counter()
        self._redactor: Redactor | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jieda-gaps", daemon=True)
        self._is_kept = True
        self._look_at = 0.0

    def start(self) -> None:
        """Begins to write. Before that nothing is taken down."""
        self._thread.start()

    def stop(self) -> None:
        """Writes what there is, and ends."""
        if self._thread.is_alive():
            self._stop.set()
            self._thread.join(SECONDS_TO_END)

    def note(self, note: Note) -> None:
        """Takes something down: some microseconds. What finds the queue full is dropped and counted."""
        if not self._thread.is_alive():
            return
        try:
            self._notes.put_nowait(note)
        except queue.Full:
            self._outcomes.labels("dropped").inc()

    def _run(self) -> None:
        write_at = time.monotonic() + SECONDS_BETWEEN_WRITES
        while not self._stop.is_set():
            self._safely(self._take_one)
            if time.monotonic() >= write_at:
                self._safely(self._write)
                write_at = time.monotonic() + SECONDS_BETWEEN_WRITES
        while not self._notes.empty():
            self._safely(self._take_one)
        self._asked.update(self._waiting.all())
        self._safely(self._write)

    def _safely(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next note is taken
            # Not the message: it may quote what was asked.
            log.error("a gap could not be taken down\n%s", frames_of(error))  # noqa: TRY400 - likewise

    def _take_one(self) -> None:
        try:
            note = self._notes.get(timeout=min(0.5, SECONDS_BETWEEN_WRITES))
        except queue.Empty:
            return
        match note:
            case AnswerFound(asker):
                self._waiting.found(asker)
            case EntryRead(asker, entry):
                self._waiting.found(asker)
                self._reads[entry] += 1
            case Searched():
                self._search(note)
            case Unexplained():
                self._log(note)

    def _search(self, note: Searched) -> None:
        snapshot = self._snapshot()
        text = self._redacting(snapshot).search(note.text)
        lang = Language.ZH if has_han(text) else Language.EN
        self._keep(note.asker, Gap(GapSource.SEARCH, "", text, note.outcome, lang))

    def _log(self, note: Unexplained) -> None:
        self._keep(NOBODY, gap_of(note, self._redacting(self._snapshot())))

    def _keep(self, asker: bytes, gap: Gap) -> None:
        if not gap.kind and not gap.text:
            self._outcomes.labels("unreadable").inc()
        elif asker == NOBODY:
            self._asked[gap] += 1
        else:
            self._waiting.add(asker, gap, time.monotonic())

    def _redacting(self, snapshot: Snapshot) -> Redactor:
        if self._redactor is None or self._redactor.generation != snapshot.generation:
            self._redactor = Redactor(snapshot)
        return self._redactor

    def _write(self, *, mend: bool = True) -> None:
        """`mend`: a damaged file is given up, and this is tried once more with a new one."""
        self._asked.update(self._waiting.due(time.monotonic()))
        keeping, store = self._keeping, FeedbackStore(self._directory())
        asked, reads = self._asked, self._reads
        try:
            if time.monotonic() >= self._look_at:
                store.keep(keeping.days, keeping.megabytes)
                self._look_at = time.monotonic() + SECONDS_BETWEEN_LOOKS
            if asked or reads:
                store.add(asked, reads, keeping.megabytes)
        except FeedbackUnusable as error:
            if error.damaged and mend:
                self._write(mend=False)
            else:
                self._not_kept(error)
            return
        if not self._is_kept:
            log.warning("what is asked in vain is kept again")
        self._is_kept = True
        if asked:
            self._outcomes.labels("kept").inc(asked.total())
        self._asked, self._reads = Counter(), Counter()

    def _not_kept(self, error: FeedbackUnusable) -> None:
        """Says so once. What was counted is tried again later, as long as it is little."""
        if self._is_kept:
            log.warning("what is asked in vain cannot be kept: %s", error)
        self._is_kept = False
        if len(self._asked) + len(self._reads) > MOST_KEYS:
            self._outcomes.labels("lost").inc(self._asked.total())
            self._asked, self._reads = Counter(), Counter()
