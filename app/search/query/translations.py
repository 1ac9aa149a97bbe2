"""Words of a query in the other language, for entries that lack the language asked in.

All translations of a word are one term, with a frequency and an idf of its own, after A. Pirkola, The Effects of Query
Structure and Dictionary Setups in Dictionary-Based Cross-Language Information Retrieval (SIGIR 1998): a word of many
meanings, some of which are everywhere, weighs little, and one that is rare in every meaning much.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from app.analysis.stems import is_function_word
from app.analysis.token import TokenKind
from app.entry import Language
from app.han import is_han
from app.search.index.protocol import Lexicon
from app.search.query.clauses import Substitute
from app.search.query.types import Source, WeightedTerm
from app.search.query.words import Word
from app.search.translation.dictionary import Dictionary
from app.search.weights import TRANSLATED

LONGEST = 4
"""Neighbors that are looked up as one expression, at most."""
MOST = 16
"""Terms that stand for a word, at most: what is usual comes first, and what comes later is seldom meant."""

Terms = tuple[str, ...]


class Translations:
    """Translates with a dictionary into the words that an index has."""

    def __init__(self, dictionary: Dictionary, lexicon: Lexicon, lacking: Collection[Language]) -> None:
        """`lacking` are the languages that some entry has no edition in: words of others need no translation."""
        self._dictionary = dictionary
        self._frequency: Callable[[str], int] = lexicon.frequency
        self._lacking = lacking

    def of(self, words: Sequence[Word]) -> Iterator[Substitute]:
        """What stands for each word: what the longest expression means that it is the beginning of, or part of."""
        found: list[Terms] = [()] * len(words)
        for first, word in enumerate(words):
            if _language(word) not in self._lacking or is_function_word(word.text):
                continue
            last, terms = self._longest(words, first)
            for number in range(first, last + 1):
                found[number] = found[number] or terms
        weight, cover = TRANSLATED
        for number, (word, terms) in enumerate(zip(words, found, strict=True)):
            if terms:
                literal = word.alternatives[0].terms[0].variants
                term = WeightedTerm(terms, word.text, lacking=_language(word), beside=literal)
                yield Substitute(number, number, term, weight, cover, Source.TRANSLATION)

    def _longest(self, words: Sequence[Word], first: int) -> tuple[int, Terms]:
        """The last word of the longest expression from `first` on that has a translation, and that one's terms."""
        for last in range(min(len(words), first + LONGEST) - 1, first - 1, -1):
            if terms := self._translated(words[first : last + 1]):
                return last, terms
        return first, ()

    def _translated(self, words: Sequence[Word]) -> Terms:
        languages = {_language(word) for word in words}
        if len(languages) > 1:
            return ()
        terms = self._to_english(words) if Language.ZH in languages else self._to_chinese(words)
        return tuple(dict.fromkeys(terms))[:MOST]

    def _to_chinese(self, words: Sequence[Word]) -> Iterator[str]:
        if is_function_word(words[-1].text):
            return
        stems = tuple(word.stem for word in words if not is_function_word(word.text))
        for word in self._dictionary.chinese(stems):
            names = (TokenKind.TERM.term(word), TokenKind.GRAM.term(word))
            yield from [name for name in names if self._frequency(name)][:1]

    def _to_english(self, words: Sequence[Word]) -> Iterator[str]:
        if any(left.end != right.start for left, right in pairwise(words)):
            return
        text = "".join(word.text for word in words)
        yield from self._english(text) or (self._english_of_parts(text) if len(words) == 1 else ())

    def _english_of_parts(self, word: str) -> Iterator[str]:
        """Of a word that the dictionary lacks, what the shorter words in it mean."""
        for start in range(len(word)):
            for end in range(start + 2, len(word) + 1):
                yield from self._english(word[start:end])

    def _english(self, word: str) -> list[str]:
        """The index terms of what a Chinese word means: of meanings that are one word, otherwise of their words."""
        meanings = self._dictionary.english(word)
        single = [terms for stems in meanings if len(stems) == 1 for terms in self._present(stems)]
        return single or [term for stems in meanings for term in self._present(stems)]

    def _present(self, stems: Sequence[str]) -> Iterator[str]:
        """Those that some entry has, as words and inside identifiers."""
        for stem in stems:
            names = (TokenKind.TERM.term(stem), TokenKind.PART.term(stem))
            yield from filter(self._frequency, names)


def _language(word: Word) -> Language:
    return Language.ZH if is_han(word.text) else Language.EN
