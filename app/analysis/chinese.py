"""Chinese words: our own jieba tokenizer, with our dictionary, that never reads or writes a cache file."""

import logging
import re
from collections.abc import Iterable, Iterator

import jieba

logging.getLogger("jieba").setLevel(logging.WARNING)


FREQUENT = re.compile(r"^(\S+) ([4-9]|\d{2,})\b", re.MULTILINE)
"""Words of jieba's dictionary with their frequency. Those that its corpus has less than four times are left out:
mostly names, more than half of its words and, in memory, some 30 MiB. Bigrams find them all the same. A line each
would cost twice the time, in every process that starts."""


NAMES = re.compile(r"^(\S+) \d+ nr\w*$", re.MULTILINE)
"""Words of jieba's dictionary that it has as the names of people."""


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
        """Spans of the words of two or more characters in `run`, longer ones followed or preceded by the
        shorter words inside them. Without the hidden Markov model: unknown words are left to the bigrams."""
        for word, start, end in self._jieba.tokenize(run, mode="search", HMM=False):
            if len(word) > 1:
                yield start, end

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
