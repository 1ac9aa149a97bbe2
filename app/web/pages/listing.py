"""The search page without words: everything that passes the filters, latest change first."""

from html import escape

from app.content.library import Library, count_tags, latest_first
from app.entry import FACETS, Entry
from app.search.answers import FacetCount, Filters, Hit, SearchAnswer, SearchRequest
from app.search.snippet import joined

SNIPPET = 240
"""Characters of the answer that are shown."""


def list_entries(library: Library, request: SearchRequest) -> SearchAnswer:
    """What a search would answer if every entry fitted the words equally well."""
    found = latest_first(entry for entry in library.entries.values() if request.filters.admit(entry))
    return SearchAnswer(
        query=request.text,
        total=len(found),
        hits=tuple(_hit(entry, request) for entry in found[request.offset : request.offset + request.limit]),
        facets={facet: _counts(library, request.filters, facet) for facet in FACETS},
        suggestions=(),
        correction="",
        phrase_dropped=False,
        weak=False,
    )


def _counts(library: Library, filters: Filters, facet: str) -> tuple[FacetCount, ...]:
    others = filters.without(facet)
    counts = count_tags((entry for entry in library.entries.values() if others.admit(entry)), facet)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(FacetCount(value, count) for value, count in ranked)


def _hit(entry: Entry, request: SearchRequest) -> Hit:
    edition = entry.edition(request.lang)
    text = (
        joined(" ".join(line.split()) for line in edition.answer.text.splitlines()) if edition.answer else ""
    )
    shown = text if len(text) <= SNIPPET else text[: SNIPPET - 1].rstrip() + "…"
    return Hit(entry=entry, edition=edition, score=0.0, reasons=(), snippet=escape(shown))
