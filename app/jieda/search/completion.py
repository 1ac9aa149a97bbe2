"""Completes typed text to titles, identifiers, tags in use and words of the glossary.

The candidates of a generation are arrays. Matches at the start of a word are looked up among sorted strings; only
matches inside a word need a search.

    text, target, kind   text shown, target and type of completion, by candidate
    folded, loose        strings compared with typed text; in `loose`, `-`, `_` and space are one
    start.of, start.at   every start of a word in `loose`, sorted by the text from there on: the candidate, and the byte
    order, groups        rank among equal matches; first candidate of each language

Candidates are grouped by language (none, English, Chinese); in a group they are in the order in which they are shown.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from heapq import merge
from itertools import chain

import numpy as np

from jieda.entry import Entry, Language, Summary
from jieda.han import EAST_ASIAN
from jieda.search.answers import Completion, CompletionType
from jieda.search.index.array_file import LAST, Array, Strings, encoded, narrow, string_arrays
from jieda.taxonomy import FACETS, GlossaryGroup, Taxonomy, facet_values

NAME = re.compile(r"-{0,2}[A-Za-z_][\w.\-]*+")
"""A candidate for an identifier. The next two tell whether it is one: a single pattern would be slow on a long line of
letters or dashes."""
JOINED = re.compile(r"[_.\-]|[a-z][A-Z]")
"""Separates the words of an identifier."""
ALONE = re.compile(r"--[A-Za-z][\w\-]+|[A-Z][A-Z0-9_]{3,}")
"""An identifier of one word."""


@dataclass(frozen=True, slots=True)
class CompletionCandidate:
    """A candidate for completion. `lang`: readers of this language see it first; None if it has no language."""

    completion: Completion
    lang: Language | None


def entry_candidates(entry: Entry) -> Iterator[CompletionCandidate]:
    """Yield the titles of an entry and the identifiers in its code."""
    for lang, edition in entry.editions.items():
        yield CompletionCandidate(Completion(edition.title, CompletionType.TITLE, entry.id), lang)
        for code in edition.code:
            for name in _identifiers(code):
                yield CompletionCandidate(Completion(name, CompletionType.IDENTIFIER), None)


def _identifiers(code: str) -> Iterator[str]:
    for found in NAME.finditer(code):
        name = found.group().rstrip(".-")
        inner = len(name) - len(name.lstrip("-")) + 1
        if len(name) <= LONGEST:  # nobody types encoded data, which has thousands of words
            yield from [name] if JOINED.search(name, inner, len(name) - 1) else ALONE.findall(name)


def tag_candidates(entries: Iterable[Entry | Summary], taxonomy: Taxonomy) -> Iterator[CompletionCandidate]:
    """Yield the names of the tags that any of `entries` has."""
    used = {(facet, value) for entry in entries for facet in FACETS for value in facet_values(entry)[facet]}
    for facet in FACETS:
        for value, tag in taxonomy.facet(facet).items():
            if (facet, value) in used:
                for lang, name in tag.name.items():
                    yield CompletionCandidate(Completion(name, CompletionType.TAG, f"{facet}/{value}"), lang)


def glossary_candidates(glossary: Iterable[GlossaryGroup]) -> Iterator[CompletionCandidate]:
    """Yield the words of the glossary."""
    for group in glossary:
        for lang, words in ((Language.EN, group.en), (Language.ZH, group.zh)):
            for word in words:
                yield CompletionCandidate(Completion(word, CompletionType.GLOSSARY), lang)


GROUPS = (None, *Language)
TYPES = tuple(CompletionType)
# Words start at the first character, after one of these, and at every Chinese character.
WORD_STARTS = re.compile(rf"\A(?!\Z)|(?<=[\s_\-./:(\[\"'“（《：，、])(?!\Z)|(?=[{EAST_ASIAN}])")
SEPARATORS = re.compile(r"[_\-\s]+")

Fold = Callable[[str], str]


def loosened(text: str) -> str:
    """Return folded text with `-`, `_` and space unified."""
    return SEPARATORS.sub("_", text).strip("_")


def completion_arrays(candidates: Iterable[CompletionCandidate], fold: Fold) -> dict[str, Array]:
    """Return the arrays that a `Completer` reads; a repeated candidate counts once."""
    folded = {one: fold(one.completion.text) for one in candidates}

    def rank(one: CompletionCandidate) -> tuple[int, int, str]:
        return TYPES.index(one.completion.type), len(folded[one]), one.completion.text

    order = {one: number for number, one in enumerate(sorted(folded, key=rank))}
    grouped = sorted(order, key=lambda one: (GROUPS.index(one.lang), order[one]))
    groups = [GROUPS.index(one.lang) for one in grouped]
    loose = [loosened(folded[one]) for one in grouped]
    starts = sorted((behind, number, at) for number, text in enumerate(loose) for behind, at in _starts(text))
    return {
        **string_arrays("text", [one.completion.text for one in grouped]),
        **string_arrays("target", [one.completion.target for one in grouped]),
        **string_arrays("folded", [folded[one] for one in grouped]),
        **string_arrays("loose", loose),
        "start.of": np.array([number for _, number, _ in starts], dtype=np.uint32),
        "start.at": narrow(np.array([at for _, _, at in starts], dtype=np.int64)),
        "kind": np.array([TYPES.index(one.completion.type) for one in grouped], dtype=np.uint8),
        "order": np.array([order[one] for one in grouped], dtype=np.uint32),
        "groups": narrow(np.searchsorted(groups, np.arange(len(GROUPS) + 1))),
    }


def _starts(text: str) -> Iterator[tuple[bytes, int]]:
    """Yield the text from each start of a word on, and its byte offset."""
    whole = encoded(text)
    byte = before = 0
    for start in WORD_STARTS.finditer(text):
        byte += len(encoded(text[before : start.start()]))
        before = start.start()
        yield whole[byte:], byte


LONGEST = 120
"""Most characters of typed text that are used."""

# Where a candidate has the typed text, best first.
WHOLE, PREFIX, WORD_PREFIX, INNER = range(4)

FIRST = b"\x00"
"""Sorts after a string and before every longer one that starts with it."""

EAGER = 4
"""This many times as many candidates as are shown are sorted first, and the rest only if these do not suffice."""


class Completer:
    """Completes against the candidates of a generation. Safe to share between threads."""

    def __init__(self, arrays: Mapping[str, Array], fold: Fold, finds: Callable[[str], bool]) -> None:
        """`arrays`: from `completion_arrays` with the same `fold`.

        `finds`: whether a search for a word of the glossary has hits. It is called once per word, when the word is
        about to be offered: searching for all of them in advance would cost more than the rest of a build.
        """
        self.arrays = arrays
        self._fold = fold
        self._finds = cache(finds)
        self._texts, self._targets = Strings(arrays, "text"), Strings(arrays, "target")
        self._folded, self._looses = Strings(arrays, "folded"), Strings(arrays, "loose")
        self._kind, self._order = arrays["kind"], arrays["order"].astype(np.int64)
        self._groups = arrays["groups"].tolist()
        self._loose, self._bounds = arrays["loose.text"].data, arrays["loose.offsets"]
        self._of, self._at = arrays["start.of"], arrays["start.at"]

    def complete(self, text: str, lang: Language, limit: int) -> tuple[Completion, ...]:
        """Return at most `limit` completions, best first: those that start with `text`, then those that have it at the
        start of a word, then inside one; `-`, `_` and space are equal, and alone they complete nothing; titles in
        `lang` before titles in the other language. Words of the glossary only if a search for them has hits. Raises
        what `finds` raises."""
        typed = self._fold(text.strip()[:LONGEST])
        if not (loose := loosened(typed)):
            return ()
        found: dict[Completion, None] = {}
        for number in self._ranked(typed, loose, lang, limit):
            kind: CompletionType = TYPES[int(self._kind[number])]
            completion = Completion(self._texts.at(number), kind, self._targets.at(number))
            if completion.type is CompletionType.GLOSSARY and not self._finds(completion.text):
                continue
            found.setdefault(completion)
            if len(found) >= limit:
                break
        return tuple(found)

    def _ranked(self, typed: str, loose: str, lang: Language, limit: int) -> Iterator[int]:
        """Yield candidates in the order in which they are shown."""
        # A candidate with the text as typed at one of these places has it loosely at the same or a better one.
        wanted = encoded(loose)
        for place, numbers in enumerate(self._starting(wanted)):
            for number in self._in_order(numbers, lang, limit):
                if self._place(number, typed, loose) == place:
                    yield number
        own = merge(self._holding(wanted, None), self._holding(wanted, lang), key=self._order.__getitem__)
        for number in chain(own, self._holding(wanted, lang.other)):
            if self._place(number, typed, loose) == INNER:
                yield number

    def _in_order(self, numbers: Array, lang: Language, limit: int) -> Iterator[int]:
        """Yield candidates with equally good matches: those for readers of `lang` first."""
        start, end = self._groups[GROUPS.index(lang.other) :][:2]
        ranks = self._order[numbers] + len(self._order) * ((numbers >= start) & (numbers < end))
        few = min(EAGER * limit, len(ranks))
        leading = np.argpartition(ranks, few - 1) if few else np.arange(0)
        for part in (leading[:few], leading[few:]):
            yield from numbers[part[np.argsort(ranks[part])]].tolist()

    def _starting(self, typed: bytes) -> Iterator[Array]:
        """Yield the candidates equal to a loose text; those that start with it; those that have it at the start of any
        word, once for each such word."""
        first, end = self._first_start(typed), self._first_start(typed + LAST)
        # The text itself sorts before longer ones that start with it.
        whole = self._first_start(typed + FIRST)
        yield self._of[first:whole][self._at[first:whole] == 0]
        yield self._of[first:end][self._at[first:end] == 0]
        yield self._of[first:end]

    def _holding(self, typed: bytes, group: Language | None) -> Iterator[int]:
        """Yield the candidates of a group that have a loose text anywhere, and perhaps some others."""
        first, end = self._groups[GROUPS.index(group) :][:2]
        start = int(self._bounds[first])
        text, place = bytes(self._loose[start : int(self._bounds[end])]), 0
        while (place := text.find(typed, place)) >= 0:
            number = int(np.searchsorted(self._bounds, start + place, side="right")) - 1
            yield number
            place = int(self._bounds[number + 1]) - start

    def _first_start(self, wanted: bytes) -> int:
        """Return the first start of a word from which the text is not less than `wanted`."""
        return bisect_left(range(len(self._of)), wanted, key=self._text_from)

    def _text_from(self, start: int) -> bytes:
        return self._looses.bytes_at(int(self._of[start]))[int(self._at[start]) :]

    def _place(self, number: int, typed: str, loose: str) -> int | None:
        """Return where a candidate has the text: as typed if possible, otherwise loosely."""
        folded = self._folded.at(number)
        place = _place(typed, folded)
        return _place(loose, loosened(folded)) if place is None else place


def _place(typed: str, text: str) -> int | None:
    at = text.find(typed)
    if at < 0:
        return None
    if at == 0:
        return WHOLE if len(typed) == len(text) else PREFIX
    while at >= 0:
        if WORD_STARTS.match(text, at):
            return WORD_PREFIX
        at = text.find(typed, at + 1)
    return INNER
