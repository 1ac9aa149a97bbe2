"""Which English words there are: what a spelling correction must leave alone."""

import numpy as np
from spellchecker import SpellChecker


class EnglishWords:
    """The words of a general English dictionary, as sorted hashes: 155,000 in little more than a megabyte.

    Two words of the same 64-bit hash would only leave a typo uncorrected.
    """

    def __init__(self) -> None:
        words = SpellChecker(language="en").word_frequency.dictionary
        self._hashes = np.sort(np.fromiter((hash(word) for word in words), dtype=np.int64, count=len(words)))

    def __contains__(self, word: str) -> bool:
        place = int(self._hashes.searchsorted(hash(word)))
        return place < len(self._hashes) and bool(self._hashes[place] == hash(word))
