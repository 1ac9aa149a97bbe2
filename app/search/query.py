"""What a person typed, to a query: never fails, and nothing typed is an operator but balanced quotes."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from app.analysis.code import canonical
from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.analysis.stems import is_function_word
from app.analysis.token import Analysis, TokenKind
from app.search.answers import Filters
from app.search.engine import Alternative, Clause, Engine, Query, WeightedTerm
from app.search.spelling import Correction, Speller
from app.search.words import Word, words_of

GLOSSARY = (0.75, 0.95)
JOINED = (1.5, 1.0)
TYPO = (0.45, 0.8)
COMPLETED = (0.5, 0.7)
"""(weight, cover) of what stands for a word, against (1, 1) for the word itself."""

STAND_IN_GROWTH = 0.45
SHORTEST_STAND_IN = 0.3
"""What stands for words of weight w together weighs 1 + STAND_IN_GROWTH · (w − 1): more than one of them, less
than all of them."""

SHORT_RUN = 3
MOST_CORRECTIONS = 4
LONGEST_CORRECTED = 20
"""Words beyond which a query is pasted text, whose words are as they were printed."""

LONGEST_JOINED = 6
SHORTEST_COMPLETED = 3

QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|「([^」\n]+)」')
QUOTES_ARE_TEXT = re.compile(r'File "|[{\[]\s*["\']|["\']\s*:|=\s*["\']')
"""In a traceback, a JSON object or an assignment, quotes belong to the text."""

MAX_CLAUSES = 48
"""A longer query is searched by its rarest words."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`corrected` is the text that was searched instead of what was typed, or empty."""

    query: Query
    corrected: str
    corrections: tuple[Correction, ...]


@dataclass(frozen=True, slots=True)
class Substitute:
    """Something that may stand for words `first` to `last` (inclusive) of a query."""

    first: int
    last: int
    term: WeightedTerm
    weight: float
    cover: float
    source: str


