"""Completes what is typed: looked up among sorted strings; only what stands inside a word is searched for."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from heapq import merge

import numpy as np

from app.entry import Language
from app.search.answers import Completion, CompletionType
from app.search.complete.arrays import GROUPS, TYPES, loosened, starts_word
from app.search.index.array_file import Array
from app.search.index.lexicon import LAST, Strings, encoded

LONGEST = 120
"""Characters of what is typed that are looked at."""

# Where the typed text stands, best first.
WHOLE, PREFIX, WORD_PREFIX, INNER = range(4)

FIRST = b"\x00"
"""Sorts behind a string and before every longer one that starts with it."""

EAGER = 4
"""Times as many candidates as are wanted are put in order at first; the rest when these do not do."""


class WordStarts:
    """Strings, and the places at which words start in them, sorted by what stands from there on."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self.strings = Strings(arrays, name)
        self._text = arrays[f"{name}.text"].data
        self._bounds = arrays[f"{name}.offsets"]
        self._of, self._at = arrays[f"{name}.of"], arrays[f"{name}.at"]

    def starting(self, typed: str) -> Iterator[Array]:
        """Numbers of the strings that are `typed`; of those that start with it; of those that have it at the start of
        any word, one that has it twice named twice."""
        wanted = encoded(typed)
        first, end = self._place(wanted), self._place(wanted + LAST)
        # Of what starts with `typed`, `typed` alone comes first.
        whole = self._place(wanted + FIRST)
        yield self._of[first:whole][self._at[first:whole] == 0]
        yield self._of[first:end][self._at[first:end] == 0]
        yield self._of[first:end]

    def holding(self, typed: str, first: int, end: int) -> Iterator[int]:
        """Numbers, from `first` to before `end`, of strings that have `typed` anywhere, and perhaps of some more."""
        wanted = encoded(typed)
        start = int(self._bounds[first])
        text, place = bytes(self._text[start : int(self._bounds[end])]), 0
        while (place := text.find(wanted, place)) >= 0:
            number = int(np.searchsorted(self._bounds, start + place, side="right")) - 1
            yield number
            place = int(self._bounds[number + 1]) - start

    def _place(self, wanted: bytes) -> int:
        return bisect_left(range(len(self._of)), wanted, key=self._behind)

    def _behind(self, place: int) -> bytes:
        number = int(self._of[place])
        return bytes(
            self._text[int(self._bounds[number]) + int(self._at[place]) : int(self._bounds[number + 1])]
        )


class Completer:
    """Completes against the candidates of a generation. Safe to share between threads."""

    def __init__(
        self, arrays: Mapping[str, Array], fold: Callable[[str], str], finds: Callable[[str], bool]
    ) -> None:
        """`arrays` of `completion_arrays`, `fold` as they were made with.

        `finds` says whether searching for a word of the glossary leads anywhere. It is asked when the word is about
        to be offered and once only: to search for all of them would cost more than the rest of a build.
        """
        self._fold = fold
        self._finds = cache(finds)
        self._texts, self._targets = Strings(arrays, "text"), Strings(arrays, "target")
        self._folded, self._loose = WordStarts(arrays, "folded"), WordStarts(arrays, "loose")
        self._kind, self._order = arrays["kind"], arrays["order"].astype(np.int64)
        self._groups = arrays["groups"].tolist()

    def complete(self, text: str, lang: Language, limit: int) -> tuple[Completion, ...]:
        """At most `limit`, best first: what starts with `text` before what has it at the start of a word, before
        what has it inside; `-`, `_` and space alike; titles in `lang` before titles in the other language. Words of the
        glossary only where a search for them finds something. Raises what `finds` raises."""
        typed = self._fold(text.strip()[:LONGEST])
        if not typed:
            return ()
        found: dict[Completion, None] = {}
        for number in self._ranked(typed, loosened(typed), lang, limit):
            completion = self._completion(number)
            if completion.type is CompletionType.GLOSSARY and not self._finds(completion.text):
                continue
            found.setdefault(completion)
            if len(found) >= limit:
                break
        return tuple(found)

    def _ranked(self, typed: str, loose: str, lang: Language, limit: int) -> Iterator[int]:
        """Candidates in the order in which they are shown."""
        # Whatever has the text as typed at one of these places has it loosely at this or a better one.
        strings, wanted = (self._loose, loose) if loose else (self._folded, typed)
        for place, numbers in zip((WHOLE, PREFIX, WORD_PREFIX), strings.starting(wanted), strict=True):
            for number in self._in_order(numbers, lang, limit):
                if self._place(number, typed, loose) == place:
                    yield number
        yield from self._inside(strings, wanted, typed, loose, lang)

    def _in_order(self, numbers: Array, lang: Language, limit: int) -> Iterator[int]:
        """Candidates that are equally well placed: those for readers of `lang` first."""
        foreign = GROUPS.index(lang.other)
        start, end = self._groups[foreign], self._groups[foreign + 1]
        ranks = self._order[numbers] + len(self._order) * ((numbers >= start) & (numbers < end))
        few = EAGER * limit
        if len(numbers) > few:
            leading = np.argpartition(ranks, few)[:few]
            yield from numbers[leading[np.argsort(ranks[leading])]].tolist()
            rest = np.ones(len(numbers), dtype=np.bool_)
            rest[leading] = False
            numbers, ranks = numbers[rest], ranks[rest]
        yield from numbers[np.argsort(ranks)].tolist()

    def _inside(
        self, strings: WordStarts, wanted: str, typed: str, loose: str, lang: Language
    ) -> Iterator[int]:
        """Candidates that have what is typed inside a word only."""
        bounds = [(self._groups[g], self._groups[g + 1]) for g in map(GROUPS.index, (None, lang, lang.other))]
        neutral, own, foreign = (
            (
                number
                for number in strings.holding(wanted, *bound)
                if self._place(number, typed, loose) == INNER
            )
            for bound in bounds
        )
        yield from merge(neutral, own, key=lambda number: int(self._order[number]))
        yield from foreign

    def _place(self, number: int, typed: str, loose: str) -> int | None:
        """Where typed text stands in a candidate, as typed if it does, otherwise loosely."""
        place = _place(typed, self._folded.strings.at(number))
        return _place(loose, self._loose.strings.at(number)) if place is None and loose else place

    def _completion(self, number: int) -> Completion:
        kind: CompletionType = TYPES[int(self._kind[number])]
        return Completion(self._texts.at(number), kind, self._targets.at(number))


def _place(typed: str, text: str) -> int | None:
    at = text.find(typed)
    if at < 0:
        return None
    if at == 0:
        return WHOLE if len(typed) == len(text) else PREFIX
    return WORD_PREFIX if starts_word(text, at) else INNER
