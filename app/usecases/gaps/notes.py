"""What of an answer is worth noting for those who maintain the entries."""

from collections.abc import Sequence

from app.diagnosis.answers import Confidence, Diagnosis, Match, Verdict
from app.entry import Language
from app.gaps.gap import Outcome
from app.search.answers import SearchAnswer, SearchRequest
from app.usecases.gaps.recorder import MOST_FAILURES, Found, Note, Searched, Unexplained
from app.usecases.gaps.redact import LONGEST_READ

UNEXPLAINED = {Verdict.NEAR: Outcome.NEAR, Verdict.UNKNOWN: Outcome.UNKNOWN}


def of_search(
    asker: bytes, request: SearchRequest, answer: SearchAnswer, diagnosis: Sequence[Match]
) -> Note | None:
    """A find, or a search in vain. What is still being typed is neither, nor is what filters kept from being found."""
    if request.unfinished or not request.text.strip():
        return None
    is_explained = any(match.confidence is not Confidence.POSSIBLE for match in diagnosis)
    if is_explained or (answer.total and not answer.weak):
        return Found(asker)
    if request.filters or request.offset:
        return None
    outcome = Outcome.WEAK if answer.total else Outcome.NOTHING
    return Searched(asker, request.text[:LONGEST_READ], outcome, answer.correction)


def of_diagnosis(asker: bytes, diagnosis: Diagnosis, lang: Language) -> Note | None:
    """A find, or a log that no entry explains. A log without an error asks nothing."""
    if diagnosis.verdict is Verdict.MATCHED:
        return Found(asker)
    if diagnosis.verdict not in UNEXPLAINED:
        return None
    failures = diagnosis.errors[-MOST_FAILURES:]
    message = failures[-1].message if failures else diagnosis.query
    return Unexplained(
        tuple(failure.type for failure in failures if failure.type),
        message[:LONGEST_READ],
        UNEXPLAINED[diagnosis.verdict],
        lang,
    )
