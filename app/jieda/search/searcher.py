"""The search behind pages, API, agents and commands: answers a request with entries, reasons, snippets, suggestions."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import TokenKind, text_of
from jieda.analysis.words import is_function_word
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language
from jieda.search.answers import (
    Hit,
    Reason,
    ReasonType,
    SearchAnswer,
    SearchRequest,
    Suggestion,
    SuggestionType,
)
from jieda.search.index.document import longest_sentences
from jieda.search.index.protocol import AdmittedDocuments, Index, ScoredDocument
from jieda.search.meaning.embedder import GuardedEmbedder, NotEmbedded, Vector
from jieda.search.query.parser import Equivalents, FrameworkNames, ParsedQuery, QueryParser
from jieda.search.query.translation import Dictionary, QueryTranslator, SimilarWords
from jieda.search.query.words import ClauseKind, MatchKind, Query
from jieda.search.rank.ranker import Contribution, Ranking, informative_clauses, rank
from jieda.search.snippet import Concordance, Concordances, MarkedTerms, ReadPlaces, marked_title, snippet
from jieda.search.weights import EXACT_TIER
from jieda.search.whoosh.language import QueryLanguage, TypedQuery
from jieda.taxonomy import Filters

NOT_MARKED_BELOW = 0.2
"""Terms of a lower weight (function words, single characters of a longer word) are not marked in snippets."""

GRAMS = TokenKind.GRAM.term("")
"""Prefix of the index terms of one or two Chinese characters."""

LONGEST_QUESTION, LONGEST_LINE = 6, 12
"""Most informative words of a query for which absent words, and absent names, are reported."""
NAMES = (ClauseKind.CODE, ClauseKind.NAME)

MOST_SENTENCES = 4
"""Most sentences of a query that are searched for by themselves: what is said around a question is short."""
MOSTLY_PROSE = 0.5
"""Share of prose in a query above which its sentences are. Of 1,078 texts that no entry answers, 4 are no longer called
weak because of this; without regard to prose 131, as a line of a log says what many programs say. Of 150 questions,
each asked with seven kinds of greetings and thanks around it, .28 of the right answers are called weak instead of .61;
words of courtesy in `function_words.txt` are part of that (27 November 2026)."""

MOST_REASONS = 5
WORTH_SAYING = 0.04
"""Share of the score below which a contribution is not shown as a reason."""

BY_ZONE = {
    "title": ReasonType.TITLE,
    "alias": ReasonType.ALIAS,
    "signature": ReasonType.SIGNATURE,
    "code": ReasonType.IDENTIFIER,
}
BY_SOURCE = {
    MatchKind.GLOSSARY: ReasonType.GLOSSARY,
    MatchKind.TRANSLATION: ReasonType.GLOSSARY,
    MatchKind.SIMILAR: ReasonType.MEANING,
    MatchKind.TYPO: ReasonType.TYPO,
    MatchKind.IDENTIFIER: ReasonType.IDENTIFIER,
}
ORDER = {kind: number for number, kind in enumerate(ReasonType)}


class Searcher:
    """Searches a library through its index. Safe to share between threads."""

    def __init__(  # noqa: PLR0913 - what is searched, and with what
        self,
        library: Library,
        index: Index,
        analyzer: Analyzer,
        glossary: Glossary,
        embedder: GuardedEmbedder | None = None,
        *,
        dictionary: Dictionary | None = None,
        read_places: ReadPlaces | None = None,
        language: QueryLanguage | None = None,
    ) -> None:
        """`embedder` is the one that built the index, if any. `dictionary` translates queries for entries that lack the
        query's language. `read_places` returns the positions of terms in an edition; without it, editions are
        analyzed. Without a `language`, quotes are the only operator."""
        self.analyzer, self.glossary, self.embedder = analyzer, glossary, embedder
        self.waits = index.is_remote or bool(self.embedder and self.embedder.is_remote)
        """Whether a search waits for another process."""
        self.is_remote = index.is_remote
        """Whether the index is in another process, so that a search may fail."""
        self._language = language
        self._library = library
        self._lexicon = index.lexicon
        self._index = index
        equivalents: list[Equivalents] = []
        lexicon, lacking = index.lexicon, library.incomplete_languages
        # If every entry has every language, translation gains nothing.
        if dictionary is not None and lacking:
            equivalents.append(QueryTranslator(dictionary, lexicon, lacking).of)
        if self.embedder and lexicon.vectors and lacking:
            equivalents.append(SimilarWords(lexicon.vectors, self.embedder, lexicon, analyzer, lacking).of)
        names = FrameworkNames(library, analyzer, lexicon)
        self._parser = QueryParser(analyzer, glossary, lexicon, equivalents, names)
        self._concordances = Concordances(glossary, read_places)

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Answer a request. Raises IndexUnreadable if the index was damaged while the process ran, ClusterUnavailable
        if it is remote and no node answers."""
        typed = self._language.read(request.text) if self._language else None
        typed = typed or TypedQuery(request.text)
        parsed = self._parser.parse(
            typed.text, request.filters, verbatim=request.verbatim, unfinished=request.unfinished
        )
        named = parsed.query.frameworks
        asked_about = request.filters.framework or named or request.frameworks
        # A filter excludes other frameworks anyway, and a whole title names its entry, whatever framework it mentions.
        is_title = named and any(map(self._lexicon.has_key, parsed.query.keys))
        preferred = () if request.filters.framework or is_title else asked_about
        query = replace(parsed.query, frameworks=preferred)
        ranking = rank(self._index, query, request.offset + request.limit, self._embed(query), typed.admitted)
        (total,) = ranking.totals((request.filters,))
        parsed = replace(parsed, query=query, corrected=parsed.corrected if total else "")
        corrected = [parsed.corrected] if parsed.corrected else []
        weak = not request.unfinished and self._is_weak(parsed, ranking, typed)
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
            frameworks=asked_about,
            framework_fits=not weak and any(self._is_of(one, asked_about) for one in ranking.ranked[:1]),
        )

    def complete_field(self, text: str) -> tuple[str, ...]:
        """Complete a query that ends in a field of the query language with each value that the field may have."""
        return tuple(self._language.complete_field(text)) if self._language else ()

    def known_words(self, text: str) -> tuple[str, ...]:
        """Return the words of `text` in a general dictionary or some entry, each once: no name, token or password."""

        def is_known(word: str) -> bool:
            held = self._lexicon.doc_frequency(TokenKind.EXACT.term(word))
            return held > 0 or self.analyzer.is_word(word)

        words = dict.fromkeys(re.findall(r"[^\W\d_]{2,40}", text))
        return tuple(word for word in words if is_known(word.casefold()))

    def has_words(self, text: str) -> bool:
        """Whether each word of `text` occurs in some entry, in any form. Uses the lexicon only."""
        clauses = self._parser.parse(text, Filters(), verbatim=True).query.clauses
        return bool(clauses) and all(
            any(
                all(any(map(self._lexicon.doc_frequency, term.variants)) for term in way.terms)
                for way in clause.alternatives
            )
            for clause in clauses
        )

    def has_word(self, word: str) -> bool:
        """Whether some entry has a case-folded word, in any inflection, or an identifier as it is written."""
        runs = self.analyzer.analyze(word).runs
        tokens = (token for run in runs for token in run.tokens if token.end - token.start == len(word))
        kinds = (TokenKind.EXACT, TokenKind.TERM, TokenKind.GRAM)
        return len(runs) == 1 and any(
            token.kind in kinds and self._lexicon.doc_frequency(token.term) for token in tokens
        )

    def explain(self, text: str, entry_id: str, window: int = 100) -> tuple[Contribution, ...]:
        """Return the score of an entry for a query by word and zone, largest first; empty if the entry is not among
        the first `window` hits."""
        query = self._parser.parse(text, Filters()).query
        ranking = rank(self._index, query, window, self._embed(query))
        places = [place for place, scored in enumerate(ranking.ranked) if scored.id == entry_id]
        return ranking.contributions(places[0], places[0] + 1)[0] if places else ()

    def _hits(self, request: SearchRequest, parsed: ParsedQuery, ranking: Ranking) -> Iterator[Hit]:
        start, end = request.offset, request.offset + request.limit
        terms_for = lru_cache(partial(self._marked_terms, parsed.query))
        explained = ranking.contributions(start, end, WORTH_SAYING)
        for scored, parts in zip(ranking.ranked[start:end], explained, strict=True):
            entry = self._library.entries[scored.id]
            edition = entry.edition(request.lang)
            exact = _exact_reasons(parsed, entry, self.analyzer) if scored.tier == EXACT_TIER else ()
            concordance = self._concordances.of(entry.id, edition)
            marked = tuple(concordance.places.find(terms_for(frozenset(entry.editions))))
            # Found by meaning more than by words.
            alike = scored.semantic > scored.score / 2
            yield Hit(
                entry=entry,
                edition=edition,
                score=round(scored.score, 4),
                reasons=exact or _reasons(parsed, parts, concordance, self.analyzer, alike=alike),
                elsewhere=_elsewhere(exact, parts, edition),
                title=marked_title(edition.title, marked),
                snippet=snippet(concordance.lines, marked),
            )

    def _embed(self, query: Query) -> Vector | None:
        """Return the embedding of the query; None where words alone decide."""
        if self.embedder is None or query.prose <= 0:
            return None
        try:
            vector: Vector = self.embedder.embed([query.text_to_embed], as_query=True)[0]
        except NotEmbedded:
            return None
        return vector

    def _is_weak(self, parsed: ParsedQuery, ranking: Ranking, typed: TypedQuery) -> bool:
        """Whether the best hit fits badly, and not only because of the spelling of the text, or of what is said around
        the question: a greeting, thanks. Another process is not asked a second time to find out."""
        if not ranking.is_weak() or self.waits:
            return ranking.is_weak()
        if parsed.corrected:
            return self._ranking(parsed.corrected, parsed.query, typed.admitted).is_weak()
        is_prose = parsed.query.prose > MOSTLY_PROSE
        said = longest_sentences(typed.text, MOST_SENTENCES) if is_prose else ()
        others = (self._ranking(each, parsed.query, typed.admitted) for each in said)
        # One answers the question that has the same first hit, and fits.
        first = [one.id for one in ranking.ranked[:1]]
        return not any([one.id for one in each.ranked] == first and not each.is_weak() for each in others)

    def _ranking(self, text: str, asked: Query, admitted: AdmittedDocuments | None) -> Ranking:
        """Rank the first hit of another text among the documents of a query, for the same frameworks."""
        query = replace(self._parser.parse(text, asked.filters).query, frameworks=asked.frameworks)
        return rank(self._index, query, 1, self._embed(query), admitted)

    def _absent_words(self, query: Query) -> Iterator[str]:
        """Yield the words of a question that no entry has. A pasted line is full of words and numbers that vary, and a
        longer one of names as well, so less or nothing is reported for these."""
        clauses = informative_clauses(query.clauses)
        kinds = NAMES if len(clauses) > LONGEST_QUESTION else (*NAMES, ClauseKind.WORD)
        for clause in clauses if len(clauses) <= LONGEST_LINE else ():
            variants = (each for way in clause.meant for term in way.terms for each in term.variants)
            literal = clause.alternatives[0].terms
            if (
                clause.kind in kinds
                and all(term.weight >= 1 for term in literal)
                and not any(map(self._lexicon.doc_frequency, variants))
            ):
                yield " ".join(dict.fromkeys(term.label for term in literal))

    def _marked_terms(self, query: Query, languages: Collection[Language]) -> MarkedTerms:
        """Return every index term that may be marked in an entry with editions in some `languages`: rare terms weigh
        more, substitutes less."""
        weights: dict[str, float] = {}
        for clause in query.clauses:
            for number, alternative in enumerate(clause.alternatives):
                for term in alternative.terms:
                    weight = alternative.weight * term.weight
                    if weight < NOT_MARKED_BELOW or term.only_without in languages:
                        continue
                    for variant in term.variants:
                        is_pair = number > 0 and variant.startswith(GRAMS)
                        # Two characters from the middle of a word are no word, but chance neighbors.
                        if is_pair and not self.analyzer.is_word(text_of(variant)):
                            continue
                        worth = weight / (1 + self._lexicon.doc_frequency(variant))
                        weights[variant] = max(worth, weights.get(variant, 0.0))
        return MarkedTerms.of(weights)

    def _suggestions(
        self, request: SearchRequest, typed: TypedQuery, ranking: Ranking, *, found: bool
    ) -> Iterator[Suggestion]:
        for query in typed.suggestions if not request.unfinished else ():
            yield Suggestion(SuggestionType.SPELLING, query=query)
        if request.verbatim and (corrected := self._parser.parse(typed.text, request.filters).corrected):
            yield Suggestion(SuggestionType.SPELLING, query=corrected)
        if found:
            return
        yield from self._filters_to_drop(request.filters, ranking)
        for scored in ranking.near:
            yield Suggestion(SuggestionType.NEAR_MISS, entry=self._library.entries[scored.id])

    def _filters_to_drop(self, filters: Filters, ranking: Ranking) -> Iterator[Suggestion]:
        """Suggest each filter without which there are hits; all filters together if dropping one does not suffice."""
        wider = [(facet, filters.without(facet)) for facet in filters.chosen]
        if len(wider) > 1:
            wider.append(("", Filters()))
        totals = ranking.totals([less for _, less in wider])
        helpful = [(*one, total) for one, total in zip(wider, totals, strict=True) if total]
        singly = [one for one in helpful if one[0]]
        for facet, less, total in singly or helpful:
            yield Suggestion(SuggestionType.DROP_FILTER, facet=facet, filters=less, count=total)

    def _is_of(self, scored: ScoredDocument, frameworks: Sequence[str]) -> bool:
        """Whether an entry is for one of `frameworks`, or applies anywhere."""
        entry = self._library.entries[scored.id]
        return bool(frameworks) and (entry.framework in frameworks or entry.applies_anywhere)


