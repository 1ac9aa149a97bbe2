"""Finds which of many literals occur in a text, in time that does not grow with their number.

Every literal is indexed under one of its character n-grams, the one that the fewest literals share. The n-grams of a
text select the few literals that may occur in it, and only those are compared.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

WIDTH = 5
"""Characters of a gram; a shorter literal is its own gram."""
_PRIME = 16_777_619
_SHIFT = 14
"""Low bits of a code that the table ignores."""

Codes = NDArray[np.uint32]


class AnchorIndex:
    """Index of literals without white space, such as `jieda.signature.SignatureLine.anchor`. Immutable."""

    def __init__(self, anchors: Iterable[str]) -> None:
        known = frozenset(anchors)
        shared = Counter(gram for anchor in known for gram in _grams(anchor, min(WIDTH, len(anchor))))
        filed: dict[int, dict[int, list[tuple[int, str]]]] = defaultdict(dict)
        for anchor in sorted(known):
            width = min(WIDTH, len(anchor))
            rarest = min(_grams(anchor, width), key=lambda gram: (shared[gram], gram))
            code = int(dict(_codes(rarest, width))[width][0])
            filed[width].setdefault(code, []).append((anchor.index(rarest), anchor))
        self._filed = {width: (_table(codes), codes) for width, codes in filed.items()}

    def find(self, folded: str) -> frozenset[str]:
        """Return the literals that occur in `folded`, a case-folded text of any size."""
        found: set[str] = set()
        # No literal has white space, and a long log repeats its words.
        words = "\n".join(set(folded.split()))
        for width, codes in _codes(words, max(self._filed, default=0)):
            if width not in self._filed:
                continue
            table, filed = self._filed[width]
            for place in np.flatnonzero(table[codes >> _SHIFT]).tolist():
                for offset, anchor in filed.get(int(codes[place]), ()):
                    if anchor not in found and words.startswith(anchor, max(0, place - offset)):
                        found.add(anchor)
        return frozenset(found)


def _grams(text: str, width: int) -> set[str]:
    return {text[start : start + width] for start in range(len(text) - width + 1)}


def _codes(text: str, widest: int) -> Iterator[tuple[int, Codes]]:
    """Yield for each width from 1 the hash of the gram at each place of a text."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = np.zeros(len(characters), dtype=np.uint32)
    for start in range(min(widest, len(characters))):
        codes = (codes[: len(characters) - start] ^ characters[start:]) * np.uint32(_PRIME)
        yield start + 1, codes


def _table(codes: Iterable[int]) -> NDArray[np.bool_]:
    """Return a table that says by the upper bits of a number whether it may be one of `codes`."""
    table = np.zeros(1 << (32 - _SHIFT), dtype=np.bool_)
    table[np.fromiter(codes, dtype=np.uint32) >> _SHIFT] = True
    return table
