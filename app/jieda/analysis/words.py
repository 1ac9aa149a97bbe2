"""The words of a text: folding, English stems, and Chinese words and their syllables.

Folding keeps every character's origin. Its steps, in order: NFKC on each base character with its combining marks, then
Traditional to Simplified character by character. Case is left alone, because segmentation reads it
(`OutOfMemoryError`).
"""

import gzip
import logging
import re
import threading
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

import jieba
import snowballstemmer
import spellchecker

from jieda.byte_cache import cache_short
from jieda.han import has_han
from jieda.places import read_words

_HERE = Path(__file__).parent
_FUNCTION_WORDS = frozenset(read_words(_HERE / "function_words.txt"))


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; its character `i` came from `original[starts[i]:ends[i]]`. `starts` and `ends` are ranges where
    folding kept all lengths, which is nearly always."""

    text: str
    starts: range | tuple[int, ...]
    ends: range | tuple[int, ...]


def fold_text(text: str) -> Folded:
    """Fold any string, lone surrogates and NUL included."""
    size = len(text)
    if text.isascii():
        return Folded(text, range(size), range(1, size + 1))
    if unicodedata.is_normalized("NFKC", text):
        return Folded(text.translate(_simplification_table()), range(size), range(1, size + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        piece = unicodedata.normalize("NFKC", text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return Folded("".join(pieces).translate(_simplification_table()), tuple(starts), tuple(ends))


def within(text: str, most: int) -> str:
    """Return the longest prefix of `text` that folds to at most `most` characters: an Arabic ligature becomes 18."""
    text = text[:most]
    if text.isascii() or len(unicodedata.normalize("NFKC", text)) <= most:
        return text
    size = 0
    for position, character in enumerate(text):
        size += len(unicodedata.normalize("NFKC", character))
        if size > most:
            return text[:position]
    return text


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each character with its combining marks, at most 8 long so that no input is slow."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not unicodedata.combining(text[position]) or position - start >= 8:
            yield start, position
            start = position


@cache
def _simplification_table() -> dict[int, str]:
    """Map the code points that differ to Simplified characters: by character, never by phrase, so that lengths and
    offsets stay the same."""
    return {ord(pair[0]): pair[1] for pair in read_words(_HERE / "simplified.txt")}


class EnglishWords:
    """The 160,000 words of a general English dictionary, JSON with a word per line. The lines are sorted, so that a
    word is found in the text: to read all of it as JSON takes ten times as long."""

    def __init__(self) -> None:
        packed = Path(spellchecker.__file__).with_name("resources") / "en.json.gz"
        self._text = gzip.decompress(packed.read_bytes()).strip(b"{}\n")

    def __contains__(self, word: str) -> bool:
        wanted = f'"{word}"'.encode("utf-8", "surrogatepass")
        place = bisect_left(range(len(self._text)), wanted[:-1], key=self._word_around)
        return self._text.startswith(wanted, place)

    def _word_around(self, place: int) -> bytes:
        """Return the word, after a quote, of the line with a place."""
        start = self._text.rfind(b"\n", 0, place) + 1
        return self._text[start : self._text.index(b'":', start)]


@cache
def english_words() -> EnglishWords:
    """Return the dictionary that all analyzers of a process share."""
    return EnglishWords()


class Stemmer:
    """Snowball's English stemmer with a cache, as a corpus repeats its words. Safe to share between threads."""

    def __init__(self) -> None:
        self._stemmer = snowballstemmer.stemmer("english")
        # The stemmer stores the current word in itself; two threads at once would get each other's.
        self._lock = threading.Lock()
        self.stem = cache_short(65_536, self._stem)

    def _stem(self, word: str) -> str:
        with self._lock:
            stem: str = self._stemmer.stemWord(word)
        return stem


def is_function_word(text: str) -> bool:
    """Whether a case-folded word forms a question rather than says what it is about."""
    return text in _FUNCTION_WORDS


LETTERS = re.compile(r"[^\W\d_]+")

logging.getLogger("jieba").setLevel(logging.WARNING)

FREQUENT = re.compile(r"^(\S+) ([4-9]|\d{2,})\b", re.MULTILINE)
"""Words of jieba's dictionary with their frequency. Words with a frequency below four are left out: mostly names, more
than half of the dictionary. Bigrams find them anyway."""
FREQUENCIES = re.compile(rb" ([4-9]|\d{2,}) ")
"""The frequencies of these words."""
BLOCK = re.compile(rb"^([\xe4-\xe9]..).*(?:\n\1.*)*", re.MULTILINE)
"""Consecutive lines of jieba's dictionary, in UTF-8, that begin with the same Han character."""

NAMES = re.compile(r"^(\S+) \d+ n[rs]\w*$", re.MULTILINE)
"""Words that jieba's dictionary tags as names of people and places; it tags some family names as places."""