def _reasons(
    parsed: ParsedQuery,
    contributions: Sequence[Contribution],
    concordance: Concordance,
    analyzer: Analyzer,
    *,
    alike: bool,
) -> tuple[Reason, ...]:
    """Return at most MOST_REASONS reasons, strongest kind first. A word of the query appears once, with its best
    reason; a function word, and characters that make no word, only if there is no other. For an entry that is `alike`,
    found by meaning more than by words, meaning is the first reason."""
    total = sum(one.score for one in contributions)
    best: dict[str, Reason] = {}
    telling = [one for one in contributions if not is_function_word(one.label.casefold())]
    shown = telling if telling or alike else contributions
    terms: dict[tuple[str, str], list[str]] = {}
    for one in contributions:
        terms.setdefault((one.label, one.zone), []).append(one.term)
    enough = [one for one in shown if one.score >= WORTH_SAYING * total]
    held = [(one, _held(one.label, terms[one.label, one.zone])) for one in enough]
    words = [(one, text if text == one.label else _words_in(text, analyzer)) for one, text in held]
    for one, label in [each for each in words if each[1]] or held:
        reason, word = _reason(one._replace(label=label), parsed, concordance), one.label.casefold()
        if word not in best or ORDER[reason.type] < ORDER[best[word].type]:
            best[word] = reason
    found = sorted(best.values(), key=lambda reason: ORDER[reason.type])
    if alike:
        meant = [each for each in found if each.type is ReasonType.MEANING] or [
            Reason(ReasonType.MEANING, "")
        ]
        found = [*meant, *(each for each in found if each not in meant)]
    return tuple(found[:MOST_REASONS])


