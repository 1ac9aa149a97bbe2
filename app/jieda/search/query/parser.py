"""Parses typed text into a query, and finds the frameworks that it names. Never fails; quotes are the only operator."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Analysis, RunKind, Token, TokenKind
from jieda.analysis.words import fold_text
from jieda.content.library import Library
from jieda.han import has_han
from jieda.search.index.document import separators_of, span_keys
from jieda.search.index.protocol import Lexicon
from jieda.search.query.substitutes import Correction, Speller, Substitutes
from jieda.search.query.words import (
    Clause,
    Query,
    QueryWord,
    Spelling,
    Substitute,
    clauses_of,
    neighbors_of,
    prose_of,
    words_of,
)
from jieda.search.weights import FUNCTION_WORD_WEIGHT
from jieda.taxonomy import Filters

OWN_USES = 0.5
"""An ordinary word names a framework only if at least this share of the entries with the word are of that framework:
nearly all for `slime`, hardly any for a framework called Leave."""


@dataclass(frozen=True, slots=True)
class Naming:
    """`text[start:end]` of a question names a framework."""

    framework: str
    start: int
    end: int


class FrameworkNames:
    """Finds the names of a taxonomy's frameworks in questions."""

    def __init__(self, library: Library, analyzer: Analyzer, lexicon: Lexicon) -> None:
        self._library = library
        self._is_word = analyzer.is_word
        self._doc_frequency: Callable[[str], int] = lexicon.doc_frequency
        self._owners: dict[str, dict[str, str]] = {}
        """Maps a folded name to the frameworks of that name and the spelling of each."""
        for tag in library.taxonomy.framework.values():
            for name in filter(None, (*tag.name.values(), tag.id)):
                plain = analyzer.plain(name)
                self._owners.setdefault(plain.casefold(), {}).setdefault(tag.id, plain)
        longest_first = "|".join(map(re.escape, sorted(self._owners, key=len, reverse=True)))
        self._names = re.compile(
            rf"(?<![A-Za-z0-9_./-])(?:{longest_first})(?![A-Za-z0-9_/-]|\.\w)", re.IGNORECASE
        )

    def of(self, text: str) -> Iterator[Naming]:
        """Yield every mention of a framework, except inside another name, a path or an identifier."""
        if not self._owners:
            return
        folded = fold_text(text)
        for found in self._names.finditer(folded.text):
            for framework, name in self._owners.get(found.group().casefold(), {}).items():
                if self._is_meant(found.group(), framework, name, text):
                    yield Naming(framework, folded.starts[found.start()], folded.ends[found.end() - 1])

    def _is_meant(self, typed: str, framework: str, name: str, text: str) -> bool:
        """Whether a word means the framework: an English word does if it is spelled as the name or the id, or is in a
        Chinese sentence, and if most entries use it that way."""
        word = name.casefold()
        if not self._is_word(word):
            return True
        uses = self._doc_frequency(TokenKind.EXACT.term(word))
        own = self._library.counts("framework").get(framework, 0)
        return (typed in {name, framework} or has_han(text)) and own >= OWN_USES * uses


def weaken_names(words: Sequence[QueryWord], namings: Sequence[Naming]) -> list[QueryWord]:
    """Return the words of a question with the weight of a function word for names of frameworks: these select
    entries, but do not say what the question is about."""

    def weaken(word: QueryWord) -> QueryWord:
        ways = (
            replace(way, terms=tuple(replace(term, weight=FUNCTION_WORD_WEIGHT) for term in way.terms))
            for way in word.alternatives
        )
        return replace(word, alternatives=tuple(ways))

    return [
        weaken(word) if any(one.start <= word.start and word.end <= one.end for one in namings) else word
        for word in words
    ]


