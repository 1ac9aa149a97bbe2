"""Finds substitutes that entries in one language only may have: translations, by a dictionary, and words of similar
meaning, by their vectors.

All translations of a word are one term, with a frequency and an idf of its own, after A. Pirkola, The Effects of Query
Structure and Dictionary Setups in Dictionary-Based Cross-Language Information Retrieval (SIGIR 1998): a word with many
meanings, some of them common, weighs little, and one that is rare in every meaning weighs much.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.analysis.words import is_function_word
from jieda.entry import Language
from jieda.han import is_han
from jieda.search.dictionary import Dictionary
from jieda.search.index.protocol import Lexicon
from jieda.search.meaning.embedder import GuardedEmbedder, NotEmbedded, Vector
from jieda.search.meaning.word_vectors import WordVectors
from jieda.search.query.substitutes import index_terms
from jieda.search.query.words import MatchKind, QueryWord, Substitute, WeightedTerm
from jieda.search.weights import SIMILAR, SIMILAR_FROM, SIMILAR_WORDS, TRANSLATED

LONGEST = 4
"""Most neighbors that are looked up as one expression, and most characters of a word inside a longer one."""
MOST = 16
"""Most translations of a word: usual meanings come first, later ones are seldom meant."""

Terms = tuple[str, ...]


class QueryTranslator:
    """Translates words with a dictionary into terms of an index."""

    def __init__(self, dictionary: Dictionary, lexicon: Lexicon, lacking: Collection[Language]) -> None:
        """`lacking`: the languages in which some entry has no edition; words of others need no translation."""
        self._dictionary = dictionary
        self._doc_frequency: Callable[[str], int] = lexicon.doc_frequency
        self._lacking = lacking

    def of(self, words: Sequence[QueryWord]) -> Iterator[Substitute]:
        """Yield a substitute for each word: the translations of the longest expression that contains it."""
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
                term = WeightedTerm(terms, word.text, only_without=_language(word), also_counted=literal)
                yield Substitute(number, number, term, weight, cover, MatchKind.TRANSLATION)

    def _longest(self, words: Sequence[QueryWord], first: int) -> tuple[int, Terms]:
        """Return the last word of the longest translatable expression from `first` on, and the translation's terms."""
        for last in range(min(len(words), first + LONGEST) - 1, first - 1, -1):
            if terms := self._translated(words[first : last + 1]):
                return last, terms
        return first, ()

    def _translated(self, words: Sequence[QueryWord]) -> Terms:
        languages = {_language(word) for word in words}
        if len(languages) > 1:
            return ()
        terms = self._to_english(words) if Language.ZH in languages else self._to_chinese(words)
        return tuple(dict.fromkeys(terms))[:MOST]

    def _to_chinese(self, words: Sequence[QueryWord]) -> Iterator[str]:
        if is_function_word(words[-1].text):
            return
        stems = tuple(word.stem for word in words if not is_function_word(word.text))
        for word in self._dictionary.chinese(stems):
            names = (TokenKind.TERM.term(word), TokenKind.GRAM.term(word))
            yield from [name for name in names if self._doc_frequency(name)][:1]

    def _to_english(self, words: Sequence[QueryWord]) -> Iterator[str]:
        if any(left.end != right.start for left, right in pairwise(words)):
            return
        text = "".join(word.text for word in words)
        yield from self._english(text) or (self._english_of_parts(text) if len(words) == 1 else ())

    def _english_of_parts(self, word: str) -> Iterator[str]:
        """Yield the translations of the shorter words inside a word that the dictionary lacks."""
        for start in range(len(word)):
            for end in range(start + 2, min(start + LONGEST, len(word)) + 1):
                yield from self._english(word[start:end])

    def _english(self, word: str) -> list[str]:
        """Return the index terms of a Chinese word's meanings: of those of one word, otherwise of all their words."""
        meanings = self._dictionary.english(word)
        single = [terms for stems in meanings if len(stems) == 1 for terms in self._present(stems)]
        return single or [term for stems in meanings for term in self._present(stems)]

    def _present(self, stems: Sequence[str]) -> Iterator[str]:
        """Yield the terms that some entry has, as words and inside identifiers."""
        for stem in stems:
            names = (TokenKind.TERM.term(stem), TokenKind.PART.term(stem))
            yield from filter(self._doc_frequency, names)


