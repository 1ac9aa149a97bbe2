"""Records gaps and reads of entries without delaying requests: these put notes into a bounded queue, and one thread per
process redacts, waits, counts and writes.

A note holds what was typed, in memory only, until it is processed; only redacted text is stored afterwards.
"""

import logging
import queue
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.entry import Language
from jieda.errors import frames_of
from jieda.feedback import FeedbackStore, FeedbackUnusable, Gap, GapOutcome, GapSource
from jieda.metrics import Metrics
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.gaps.redact import LONGEST_READ, Redactor

log = logging.getLogger(__name__)

NOBODY = b""
"""An unidentified asker, such as an agent: their later requests are not related to their questions."""
MOST_NOTES = 1000
MOST_KEYS = 5000
"""Maximum of different gaps and entries counted in memory while they cannot be written."""
SECONDS_BETWEEN_WRITES = 2.0
SECONDS_BETWEEN_LOOKS = 600.0
"""Seconds between two removals of old or excess data; the first one is at the first write."""
SECONDS_TO_END = 5.0
MOST_FAILURES = 3
SECONDS_TO_REFINE = 120.0
"""Time in which somebody may rephrase a question, or open an entry after all."""
MOST_WAITING = 5000
"""Maximum of questions held; beyond it, the oldest counts as a gap."""
Question = tuple[GapSource, str, str]
"""Source, type and text of a gap."""
UNEXPLAINED = {Verdict.NEAR: GapOutcome.NEAR, Verdict.UNKNOWN: GapOutcome.UNKNOWN}


class Searched(NamedTuple):
    """A search that found nothing, or nothing that fits."""

    asker: bytes
    text: str
    outcome: GapOutcome


class AnswerFound(NamedTuple):
    """Somebody found an answer."""

    asker: bytes


class EntryRead(NamedTuple):
    """Somebody read an entry, which may answer an earlier question of theirs."""

    asker: bytes
    entry: str


class Unexplained(NamedTuple):
    """A log that no entry explains: the types of its first failures that are not wrappers, the root before its
    consequences, and the message of the root, or else the search query for the log."""

    asker: bytes
    types: tuple[str, ...]
    message: str
    outcome: GapOutcome
    lang: Language


Note = Searched | AnswerFound | EntryRead | Unexplained


def note_of_search(
    asker: bytes, request: SearchRequest, answer: SearchAnswer, diagnosis: Diagnosis | None
) -> Note | None:
    """Return the note of a search: an answer or a gap. None for unfinished queries and for gaps under filters."""
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
    """Return the note of a diagnosis: an answer or an unexplained log. None for a log without an error."""
    if diagnosis.verdict is Verdict.KNOWN:
        return AnswerFound(asker)
    if diagnosis.verdict not in UNEXPLAINED:
        return None
    failures = diagnosis.roots[:MOST_FAILURES]
    message = failures[0].message if failures else diagnosis.query
    return Unexplained(
        asker,
        tuple(failure.type for failure in failures if failure.type),
        message[:LONGEST_READ],
        UNEXPLAINED[diagnosis.verdict],
        lang,
    )


def gap_of(note: Unexplained, redactor: Redactor) -> Gap:
    """Return the redacted gap of an unexplained log."""
    types = dict.fromkeys(map(redactor.failure, note.types))
    return Gap(GapSource.LOG, " ".join(types), redactor.message(note.message), note.outcome, note.lang)


class Waiting:
    """Questions without an answer, held for a while: if the asker tries again and finds something, they were no gap.

    In the memory of one process, for one thread; times are seconds of any one clock. The asker is a keyed hash whose
    key is made at start and never written.
    """

    def __init__(self, seconds: float = SECONDS_TO_REFINE, most: int = MOST_WAITING) -> None:
        self._seconds = seconds
        self._most = most
        self._since: OrderedDict[tuple[bytes, Question], tuple[Gap, float]] = OrderedDict()
        self._of: defaultdict[bytes, set[Question]] = defaultdict(set)

    def add(self, asker: bytes, gap: Gap, now: float) -> None:
        """Hold a gap. Repetitions by the same asker count once, whatever the language of the page."""
        question = gap[:3]
        if question not in self._of[asker]:
            self._of[asker].add(question)
            self._since[asker, question] = gap, now

    def found(self, asker: bytes) -> None:
        for question in self._of.pop(asker, ()):
            del self._since[asker, question]

    def due(self, now: float) -> Iterator[Gap]:
        """Remove and yield gaps that have waited long enough, and the oldest if there are too many."""
        while self._since:
            (asker, question), (gap, since) = next(iter(self._since.items()))
            if now - since < self._seconds and len(self._since) <= self._most:
                return
            del self._since[asker, question]
            self._of[asker].discard(question)
            if not self._of[asker]:
                del self._of[asker]
            yield gap


