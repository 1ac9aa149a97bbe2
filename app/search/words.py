"""The words of an analyzed query: each with the ways in which an entry may hold it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.analysis.stems import is_function_word
from app.analysis.token import Analysis, Token, TokenKind
from app.search.engine import Alternative, Source, WeightedTerm

JOINED_STEMS = "_"
"""Only the stems of a whole identifier, joined, have this in them."""

FUNCTION_WORD_WEIGHT = 0.065
LONE_CHARACTER_WEIGHT = 0.35
LOOSE_BIGRAM_WEIGHT = 0.4
"""What words that only serve the sentence weigh next to others, and Han characters that belong to no word."""
NUMBER_WEIGHT = 0.4
"""What a number or an address weighs next to words: in an error message it is the part that varies."""

VALUE = re.compile(r"[\d.,:x+*/%=-]+|0x[0-9a-f]+|(?=[a-z]*\d)[0-9a-f]{12,}")

# (weight, cover) of each way to hold a word, against (1, 1) for the word itself.
WHOLE_CODE = (1.4, 1.0)
CODE_NAMES = (0.9, 0.9)
CODE_WORDS = (0.2, 0.9)
SUBWORDS = (0.85, 0.95)
BIGRAMS = (0.7, 1.0)
CHARACTERS = (0.2, 0.4)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query at `start:end` of its text; the first alternative is the literal one."""

    text: str
    start: int
    end: int
    alternatives: tuple[Alternative, ...]
    stem: str = ""
    """What inflected forms share, joined where it is code; empty for Chinese."""


def words_of(analysis: Analysis) -> list[Word]:
    """The words of a query in order, without overlap; one that is repeated only where it first stands."""
    found = sorted([*_latin_words(analysis.tokens), *_han_words(analysis)], key=lambda word: word.start)
    first: dict[tuple[Alternative, ...], Word] = {}
    for word in found:
        first.setdefault(word.alternatives, word)
    return list(first.values())


def _latin_words(tokens: Sequence[Token]) -> Iterator[Word]:
    exact = [token for token in tokens if token.kind is TokenKind.EXACT]
    inside: dict[int, list[Token]] = {token.start: [] for token in exact}
    current: Token | None = None
    for token in tokens:
        if token.kind is TokenKind.EXACT:
            current = token
        elif current is not None and current.start <= token.start and token.end <= current.end:
            inside[current.start].append(token)
    for token in exact:
        yield _latin_word(token, inside[token.start])


def _latin_word(exact: Token, inside: Sequence[Token]) -> Word:
    names = [token for token in inside if token.kind is TokenKind.TERM]
    parts = [token for token in inside if token.kind is TokenKind.PART]
    if not parts:
        return _plain_word(exact, names)
    joined = {(token.start, token.end): token.term for token in parts if JOINED_STEMS in token.text}
    by_word = [token for token in parts if JOINED_STEMS not in token.text]
    by_name = [WeightedTerm(_present(t.term, joined.get((t.start, t.end))), t.text) for t in names]
    weight = NUMBER_WEIGHT if VALUE.fullmatch(exact.text) else 1.0
    whole = WeightedTerm((exact.term, *(by_name[0].variants if by_name else ())), exact.text, weight)
    alternatives = [Alternative((whole,), *WHOLE_CODE, source=Source.IDENTIFIER)]
    if len(by_name) > 1:
        alternatives.append(Alternative(tuple(by_name[1:]), *CODE_NAMES, source=Source.IDENTIFIER))
    stems = tuple(
        WeightedTerm((TokenKind.TERM.term(t.text), t.term), _typed(t, exact), weight) for t in by_word
    )
    alternatives.append(Alternative(stems, *CODE_WORDS))
    stem = JOINED_STEMS.join(token.text for token in by_word)
    return Word(exact.text, exact.start, exact.end, tuple(alternatives), stem)


def _typed(part: Token, exact: Token) -> str:
    """The part as it was typed, where folding kept lengths; otherwise its stem."""
    return exact.text[part.start - exact.start : part.end - exact.start] or part.text


def _present(*terms: str | None) -> tuple[str, ...]:
    return tuple(term for term in terms if term)


