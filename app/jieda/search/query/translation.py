"""Finds substitutes that entries in one language only may have: translations, by a dictionary, and words of similar
meaning, by their vectors.

All translations of a word are one term, with a frequency and an idf of its own, after A. Pirkola, The Effects of Query
Structure and Dictionary Setups in Dictionary-Based Cross-Language Information Retrieval (SIGIR 1998): a word with many
meanings, some of them common, weighs little, and one that is rare in every meaning weighs much.

The dictionary comes from a file that the operator names, and is kept as sorted strings that processes share. The file
has the plain format of CC-CEDICT: a Chinese word per line, with its meanings in English.

    傳統 简体 [pin1 yin1] /a meaning/another; the same in other words/

Meanings are reduced to what is useful for search: text in parentheses, which describes the use of the word, is removed,
and a meaning that quotes Chinese is dropped, as it is about the writing (a variant, a measure word, another reading).
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.analysis.words import Stemmer, fold_text, is_function_word
from jieda.disk import read_plain
from jieda.entry import Language
from jieda.errors import SettingsError
from jieda.han import has_han, is_han
from jieda.search.index.array_file import Array, Occurrences, Table, cached_arrays, table_arrays
from jieda.search.index.protocol import Lexicon
from jieda.search.meaning.embedder import GuardedEmbedder, NotEmbedded, Vector
from jieda.search.meaning.word_vectors import WordVectors
from jieda.search.query.substitutes import index_terms
from jieda.search.query.words import MatchKind, QueryWord, Substitute, WeightedTerm
from jieda.search.weights import SIMILAR, SIMILAR_FROM, SIMILAR_WORDS, TRANSLATED

LARGEST = 64 << 20
"""Most bytes of a dictionary file; CC-CEDICT has ten million."""
MOST_PROBLEMS = 5
"""Most wrong lines reported; a file of another format has nothing else."""
SHOWN = 60
"""Characters quoted of a wrong line."""

LINE = re.compile(r"\S+ (?P<simplified>\S+) \[.*?\]{1,2} /(?P<meanings>.*)/")
BETWEEN = re.compile(r"/|; ")
ASIDE = re.compile(r"\([^()]*\)")
READING = re.compile(r"\[[^\]]*\]")

FORM = "傳統 简体 [pin1 yin1] /meaning/meaning/"

Meanings = tuple[str, ...]


def read_cedict(path: Path, content: bytes) -> Iterator[tuple[str, Meanings]]:
    """Yield the words of a file, each with its meanings, the usual one first. Raises SettingsError with the wrong
    lines, at the end or after MOST_PROBLEMS."""
    problems: list[str] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            yield _parse_line(line.decode())
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")
            if len(problems) == MOST_PROBLEMS:
                break
    if problems:
        raise SettingsError(problems)


def _parse_line(line: str) -> tuple[str, Meanings]:
    """Raises ValueError, as decoding does."""
    match = LINE.fullmatch(line.rstrip())
    if match is None:
        raise ValueError(f"not a line of a CC-CEDICT file, which looks like {FORM}: {line[:SHOWN]!r}")
    meanings = (ASIDE.sub("", READING.sub("", each)).strip() for each in BETWEEN.split(match["meanings"]))
    return match["simplified"], tuple(each for each in meanings if each and not has_han(each))


LONGEST_MEANING = 4
"""Most content words of a meaning; longer ones explain the word rather than translate it."""

CHINESE, ENGLISH = "chinese", "english"
OTHER = 1
"""The column with the number of the string in the other table; the first has the rank of a meaning among those of its
word, by which rows are sorted."""

Stems = tuple[str, ...]
"""The stems of the content words of an English phrase."""


class Dictionary:
    """Translates words by arrays that are mapped into memory. Safe to share between threads."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._chinese = Table(arrays, CHINESE, 2)
        self._english = Table(arrays, ENGLISH, 2)

    def english(self, word: str) -> Sequence[Stems]:
        """Return the meanings of a folded Chinese word, the usual first."""
        return [tuple(phrase.split(" ")) for phrase in _counterparts(self._chinese, self._english, word)]

    def chinese(self, stems: Stems) -> Sequence[str]:
        """Return the words with exactly this meaning, first those whose main meaning it is."""
        return _counterparts(self._english, self._chinese, " ".join(stems))


def _counterparts(table: Table, other: Table, text: str) -> list[str]:
    rows = table.rows(text)
    numbers = [] if rows is None else table.columns[OTHER][rows].tolist()
    return [other.strings.at(number) for number in dict.fromkeys(numbers)]


def dictionary_arrays(headwords: Iterable[tuple[str, Meanings]]) -> dict[str, Array]:
    """Return the arrays that `Dictionary` reads."""
    rank_of: dict[tuple[str, str], int] = {}
    for word, phrase, rank in _pairs(headwords):
        rank_of[word, phrase] = min(rank, rank_of.get((word, phrase), rank))
    words = sorted({word for word, _ in rank_of})
    phrases = sorted({phrase for _, phrase in rank_of})
    of_word = {word: number for number, word in enumerate(words)}
    of_phrase = {phrase: number for number, phrase in enumerate(phrases)}
    chinese = np.array([of_word[word] for word, _ in rank_of], dtype=np.int64)
    english = np.array([of_phrase[phrase] for _, phrase in rank_of], dtype=np.int64)
    ranks = np.array([*rank_of.values()], dtype=np.int64)
    return {
        **table_arrays(CHINESE, Occurrences(words, chinese, (ranks, english))),
        **table_arrays(ENGLISH, Occurrences(phrases, english, (ranks, chinese))),
    }


def _pairs(headwords: Iterable[tuple[str, Meanings]]) -> Iterator[tuple[str, str, int]]:
    """Yield a folded Chinese word, the stems of a meaning, and the meaning's rank."""
    stemmer = Stemmer()
    for headword, meanings in headwords:
        word = fold_text(headword).text
        for rank, meaning in enumerate(meanings):
            letters = (character if character.isalnum() else " " for character in meaning.casefold())
            words = [each for each in "".join(letters).split() if not is_function_word(each)]
            if 0 < len(words) <= LONGEST_MEANING:
                yield word, " ".join(map(stemmer.stem, words)), rank


FOLDER = "dictionary"
"""Folder below the data directory for the arrays of the last file."""
SETTING = "JIEDA_DICTIONARY (--dictionary)"


def open_dictionary(path: Path, data: Path, code: str) -> Dictionary:
    """Open the dictionary of a file in CC-CEDICT's format: cached below `data` by this `code`, or made now. Raises
    SettingsError if the file is unreadable or has a line of another format, JiedaError if nothing can be cached.
    """
    try:
        content = _read(path)
        key = hashlib.sha256(code.encode() + content).hexdigest()[:32]
        make = partial(dictionary_arrays, read_cedict(path, content))
        return Dictionary(cached_arrays([data / FOLDER], key, make))
    except SettingsError as error:
        raise SettingsError([f"{SETTING}: {problem}" for problem in error.problems]) from error


def _read(path: Path) -> bytes:
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise SettingsError([f"{path} has {size:,} bytes; a dictionary may have {LARGEST:,} at most"])
        return read_plain(path)
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from error


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
