"""Finds which of many literals stand in a text, in time that does not grow with their number.

Every literal is filed under one of its character n-grams, the one that the fewest literals share. A text's own
n-grams then name the few literals that may stand in it, and only those are looked for.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

WIDTH = 5
"""Characters of a gram; a shorter literal is filed under the whole of itself."""


class AnchorIndex:
    """Literals without white space, as `app.signature.SignatureLine.anchor` has them. Immutable."""

    def __init__(self, anchors: Iterable[str]) -> None:
        known = frozenset(anchors)
        shared = Counter(gram for anchor in known for gram in _grams(anchor, min(WIDTH, len(anchor))))
        self._filed: dict[int, dict[str, list[str]]] = defaultdict(dict)
        for anchor in sorted(known):
            width = min(WIDTH, len(anchor))
            rarest = min(_grams(anchor, width), key=lambda gram: (shared[gram], gram))
            self._filed[width].setdefault(rarest, []).append(anchor)

    def find(self, folded: str) -> frozenset[str]:
        """The literals that stand in `folded`, a case-folded text of any size."""
        found: set[str] = set()
        # No literal has white space in it, and a long log says the same words again and again.
        words = set(folded.split())
        for width, filed in self._filed.items():
            for word in words:
                for gram in _grams(word, width) & filed.keys():
                    found.update(anchor for anchor in filed[gram] if anchor in word)
        return frozenset(found)


def _grams(text: str, width: int) -> set[str]:
    return {text[start : start + width] for start in range(len(text) - width + 1)}
