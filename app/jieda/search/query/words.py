"""The parsed query: its words, and its clauses, each with the alternatives that satisfy it."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from jieda.analysis.token import Analysis, Run, RunKind, Token, TokenKind
from jieda.analysis.words import is_function_word
from jieda.entry import Language
from jieda.han import has_han
from jieda.search import weights
from jieda.taxonomy import Filters


class MatchKind(StrEnum):
    """Why an alternative matches the words of a query."""

    TEXT = "text"
    IDENTIFIER = "identifier"
    GLOSSARY = "glossary"
    TYPO = "typo"
    COMPLETED = "completed"
    TRANSLATION = "translation"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A word of a query, which any of `variants` (index terms) matches; they are scored as one term.

    `label` is the word as typed, or its substitute (a glossary word, a correction).
    """

    variants: tuple[str, ...]
    label: str
    weight: float = 1.0
    only_without: Language | None = None
    """If given, it matches only documents without an edition in this language."""
    also_counted: tuple[str, ...] = ()
    """Variants of a word that was typed: the idf counts the documents with these as well, because a translation is not
    rarer than what it translates, nor an identifier than the rarest word that it is spelled with."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy a clause: `weight` scales its score, `cover` is how much of the clause it covers."""

    terms: tuple[WeightedTerm, ...]
    weight: float = 1.0
    cover: float = 1.0
    source: MatchKind = MatchKind.TEXT


class ClauseKind(StrEnum):
    """What a clause consists of, which decides what it means if no entry has it."""

    FUNCTION = "serving"
    """Function words, and names of frameworks."""
    NUMBER = "number"
    CODE = "code"
    NAME = "name"
    """A word that no general dictionary has."""
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Clause:
    """A word or phrase of the query with all its alternatives; the first is the literal one."""

    alternatives: tuple[Alternative, ...]
    kind: ClauseKind = ClauseKind.WORD

    @property
    def meant(self) -> tuple[Alternative, ...]:
        """The alternatives that match the clause as a whole: one word of several in an identifier does not."""
        first, *rest = self.alternatives
        if self.kind is not ClauseKind.CODE:
            return self.alternatives
        return (first, *(way for way in rest if way.source is not MatchKind.TEXT or len(way.terms) == 1))

    def without(self, kinds: Collection[MatchKind]) -> "Clause":
        """Return the clause without alternatives of some kinds."""
        return replace(self, alternatives=tuple(way for way in self.alternatives if way.source not in kinds))


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling of a query. `separators`: the text before, between and after its atoms (`document.separators_of`).

    `spans`: keys of the code spans that equal the query. `is_span`: some entry has it as a code span, case aside.
    """

    separators: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    is_span: bool = False
    is_code: bool = False
    has_han: bool = False


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Two words in a row, as atoms."""

    atoms: tuple[str, ...]
    weight: float = 1.0
    """Geometric mean of the weights of the two."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `phrase` is the whole query as atoms; `required` phrases must occur."""

    clauses: tuple[Clause, ...]
    neighbors: tuple[Neighbors, ...] = ()
    """Pairs of words, each once; none in pasted text."""
    keys: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    exact_first: bool = False
    """Whether documents that contain the query word for word come first: it is one word, or code."""
    spelling: Spelling = field(default_factory=Spelling)
    filters: Filters = field(default_factory=Filters)
    frameworks: tuple[str, ...] = ()
    """Frameworks asked about: their fitting entries come before all others."""
    text_to_embed: str = ""
    prose: float = 0.0
    """Weight of the similarity of vectors, from 0 to 1: code means only itself."""


MOST_ORDERED = 48
"""Most words of a query whose order counts: more are pasted text."""

LONGEST_UNIT = 3
"""Most letters of a unit."""

JOINED_STEMS = "_"
"""Joins the stems of an identifier; occurs in no other term."""