def _plain_word(exact: Token, stems: Sequence[Token]) -> Word:
    weight = FUNCTION_WORD_WEIGHT if is_function_word(exact.text) else 1.0
    parts = tuple(TokenKind.PART.term(token.text) for token in stems)
    term = WeightedTerm((exact.term, *_terms(stems), *parts), exact.text, weight)
    stem = stems[0].text if stems else exact.text
    return Word(exact.text, exact.start, exact.end, (Alternative((term,)),), stem)


def _terms(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.term for token in tokens)


def _han_words(analysis: Analysis) -> Iterator[Word]:
    """Words of the dictionary, the longest where they overlap, then whatever characters are left over."""
    grams = {(t.start, t.end): t for t in analysis.tokens if t.kind is TokenKind.GRAM}
    exact_spans = {(t.start, t.end) for t in analysis.tokens if t.kind is TokenKind.EXACT}
    terms = [
        token
        for token in analysis.tokens
        if token.kind is TokenKind.TERM
        and (token.start, token.start + 1) in grams
        and (token.start, token.end) not in exact_spans
    ]
    taken: list[Token] = []
    covered: set[int] = set()
    for token in sorted(terms, key=lambda t: (t.start - t.end, t.start)):
        if covered.isdisjoint(range(token.start, token.end)):
            taken.append(token)
            covered.update(range(token.start, token.end))
    by_start: dict[int, list[Token]] = {}
    for token in terms:
        by_start.setdefault(token.start, []).append(token)
    for token in taken:
        inside = [t for place in range(token.start, token.end) for t in by_start.get(place, ())]
        yield _dictionary_word(token, [t for t in inside if t.end <= token.end and t != token], grams)
    lone = [span for span in sorted(grams) if span[1] == span[0] + 1 and span[0] not in covered]
    yield from _loose_words(lone, grams)


def _dictionary_word(word: Token, inner: Sequence[Token], grams: Mapping[tuple[int, int], Token]) -> Word:
    weight = FUNCTION_WORD_WEIGHT if is_function_word(word.text) else 1.0
    alternatives = [Alternative((WeightedTerm((word.term,), word.text, weight),))]
    if inner:
        by_word = tuple(WeightedTerm((token.term,), token.text, weight) for token in inner)
        alternatives.append(Alternative(by_word, *SUBWORDS))
    bigrams = _bigrams(word.start, word.end, grams)
    alternatives.append(
        Alternative(tuple(WeightedTerm((t.term,), word.text, weight) for t in bigrams), *BIGRAMS)
    )
    return Word(word.text, word.start, word.end, tuple(alternatives))


def _bigrams(start: int, end: int, grams: Mapping[tuple[int, int], Token]) -> list[Token]:
    return [grams[place, place + 2] for place in range(start, end - 1) if (place, place + 2) in grams]


def _loose_words(lone: Sequence[tuple[int, int]], grams: Mapping[tuple[int, int], Token]) -> Iterator[Word]:
    """Characters that belong to no word: neighbors together, function words by themselves."""
    run: list[Token] = []
    for span in lone:
        token = grams[span]
        if is_function_word(token.text):
            term = WeightedTerm((token.term,), token.text, FUNCTION_WORD_WEIGHT * LONE_CHARACTER_WEIGHT)
            yield Word(token.text, token.start, token.end, (Alternative((term,)),))
            continue
        if run and run[-1].end != token.start:
            yield _loose_word(run, grams)
            run = []
        run.append(token)
    if run:
        yield _loose_word(run, grams)


def _loose_word(run: Sequence[Token], grams: Mapping[tuple[int, int], Token]) -> Word:
    text = "".join(token.text for token in run)
    pairs = _bigrams(run[0].start, run[-1].end, grams)
    characters = _weighted(run, LONE_CHARACTER_WEIGHT)
    bigrams = _weighted(pairs, LOOSE_BIGRAM_WEIGHT, text)
    alternatives = (
        (Alternative(bigrams), Alternative(characters, *CHARACTERS))
        if bigrams
        else (Alternative(characters),)
    )
    return Word(text, run[0].start, run[-1].end, alternatives)


def _weighted(tokens: Sequence[Token], weight: float, label: str = "") -> tuple[WeightedTerm, ...]:
    return tuple(dict.fromkeys(WeightedTerm((token.term,), label or token.text, weight) for token in tokens))
