"""The search behind every surface: turns a request into an answer with entries, reasons, snippets and suggestions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import TokenKind, text_of
from jieda.content.library import Library
from jieda.entry import Entry
from jieda.search.answers import Hit, SearchAnswer, SearchRequest, Suggestion, SuggestionType
from jieda.search.index.protocol import Index, ScoredDocument
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder, NotEmbedded, Vector
from jieda.search.query.parser import FrameworkNames, ParsedQuery, QueryParser
from jieda.search.query.substitutes import QueryTranslator
from jieda.search.query.words import ClauseKind, Query
from jieda.search.rank.ranker import Contribution, Ranker, Ranking, telling
from jieda.search.show.concordance import Concordances, MarkedTerms, ReadPlaces
from jieda.search.show.snippet import (
    WORTH_SAYING,
    exact_elsewhere,
    exact_reasons,
    in_other_title,
    marked_title,
    reasons,
    snippet,
)
from jieda.search.translation import Dictionary
from jieda.search.weights import EXACT_TIER
from jieda.search.whoosh.language import QueryLanguage, TypedQuery
from jieda.taxonomy import Filters

NOT_MARKED_BELOW = 0.2
"""Terms of a lower weight (function words, single characters of a longer word) are not marked in snippets."""

CHARACTERS = TokenKind.GRAM.term("")
"""Prefix of index terms of one or two Chinese characters."""

LONGEST_QUESTION, LONGEST_LINE = 6, 12
"""Most informative words of a query for which absent words, and absent names, are reported."""
NAMES = (ClauseKind.CODE, ClauseKind.NAME)


class Searcher:
    """Searches a library through its index. Safe to share between threads."""

    def __init__(  # noqa: PLR0913 - what is searched, and with what
        self,
        library: Library,
        index: Index,
        analyzer: Analyzer,
        glossary: Glossary,
        embedder: Embedder | None = None,
        *,
        dictionary: Dictionary | None = None,
        read_places: ReadPlaces | None = None,
        language: QueryLanguage | None = None,
    ) -> None:
        """`embedder` is the one that built the index, if any. `dictionary` translates queries for entries that lack the
        query's language. `read_places` returns the positions of terms in an edition; without it, editions are
        analyzed. Without a `language`, quotes are the only operator."""
        self._embedder = GuardedEmbedder.of(embedder)
        self.waits = index.waits or bool(self._embedder and self._embedder.waits)
        """Whether a search waits for another process."""
        self.is_remote = index.waits
        """Whether the index is in another process, so that a search may fail."""
        self._language = language
        self._library = library
        self._lexicon = index.lexicon
        self._ranker = Ranker(index)
        names = FrameworkNames(
            library.taxonomy.framework.values(),
            analyzer,
            index.lexicon.frequency,
            lambda framework: library.counts("framework").get(framework, 0),
        )
        self._parser = QueryParser(
            analyzer, glossary, index.lexicon, _translations(library, index, dictionary), names
        )
        self._concordances = Concordances(glossary, read_places)
        self._analyzer = analyzer
        self._glossary = glossary

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer that queries and index share."""
        return self._analyzer

    @property
    def embedder(self) -> GuardedEmbedder | None:
        """The embedder, if there is one."""
        return self._embedder

    @property
    def glossary(self) -> Glossary:
        """The groups of synonyms."""
        return self._glossary

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Raises IndexUnreadable if the index was damaged while the process ran, ClusterUnavailable if it is remote
        and no node answers."""
        typed = self._language.read(request.text) if self._language else None
        typed = typed or TypedQuery(request.text)
        parsed = self._parser.parse(
            typed.free, request.filters, verbatim=request.verbatim, unfinished=request.unfinished
        )
        named = parsed.query.frameworks
        chosen = request.filters.framework or named or request.frameworks
        # A filter excludes other frameworks anyway, and a whole title names its entry, whatever framework it mentions.
        decided = request.filters.framework or (named and any(map(self._lexicon.has_key, parsed.query.keys)))
        parsed = replace(parsed, query=replace(parsed.query, frameworks=() if decided else chosen))
        meaning = self._meaning(parsed.query)
        ranking = self._ranker.rank(parsed.query, request.offset + request.limit, meaning, typed.within)
        (total,) = ranking.totals((request.filters,))
        corrected = [parsed.corrected] if parsed.corrected and total else []
        weak = not request.unfinished and ranking.is_weak()
        if weak and corrected and not self.waits:
            # The query may be good apart from its spelling. A cluster is not queried a second time to find out.
            weak = self._ranker.rank(self._parser.parse(parsed.corrected, Filters()).query, 1).is_weak()
        return SearchAnswer(
            query=request.text,
            total=total,
            hits=tuple(self._hits(request, parsed, ranking)),
            facets=ranking.facets(),
            suggestions=tuple(self._suggestions(request, typed, ranking, found=total > 0)),
            correction=" ".join([*corrected, *(one.text for one in typed.operators)]) if corrected else "",
            phrase_dropped=ranking.phrase_dropped,
            weak=weak,
            absent_words=() if request.unfinished or corrected else tuple(self._absent_words(parsed.query)),
            operators=typed.operators,
            frameworks=chosen,
            framework_fits=not weak and any(self._is_of(one, chosen) for one in ranking.ranked[:1]),
        )

    def completed(self, text: str) -> tuple[str, ...]:
        """Complete a query that ends in a field of the query language with each value that the field may have."""
        return tuple(self._language.completed(text)) if self._language else ()

    def ranked(self, text: str, limit: int) -> tuple[str, ...]:
        """Return the ids of the hits, best first, without reasons. Raises IndexUnreadable."""
        query = self._parser.parse(text, Filters()).query
        ranking = self._ranker.rank(query, limit, self._meaning(query))
        return tuple(scored.id for scored in ranking.ranked)

    def known_words(self, text: str) -> tuple[str, ...]:
        """Return the words of `text` in a general dictionary or some entry, each once: no name, token or password."""
        words = dict.fromkeys(re.findall(r"[^\W\d_]{2,40}", text))
        return tuple(word for word in words if self._is_known(word.casefold()))

    def has_words(self, text: str) -> bool:
        """Whether each word of `text` occurs in some entry, in any form. Uses the lexicon only."""
        clauses = self._parser.parse(text, Filters(), verbatim=True).query.clauses
        return bool(clauses) and all(
            any(
                all(any(map(self._lexicon.frequency, term.variants)) for term in way.terms)
                for way in clause.alternatives
            )
            for clause in clauses
        )

    def _is_known(self, word: str) -> bool:
        return self._analyzer.is_word(word) or bool(self._lexicon.frequency(TokenKind.EXACT.term(word)))

    def says(self, word: str) -> bool:
        """Whether some entry has a case-folded word, in any inflection, or an identifier as it is written."""
        pieces = self._analyzer.analyze(word).pieces
        tokens = (token for piece in pieces for token in piece.tokens if token.end - token.start == len(word))
        kinds = (TokenKind.EXACT, TokenKind.TERM, TokenKind.GRAM)
        return len(pieces) == 1 and any(
            token.kind in kinds and self._lexicon.frequency(token.term) for token in tokens
        )

    def explain(self, text: str, entry_id: str, window: int = 100) -> tuple[Contribution, ...]:
        """Return the score of an entry for a query by word and zone, largest first; empty if the entry is not among
        the first `window` hits."""
        query = self._parser.parse(text, Filters()).query
        ranking = self._ranker.rank(query, window, self._meaning(query))
        for place, scored in enumerate(ranking.ranked):
            if scored.id == entry_id:
                return ranking.contributions(place, place + 1)[0]
        return ()

    def _hits(self, request: SearchRequest, parsed: ParsedQuery, ranking: Ranking) -> Iterator[Hit]:
        start, end = request.offset, request.offset + request.limit
        wanted = MarkedTerms.of(self._weights(parsed.query))
        explained = ranking.contributions(start, end, WORTH_SAYING)
        for scored, parts in zip(ranking.ranked[start:end], explained, strict=True):
            entry = self._library.entries[scored.id]
            edition = entry.edition(request.lang)
            exact = exact_reasons(parsed, entry, self._analyzer) if scored.tier == EXACT_TIER else ()
            concordance = self._concordances.of(entry.id, edition)
            standing = tuple(concordance.places.standing(wanted))
            yield Hit(
                entry=entry,
                edition=edition,
                score=round(scored.score, 4),
                reasons=exact or reasons(parsed, parts, concordance, alike=_is_alike(scored)),
                elsewhere=exact_elsewhere(exact, edition) if exact else in_other_title(parts, edition.lang),
                title=marked_title(edition.title, standing),
                snippet=snippet(concordance.lines, standing),
            )

    def _meaning(self, query: Query) -> Vector | None:
        """Return the embedding of the query; None where words alone decide."""
        if self._embedder is None or query.prose <= 0:
            return None
        try:
            vector: Vector = self._embedder.embed([query.saying], asked=True)[0]
        except NotEmbedded:
            return None
        return vector

    def _absent_words(self, query: Query) -> Iterator[str]:
        """Yield the words of a question that no entry has. A pasted line is full of words and numbers that vary, and a
        longer one of names as well, so less or nothing is reported for these."""
        clauses = telling(query.clauses)
        told = NAMES if len(clauses) > LONGEST_QUESTION else (*NAMES, ClauseKind.WORD)
        for clause in clauses if len(clauses) <= LONGEST_LINE else ():
            variants = (each for way in clause.meant for term in way.terms for each in term.variants)
            literal = clause.alternatives[0].terms
            if (
                clause.kind in told
                and all(term.weight >= 1 for term in literal)
                and not any(map(self._lexicon.frequency, variants))
            ):
                yield " ".join(dict.fromkeys(term.label for term in literal))

    def _weights(self, query: Query) -> dict[str, float]:
        """Return the weight of every index term that may be marked: rare terms weigh more, substitutes less."""
        weights: dict[str, float] = {}
        for clause in query.clauses:
            for number, alternative in enumerate(clause.alternatives):
                for term in alternative.terms:
                    weight = alternative.weight * term.weight
                    if weight < NOT_MARKED_BELOW:
                        continue
                    for variant in term.variants:
                        if number and self._is_scrap(variant):
                            continue
                        worth = weight / (1 + self._lexicon.frequency(variant))
                        weights[variant] = max(worth, weights.get(variant, 0.0))
        return weights

    def _is_scrap(self, term: str) -> bool:
        """Whether a term is a pair of characters that is no word, such as two from the middle of a word."""
        return term.startswith(CHARACTERS) and not self._analyzer.is_word(text_of(term))

    def _suggestions(
        self, request: SearchRequest, typed: TypedQuery, ranking: Ranking, *, found: bool
    ) -> Iterator[Suggestion]:
        for query in typed.nearest if not request.unfinished else ():
            yield Suggestion(SuggestionType.SPELLING, query=query)
        if request.verbatim and (corrected := self._parser.parse(typed.free, request.filters).corrected):
            yield Suggestion(SuggestionType.SPELLING, query=corrected)
        if found:
            return
        yield from self._filters_to_drop(request.filters, ranking)
        for scored in ranking.near:
            yield Suggestion(SuggestionType.NEAR_MISS, entry=self._entry(scored))

    def _filters_to_drop(self, filters: Filters, ranking: Ranking) -> Iterator[Suggestion]:
        """Suggest each filter without which there are hits; all filters together if dropping one does not suffice."""
        wider = [(facet, filters.without(facet)) for facet in filters.chosen]
        if len(wider) > 1:
            wider.append(("", Filters()))
        totals = ranking.totals([less for _, less in wider])
        some = [(facet, less, total) for (facet, less), total in zip(wider, totals, strict=True)]
        if any(total for facet, _, total in some if facet):
            some = [one for one in some if one[0]]
        for facet, less, total in some:
            if total:
                yield Suggestion(SuggestionType.DROP_FILTER, facet=facet, filters=less, count=total)

    def _is_of(self, scored: ScoredDocument, frameworks: Sequence[str]) -> bool:
        """Whether an entry is for one of `frameworks`, or applies anywhere."""
        entry = self._entry(scored)
        return bool(frameworks) and (entry.framework in frameworks or entry.applies_anywhere)

    def _entry(self, scored: ScoredDocument) -> Entry:
        return self._library.entries[scored.id]


def _translations(library: Library, index: Index, dictionary: Dictionary | None) -> QueryTranslator | None:
    """Return None if every entry has every language: translation gains nothing then."""
    if dictionary is None or not library.lacking:
        return None
    return QueryTranslator(dictionary, index.lexicon, library.lacking)


def _is_alike(scored: ScoredDocument) -> bool:
    """Whether an entry was found by meaning more than by words."""
    return scored.lift > scored.score / 2
