"""One judgement of a text, whatever box it came through: what a diagnosis and a search say of it, put together."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from jieda.diagnosis.answers import Confidence, Diagnosis, Match, MatchedLine, MatchReason, Near, Verdict
from jieda.entry import Entry
from jieda.search.answers import MOST_WEAK, Hit, SearchAnswer, SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.secrets import without_secrets

LOOKED_AT = 3
"""Hits whose own words are compared with what was asked."""
LONGEST_LINE = 2000
"""Characters of a line that is searched for as well."""
PROVEN = 1.0
"""A score of search that words alone do not bring: the entry writes a name of the query as it stands. Entries less than
that apart are equally proven."""


def judge(
    snapshot: Snapshot,
    asked: SearchRequest,
    told: str = "",
    *,
    explain: Callable[[str], Diagnosis] | None = None,
    answer: SearchAnswer | None = None,
) -> Diagnosis:
    """What a text comes to, of one line beside what a search finds, so that the same line has one answer everywhere.

    `told`, the framework that it is said to be of, and those of the request answer where one would be asked for;
    `explain` diagnoses it as a framework's, where that is not done here; `answer` is that of a search for the request,
    where there is one already.
    """
    explain = explain or partial(snapshot.diagnoser.diagnose, asked.text, asked.lang)
    found = explain(told)
    if usual := next((each for each in asked.frameworks if each in found.asks), ""):
        found = explain(usual)
    line = asked.text.strip()
    if not line or "\n" in line:
        answer = None
    elif answer is None and len(line) <= LONGEST_LINE and not snapshot.searcher.is_remote:
        answer = snapshot.searcher.search(replace(asked, text=line, limit=LOOKED_AT))
    proven = _proven(found, answer, line) if answer else ()
    if proven:
        found = _with_own(found, proven, line)
    elif found.verdict is Verdict.POSSIBLE and not found.asks and _is_doubted(snapshot, found, asked):
        near = tuple(Near(each.entry, each.edition, (), each.score, each.evidence) for each in found.matches)
        found = replace(found, matches=(), near=near[:MOST_WEAK], verdict=Verdict.NEAR)
    elif found.verdict is Verdict.UNKNOWN and not found.errors and answer and not answer.weak and answer.hits:
        # What went wrong in somebody's own words may be found by words that no log has.
        near = tuple(Near(hit.entry, hit.edition, (), 0.0, ()) for hit in answer.hits[:MOST_WEAK])
        found = replace(found, near=near, verdict=Verdict.NEAR)
    return without_secrets(found)


def searched(snapshot: Snapshot, request: SearchRequest) -> tuple[Diagnosis, SearchAnswer]:
    """What a text comes to, and what a search says beside that. Raises what `Searcher.search` does."""
    answer = snapshot.searcher.search(request)
    found = judge(snapshot, request, answer=answer)
    return found, under_verdict(answer, found)


def under_verdict(answer: SearchAnswer, diagnosis: Diagnosis | None) -> SearchAnswer:
    """The answer of a search that says nothing else than its judgement: whether anything fits, and which words nobody
    has, which does not matter beside an entry that explains the text."""
    weak = answer.weak or answer.is_of_others
    verdict = diagnosis.verdict if diagnosis else Verdict.NO_ERROR
    if diagnosis and verdict is not Verdict.NO_ERROR and (verdict is not Verdict.NEAR or diagnosis.errors):
        weak = bool(answer.hits) and verdict in {Verdict.NEAR, Verdict.UNKNOWN}
    explained = diagnosis is not None and diagnosis.printed and bool(diagnosis.matches)
    return replace(answer, weak=weak, absent_words=() if explained else answer.absent_words)


def folded(text: str) -> str:
    """A text by which two that say the same are equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _is_doubted(snapshot: Snapshot, found: Diagnosis, asked: SearchRequest) -> bool:
    """Whether a search for what was understood calls its best hit weak: then what speaks for the entries are words or
    a line that others print as well, in a text about something else."""
    query = SearchRequest(found.query, asked.lang, limit=1)
    return bool(found.query) and not snapshot.searcher.is_remote and snapshot.searcher.search(query).weak


def _proven(diagnosis: Diagnosis, answer: SearchAnswer, text: str) -> Sequence[Hit]:
    """The entry that says just this of itself, or that is first because it writes a name as it stands; or those of
    several frameworks that do so alike."""
    said, hits = folded(text), answer.hits[:LOOKED_AT]
    own = [hit for hit in hits if said in map(folded, _names(hit.entry))][:1]
    found = own or [hit for hit in hits if hit.score >= max(PROVEN, hits[0].score - PROVEN)]
    if found and diagnosis.framework:
        first = found[0].entry
        found = found[:1] if first.framework == diagnosis.framework or first.applies_anywhere else []
    tied = len({hit.entry.framework for hit in found}) > 1
    # What was raised has a name as well, which others raise: it tells where one entry alone has it and it is rare.
    said_more = any(each.message for each in diagnosis.errors)
    tells = not diagnosis.errors or (said_more if tied else diagnosis.verdict is not Verdict.UNKNOWN)
    return found if own or (tells and (tied or len(found) == 1)) else ()


def _names(entry: Entry) -> Iterator[str]:
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)


def _with_own(diagnosis: Diagnosis, hits: Sequence[Hit], text: str) -> Diagnosis:
    if any(match.entry.id == hits[0].entry.id for match in diagnosis.matches):
        return diagnosis
    line, sure = MatchedLine(1, text, MatchReason.SYMPTOM), Confidence.POSSIBLE
    own = tuple(Match(hit.entry, hit.edition, sure, (line,), 0.0, (), {1: (text,)}) for hit in hits)
    if diagnosis.verdict is Verdict.KNOWN:
        return replace(diagnosis, matches=(*diagnosis.matches, own[0]))
    asks = tuple(dict.fromkeys(hit.entry.framework for hit in hits)) if len(hits) > 1 else ()
    named = {hit.entry.id for hit in hits}
    rest = (match for match in diagnosis.matches if match.entry.id not in named)
    return replace(diagnosis, verdict=Verdict.POSSIBLE, matches=(*own, *rest), near=(), asks=asks)