class QueryParser:
    """Reads queries with the analyzer and glossary that the index was made with."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary, engine: Engine) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._frequency: Callable[[str], int] = engine.frequency
        self._speller = Speller(engine, analyzer)

    def parse(
        self, text: str, filters: Filters, *, verbatim: bool = False, literal: bool = False
    ) -> ParsedQuery:
        """`verbatim` turns spelling correction off; `literal` makes any query count as code."""
        analysis = self._analyzer.analyze(text)
        words = words_of(analysis)
        corrections = () if verbatim or len(words) > LONGEST_CORRECTED else self._corrections(analysis)
        joined = [*self._joined(words)]
        substitutes = [
            *self._synonyms(words, analysis),
            *joined,
            *self._corrected(words, corrections),
            *self._completed(words),
            *self._named(words),
        ]
        clauses = self._rarest([*clauses_of(words, substitutes)])
        atoms = tuple(atom.text for atom in analysis.atoms)
        is_name = len(words) == 1 or any(one.last - one.first == len(words) - 1 for one in joined)
        query = Query(
            clauses=tuple(clauses),
            keys=(f"{TokenKind.KEY.value}:{''.join(atoms)}",) if atoms else (),
            phrase=atoms,
            required=tuple(self._required(text)),
            literal=literal or is_name or _is_code(analysis) or _is_short_run(analysis),
            filters=filters,
        )
        return ParsedQuery(query, self._speller.rewrite(text, corrections), corrections)

    def _corrections(self, analysis: Analysis) -> tuple[Correction, ...]:
        return tuple(islice(self._speller.corrections(analysis), MOST_CORRECTIONS))

    def _required(self, text: str) -> Iterator[tuple[str, ...]]:
        """Atoms of every quoted phrase of a one-line query that is neither traceback nor JSON."""
        if "\n" in text.strip() or QUOTES_ARE_TEXT.search(text):
            return
        for match in QUOTED.finditer(text):
            atoms = self._analyzer.analyze(match.group(match.lastindex or 0)).atoms
            if atoms:
                yield tuple(atom.text for atom in atoms)

    def _synonyms(self, words: Sequence[Word], analysis: Analysis) -> Iterator[Substitute]:
        weight, cover = GLOSSARY
        for mention in self._glossary.mentions(analysis):
            start, end = analysis.atoms[mention.first].start, analysis.atoms[mention.last].end
            covered = [number for number, word in enumerate(words) if word.start < end and start < word.end]
            if covered:
                concept = WeightedTerm((f"{TokenKind.CONCEPT.value}:{mention.group}",), mention.word)
                # A word of the glossary inside an identifier speaks for that part of it.
                share = min(1.0, (end - start) / (words[covered[-1]].end - words[covered[0]].start))
                yield Substitute(covered[0], covered[-1], concept, weight * share, cover * share, "glossary")

    def _joined(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """`rollout batch size` may be `rollout_batch_size`."""
        for first in range(len(words)):
            for last in range(first + 1, min(first + LONGEST_JOINED, len(words))):
                parts = [word.text.strip("-_") for word in words[first : last + 1]]
                if not all(part.isascii() and not part.isdigit() for part in parts):
                    break
                if all(is_function_word(part) for part in parts):
                    continue
                label = "_".join(parts)
                stems = "_".join(word.stem for word in words[first : last + 1])
                names = (f"{TokenKind.TERM.value}:{canonical(label)}", f"{TokenKind.PART.value}:{stems}")
                variants = tuple(name for name in names if self._frequency(name))
                if variants:
                    yield Substitute(first, last, WeightedTerm(variants, label), *JOINED, "identifier")

    def _corrected(self, words: Sequence[Word], corrections: Sequence[Correction]) -> Iterator[Substitute]:
        for correction in corrections:
            covered = [
                n
                for n, word in enumerate(words)
                if word.start < correction.end and correction.start < word.end
            ]
            if covered:
                term = WeightedTerm(_variants(self._analyzer.analyze(correction.word)), correction.word)
                yield Substitute(covered[0], covered[-1], term, *TYPO, "typo")

    def _completed(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """The last word may be half typed, if it occurs nowhere as it is."""
        if not words or len(words[-1].text) < SHORTEST_COMPLETED or not words[-1].text.isascii():
            return
        literal = words[-1].alternatives[0].terms[0]
        if any(self._frequency(variant) for variant in literal.variants):
            return
        for completed in self._speller.completions(words[-1].text):
            term = WeightedTerm((f"{TokenKind.EXACT.value}:{completed}",), completed)
            yield Substitute(len(words) - 1, len(words) - 1, term, *COMPLETED, "completed")

    def _named(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """`doSomething` typed without its capitals: names are indexed whole, plain words searched by stem."""
        for number, word in enumerate(words):
            literal = word.alternatives[0].terms[0]
            name = f"{TokenKind.TERM.value}:{word.text}"
            if self._frequency(name) and not any(self._frequency(variant) for variant in literal.variants):
                yield Substitute(number, number, WeightedTerm((name,), word.text), *JOINED, "identifier")

    def _rarest(self, clauses: Sequence[Clause]) -> Sequence[Clause]:
        """At most MAX_CLAUSES: those whose literal words the fewest documents hold, and any at all."""
        if len(clauses) <= MAX_CLAUSES:
            return clauses

        def commonness(clause: Clause) -> tuple[bool, int]:
            terms = clause.alternatives[0].terms
            held = max((self._frequency(v) for term in terms for v in term.variants), default=0)
            return held == 0, held

        kept = set(sorted(range(len(clauses)), key=lambda n: commonness(clauses[n]))[:MAX_CLAUSES])
        return [clause for number, clause in enumerate(clauses) if number in kept]


def clauses_of(words: Sequence[Word], substitutes: Sequence[Substitute]) -> Iterator[Clause]:
    """A clause for each word, or for the words together that a substitute stands for."""
    joined = {number for one in substitutes for number in range(one.first, one.last)}
    bounds = [0, *(number + 1 for number in range(len(words) - 1) if number not in joined), len(words)]
    for first, end in pairwise(bounds if words else []):
        inside = [one for one in substitutes if first <= one.first and one.last < end]
        yield _clause(
            words[first:end], [replace(one, first=one.first - first, last=one.last - first) for one in inside]
        )


def _clause(words: Sequence[Word], substitutes: Sequence[Substitute]) -> Clause:
    literal = tuple(term for word in words for term in word.alternatives[0].terms)
    first = words[0].alternatives[0]
    alternatives = [Alternative(literal, first.weight if len(words) == 1 else 1.0, source=first.source)]
    if len(words) == 1:
        alternatives += words[0].alternatives[1:]
    for one in substitutes:
        rest = [
            term
            for n, word in enumerate(words)
            if not one.first <= n <= one.last
            for term in word.alternatives[0].terms
        ]
        stands_for = sum(
            term.weight for word in words[one.first : one.last + 1] for term in word.alternatives[0].terms
        )
        term = replace(
            one.term, weight=max(SHORTEST_STAND_IN, min(stands_for, 1 + STAND_IN_GROWTH * (stands_for - 1)))
        )
        alternatives.append(Alternative((term, *rest), one.weight, one.cover, one.source))
    return Clause(tuple(alternatives))


def _variants(analysis: Analysis) -> tuple[str, ...]:
    kinds = (TokenKind.EXACT, TokenKind.TERM, TokenKind.PART)
    return tuple(dict.fromkeys(token.term for token in analysis.tokens if token.kind in kinds))


def _is_code(analysis: Analysis) -> bool:
    """Whether there is code in the query and nothing Chinese."""
    kinds = {token.kind for token in analysis.tokens}
    return TokenKind.PART in kinds and TokenKind.GRAM not in kinds


def _is_short_run(analysis: Analysis) -> bool:
    """Whether the query is a few Han characters in a row, whatever words they make."""
    atoms = analysis.atoms
    return 1 < len(atoms) <= SHORT_RUN and all(
        not left.text.isascii() and left.end == right.start for left, right in pairwise(atoms)
    )
