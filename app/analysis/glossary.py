"""Finds the words of the glossary in a text: by stems, so that inflected forms count, the longest only, and none across
punctuation."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from app.analysis.pipeline import CACHED_TEXTS, LONGEST_TEXT, Analyzer
from app.analysis.token import Analysis, Token, TokenKind, terms_of
from app.taxonomy import GlossaryGroup


@dataclass(frozen=True, slots=True)
class Mention:
    """A member of group number `group` stands at atoms `first` to `last` (inclusive) of a text."""

    group: int
    first: int
    last: int
    word: str


class Reading(NamedTuple):
    """An analyzed text with all its tokens, those of the glossary last, and the index term of each."""

    analysis: Analysis
    tokens: tuple[Token, ...]
    terms: tuple[str, ...]


class Glossary:
    """Groups of words that mean the same, ready to be found in text that `analyzer` reads."""

    def __init__(self, groups: Sequence[GlossaryGroup], analyzer: Analyzer) -> None:
        self.groups = tuple(groups)
        self._analyzer = analyzer
        self._kept = lru_cache(CACHED_TEXTS)(self._read)
        self._members: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        self._prefixes: set[tuple[str, ...]] = set()
        self._across: set[tuple[str, ...]] = set()
        """Beginnings of members that have punctuation behind them, such as the first word of `Weights & Biases`."""
        self._first: set[str] = set()
        for number, group in enumerate(self.groups):
            for word in group.words:
                analysis = analyzer.analyze(word)
                stems = tuple(atom.stem for atom in analysis.atoms)
                if stems:
                    self._across.update(stems[:length] for length in analysis.apart)
                    self._members.setdefault(stems, []).append((number, word))
                    self._prefixes.update(stems[:length] for length in range(1, len(stems) + 1))
                    self._first.add(stems[0])

    def read(self, text: str) -> Reading:
        """`text` as it is indexed."""
        return self._kept(text) if len(text) <= LONGEST_TEXT else self._read(text)

    def _read(self, text: str) -> Reading:
        analysis = self._analyzer.analyze(text)
        tokens = (*analysis.tokens, *self.tokens(analysis))
        return Reading(analysis, tokens, tuple(terms_of(tokens)))

    def mentions(self, analysis: Analysis) -> Iterator[Mention]:
        """Every member that stands in the text, except inside a longer one (`memory` in `shared memory`)."""
        stems = [atom.stem for atom in analysis.atoms]
        if self._first.isdisjoint(stems):
            return
        furthest = 0
        for first, stem in enumerate(stems):
            if stem not in self._first:
                continue
            end = first + self._longest(stems, first, analysis.apart)
            if end > max(first, furthest):
                furthest = end
                for group, word in self._members[tuple(stems[first:end])]:
                    yield Mention(group, first, end - 1, word)

    def _longest(self, stems: Sequence[str], first: int, apart: Container[int]) -> int:
        """How many atoms the longest member has that starts at `first`; 0 where none does. `apart` are atoms that
        belong to nothing before them."""
        length, longest = 1, 0
        while (
            first + length <= len(stems) and (read := tuple(stems[first : first + length])) in self._prefixes
        ):
            if read in self._members:
                longest = length
            if first + length in apart and read not in self._across:
                break
            length += 1
        return longest

    def tokens(self, analysis: Analysis) -> Iterator[Token]:
        """A concept token for every mention."""
        atoms = analysis.atoms
        for mention in self.mentions(analysis):
            start, end = atoms[mention.first].start, atoms[mention.last].end
            yield Token(str(mention.group), start, end, TokenKind.CONCEPT)
