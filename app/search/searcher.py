"""Search as every surface offers it: a request in, an answer with entries, reasons, snippets and ways out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.entry import FACETS, Entry, Language
from app.search.answers import (
    Filters,
    Hit,
    SearchAnswer,
    SearchRequest,
    Suggestion,
    SuggestionType,
)
from app.search.engine import EXACT_TIER, Contribution, Engine, Query, Scored
from app.search.literal import Literals
from app.search.passages import Passages
from app.search.query import ParsedQuery, QueryParser
from app.search.reasons import WORTH_SAYING, exact_reasons, reasons
from app.search.snippet import snippet

WEAK_SCORE = 0.22
"""Below this, the best hit accounts for too little of the query to be called an answer."""

NOT_MARKED_BELOW = 0.2
"""What weighs less than this (function words, single characters of a longer word) is not marked in snippets."""


class Searcher:
    """Searches a library through its index. Safe to share between threads."""

    def __init__(self, library: Library, engine: Engine, analyzer: Analyzer) -> None:
        glossary = Glossary(library.glossary, analyzer)
        self._library = library
        self._engine = engine
        self._parser = QueryParser(analyzer, glossary, engine)
        self._passages = Passages(analyzer, glossary)
        self._literals = Literals(library, analyzer)
        self._analyzer = analyzer

    @property
    def analyzer(self) -> Analyzer:
        """The analysis that queries and index share."""
        return self._analyzer

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Raises IndexUnreadable where the index has been damaged under the running process."""
        parsed = self._parser.parse(
            request.text,
            request.filters,
            verbatim=request.verbatim,
            literal=self._literals.is_span(request.text),
        )
        results = self._engine.search(parsed.query)
        ranked = self._literals.promote(results.ranked, request.text)
        page = ranked[request.offset : request.offset + request.limit]
        best = ranked[0] if ranked else None
        weights = self._weights(parsed.query)
        return SearchAnswer(
            query=request.text,
            total=len(ranked),
            hits=tuple(self._hit(one, parsed, weights, request.lang) for one in page),
            facets=results.facets,
            suggestions=tuple(self._suggestions(request, parsed, results.near, found=best is not None)),
            correction=parsed.corrected if best else "",
            phrase_dropped=results.phrase_dropped,
            weak=best is not None and best.tier == 0 and best.score < WEAK_SCORE,
        )

    def rank(self, text: str) -> tuple[Scored, ...]:
        """The entries that answer, best first, with their coverage and without anything to show."""
        return self._engine.search(self._parser.parse(text, Filters()).query).ranked

    def explain(self, text: str, entry_id: str) -> tuple[Contribution, ...]:
        """What an entry scores for a query, by word and zone, largest first."""
        return self._engine.explain(self._parser.parse(text, Filters()).query, entry_id)

    def _hit(self, scored: Scored, parsed: ParsedQuery, weights: Mapping[str, float], lang: Language) -> Hit:
        entry = self._library.entries[scored.id]
        edition = entry.edition(lang)
        exact = exact_reasons(parsed, entry, self._analyzer) if scored.tier == EXACT_TIER else ()
        contributions = self._engine.explain(parsed.query, scored.id, WORTH_SAYING)
        concordance = self._passages.of(edition)
        return Hit(
            entry=entry,
            edition=edition,
            score=round(scored.score, 4),
            reasons=exact or reasons(parsed, contributions, concordance),
            snippet=snippet(concordance, weights),
        )

    def _weights(self, query: Query) -> dict[str, float]:
        """Every index term that may be marked, with what it is worth: rare ones more, substitutes less."""
        weights: dict[str, float] = {}
        for clause in query.clauses:
            for alternative in clause.alternatives:
                for term in alternative.terms:
                    weight = alternative.weight * term.weight
                    if weight < NOT_MARKED_BELOW:
                        continue
                    for variant in term.variants:
                        worth = weight / (1 + self._engine.frequency(variant))
                        weights[variant] = max(worth, weights.get(variant, 0.0))
        return weights

    def _suggestions(
        self, request: SearchRequest, parsed: ParsedQuery, near: Sequence[Scored], *, found: bool
    ) -> Iterator[Suggestion]:
        if request.verbatim and (corrected := self._parser.parse(request.text, request.filters).corrected):
            yield Suggestion(SuggestionType.SPELLING, query=corrected)
        if found:
            return
        yield from self._filters_to_drop(request, parsed)
        for scored in near:
            yield Suggestion(SuggestionType.NEAR_MISS, entry=self._entry(scored))

    def _filters_to_drop(self, request: SearchRequest, parsed: ParsedQuery) -> Iterator[Suggestion]:
        """Each filter without which something is found; all of them where no single one suffices."""
        filters = request.filters
        chosen = [facet for facet in FACETS if filters.facet(facet)] + ["edition"] * bool(filters.edition)
        wider = [(facet, filters.without(facet)) for facet in chosen]
        if len(wider) > 1:
            wider.append(("", Filters()))
        some = [(facet, less, self._total(parsed, less)) for facet, less in wider]
        if any(total for facet, _, total in some if facet):
            some = [one for one in some if one[0]]
        for facet, less, total in some:
            if total:
                yield Suggestion(SuggestionType.DROP_FILTER, facet=facet, filters=less, count=total)

    def _total(self, parsed: ParsedQuery, filters: Filters) -> int:
        return len(self._engine.search(replace(parsed.query, filters=filters)).ranked)

    def _entry(self, scored: Scored) -> Entry:
        return self._library.entries[scored.id]
