"""A failure that somebody asks to have explained: kept redacted, under a key that only they have, and diagnosed anew
whenever they come back, so that whatever explains it is their answer."""

import secrets
from dataclasses import dataclass
from hashlib import sha256

from jieda.diagnosis.answers import Diagnosis, Match, Verdict
from jieda.entry import Language
from jieda.feedback import Awaited, FeedbackStore, today
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import NOBODY, Unexplained, gap_of, note_of_diagnosis
from jieda.usecases.gaps.redact import Redactor, as_log
from jieda.usecases.judge import judge
from jieda.usecases.service import Service

BYTES = 16
"""Of a key: nobody guesses it."""


@dataclass(frozen=True, slots=True)
class AwaitedAnswer:
    """What was asked, and what explains it now, if anything does."""

    asked: Awaited
    match: Match | None


def ask(service: Service, snapshot: Snapshot, diagnosis: Diagnosis, lang: Language) -> str:
    """Keeps the root failure of a log that no entry explains; its key, or nothing where nothing of it may be kept.

    Raises FeedbackUnusable. For a thread.
    """
    note = note_of_diagnosis(NOBODY, diagnosis, lang)
    gap = gap_of(note, Redactor(snapshot)) if isinstance(note, Unexplained) else None
    if gap is None or not (gap.kind or gap.text):
        return ""
    known = diagnosis.framework in snapshot.library.taxonomy.framework
    framework = diagnosis.framework if known else ""
    key = secrets.token_urlsafe(BYTES)
    store = FeedbackStore(service.knowledge.data)
    store.wait(_kept_as(key), Awaited(today().isoformat(), lang, framework, gap.kind, gap.text))
    return key


def answer_to(service: Service, snapshot: Snapshot, key: str, lang: Language) -> AwaitedAnswer | None:
    """What is kept under a key, with its answer in a language; None where nothing is.

    Raises FeedbackUnusable. For a thread.
    """
    found = FeedbackStore(service.knowledge.data).awaited(_kept_as(key))
    return AwaitedAnswer(found[0], explained(snapshot, found[0]._replace(lang=lang))) if found else None


def withdraw(service: Service, key: str) -> None:
    """Forgets what is kept under a key. Raises FeedbackUnusable. For a thread."""
    FeedbackStore(service.knowledge.data).withdraw(_kept_as(key))


def explained(snapshot: Snapshot, asked: Awaited) -> Match | None:
    """What explains a redacted failure as its log would have been explained."""
    log = as_log(line_of(snapshot, asked.kind, asked.text))
    found = judge(snapshot, SearchRequest(log, asked.lang), asked.framework)
    return found.matches[0] if found.verdict is Verdict.KNOWN and not found.asks else None


def line_of(snapshot: Snapshot, kind: str, text: str) -> str:
    """A redacted failure as it stood in the log: the name of a family of failures stands in none."""
    first = kind.partition(" ")[0]
    families = {family.name for family in snapshot.library.log_knowledge.failures.families}
    return ": ".join(filter(None, ("" if first in families and text else first, text)))


def _kept_as(key: str) -> bytes:
    """What is kept of a key: whoever reads the file of gaps opens no link by it."""
    return sha256(key.encode()).digest()
