"""Combines diagnosis and search into one verdict on a text, the same wherever it was entered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from jieda.analysis.words import is_one_word
from jieda.diagnosis.answers import Confidence, Diagnosis, Match, MatchedLine, MatchReason, Near, Verdict
from jieda.entry import Entry, fold_name
from jieda.search.answers import MOST_WEAK, Hit, SearchAnswer, SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.secrets import without_secrets

LOOKED_AT = 3
"""Number of hits whose titles, aliases and symptoms are compared with the text."""
LONGEST_LINE = 2000
"""Maximum length of a line, in characters, that is also searched for."""
PROVEN = 1.0
"""A search score that words alone do not reach: the entry contains a name of the query exactly as written. Entries
whose scores differ by less are equally proven."""


def judge(
    snapshot: Snapshot,
    asked: SearchRequest,
    framework: str = "",
    *,
    explain: Callable[[str], Diagnosis] | None = None,
    answer: SearchAnswer | None = None,
) -> Diagnosis:
    """Diagnose a text; a single line is also searched for, so that the same line has the same answer everywhere.

    `framework`: the one that the text is said to be of; the request's frameworks are used if the diagnosis would ask
    for one. `explain` replaces the snapshot's diagnoser; `answer`: a search answer for the request, if there is one.
    """
    explain = explain or partial(snapshot.diagnoser.diagnose, asked.text, asked.lang)
    found = explain(framework)
    if usual := next((each for each in asked.frameworks if each in found.asks), ""):
        found = explain(usual)
    line = asked.text.strip()
    if not line or "\n" in line:
        answer = None
    elif answer is None and len(line) <= LONGEST_LINE and not snapshot.searcher.is_remote:
        answer = snapshot.searcher.search(replace(asked, text=line, limit=LOOKED_AT))
    near: Sequence[Near] = ()
    if answer and (proven := _proven(found, answer, line)):
        found = _with_proven(found, proven, line, asked.text.partition(line)[0].count("\n") + 1)
    elif found.verdict is Verdict.POSSIBLE and not found.asks and _is_doubted(snapshot, found, asked, answer):
        near = [Near(each.entry, each.edition, (), each.score, each.evidence) for each in found.matches]
    elif found.verdict is Verdict.UNKNOWN and answer and not answer.weak and not _has_message(found):
        # A problem in somebody's own words may be found by words that no log contains; an exception's name alone is
        # no more than a query.
        near = [Near(hit.entry, hit.edition, (), 0.0, ()) for hit in answer.hits]
    if near:
        found = replace(found, matches=(), near=tuple(near[:MOST_WEAK]), verdict=Verdict.NEAR)
    return without_secrets(found)


def search_and_judge(snapshot: Snapshot, request: SearchRequest) -> tuple[Diagnosis, SearchAnswer]:
    """Return the diagnosis of a text and its search answer, made consistent. Raises what `Searcher.search` raises."""
    answer = snapshot.searcher.search(request)
    found = judge(snapshot, request, answer=answer)
    return found, under_verdict(answer, found)


def under_verdict(answer: SearchAnswer, diagnosis: Diagnosis | None) -> SearchAnswer:
    """Return the search answer, made consistent with the diagnosis: whether it is weak, and which words no entry has,
    which are left out if an entry explains the text."""
    weak = answer.weak or answer.is_of_others
    if diagnosis is None:
        return replace(answer, weak=weak)
    if diagnosis.verdict in {Verdict.KNOWN, Verdict.POSSIBLE}:
        weak = False
    elif diagnosis.verdict is Verdict.UNKNOWN or (
        diagnosis.verdict is Verdict.NEAR and _has_message(diagnosis)
    ):
        weak = bool(answer.hits)
    is_explained = diagnosis.is_program_output and bool(diagnosis.matches)
    return replace(answer, weak=weak, absent_words=() if is_explained else answer.absent_words)


def _is_doubted(
    snapshot: Snapshot, found: Diagnosis, asked: SearchRequest, answer: SearchAnswer | None
) -> bool:
    """Whether a search for the query of the diagnosis is weak: then the matches rest only on words or a line that other
    programs print too, in a text about something else. `answer` is that of the request, often the same search."""
    if not found.query or snapshot.searcher.is_remote:
        return False
    query = SearchRequest(found.query, asked.lang, limit=1)
    is_same = answer is not None and query == replace(asked, text=asked.text.strip(), limit=1)
    return (answer if answer and is_same else snapshot.searcher.search(query)).weak


def _proven(diagnosis: Diagnosis, answer: SearchAnswer, text: str) -> Sequence[Hit]:
    """Return the entry that has exactly this text as title, alias or symptom, or else those that rank first because
    they contain a name exactly as written, if they are proof enough."""
    said, hits = fold_name(text), answer.hits[:LOOKED_AT]
    own = [hit for hit in hits if said in map(fold_name, _names(hit.entry))][:1]
    found = own or [hit for hit in hits if hit.score >= max(PROVEN, hits[0].score - PROVEN)]
    if found and diagnosis.framework:
        first = found[0].entry
        found = found[:1] if first.framework == diagnosis.framework or first.applies_anywhere else []
    if own or is_one_word(text):
        return own and found
    is_tied = len({hit.entry.framework for hit in found}) > 1
    # An exception's name proves an entry only if no other entry has it and it is rare: many programs raise it.
    is_rare = _has_message(diagnosis) or not (is_tied or diagnosis.verdict is Verdict.UNKNOWN)
    return found if is_rare or not diagnosis.errors else ()


def _has_message(diagnosis: Diagnosis) -> bool:
    """Whether an error of the text says more than the name of its exception."""
    return any(each.message for each in diagnosis.errors)


def _names(entry: Entry) -> Iterator[str]:
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)


def _with_proven(diagnosis: Diagnosis, hits: Sequence[Hit], text: str, number: int) -> Diagnosis:
    if any(match.entry.id == hits[0].entry.id for match in diagnosis.matches):
        return diagnosis
    line, sure = MatchedLine(number, text, MatchReason.SYMPTOM), Confidence.POSSIBLE
    own = tuple(Match(hit.entry, hit.edition, sure, (line,), 0.0, (), {number: (text,)}) for hit in hits)
    if diagnosis.verdict is Verdict.KNOWN:
        return replace(diagnosis, matches=(*diagnosis.matches, own[0]))
    frameworks = tuple(dict.fromkeys(hit.entry.framework for hit in hits))
    asks = frameworks if len(frameworks) > 1 else ()
    named = {hit.entry.id for hit in hits}
    rest = (match for match in diagnosis.matches if match.entry.id not in named)
    return replace(diagnosis, verdict=Verdict.POSSIBLE, matches=(*own, *rest), near=(), asks=asks)