class ChineseDictionary:
    """jieba's dictionary. It is read by the first character of its words, when a text first has that character: reading
    all at once would cost half a second at each start and, in a process that reads few Chinese texts, 20 MiB."""

    def __init__(self) -> None:
        with jieba.Tokenizer().get_dict_file() as file:
            self._lines: bytes = file.read()

    @cached_property
    def _blocks(self) -> dict[str, list[tuple[int, int]]]:
        """Where the words are that begin with a character."""
        blocks: dict[str, list[tuple[int, int]]] = {}
        for block in BLOCK.finditer(self._lines):
            blocks.setdefault(block[1].decode(), []).append(block.span())
        return blocks

    @cached_property
    def total(self) -> int:
        """Sum of the frequencies."""
        return sum(map(int, FREQUENCIES.findall(self._lines)))

    def beginning_with(self, character: str) -> dict[str, int]:
        """Return the words that begin with a character, each with its frequency."""
        blocks = (self._lines[slice(*span)].decode() for span in self._blocks.get(character, ()))
        return {word: int(frequency) for block in blocks for word, frequency in FREQUENT.findall(block)}

    def names(self) -> frozenset[str]:
        """Return the words that are names of people or places. Takes a tenth of a second."""
        return frozenset(NAMES.findall(self._lines.decode()))


@cache
def chinese_dictionary() -> ChineseDictionary:
    """Return the dictionary that all tokenizers of a process share."""
    return ChineseDictionary()


def is_one_word(text: str) -> bool:
    """Whether a text has one word or none; numbers do not count. Several Chinese characters are one word if a general
    dictionary has them, and so are two."""
    words = LETTERS.findall(fold_text(text).text)
    return len(words) < 2 and all(
        not has_han(word) or len(word) < 3 or word in chinese_dictionary().beginning_with(word[0])
        for word in words
    )


class ChineseTokenizer:
    """Cuts runs of Han characters into words. Safe to share between threads.

    jieba's own start-up loads a `marshal` file of a predictable name from the shared temporary directory, where anybody
    could have put it; this class takes its words from the installed package instead.
    """

    def __init__(self, dictionary: Iterable[str]) -> None:
        """`dictionary`: lines `word` or `word frequency` of words that must be kept whole. A word without a frequency
        gets the one at which jieba keeps it whole, for which words that begin with its characters are read."""
        self._jieba = jieba.Tokenizer()
        self._read: set[str] = set()
        self._own: dict[str, list[tuple[str, int]]] = {}
        """Words of `dictionary` by their first character, each with its frequency."""
        self._jieba.FREQ, self._jieba.initialized = {}, True
        self._added = 0
        """Sum of their frequencies."""
        for line in dictionary:
            word, _, given = line.partition(" ")
            if not given:
                self._load_words(word)
            # Otherwise the frequency at which jieba keeps the word whole.
            frequency = int(given or self._jieba.suggest_freq(word))
            self._own.setdefault(word[0], []).append((word, frequency))
            self._added += frequency
            if word[0] in self._read:
                self._put({word: frequency})

    @property
    def dictionary(self) -> tuple[str, ...]:
        """The lines of the words that it keeps whole, all with frequencies: a tokenizer of these reads nothing yet."""
        return tuple(f"{word} {count}" for words in self._own.values() for word, count in words)

    def _load_words(self, text: str) -> None:
        """Load the words that begin with a character of `text` into jieba's table: each word with its frequency, each
        proper prefix of a word with 0."""
        for character in set(text) - self._read:
            self._put(chinese_dictionary().beginning_with(character) | dict(self._own.get(character, ())))
            # Only now, for other threads.
            self._read.add(character)
        self._jieba.total = chinese_dictionary().total + self._added

    def _put(self, frequencies: Mapping[str, int]) -> None:
        beginnings = {word[:length] for word in frequencies for length in range(1, len(word))}
        known = self._jieba.FREQ.get
        # In one step, for other threads.
        self._jieba.FREQ.update({**{each: known(each, 0) for each in beginnings}, **frequencies})

    def words(self, run: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of the words of two or more characters in `run`; the shorter words inside a longer one come
        before it. Uses no hidden Markov model: bigrams cover unknown words."""
        self._load_words(run)
        found = self._jieba.tokenize(run, mode="search", HMM=False)
        return ((start, end) for _, start, end in found if end - start > 1)

    def __contains__(self, word: str) -> bool:
        self._load_words(word[:1])
        return bool(self._jieba.FREQ.get(word, 0))


def homophones(character: str) -> frozenset[str]:
    """Return the Simplified characters that share a syllable with `character`, in any tone; none for a rare one."""
    alike = (characters for characters in _syllables() if character in characters)
    return frozenset(chain.from_iterable(alike))


@cache
def _syllables() -> tuple[str, ...]:
    return tuple(read_words(_HERE / "syllables.txt")[1::2])  # each behind its syllable