def without_names(text: str, namings: Sequence[Naming]) -> str:
    """Return a question without the frameworks that it names, or empty if nothing else is left: titles that merely
    name the same framework are no answers."""
    # One name may be that of several frameworks.
    for start, end in sorted({(one.start, one.end) for one in namings}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text if re.search(r"\w", text) else ""


SHORT_RUN = 3
"""A query of up to this many Han characters is more likely one name than several words."""
LONGEST_CORRECTED = 20
"""A query of more words is pasted text and is not corrected."""

QUOTED = re.compile(r'"([^"\n]+)"|“([^“”\n]+)”|「([^「」\n]+)」')
QUOTES_ARE_TEXT = re.compile(r'File "|[{\[]\s*["\']|["\']\s*:|=\s*["\']|^[^"“「]*\w: ')
"""A traceback, a JSON object, an assignment or a message (`FATAL: role "app" …`), whose quotes belong to the text."""

CODE_MARKS = re.compile(r"[^\w\s]|_|\w[A-Z]|\d", re.ASCII)
"""Marks of code, in text without Chinese."""

MAX_CLAUSES = 48
"""A query of more clauses is reduced to its rarest ones."""


Equivalents = Callable[[Sequence[QueryWord]], Iterable[Substitute]]
"""Finds substitutes for the words of a query, in the other language or of similar meaning."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query; `corrected` is the text searched instead of the typed one, or empty."""

    query: Query
    corrected: str
    corrections: tuple[Correction, ...]


class QueryParser:
    """Parses queries with the analyzer and glossary of the index."""

    def __init__(
        self,
        analyzer: Analyzer,
        glossary: Glossary,
        lexicon: Lexicon,
        equivalents: Sequence[Equivalents] = (),
        frameworks: FrameworkNames | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._frameworks = frameworks
        self._equivalents = equivalents
        self._doc_frequency: Callable[[str], int] = lexicon.doc_frequency
        self._has_key: Callable[[str], bool] = lexicon.has_key
        self._glossary = glossary
        self._speller = Speller(lexicon, analyzer)
        self._substitutes = Substitutes(analyzer, glossary, lexicon, self._speller)

    def parse(
        self, text: str, filters: Filters, *, verbatim: bool = False, unfinished: bool = False
    ) -> ParsedQuery:
        """Parse `text`. `verbatim` turns spelling correction off; `unfinished`: the last word may be half typed."""
        analysis = self._analyzer.analyze(text)
        namings = [*self._frameworks.of(text)] if self._frameworks else []
        glossed = [(token.start, token.end) for token in self._glossary.tokens(analysis)]
        # Of a title that is being typed, the framework may be the only complete word, so it keeps its weight.
        read = words_of(analysis, text, partial(self._is_known, glossed))
        words = weaken_names(read, () if unfinished else namings)
        corrections: tuple[Correction, ...] = ()
        if not (verbatim or unfinished or len(words) > LONGEST_CORRECTED):
            typed, words = words, [self._substitutes.split(word) for word in words]
            split = [(word.start, word.end) for word in words if word not in typed]
            corrections = tuple(self._speller.corrections(analysis, [*split, *glossed]))
        corrected = self._speller.rewrite(text, corrections)
        substitutes = [
            *self._substitutes.synonyms(words, text, analysis),
            *(joined := [*self._substitutes.joined(words)]),
            *self._substitutes.corrected(words, corrections),
            *self._substitutes.completed(words, analysis, unfinished=unfinished and text == text.rstrip()),
            *self._substitutes.named(words),
            *(each for find in self._equivalents for each in find(words)),
        ]
        is_name = len(words) == 1 or any(one.last - one.first == len(words) - 1 for one in joined)
        writing = self._spelling(text, analysis)
        query = Query(
            clauses=tuple(self._rarest([*clauses_of(words, substitutes, self._analyzer.is_word)])),
            neighbors=neighbors_of(words, analysis, joined),
            keys=(TokenKind.KEY.term("".join(analysis.words)),) if analysis.words else (),
            phrase=analysis.words,
            required=tuple(self._required(text)),
            exact_first=writing.is_span or is_name or _is_code(analysis) or _is_short_run(analysis),
            spelling=writing,
            filters=filters,
            frameworks=tuple(dict.fromkeys(one.framework for one in namings)),
            text_to_embed=corrected or without_names(text, namings) or text,
            prose=0.0 if unfinished else prose_of(analysis, self._analyzer.is_word),
        )
        return ParsedQuery(query, corrected, corrections)

    def _is_known(self, glossed: Collection[tuple[int, int]], word: Token) -> bool:
        """Whether a document has the word, or the glossary does: `glossed` are the spans of its members."""
        return (word.start, word.end) in glossed or self._doc_frequency(word.term) > 0

    def _spelling(self, text: str, analysis: Analysis) -> Spelling:
        typed = text.strip()
        first, *rest = separators_of(text, analysis, self._analyzer.fold)
        separators = (first.lstrip(), *rest[:-1], rest[-1].rstrip()) if rest else ()
        as_written, folded = span_keys(typed, self._analyzer)
        return Spelling(
            separators=separators,
            spans=(as_written,),
            is_span=bool(typed) and self._has_key(folded),
            is_code=bool(CODE_MARKS.search(typed)) and typed.isascii(),
            has_han=has_han(self._analyzer.fold(typed)),
        )

    def _required(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield the atoms of every quoted phrase of a one-line query that is neither traceback nor JSON."""
        if "\n" in text.strip() or QUOTES_ARE_TEXT.search(text):
            return
        for match in QUOTED.finditer(text):
            if words := self._analyzer.analyze(match.group(match.lastindex or 0)).words:
                yield words

    def _rarest(self, clauses: Sequence[Clause]) -> Sequence[Clause]:
        """Return at most MAX_CLAUSES clauses: those with the rarest literal words that some document has."""
        if len(clauses) <= MAX_CLAUSES:
            return clauses

        def commonness(clause: Clause) -> tuple[bool, int]:
            terms = clause.alternatives[0].terms
            held = max((self._doc_frequency(v) for term in terms for v in term.variants), default=0)
            return held == 0, held

        kept = set(sorted(range(len(clauses)), key=lambda n: commonness(clauses[n]))[:MAX_CLAUSES])
        return [clause for number, clause in enumerate(clauses) if number in kept]


def _is_code(analysis: Analysis) -> bool:
    """Whether there is code in the query and nothing Chinese."""
    kinds = {token.kind for token in analysis.tokens}
    return TokenKind.PART in kinds and TokenKind.GRAM not in kinds


def _is_short_run(analysis: Analysis) -> bool:
    """Whether the query is a few Han characters in a row, whatever words they make."""
    spans, is_han = analysis.spans, all(run.kind is RunKind.HAN for run in analysis.runs)
    in_a_row = all(end == start for (_, end), (start, _) in pairwise(spans))
    return is_han and in_a_row and 1 < len(spans) <= SHORT_RUN
