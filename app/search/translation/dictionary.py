"""A bilingual dictionary in the form in which queries are translated by it: sorted strings that processes share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from app.analysis.normalize import Folder
from app.analysis.stems import Stemmer, is_function_word
from app.search.index.array_file import Array
from app.search.index.lexicon import Occurrences, Table, table_arrays
from app.search.translation.cedict import Headword

LONGEST_MEANING = 4
"""Words that say something in a meaning that is kept: longer ones explain the word more than they translate it."""

CHINESE, ENGLISH = "chinese", "english"
RANK, OTHER = range(2)
"""Columns: the place of a meaning among those of its word, and the number of the string in the other table."""

Stems = tuple[str, ...]
"""The words of an English phrase that say something, as `Stemmer` has them."""


class Dictionary(Protocol):
    """Translates words. Safe to share between threads."""

    def english(self, word: str) -> Sequence[Stems]:
        """What a folded Chinese word means, the usual first."""

    def chinese(self, stems: Stems) -> Sequence[str]:
        """Words that mean just this, those first that mean it first."""


class MappedDictionary:
    """Implements `Dictionary` over arrays that are mapped into memory."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._chinese = Table(arrays, CHINESE, 2)
        self._english = Table(arrays, ENGLISH, 2)

    def english(self, word: str) -> Sequence[Stems]:
        """What a folded Chinese word means, the usual first."""
        return [tuple(phrase.split(" ")) for phrase in _others(self._chinese, self._english, word)]

    def chinese(self, stems: Stems) -> Sequence[str]:
        """Words that mean just this, those first that mean it first."""
        return _others(self._english, self._chinese, " ".join(stems))


def _others(table: Table, other: Table, text: str) -> list[str]:
    rows = table.rows(text)
    numbers = [] if rows is None else table.columns[OTHER][rows].tolist()
    return [other.strings.at(number) for number in dict.fromkeys(numbers)]


def dictionary_arrays(headwords: Iterable[Headword]) -> dict[str, Array]:
    """What `MappedDictionary` reads."""
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


def _pairs(headwords: Iterable[Headword]) -> Iterator[tuple[str, str, int]]:
    """A folded Chinese word, the stems of a meaning, and that one's rank."""
    folder, stemmer = Folder(), Stemmer()
    for one in headwords:
        word = folder.fold(one.word).text
        for rank, meaning in enumerate(one.meanings):
            words = [each for each in _words(meaning) if not is_function_word(each)]
            if 0 < len(words) <= LONGEST_MEANING:
                yield word, " ".join(map(stemmer.stem, words)), rank


def _words(text: str) -> list[str]:
    letters = (character if character.isalnum() else " " for character in text.casefold())
    return "".join(letters).split()
