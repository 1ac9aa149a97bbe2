"""Unexplained failures that somebody wants explained: stored redacted under a key that only they have, and diagnosed
again at each visit, so that they get the answer once an entry explains it."""

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
"""Length of a key, too long to be guessed."""
LOOKED_AT = 5
"""Number of hits whose signatures are compared with the stored line."""
TAKEN_OUT = "…"
WORD = re.compile(r"\{[^{}]*\}|[^\W\d]\w*(?:[.-]\w+)*")
"""A placeholder or a word, in a signature or a redacted line."""
NEIGHBORS = re.compile(rf"{TAKEN_OUT}(?:[^\w{{}}]*{TAKEN_OUT})+")
"""Consecutive marks of redacted words, which become one."""


@dataclass(frozen=True, slots=True)
class AwaitedAnswer:
    """A stored failure, and the match that explains it now, if any."""

    asked: Awaited
    match: Match | None


def ask(service: Service, snapshot: Snapshot, diagnosis: Diagnosis, lang: Language) -> str:
    """Store the root failure of an unexplained log; return its key, or an empty text if nothing of it may be stored.

    Raises FeedbackUnusable. Run it in a thread.
    """
    note = note_of_diagnosis(NOBODY, diagnosis, lang)
    gap = gap_of(note, Redactor(snapshot)) if isinstance(note, Unexplained) else None
    if gap is None or not (gap.kind or gap.text):
        return ""
    known = diagnosis.framework in snapshot.library.taxonomy.framework
    framework = diagnosis.framework if known else ""
    key = secrets.token_urlsafe(BYTES)
    store = FeedbackStore(service.knowledge.data)
    store.add_awaited(_hash_of(key), Awaited(today().isoformat(), lang, framework, gap.kind, gap.text))
    return key


def answer_to(service: Service, snapshot: Snapshot, key: str, lang: Language) -> AwaitedAnswer | None:
    """Return the failure stored under a key, with its answer in a language; None if there is none.

    Raises FeedbackUnusable. Run it in a thread.
    """
    found = FeedbackStore(service.knowledge.data).awaited(_hash_of(key))
    if not found:
        return None
    return AwaitedAnswer(found[0], find_explanation(snapshot, found[0]._replace(lang=lang)))


def withdraw(service: Service, key: str) -> None:
    """Delete the failure stored under a key. Raises FeedbackUnusable. Run it in a thread."""
    FeedbackStore(service.knowledge.data).delete_awaited(_hash_of(key))


def find_explanation(snapshot: Snapshot, asked: Awaited) -> Match | None:
    """Return the match of a redacted failure, diagnosed as its log would be; otherwise, as possible, the only entry
    with a signature that equals the line except for its redacted words."""
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
    """Whether a redacted line matches a signature whose other words are exactly where words were redacted. The rest
    must have twice the weight that makes a line specific."""
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
    """Return the log line of a redacted failure, without the name of a failure family, which no log contains."""
    first = kind.partition(" ")[0]
    families = {family.name for family in snapshot.library.log_knowledge.failures.families}
    return ": ".join(filter(None, ("" if first in families and text else first, text)))


def _hash_of(key: str) -> bytes:
    """Return the hash that is stored instead of a key, so that the file of gaps does not give access to links."""
    return sha256(key.encode()).digest()
