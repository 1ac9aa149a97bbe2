"""Finds the words of the glossary in a text: by stems, so that inflected forms count, the longest only, and none across
punctuation."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from jieda.analysis.pipeline import CACHED_TEXTS, LONGEST_TEXT, Analyzer
from jieda.analysis.token import Analysis, Token, TokenKind
from jieda.taxonomy import GlossaryGroup


class Mention(NamedTuple):
    """A member of group number `group` stands at atoms `first` to `last` (inclusive) of a text."""

    group: int
    first: int
    last: int


@dataclass(slots=True)
class _GlossaryNode:
    """A word of members, behind those that lead to it."""

    following: "dict[str, _GlossaryNode]" = field(default_factory=dict)
    groups: list[int] = field(default_factory=list)
    """Those that have a member which ends here."""
    is_across: bool = False
    """Whether a member goes on behind punctuation here, as `Weights & Biases` does."""


class GlossedText(NamedTuple):
    """An analyzed text, the glossary's tokens in it, and the index terms of all tokens, the glossary's last."""

    analysis: Analysis
    concepts: tuple[Token, ...]
    terms: tuple[str, ...]


class Glossary:
    """Groups of words that mean the same, ready to be found in text that `analyzer` reads."""

    def __init__(self, groups: Sequence[GlossaryGroup], analyzer: Analyzer) -> None:
        self.groups = tuple(groups)
        self._analyzer = analyzer
        self._kept = lru_cache(CACHED_TEXTS)(self._read)
        self._root = _GlossaryNode()
        for number, group in enumerate(self.groups):
            for word in group.words:
                self._put(analyzer.analyze(word), number)

    def _put(self, analysis: Analysis, group: int) -> None:
        node = self._root
        for length, stem in enumerate(analysis.stems, 1):
            node = node.following.setdefault(stem, _GlossaryNode())
            node.is_across |= length in analysis.apart
        # Once, however many forms of a word a group lists.
        if node is not self._root and group not in node.groups:
            node.groups.append(group)

    def read(self, text: str) -> GlossedText:
        """`text` as it is indexed."""
        return self._kept(text) if len(text) <= LONGEST_TEXT else self._read(text)

    def _read(self, text: str) -> GlossedText:
        analysis = self._analyzer.analyze(text)
        concepts = tuple(self.tokens(analysis))
        return GlossedText(analysis, concepts, (*analysis.terms, *(token.term for token in concepts)))

    def mentions(self, analysis: Analysis) -> Iterator[Mention]:
        """Every member that stands in the text, except inside a longer one (`memory` in `shared memory`)."""
        stems, starting = analysis.stems, self._root.following
        if starting.keys().isdisjoint(stems):
            return
        furthest = 0
        for first, stem in enumerate(stems):
            if (node := starting.get(stem)) is None:
                continue
            end, groups = _longest(node, stems, first + 1, analysis.apart)
            if end > furthest:
                furthest = end
                for group in groups:
                    yield Mention(group, first, end - 1)

    def tokens(self, analysis: Analysis) -> Iterator[Token]:
        """A concept token for every mention."""
        spans: Sequence[tuple[int, int]] = ()
        for group, first, last in self.mentions(analysis):
            spans = spans or analysis.spans
            yield Token(str(group), spans[first][0], spans[last][1], TokenKind.CONCEPT)


def _longest(
    node: _GlossaryNode, stems: Sequence[str], end: int, apart: Container[int]
) -> tuple[int, Sequence[int]]:
    """The atom behind the longest member that goes on from `node`, 0 where there is none, and the groups that have it.
    `end` is the atom behind `node`; `apart` are atoms that belong to nothing before them."""
    found: tuple[int, Sequence[int]] = (0, ())
    while True:
        if node.groups:
            found = end, node.groups
        if end == len(stems) or (end in apart and not node.is_across):
            return found
        following = node.following.get(stems[end])
        if following is None:
            return found
        node, end = following, end + 1
