"""A failure that somebody asks to have explained: kept redacted, under a key that only they have, and diagnosed anew
whenever they come back, so that whatever explains it is their answer."""

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

from jieda.diagnosis.answers import Confidence, Diagnosis, Match, Verdict
from jieda.entry import Language, Signature
from jieda.feedback import Awaited, FeedbackStore, today
from jieda.search.answers import SearchRequest
from jieda.signature import SPECIFIC_CHARACTERS, compile_signature_line
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import NOBODY, Unexplained, gap_of, note_of_diagnosis
from jieda.usecases.gaps.redact import PLACEHOLDER, Redactor, as_log, as_quoted, is_always_kept
from jieda.usecases.judge import judge
from jieda.usecases.service import Service

BYTES = 16
"""Of a key: nobody guesses it."""
LOOKED_AT = 5
"""Entries whose signatures are compared with what was kept."""
TAKEN_OUT = "…"
WORD = re.compile(r"\{[^{}]*\}|[^\W\d]\w*(?:[.-]\w+)*")
"""In a signature or a redacted line, a placeholder or a word."""
NEIGHBORS = re.compile(rf"{TAKEN_OUT}(?:[^\w{{}}]*{TAKEN_OUT})+")
"""Words that were taken out in a row leave one mark."""


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
    """What explains a redacted failure as its log would have been explained; or, as possible, the one entry whose
    signature it is if the words that were taken out are those that it has not."""
    line = line_of(snapshot, asked.kind, asked.text)
    found = judge(snapshot, SearchRequest(as_log(line), asked.lang), asked.framework)
    if found.verdict is Verdict.KNOWN and not found.asks:
        return found.matches[0]
    if snapshot.searcher.is_remote:
        return None
    hits = snapshot.searcher.search(SearchRequest(as_quoted(line), asked.lang, limit=LOOKED_AT)).hits
    entries = [hit.entry for hit in hits if any(_fits(each, line) for each in hit.entry.signatures)]
    if len(entries) != 1 or asked.framework not in {"", entries[0].framework}:
        return None
    return Match(entries[0], entries[0].edition(asked.lang), Confidence.POSSIBLE, (), 0.0, (), {})


def _fits(signature: Signature, line: str) -> bool:
    """Whether a redacted line is that of a signature, words of which stand exactly where words were taken out. What
    stayed has to be twice as much as makes a line specific."""
    if len(signature.all) > 1 or signature.shapes:
        return False
    said = {word.casefold() for word in WORD.findall(PLACEHOLDER.sub(" ", line))}

    def as_kept(word: re.Match[str]) -> str:
        folded = word[0].casefold()
        return word[0] if folded[0] == "{" or folded in said or is_always_kept(folded) else TAKEN_OUT

    redacted = NEIGHBORS.sub(TAKEN_OUT, WORD.sub(as_kept, signature.all[0]))
    wanted = compile_signature_line(redacted)
    log = as_log(line.replace("{word}", TAKEN_OUT))
    return wanted.weight >= 2 * SPECIFIC_CHARACTERS and wanted.matches(log)


def line_of(snapshot: Snapshot, kind: str, text: str) -> str:
    """A redacted failure as it stood in the log: the name of a family of failures stands in none."""
    first = kind.partition(" ")[0]
    families = {family.name for family in snapshot.library.log_knowledge.failures.families}
    return ": ".join(filter(None, ("" if first in families and text else first, text)))


def _kept_as(key: str) -> bytes:
    """What is kept of a key: whoever reads the file of gaps opens no link by it."""
    return sha256(key.encode()).digest()