NUMBER = re.compile(r"[\d.,:x+*/%=-]+")
ASSIGNMENT = re.compile(r"(?<=\w)=(?=[^=])")
ASSIGNED = re.compile(r"[`\"']?\s*[:=：]\s*[`\"']?")
"""The text between a name and its value."""
ADDRESS = re.compile(r"0x[0-9a-f]+|(?=[a-z]*\d)[0-9a-f]{12,}")
WORDS_WITH_HYPHENS = re.compile(r"[^\W_]+(?:\.\d+)?(?:-[^\W_]+(?:\.\d+)?)+")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the query at `start:end` of its text; the first alternative is the literal one."""

    text: str
    start: int
    end: int
    alternatives: tuple[Alternative, ...]
    stem: str = ""
    """Stem; the joined stems for code; empty for Chinese."""


def words_of(analysis: Analysis, text: str, is_known: Callable[[Token], bool]) -> list[QueryWord]:
    """Return the words of a query in order, without overlap; a repeated word only once, at its first place. A Chinese
    word is read as the words that it is made of if it is not `is_known`."""
    first: dict[tuple[Alternative, ...], QueryWord] = {}
    usual = weights.NUMBER_WEIGHT if _has_code(analysis) else 1.0
    end = 0
    for run in analysis.runs:
        number_weight = usual
        if atoms := run.atoms:  # marks alone, such as `_`, have none
            if end and ASSIGNED.fullmatch(text, end, atoms[0].start):
                number_weight = weights.VALUE_WEIGHT
            end = atoms[-1].end
        for word in _words(run, number_weight, is_known):
            first.setdefault(word.alternatives, word)
    return list(first.values())


def neighbors_of(
    words: Sequence[QueryWord], analysis: Analysis, joined: Sequence["Substitute"]
) -> tuple[Neighbors, ...]:
    """Return the pairs of neighbors among the words of a query, each once; none of a query of many words. Words that
    spell an identifier are left out, because it counts already (`joined`), and so are pairs of function words, which
    say nothing and are slow to look up."""
    if len(words) > MOST_ORDERED:
        return ()
    spelled = {number for one in joined for number in range(one.first, one.last)}
    spoken = [*zip(analysis.words, analysis.spans, strict=True)]
    pairs: dict[tuple[str, ...], float] = {}
    for number, (left, right) in enumerate(pairwise(words)):
        weight = math.sqrt(_weight(left) * _weight(right))
        if number not in spelled and weight > weights.FUNCTION_WORD_WEIGHT:
            atoms = tuple(atom for atom, (start, end) in spoken if left.start <= start and end <= right.end)
            pairs.setdefault(atoms, weight)
    return tuple(Neighbors(*pair) for pair in pairs.items())


def _weight(word: QueryWord) -> float:
    return max((term.weight for term in word.alternatives[0].terms), default=0.0)


def _has_code(analysis: Analysis) -> bool:
    """Whether the query has code other than numbers."""
    return any(run.kind is RunKind.CODE and not NUMBER.fullmatch(run.tokens[0].text) for run in analysis.runs)


def _words(run: Run, number_weight: float, is_known: Callable[[Token], bool]) -> Sequence[QueryWord]:
    if run.kind is RunKind.HAN:
        return sorted(_han_words(run, is_known), key=lambda word: word.start)
    parts = run.of_kind(TokenKind.PART)
    return [_code_word(run, parts, number_weight) if parts else _plain_word(run)]


def _plain_word(run: Run) -> QueryWord:
    exact, stems = run.tokens[0], run.of_kind(TokenKind.TERM)
    weight = weights.FUNCTION_WORD_WEIGHT if is_function_word(exact.text) else 1.0
    parts = tuple(TokenKind.PART.term(token.text) for token in stems)
    term = WeightedTerm((exact.term, *(token.term for token in stems), *parts), exact.text, weight)
    stem = stems[0].text if stems else exact.text
    return QueryWord(exact.text, exact.start, exact.end, (Alternative((term,)),), stem)


def _code_word(run: Run, parts: Sequence[Token], number_weight: float) -> QueryWord:
    """Return a piece of code as a word: written whole, or by all its names, or by all its words."""
    exact = run.tokens[0]
    weight = weights.NUMBER_WEIGHT if ADDRESS.fullmatch(exact.text) else 1.0
    if NUMBER.fullmatch(exact.text):
        weight = number_weight
    assignment = ASSIGNMENT.search(exact.text)
    value = exact.start + assignment.end() if assignment else exact.end
    stems = {(part.start, part.end): (part.term,) for part in parts if JOINED_STEMS in part.text}
    names = [
        WeightedTerm((t.term, *stems.get((t.start, t.end), ())), t.text, _part_weight(t, value))
        for t in run.of_kind(TokenKind.TERM)
    ]
    # The parts of names come before those of words; a version such as `2.0_rc1` is a word with the joint in it.
    stemmed = zip(parts[-len(run.analysis.words) :], run.analysis.words, strict=True)
    words = [(part, typed) for part, typed in stemmed if JOINED_STEMS not in part.text]
    whole = WeightedTerm((exact.term, *(names[0].variants if names else ())), exact.text, weight)
    written = weights.HYPHENATED if WORDS_WITH_HYPHENS.fullmatch(exact.text) else weights.WHOLE_CODE
    alternatives = [Alternative((whole,), *written, source=MatchKind.IDENTIFIER)]
    if len(names) > 1:  # the first is that of the whole
        alternatives.append(Alternative(tuple(names[1:]), *weights.CODE_NAMES, source=MatchKind.IDENTIFIER))
    if words:
        terms = [
            WeightedTerm((TokenKind.TERM.term(t.text), t.term), typed, min(weight, _part_weight(t, value)))
            for t, typed in words
        ]
        alternatives.append(Alternative(tuple(terms), *weights.CODE_WORDS))
    stem = JOINED_STEMS.join(part.text for part, _ in words)
    return QueryWord(exact.text, exact.start, exact.end, tuple(alternatives), stem)


def _part_weight(part: Token, value: int) -> float:
    """Return the weight of a part of a piece of code: a name decides; its value, which begins at offset `value`, or a
    number beside it only confirms; a version counts as a name."""
    return weights.VALUE_WEIGHT if part.start >= value or part.text.isdecimal() else 1.0


Grams = Mapping[tuple[int, int], Token]
"""Characters and pairs of characters of a Han run, by span."""


def _han_words(run: Run, is_known: Callable[[Token], bool]) -> Iterator[QueryWord]:
    """Yield the dictionary words, the longest where they overlap, then the characters left over."""
    grams = {(token.start, token.end): token for token in run.of_kind(TokenKind.GRAM)}
    words = run.of_kind(TokenKind.TERM)
    covered: set[int] = set()
    for word in sorted(words, key=lambda token: (token.start - token.end, token.start)):
        place = range(word.start, word.end)
        if covered.isdisjoint(place) and (is_known(word) or not _consists_of(word, words)):
            covered.update(place)
            yield _dictionary_word(word, grams)
    left_over = [grams[atom.start, atom.end] for atom in run.atoms if atom.start not in covered]
    yield from _loose_words(left_over, grams)


def _consists_of(word: Token, words: Sequence[Token]) -> bool:
    """Whether `word` is made of shorter ones of `words`, end to end."""
    ends = {word.start}
    for one in sorted(words, key=lambda one: one.start):
        if one.start in ends and one.end - one.start < word.end - word.start:
            ends.add(one.end)
    return word.end in ends


def _dictionary_word(word: Token, grams: Grams) -> QueryWord:
    weight = weights.FUNCTION_WORD_WEIGHT if is_function_word(word.text) else 1.0
    literal = Alternative((WeightedTerm((word.term,), word.text, weight),))
    pairs = _bigrams(word.start, word.end, grams)
    cut = tuple(WeightedTerm((pair.term,), word.text, weight) for pair in pairs)
    # Combining marks can leave no pair inside the word's span.
    cut_otherwise = (Alternative(cut, *weights.BIGRAMS),) if cut else ()
    return QueryWord(word.text, word.start, word.end, (literal, *cut_otherwise))


def _bigrams(start: int, end: int, grams: Grams) -> list[Token]:
    return [grams[place, place + 2] for place in range(start, end - 1) if (place, place + 2) in grams]


def _loose_words(characters: Sequence[Token], grams: Grams) -> Iterator[QueryWord]:
    """Yield the characters that belong to no word: neighbors together, function words by themselves."""
    groups: list[list[Token]] = []
    for character in characters:
        serves = is_function_word(character.text)
        if (
            serves
            or not groups
            or groups[-1][-1].end != character.start
            or is_function_word(groups[-1][-1].text)
        ):
            groups.append([])
        groups[-1].append(character)
    for group in groups:
        text = "".join(token.text for token in group)
        pairs = _bigrams(group[0].start, group[-1].end, grams)
        serving = weights.FUNCTION_WORD_WEIGHT if is_function_word(group[0].text) else 1.0
        terms = _weight_all(pairs, weights.LOOSE_BIGRAM_WEIGHT, text)
        terms = terms or _weight_all(group, serving * weights.LONE_CHARACTER_WEIGHT)
        yield QueryWord(text, group[0].start, group[-1].end, (Alternative(terms),))


def _weight_all(tokens: Sequence[Token], weight: float, label: str = "") -> tuple[WeightedTerm, ...]:
    return tuple(dict.fromkeys(WeightedTerm((token.term,), label or token.text, weight) for token in tokens))


def prose_of(analysis: Analysis, is_word: Callable[[str], bool]) -> float:
    """Return 1 − CODE_OVER_PROSE · (share of the query's atoms in code), at least 0; also 0 if no part of the query is
    Han or a word of a general dictionary (`is_word`): random keystrokes have no meaning."""
    code = sum(len(run.analysis.words) for run in analysis.runs if run.of_kind(TokenKind.PART))
    says = any(run.kind is RunKind.HAN or is_word(run.tokens[0].text) for run in analysis.runs)
    return max(0.0, 1 - weights.CODE_OVER_PROSE * code / len(analysis.words)) if says else 0.0


@dataclass(frozen=True, slots=True)
class Substitute:
    """A term that may replace words `first` to `last` (inclusive) of a query."""

    first: int
    last: int
    term: WeightedTerm
    weight: float
    cover: float
    source: MatchKind


def clauses_of(
    words: Sequence[QueryWord], substitutes: Sequence[Substitute], is_word: Callable[[str], bool]
) -> Iterator[Clause]:
    """Yield a clause for each word, or for the words that one substitute replaces together. `is_word`: whether a
    general dictionary has a word."""
    joined = {number for one in substitutes for number in range(one.first, one.last)}
    bounds = [0, *(number + 1 for number in range(len(words) - 1) if number not in joined), len(words)]
    for first, end in pairwise(bounds if words else []):
        inside = [one for one in substitutes if first <= one.first and one.last < end]
        clause = _clause(first, words[first:end], inside)
        before = words[first - 1] if first else None
        kind = _kind(words[first:end], is_word)
        is_unit = kind is not ClauseKind.FUNCTION and before and _is_unit(words[first:end], before)
        yield replace(clause, kind=ClauseKind.NUMBER if is_unit else kind)


def _is_unit(words: Sequence[QueryWord], before: QueryWord) -> bool:
    """Whether a word is the unit of a number right before it, such as `GiB` or `ms`, and varies with it."""
    only = words[0]
    is_short = len(words) == 1 and len(only.text) <= LONGEST_UNIT and only.text.isascii()
    return is_short and only.start - before.end <= 1 and NUMBER.fullmatch(before.text) is not None


def _kind(words: Sequence[QueryWord], is_word: Callable[[str], bool]) -> ClauseKind:
    literal = [word.alternatives[0] for word in words]
    if all(term.weight <= weights.FUNCTION_WORD_WEIGHT for way in literal for term in way.terms):
        return ClauseKind.FUNCTION
    if all(NUMBER.fullmatch(word.text) for word in words):
        return ClauseKind.NUMBER
    if any(way.source is MatchKind.IDENTIFIER for way in literal):
        return ClauseKind.CODE
    known = all(has_han(word.text) or is_word(word.text) for word in words)
    return ClauseKind.WORD if known else ClauseKind.NAME


def _clause(start: int, words: Sequence[QueryWord], substitutes: Sequence[Substitute]) -> Clause:
    """Return the clause of some words of a query, the first of which has the number `start`."""
    literal = tuple(term for word in words for term in word.alternatives[0].terms)
    first = words[0].alternatives[0]
    alternatives = [Alternative(literal, first.weight if len(words) == 1 else 1.0, source=first.source)]
    if len(words) == 1:
        alternatives += words[0].alternatives[1:]
    for one in substitutes:
        rest = [
            term
            for n, word in enumerate(words, start)
            if not one.first <= n <= one.last
            for term in word.alternatives[0].terms
        ]
        replaced = words[one.first - start : one.last + 1 - start]
        stands_for = sum(term.weight for word in replaced for term in word.alternatives[0].terms)
        term = replace(one.term, weight=min(stands_for, 1 + weights.STAND_IN_GROWTH * (stands_for - 1)))
        alternatives.append(Alternative((term, *rest), one.weight, one.cover, one.source))
    return Clause(tuple(alternatives))
