"""One judgement of a text, whatever box it came through: what a diagnosis and a search say of it, put together."""

import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from jieda.diagnosis.answers import Confidence, Diagnosis, Match, MatchedLine, MatchReason, Near, Verdict
from jieda.entry import Entry
from jieda.search.answers import Hit, SearchAnswer

LOOKED_AT = 3
"""Hits whose own words are compared with what was asked."""
MOST_NEAR = 2
PROVEN = 1.0
"""A score of search that words alone do not bring: the entry writes a name of the query as it stands."""
SURE = frozenset({Verdict.KNOWN, Verdict.POSSIBLE})
"""Verdicts that name an entry to act by."""
UNEXPLAINED = frozenset({Verdict.NEAR, Verdict.UNKNOWN})
"""Verdicts on something that went wrong and that no entry explains."""


def judged(diagnosis: Diagnosis, answer: SearchAnswer, text: str) -> Diagnosis:
    """What comes of a text of one line that was diagnosed and searched.

    Whoever writes what an entry says of itself means that entry. What went wrong in somebody's own words may be found
    by words that no log has: it is near, and not unknown.
    """
    if (own := _own(answer, text)) and not _is_anothers(diagnosis, own.entry):
        return _with_own(diagnosis, own, text)
    if diagnosis.verdict is Verdict.UNKNOWN and not diagnosis.errors and not answer.weak:
        near = tuple(Near(hit.entry, hit.edition, (), 0.0, ()) for hit in answer.hits[:MOST_NEAR])
        return replace(diagnosis, near=near, verdict=Verdict.NEAR if near else Verdict.UNKNOWN)
    return diagnosis


def is_weak(diagnosis: Diagnosis | None, answer: SearchAnswer) -> bool:
    """Whether nothing fits: what the judgement says of a failure, and the search of anything else."""
    if diagnosis is None or diagnosis.verdict is Verdict.NO_ERROR:
        return answer.weak or answer.is_of_others
    if diagnosis.verdict is Verdict.NEAR and not diagnosis.errors:
        return answer.weak or answer.is_of_others
    return bool(answer.hits) and diagnosis.verdict in UNEXPLAINED


def folded(text: str) -> str:
    """A text by which two that say the same are equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _own(answer: SearchAnswer, text: str) -> Hit | None:
    """The entry that says just this of itself, or that is first because it writes a name as it stands."""
    said, hits = folded(text), answer.hits[:LOOKED_AT]
    own = next((hit for hit in hits if said in map(folded, _names(hit.entry))), None)
    return own or next((hit for hit in hits[:1] if hit.score >= PROVEN), None)


def _names(entry: Entry) -> Iterator[str]:
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)


def _is_anothers(diagnosis: Diagnosis, entry: Entry) -> bool:
    return diagnosis.framework not in {"", entry.framework} and not entry.applies_anywhere


def _with_own(diagnosis: Diagnosis, hit: Hit, text: str) -> Diagnosis:
    if any(match.entry.id == hit.entry.id for match in diagnosis.matches):
        return diagnosis
    line = MatchedLine(1, text, MatchReason.SYMPTOM)
    own = Match(hit.entry, hit.edition, Confidence.POSSIBLE, (line,), 0.0, (), {1: (text,)})
    if diagnosis.verdict is Verdict.KNOWN:
        return replace(diagnosis, matches=(*diagnosis.matches, own))
    return replace(diagnosis, verdict=Verdict.POSSIBLE, matches=(own, *diagnosis.matches), near=(), asks=())
