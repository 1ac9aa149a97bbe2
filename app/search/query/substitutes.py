"""What may stand for the words of a query: synonyms, corrections, identifiers that they spell, their endings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from app.analysis.code import canonical
from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.analysis.stems import is_function_word
from app.analysis.token import Analysis, TokenKind
from app.han import is_han
from app.search.index.protocol import Lexicon
from app.search.query.clauses import Substitute
from app.search.query.spelling import Correction, Speller
from app.search.query.types import Alternative, Source, WeightedTerm
from app.search.query.words import Word
from app.search.weights import COMPLETED, GLOSSARY, JOINED, TYPO

LONGEST_JOINED = 6
"""Neighbors that are tried as one identifier, at most."""
SHORTEST_SPLIT, LONGEST_SPLIT = 6, 24
"""Letters of a word that may be a name of two words, written together."""
SHORTEST_COMPLETED = 3
"""Fewer letters begin too many words to say which is meant."""


class Substitutes:
    """Finds them with the analyzer, glossary and vocabulary that the index was made with."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary, engine: Lexicon, speller: Speller) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._frequency: Callable[[str], int] = engine.frequency
        self._are_neighbors: Callable[[str, str], bool] = engine.are_neighbors
        self._speller = speller

    def synonyms(self, words: Sequence[Word], text: str, analysis: Analysis) -> Iterator[Substitute]:
        """The group of every mention of a word of the glossary in the text of the query."""
        weight, cover = GLOSSARY
        atoms = analysis.atoms
        for mention in self._glossary.mentions(analysis):
            start, end = atoms[mention.first].start, atoms[mention.last].end
            if covered := _overlapped(words, start, end):
                # As it was typed: `fails` where the glossary has `failure`.
                typed = " ".join(self._analyzer.plain(text[start:end]).split())
                concept = WeightedTerm((TokenKind.CONCEPT.term(str(mention.group)),), typed)
                # A word of the glossary inside an identifier speaks for that part of it.
                share = min(1.0, (end - start) / (words[covered[-1]].end - words[covered[0]].start))
                yield Substitute(
                    covered[0], covered[-1], concept, weight * share, cover * share, Source.GLOSSARY
                )

    def joined(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """`rollout batch size` may be `rollout_batch_size`, and `data set` a `dataset`."""
        parts = [word.text.strip("-_") for word in words]
        ends = [is_han(part) or part.isdigit() for part in parts]
        serve = [is_function_word(part) for part in parts]
        for first in range(len(words)):
            for last in range(first + 1, min(first + LONGEST_JOINED, len(words))):
                if ends[first] or ends[last]:
                    break
                if all(serve[first : last + 1]):
                    continue
                label = "_".join(parts[first : last + 1])
                names = [TokenKind.TERM.term(canonical(label))]
                # `on chips` is no inflection of `on-chip`, nor `a way` the word `away`.
                if not any(serve[first : last + 1]):
                    stems = "_".join(word.stem for word in words[first : last + 1])
                    names += [TokenKind.PART.term(stems), *self._word("".join(parts[first : last + 1]))]
                if variants := tuple(name for name in names if self._frequency(name)):
                    yield Substitute(first, last, WeightedTerm(variants, label), *JOINED, Source.IDENTIFIER)

    def _word(self, text: str) -> tuple[str, ...]:
        """The terms of a word that some entry has as it is."""
        has = self._frequency(TokenKind.EXACT.term(text))
        return _variants(self._analyzer.analyze(text)) if has else ()

    def parted(self, words: Sequence[Word]) -> list[Word]:
        """The words, where one that no entry has, nor any name, may be two that stand side by side: `mbedtls` for Mbed
        TLS."""
        return [self._parted(word) for word in words]

    def _parted(self, word: Word) -> Word:
        if self._occurs(word) or self._names(word):
            return word
        for first, second in _in_two(word.text):
            if self._frequency(TokenKind.EXACT.term(first)) and self._are_neighbors(first, second):
                parts = (
                    WeightedTerm(_variants(self._analyzer.analyze(part)), part) for part in (first, second)
                )
                apart = Alternative(tuple(parts), source=Source.IDENTIFIER)
                return replace(word, alternatives=(*word.alternatives, apart))
        return word

    def corrected(self, words: Sequence[Word], corrections: Sequence[Correction]) -> Iterator[Substitute]:
        """The indexed word that each mistyped one was meant to be."""
        for correction in corrections:
            if covered := _overlapped(words, correction.start, correction.end):
                term = WeightedTerm(_variants(self._analyzer.analyze(correction.word)), correction.word)
                yield Substitute(covered[0], covered[-1], term, *TYPO, Source.TYPO)

    def completed(self, words: Sequence[Word], *, unfinished: bool = False) -> Iterator[Substitute]:
        """The last word may be half typed, if it occurs nowhere as it is or is said to be `unfinished`."""
        if not words or len(words[-1].text) < SHORTEST_COMPLETED or is_han(words[-1].text):
            return
        if not unfinished and self._occurs(words[-1]):
            return
        for completed in self._speller.completions(words[-1].text):
            term = WeightedTerm((TokenKind.EXACT.term(completed),), completed)
            yield Substitute(len(words) - 1, len(words) - 1, term, *COMPLETED, Source.COMPLETED)

    def named(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """`doSomething` typed without its capitals, and `multi-line` without its hyphen: names are indexed whole, plain
        words searched by stem."""
        for number, word in enumerate(words):
            if not self._occurs(word) and (names := self._names(word)):
                yield Substitute(number, number, WeightedTerm(names, word.text), *JOINED, Source.IDENTIFIER)

    def _occurs(self, word: Word) -> bool:
        return any(self._frequency(variant) for variant in word.alternatives[0].terms[0].variants)

    def _names(self, word: Word) -> tuple[str, ...]:
        """The names in the index that are the word but for capitals or a joint."""
        names = map(TokenKind.TERM.term, (word.text, *map("_".join, _in_two(word.text))))
        return tuple(name for name in names if self._frequency(name))


def _in_two(word: str) -> Iterator[tuple[str, str]]:
    """The pairs of words that are `word` without what joins them."""
    if SHORTEST_SPLIT <= len(word) <= LONGEST_SPLIT and word.isalnum() and not is_han(word):
        for place in range(2, len(word) - 1):
            yield word[:place], word[place:]


def _overlapped(words: Sequence[Word], start: int, end: int) -> list[int]:
    """Numbers of the words that share a character with `start:end` of the query."""
    return [number for number, word in enumerate(words) if word.start < end and start < word.end]


def _variants(analysis: Analysis) -> tuple[str, ...]:
    kinds = (TokenKind.EXACT, TokenKind.TERM, TokenKind.PART)
    return tuple(dict.fromkeys(token.term for token in analysis.tokens if token.kind in kinds))
