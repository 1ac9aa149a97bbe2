"""A bilingual dictionary from a file that the operator names, kept as sorted strings that processes share.

The file has the plain format of CC-CEDICT: a Chinese word per line, with its meanings in English.

    傳統 简体 [pin1 yin1] /a meaning/another; the same in other words/

Meanings are reduced to what is useful for search: text in parentheses, which describes the use of the word, is removed,
and a meaning that quotes Chinese is dropped, as it is about the writing (a variant, a measure word, another reading).
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from jieda.analysis.words import Stemmer, fold_text, is_function_word
from jieda.disk import read_plain
from jieda.errors import SettingsError
from jieda.han import has_han
from jieda.search.index.array_file import Array, Occurrences, Table, cached_arrays, table_arrays

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