def _exact_reasons(parsed: ParsedQuery, entry: Entry, analyzer: Analyzer) -> tuple[Reason, ...]:
    """Return the titles and aliases that equal the whole query."""
    keys = {text_of(key) for key in parsed.query.keys}
    named = (
        reason
        for edition in entry.editions.values()
        for reason in (
            Reason(ReasonType.TITLE, edition.title),
            *(Reason(ReasonType.ALIAS, alias) for alias in edition.aliases),
        )
    )
    return tuple(dict.fromkeys(reason for reason in named if analyzer.key(reason.text) in keys))


def _elsewhere(
    exact: Sequence[Reason], contributions: Sequence[Contribution], edition: Edition
) -> frozenset[str]:
    """Return the titles among `_exact_reasons` other than that of `edition`; if there are no such reasons, the words
    that occur in the title in the other language, but not in this one."""
    if exact:
        return frozenset(each.text for each in exact if each.type is ReasonType.TITLE) - {edition.title}
    here, there = f"title_{edition.lang}", f"title_{edition.lang.other}"
    own = {one.label for one in contributions if one.zone == here}
    return frozenset(one.label for one in contributions if one.zone == there and one.label not in own)


def _held(label: str, terms: Sequence[str]) -> str:
    """Return what a zone with some `terms` of a word has of it: the word, or some of its characters, with spaces."""
    if not all(term.startswith(GRAMS) for term in terms):
        return label
    found = [" "] * len(label)
    for gram in map(text_of, terms):
        for start in range(len(label)):
            if label.startswith(gram, start):
                found[start : start + len(gram)] = gram
    return " ".join("".join(found).split()) or label


def _words_in(text: str, analyzer: Analyzer) -> str:
    """Return the words of two or more characters in `text`, the longest from the left, with spaces."""
    words, start = [], 0
    while start < len(text):
        end = next((end for end in range(len(text), start + 1, -1) if analyzer.is_word(text[start:end])), 0)
        words += [text[start:end]] if end else []
        start = end or start + 1
    return " ".join(words)


def _reason(one: Contribution, parsed: ParsedQuery, concordance: Concordance) -> Reason:
    kind = BY_SOURCE.get(one.source)
    if kind in {ReasonType.GLOSSARY, ReasonType.MEANING}:
        via = concordance.surface(one.term)
        if via.casefold() == one.label.casefold():  # a word inside a longer phrase of the glossary
            return Reason(ReasonType.TEXT, via)
        return Reason(kind, one.label, via)
    if kind is ReasonType.TYPO:
        typed = next((c.typed for c in parsed.corrections if c.word == one.label), one.label)
        return Reason(kind, typed, one.label)
    return Reason(kind or BY_ZONE.get(one.zone.partition("_")[0], ReasonType.TEXT), one.label)
