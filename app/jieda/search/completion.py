"""Completes typed text to titles, identifiers, tags in use and words of the glossary.

The candidates of a generation are arrays. Matches at the start of a word are looked up among sorted strings; only
matches inside a word need a search.

    text, target          text shown and target, by candidate
    kind, order, groups   type of completion; rank among equal matches; first candidate of each group of languages
    folded, loose         strings compared with typed text; in `loose`, `-`, `_` and space are one
    folded.of, folded.at  every start of a word in a folded string, sorted by the text from there on: the candidate, and
                          the byte; likewise for `loose`

Candidates are grouped by language (none, English, Chinese); in a group they are in the order in which they are shown.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import merge

import numpy as np

from jieda.entry import Entry, Language, Summary
from jieda.han import EAST_ASIAN
from jieda.search.answers import Completion, CompletionType
from jieda.search.index.array_file import LAST, Array, Strings, encoded, narrow, string_arrays
from jieda.taxonomy import FACETS, GlossaryGroup, Taxonomy, facet_values

IDENTIFIER = re.compile(
    r"-{0,2}[A-Za-z_][\w.\-]*(?:[_.\-]|[a-z][A-Z])[\w.\-]*\w|--[A-Za-z][\w\-]+|[A-Z][A-Z0-9_]{3,}"
)


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
            for match in IDENTIFIER.finditer(code):
                yield CompletionCandidate(Completion(match.group(), CompletionType.IDENTIFIER), None)


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


def completion_arrays(candidates: Sequence[CompletionCandidate], fold: Fold) -> dict[str, Array]:
    """Return the arrays that a `Completer` reads."""
    folded_by_text = {one.completion.text: fold(one.completion.text) for one in candidates}

    def key(one: CompletionCandidate) -> tuple[int, int, str]:
        text = one.completion.text
        return TYPES.index(one.completion.type), len(folded_by_text[text]), text

    ranks = {one: rank for rank, one in enumerate(sorted(candidates, key=key))}
    grouped = sorted(ranks, key=lambda one: (GROUPS.index(one.lang), ranks[one]))
    groups = [GROUPS.index(one.lang) for one in grouped]
    folded = [folded_by_text[one.completion.text] for one in grouped]
    loose = [loosened(text) for text in folded]
    return {
        **string_arrays("text", [one.completion.text for one in grouped]),
        **string_arrays("target", [one.completion.target for one in grouped]),
        **string_arrays("folded", folded),
        **string_arrays("loose", loose),
        **_word_starts("folded", folded),
        **_word_starts("loose", loose),
        "kind": np.array([TYPES.index(one.completion.type) for one in grouped], dtype=np.uint8),
        "order": np.array([ranks[one] for one in grouped], dtype=np.uint32),
        "groups": narrow(np.searchsorted(groups, np.arange(len(GROUPS) + 1))),
    }


def _word_starts(name: str, texts: Sequence[str]) -> dict[str, Array]:
    places = sorted((behind, number, at) for number, text in enumerate(texts) for behind, at in _starts(text))
    return {
        f"{name}.of": np.array([number for _, number, _ in places], dtype=np.uint32),
        f"{name}.at": narrow(np.array([at for _, _, at in places], dtype=np.int64)),
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
"""This many times the limit of candidates are sorted first; the rest only if these do not suffice."""


class WordStarts:
    """Strings, and the starts of words in them, sorted by the text from there on."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self.strings = Strings(arrays, name)
        self._text = arrays[f"{name}.text"].data
        self._bounds = arrays[f"{name}.offsets"]
        self._of, self._at = arrays[f"{name}.of"], arrays[f"{name}.at"]

    def starting(self, typed: str) -> Iterator[Array]:
        """Yield the numbers of the strings equal to `typed`; of those that start with it; of those that have it at the
        start of any word, once for each such word."""
        wanted = encoded(typed)
        first, end = self._place(wanted), self._place(wanted + LAST)
        # `typed` itself sorts before longer strings that start with it.
        whole = self._place(wanted + FIRST)
        yield self._of[first:whole][self._at[first:whole] == 0]
        yield self._of[first:end][self._at[first:end] == 0]
        yield self._of[first:end]

    def holding(self, typed: str, first: int, end: int) -> Iterator[int]:
        """Yield numbers in `first:end` of strings that have `typed` anywhere, and perhaps of some others."""
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

    def __init__(self, arrays: Mapping[str, Array], fold: Fold, finds: Callable[[str], bool]) -> None:
        """`arrays`: from `completion_arrays` with the same `fold`.

        `finds`: whether a search for a word of the glossary has hits. It is called once per word, when the word is
        about to be offered: searching for all of them in advance would cost more than the rest of a build.
        """
        self._fold = fold
        self._finds = cache(finds)
        self._texts, self._targets = Strings(arrays, "text"), Strings(arrays, "target")
        self._folded, self._loose = WordStarts(arrays, "folded"), WordStarts(arrays, "loose")
        self._kind, self._order = arrays["kind"], arrays["order"].astype(np.int64)
        self._groups = arrays["groups"].tolist()

    def complete(self, text: str, lang: Language, limit: int) -> tuple[Completion, ...]:
        """Return at most `limit` completions, best first: those that start with `text`, then those that have it at the
        start of a word, then inside one; `-`, `_` and space are equal; titles in `lang` before titles in the other
        language. Words of the glossary only if a search for them has hits. Raises what `finds` raises."""
        typed = self._fold(text.strip()[:LONGEST])
        if not typed:
            return ()
        found: dict[Completion, None] = {}
        for number in self._ranked(typed, loosened(typed), lang, limit):
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
        strings, wanted = (self._loose, loose) if loose else (self._folded, typed)
        for place, numbers in zip((WHOLE, PREFIX, WORD_PREFIX), strings.starting(wanted), strict=True):
            for number in self._in_order(numbers, lang, limit):
                if self._place(number, typed, loose) == place:
                    yield number
        yield from self._inside(strings, wanted, typed, loose, lang)

    def _in_order(self, numbers: Array, lang: Language, limit: int) -> Iterator[int]:
        """Yield candidates with equally good matches: those for readers of `lang` first."""
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
        def holding(group: Language | None) -> Iterator[int]:
            first, end = self._groups[GROUPS.index(group) :][:2]
            found = strings.holding(wanted, first, end)
            return (number for number in found if self._place(number, typed, loose) == INNER)

        yield from merge(holding(None), holding(lang), key=lambda number: int(self._order[number]))
        yield from holding(lang.other)

    def _place(self, number: int, typed: str, loose: str) -> int | None:
        """Return where a candidate has the text: as typed if possible, otherwise loosely."""
        place = _place(typed, self._folded.strings.at(number))
        return _place(loose, self._loose.strings.at(number)) if place is None and loose else place


def _place(typed: str, text: str) -> int | None:
    at = text.find(typed)
    if at < 0:
        return None
    if at == 0:
        return WHOLE if len(typed) == len(text) else PREFIX
    return WORD_PREFIX if WORD_STARTS.match(text, at) else INNER
