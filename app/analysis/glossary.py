"""Finds the words of the glossary in a text: by stems, so that inflected forms count, longest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.analysis.pipeline import Analyzer
from app.analysis.token import Analysis, Token, TokenKind
from app.entry import GlossaryGroup


@dataclass(frozen=True, slots=True)
class Mention:
    """A member of group number `group` stands at atoms `first` to `last` (inclusive) of a text."""

    group: int
    first: int
    last: int
    word: str


class Glossary:
    """Groups of words that mean the same, ready to be found in analyzed text."""

    def __init__(self, groups: Sequence[GlossaryGroup], analyzer: Analyzer) -> None:
        self.groups = tuple(groups)
        self._members: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        self._prefixes: set[tuple[str, ...]] = set()
        for number, group in enumerate(self.groups):
            for word in group.words:
                stems = tuple(atom.stem for atom in analyzer.analyze(word).atoms)
                if stems:
                    self._members.setdefault(stems, []).append((number, word))
                    self._prefixes.update(stems[:length] for length in range(1, len(stems) + 1))

    def mentions(self, analysis: Analysis) -> Iterator[Mention]:
        """Every member that stands in the text; of those that start at the same atom, the longest."""
        stems = [atom.stem for atom in analysis.atoms]
        for first in range(len(stems)):
            length, longest = 1, 0
            while first + length <= len(stems) and tuple(stems[first : first + length]) in self._prefixes:
                if tuple(stems[first : first + length]) in self._members:
                    longest = length
                length += 1
            if longest:
                for group, word in self._members[tuple(stems[first : first + longest])]:
                    yield Mention(group, first, first + longest - 1, word)

    def tokens(self, analysis: Analysis) -> Iterator[Token]:
        """A concept token for every mention."""
        for mention in self.mentions(analysis):
            start, end = analysis.atoms[mention.first].start, analysis.atoms[mention.last].end
            yield Token(str(mention.group), start, end, TokenKind.CONCEPT)
