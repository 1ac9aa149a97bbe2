"""Chinese words: our own jieba tokenizer, with our dictionary, that never reads or writes a cache file."""

import logging
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from math import inf, log
from pathlib import Path

import jieba

logging.getLogger("jieba").setLevel(logging.WARNING)


FREQUENT = re.compile(r"^(\S+) ([4-9]|\d{2,})\b", re.MULTILINE)
"""Words of jieba's dictionary with their frequency. Those that its corpus has less than four times are left out:
mostly names, more than half of its words and, in memory, some 30 MiB. Bigrams find them all the same. A line each
would cost twice the time, in every process that starts."""


NAMES = re.compile(r"^(\S+) \d+ nr\w*$", re.MULTILINE)
"""Words of jieba's dictionary that it has as the names of people."""


KNOWN = re.compile("[\u4e00-\u9fd5]+")
"""The characters that jieba's dictionary is made of; no word reaches beyond them."""


class ChineseTokenizer:
    """Cuts runs of Han characters into words. Building one takes about half a second.

    jieba's own start-up loads a `marshal` file of a predictable name from the shared temporary directory,
    where anybody could have put it; the dictionary is read from the installed package instead.
    """

    def __init__(self, dictionary: Iterable[str]) -> None:
        """`dictionary`: lines `word` or `word frequency` of words that must be kept whole."""
        self._jieba = jieba.Tokenizer()
        with self._jieba.get_dict_file() as file:
            self._jieba.FREQ, self._jieba.total = _prefix_dictionary(file.read().decode())
        self._jieba.initialized = True
        for line in dictionary:
            word, _, frequency = line.partition(" ")
            self._jieba.add_word(word, int(frequency) if frequency.strip() else None)

    def words(self, run: str) -> Iterator[tuple[int, int]]:
        """Spans of the words of two or more characters in `run`, longer ones preceded by the shorter words inside
        them. Without the hidden Markov model: unknown words are left to the bigrams.

        The same as jieba's own in its mode for search, in little more than half the time.
        """
        frequency = self._jieba.FREQ.get
        for known in KNOWN.finditer(run):
            at, text = known.start(), known.group()
            for start, end in self._likeliest(text):
                for length in range(2, min(end - start, 4)):
                    for first in range(start, end - length + 1):
                        if frequency(text[first : first + length]):
                            yield at + first, at + first + length
                yield at + start, at + end

    def _likeliest(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of two or more characters of the likeliest way to cut `text`: the product of its words' frequencies is
        the greatest, and of equals it has the longest first word."""
        frequency, total = self._jieba.FREQ.get, log(self._jieba.total)
        length = len(text)
        best, ends = [0.0] * (length + 1), [0] * length
        for start in range(length - 1, -1, -1):
            top, end = -inf, start
            count = frequency(text[start])
            # None: nothing begins so; 0: a beginning that is no word itself.
            while count is not None:
                end += 1
                if count and (chance := log(count) - total + best[end]) >= top:
                    top, ends[start] = chance, end
                count = frequency(text[start : end + 1]) if end < length else None
            if top == -inf:
                top, ends[start] = best[start + 1] - total, start + 1
            best[start] = top
        start = 0
        while start < length:
            end = ends[start]
            if end - start > 1:
                yield start, end
            start = end

    def names(self) -> frozenset[str]:
        """The words of jieba's dictionary that are names of people. Read anew at each call."""
        with self._jieba.get_dict_file() as file:
            return frozenset(NAMES.findall(file.read().decode()))

    def __contains__(self, word: str) -> bool:
        return bool(self._jieba.FREQ.get(word, 0))


def _prefix_dictionary(lines: str) -> tuple[dict[str, int], int]:
    """jieba's data structure: each word with its frequency, each beginning of a word with 0; and their sum."""
    frequencies = {word: int(frequency) for word, frequency in FREQUENT.findall(lines)}
    prefixes = {word[:length] for word in frequencies for length in range(1, len(word))}
    return dict.fromkeys(prefixes, 0) | frequencies, sum(frequencies.values())


TABLE = Path(__file__).with_name("syllables.txt")


def homophones(character: str) -> frozenset[str]:
    """The Simplified characters that share a syllable with one, whatever the tone; none for a rare one."""
    alike = (characters for characters in _syllables() if character in characters)
    return frozenset(chain.from_iterable(alike))


@cache
def _syllables() -> tuple[str, ...]:
    """The characters of each syllable."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(line.split()[1] for line in lines if not line.startswith("#"))