class Recorder:
    """Writes notes to the feedback store of the data directory once it is started."""

    def __init__(self, settings: Settings, knowledge: Knowledge, metrics: Metrics) -> None:
        self._days, self._megabytes = settings.gaps_days, settings.gaps_megabytes
        self._knowledge = knowledge
        self._outcomes = metrics.gaps
        self._notes: queue.Queue[Note] = queue.Queue(MOST_NOTES)
        self._waiting = Waiting()
        self._asked: Counter[Gap] = Counter()
        self._reads: Counter[str] = Counter()
        self._redactor: Redactor | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jieda-gaps", daemon=True)
        self._is_kept = True
        self._look_at = 0.0

    def start(self) -> None:
        """Start to record; earlier notes are dropped."""
        self._thread.start()

    def stop(self) -> None:
        """Write all that is left, and stop."""
        if self._thread.is_alive():
            self._stop.set()
            self._thread.join(SECONDS_TO_END)

    def note(self, note: Note) -> None:
        """Queue a note, in some microseconds. If the queue is full, it is dropped and counted."""
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
        self._asked.update(self._waiting.due(float("inf")))
        self._safely(self._write)

    def _safely(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - the next note must be processed, whatever the error
            # Not the message: it may quote what was asked.
            log.error("a gap could not be recorded\n%s", frames_of(error))  # noqa: TRY400 - likewise

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
            case Searched(asker, query, outcome):
                text = self._current_redactor().search(query)
                lang = Language.of(text)
                self._keep(asker, Gap(GapSource.SEARCH, "", text, outcome, lang))
            case Unexplained():
                self._keep(note.asker, gap_of(note, self._current_redactor()))

    def _keep(self, asker: bytes, gap: Gap) -> None:
        if not gap.kind and not gap.text:
            self._outcomes.labels("unreadable").inc()
        elif asker == NOBODY:
            self._asked[gap] += 1
        else:
            self._waiting.add(asker, gap, time.monotonic())

    def _current_redactor(self) -> Redactor:
        snapshot = self._knowledge.snapshot
        if self._redactor is None or self._redactor.generation != snapshot.generation:
            self._redactor = Redactor(snapshot)
        return self._redactor

    def _write(self, *, mend: bool = True) -> None:
        """Write all counts. `mend`: if the file was damaged, try once more with a new one."""
        self._asked.update(self._waiting.due(time.monotonic()))
        store = FeedbackStore(self._knowledge.data)
        total = self._asked.total()
        try:
            if time.monotonic() >= self._look_at:
                store.prune(self._days, self._megabytes)
                self._look_at = time.monotonic() + SECONDS_BETWEEN_LOOKS
            if self._asked or self._reads:
                store.add_counts(self._asked, self._reads, self._megabytes)
        except FeedbackUnusable as error:
            if error.damaged and mend:
                self._write(mend=False)
            else:
                self._not_kept(error)
            return
        if not self._is_kept:
            log.warning("unanswered questions are recorded again")
        self._is_kept = True
        self._outcomes.labels("kept").inc(total)

    def _not_kept(self, error: FeedbackUnusable) -> None:
        """Log the failure once. Counts are kept for another try while there are not too many."""
        if self._is_kept:
            log.warning("unanswered questions cannot be recorded: %s", error)
        self._is_kept = False
        if len(self._asked) + len(self._reads) > MOST_KEYS:
            self._outcomes.labels("lost").inc(self._asked.total())
            self._asked, self._reads = Counter(), Counter()
