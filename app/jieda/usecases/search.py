"""Search and completion for a visitor."""

from dataclasses import dataclass, replace
from html import escape
from itertools import chain, islice

from jieda.analysis.words import within
from jieda.content.library import Library
from jieda.diagnosis.answers import Diagnosis
from jieda.entry import Entry, Language
from jieda.errors import ClusterUnavailable
from jieda.search.answers import Completion, CompletionType, FacetCount, Hit, SearchAnswer, SearchRequest
from jieda.search.snippet import opening
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, Filters
from jieda.usecases.gaps.recorder import NOBODY, Note, note_of_search
from jieda.usecases.judge import judge, under_verdict
from jieda.usecases.service import Service

LONG = 100
"""Longer queries, in characters after NFKC, may take a hundredth of a second or more."""
SNIPPET = 240
"""Characters of the snippet if there are no query words."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a search, with the normalized request and the snapshot that answered it."""

    request: SearchRequest
    answer: SearchAnswer
    snapshot: Snapshot
    diagnosis: Diagnosis | None = None
    """Diagnosis of a finished query of one line, for its first page."""
    note: Note | None = None
    """The note recorded for maintainers, to be recorded again when a cached answer is sent."""

    @property
    def outcome(self) -> str:
        """Label by which searches are counted."""
        return "weak" if self.answer.weak else "found" if self.answer.total else "nothing"


async def search(service: Service, request: SearchRequest, asker: bytes = NOBODY) -> Found:
    """Search for a query. Raises UnknownTag, BadVersion, ClusterUnavailable. `asker` is an anonymous key of the user,
    used if gaps are recorded.

    Runs on the event loop, since switching to a thread and back costs more than most searches; long queries, and those
    for a cluster, are offloaded.
    """
    snapshot = service.current()
    filters = snapshot.library.read_filters(request.filters)
    read = replace(request, text=clip(service, request.text), filters=filters)
    service.metrics.repeated.labels("miss").inc()
    if snapshot.searcher.waits or within(read.text, LONG) != read.text:
        answer, diagnosis = await service.offload(lambda: _answer(service, snapshot, read))
    else:
        async with service.search_turn():
            answer, diagnosis = _answer(service, snapshot, read)
    note = note_of_search(asker, read, answer, diagnosis) if service.recorder else None
    service.note(note)
    found = Found(read, answer, snapshot, diagnosis, note)
    service.metrics.searches.labels(found.outcome).inc()
    return found


def _answer(
    service: Service, snapshot: Snapshot, request: SearchRequest
) -> tuple[SearchAnswer, Diagnosis | None]:
    try:
        answer = snapshot.searcher.search(request)
    except ClusterUnavailable:
        service.metrics.searches.labels("unavailable").inc()
        raise
    diagnosis = _judged(snapshot, request, answer)
    return under_verdict(answer, diagnosis), diagnosis


def _judged(snapshot: Snapshot, request: SearchRequest, answer: SearchAnswer) -> Diagnosis | None:
    """Return the diagnosis of a finished query, given a framework that it is filtered by or that its asker works with.
    None if the filters exclude every match."""
    text, filters = request.text.strip(), request.filters
    if request.unfinished or request.offset or not text or "\n" in text:
        return None
    if len(filters.framework) == 1:
        # Entries of other frameworks may be what comes nearest, so these are searched, too.
        asked = replace(request, filters=filters.without("framework"), frameworks=filters.framework)
        found = judge(snapshot, asked, filters.framework[0])
    else:
        found = judge(snapshot, request, answer=answer)
    matches = tuple(match for match in found.matches if filters.admit(match.entry))
    return replace(found, matches=matches) if matches or not found.matches else None


async def browse(service: Service, request: SearchRequest) -> Found:
    """List all entries that pass the filters, latest change first, as an answer of `search`. Raises UnknownTag,
    BadVersion."""
    snapshot = service.current()
    read = replace(request, filters=snapshot.library.read_filters(request.filters))
    answer = await service.offload(lambda: _all_that_pass(snapshot.library, read))
    return Found(read, answer, snapshot)


async def suggest(
    service: Service, snapshot: Snapshot, text: str, lang: Language, limit: int
) -> tuple[Completion, ...]:
    """Return completions of what has been typed, best first."""
    typed = clip(service, text)

    def fitting() -> tuple[Completion, ...]:
        operators = (Completion(each, CompletionType.TAG) for each in snapshot.searcher.complete_field(typed))
        return tuple(islice(chain(operators, snapshot.completer.complete(typed, lang, limit)), limit))

    return await service.offload(fitting)


def clip(service: Service, text: str) -> str:
    """Cut a query to its maximum length."""
    return within(text, service.settings.max_query_chars)


def _all_that_pass(library: Library, request: SearchRequest) -> SearchAnswer:
    found = library.listed(request.filters)
    shown = found[request.offset : request.offset + request.limit]
    return SearchAnswer(
        query=request.text,
        total=len(found),
        hits=tuple(_hit(library.entries[each.id], request.lang) for each in shown),
        facets={facet: _counts(library, request.filters, facet) for facet in FACETS},
    )


def _counts(library: Library, filters: Filters, facet: str) -> tuple[FacetCount, ...]:
    counts = library.counts(facet, filters.without(facet))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(FacetCount(value, count) for value, count in ranked)


def _hit(entry: Entry, lang: Language) -> Hit:
    edition = entry.edition(lang)
    return Hit(
        entry=entry,
        edition=edition,
        score=0.0,
        reasons=(),
        elsewhere=frozenset(),
        title=escape(edition.title),
        snippet=opening(edition, SNIPPET),
    )