def _language(word: QueryWord) -> Language:
    return Language.ZH if is_han(word.text) else Language.EN


KEPT = 4096
"""Entries of the cache of similar words."""


class SimilarWords:
    """Finds words of similar meaning, in both languages, by vectors.

    Those of the query's own language count like those of the other one. Otherwise entries in the other language would
    have more ways to match, and displace entries in the reader's own (.26 instead of .32 right first over the bed
    "different" of `bench/beds.py`).
    """

    def __init__(
        self,
        vectors: WordVectors,
        embedder: GuardedEmbedder,
        lexicon: Lexicon,
        analyzer: Analyzer,
        lacking: Collection[Language],
    ) -> None:
        """`embedder` made the `vectors`. `lacking`: the languages in which some entry has no edition; queries in others
        need nothing of this."""
        self._vectors, self._embedder, self._analyzer = vectors, embedder, analyzer
        self._doc_frequency, self._lacking = lexicon.doc_frequency, lacking
        self._similar = lru_cache(KEPT)(self._find)
        self._embedded: dict[str, Vector] = {}
        """The vectors of words that the index lacks."""

    def of(self, words: Sequence[QueryWord]) -> Iterator[Substitute]:
        """Yield for each word that a general dictionary has the similar ones of its language, and those of the other
        one, for entries that lack its own; none while the embedder fails."""
        said = [number for number, word in enumerate(words) if self._says_something(word)]
        try:
            self._embed_at_once([words[number].text for number in said])
            found = [
                (words[n], n, lang, self._similar(words[n].text, lang)) for n in said for lang in Language
            ]
        except NotEmbedded:
            return
        for word, number, lang, terms in found:
            if terms:
                lacking = None if lang is _language(word) else lang.other
                literal = word.alternatives[0].terms[0].variants
                term = WeightedTerm(terms, word.text, only_without=lacking, also_counted=literal)
                yield Substitute(number, number, term, *SIMILAR, MatchKind.SIMILAR)

    def _says_something(self, word: QueryWord) -> bool:
        is_plain = _language(word) in self._lacking and word.alternatives[0].source is MatchKind.TEXT
        return is_plain and not is_function_word(word.text) and self._analyzer.is_word(word.text)

    def _embed_at_once(self, words: Sequence[str]) -> None:
        """Embed the words that the index lacks: one by one takes four times as long. Raises NotEmbedded."""
        known = self._embedded if len(self._embedded) < KEPT else {}
        if new := [word for word in words if word not in known and self._vectors.vector(word) is None]:
            self._embedded = known | dict(zip(new, self._embedder.embed(new, as_query=True), strict=True))

    def _find(self, word: str, lang: Language) -> Terms:
        """Return the index terms of the SIMILAR_WORDS nearest words of a language, inflections counted once. Raises
        NotEmbedded."""
        vector = self._vectors.vector(word)
        if vector is None:
            vector = self._embedded.get(word)
        if vector is None:  # another thread has emptied the cache
            vector = self._embedder.embed([word], as_query=True)[0]
        own, found = _stem(self._terms(word)), dict[str, Terms]()
        for near in self._vectors.near(vector, lang, SIMILAR_FROM):
            terms = self._terms(near)
            if (stem := _stem(terms)) == own:
                continue
            if len(found.keys() | {stem}) > SIMILAR_WORDS:
                break
            found[stem] = (*found.get(stem, ()), *terms)
        return tuple(dict.fromkeys(filter(self._doc_frequency, chain.from_iterable(found.values()))))

    def _terms(self, word: str) -> Terms:
        return index_terms(self._analyzer.analyze(word))


def _stem(terms: Terms) -> str:
    return next((term for term in terms if term.startswith(TokenKind.TERM.term(""))), "")
