"""The one analysis, for what is indexed and what is asked: text to tokens, with spans in the original; and the words of
the glossary found in it."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from operator import add
from typing import NamedTuple

from jieda.analysis.token import (
    Analysis,
    Origins,
    Parts,
    Piece,
    RunKind,
    Token,
    TokenKind,
    is_code,
    name_spans,
    saying,
    separates,
    terms_of,
    word_spans,
)
from jieda.analysis.words import ChineseTokenizer, Folder, Stemmer, english_words
from jieda.han import has_han
from jieda.taxonomy import GlossaryGroup

CACHED_WORDS, LONGEST_CACHED = 16_384, 100
"""Words and pieces of code whose parts are kept, and their characters: a corpus repeats them."""


CACHED_TEXTS, LONGEST_TEXT = 128, 400
"""Texts whose analysis is kept, and their characters: what is indexed of an entry is read by the diagnosis as well."""

OF_A_WORD = (TokenKind.EXACT, TokenKind.TERM)

Offsets = tuple[int, ...]
Spans = tuple[tuple[int, int], ...]

_piece: Callable[[tuple[Parts, int, Origins, Origins]], Piece] = partial(tuple.__new__, Piece)


class Analyzer:
    """Analyzes text of any language; safe to share between threads. Costs a tenth of a second to build, the first of a
    process a quarter more."""

    def __init__(self, dictionary: Iterable[str] = ()) -> None:
        self._folder = Folder()
        self._stemmer = Stemmer()
        self._chinese = ChineseTokenizer(dictionary)
        self._english = english_words()
        self._kept_words = lru_cache(CACHED_WORDS)(self._word_or_code)
        self._kept = lru_cache(CACHED_TEXTS)(self._analyze)

    def analyze(self, text: str) -> Analysis:
        """Tokens and atoms of `text`; total, linear in its length."""
        return self._kept(text) if len(text) <= LONGEST_TEXT else self._analyze(text)

    def key(self, text: str) -> str:
        """What two texts share that differ only in case, width, script, spacing or punctuation."""
        return "".join(self.analyze(text).words)

    def fold(self, text: str) -> str:
        """`text` with widths and scripts folded and case taken away, for comparing."""
        return self.plain(text).casefold()

    def plain(self, text: str) -> str:
        """`text` with widths and scripts folded, for showing."""
        return self._folder.fold(text).text

    def is_word(self, text: str) -> bool:
        """Whether a general dictionary, or ours, has the case-folded `text` as a word."""
        return text in self._chinese if has_han(text) else text in self._english

    def names(self) -> frozenset[str]:
        """Chinese words that are names of people or places. Takes a tenth of a second."""
        return self._chinese.names()

    def _analyze(self, text: str) -> Analysis:
        folded = self._folder.fold(text)
        whole, starts, ends = folded.text, folded.starts, folded.ends
        pieces: list[Piece] = []
        apart: list[int] = []
        end = atoms = 0
        for found, start, is_han in saying(whole):
            if separates(whole[end:start]):
                apart.append(atoms)
            parts = self._han(found) if is_han else self._word(found)
            pieces.append(_piece((parts, start, starts, ends)))
            end, atoms = start + len(found), atoms + len(parts.words)
        return Analysis(tuple(pieces), frozenset(apart))

    def _han(self, text: str) -> Parts:
        words = [*self._chinese.words(text)]
        of_grams, spans = (_kept_grams if len(text) <= LONGEST_CACHED else _grams)(len(text))
        grams = [""] * (2 * len(text) - 1)
        grams[::2] = text
        grams[1::2] = map(add, text, text[1:])
        texts = (*[text[start:end] for start, end in words], *grams)
        kinds = (TokenKind.TERM,) * len(words) + (TokenKind.GRAM,) * len(grams)
        offsets = (*chain.from_iterable(words), *of_grams)
        characters = tuple(text)
        terms = terms_of(texts, kinds)
        return Parts(RunKind.HAN, texts, kinds, terms, offsets, characters, characters, spans)

    def _word(self, text: str) -> Parts:
        return self._kept_words(text) if len(text) <= LONGEST_CACHED else self._word_or_code(text)

    def _word_or_code(self, text: str) -> Parts:
        folded = text.casefold()
        if not is_code(text):
            stem = self._stemmer.stem(folded)
            offsets, spans = _whole(len(text))
            texts = (folded, stem)
            terms = terms_of(texts, OF_A_WORD)
            return Parts(RunKind.WORD, texts, OF_A_WORD, terms, offsets, texts[:1], texts[1:], spans)
        spans = tuple(word_spans(text))
        words = tuple(text[start:end].casefold() for start, end in spans)
        stems = tuple(map(self._stemmer.stem, words))
        parts = (Token(stem, *span, TokenKind.PART) for stem, span in zip(stems, spans, strict=True))
        tokens = (Token(folded, 0, len(text), TokenKind.EXACT), *self._names(text, stems), *parts)
        texts, starts, ends, kinds = zip(*tokens, strict=True)
        offsets = tuple(chain.from_iterable(zip(starts, ends, strict=True)))
        terms = terms_of(texts, kinds)
        return Parts(RunKind.CODE, texts, kinds, terms, offsets, words, stems, spans)

    def _names(self, text: str, stems: Sequence[str]) -> Iterator[Token]:
        """The names in a piece of code, each followed by the stems of its words, so that a plural more or less still
        finds it: `max_token_per_gpu` for `max_tokens_per_gpu`. `stems` are those of the whole piece."""
        for name, start, end in name_spans(text):
            yield Token(name, start, end, TokenKind.TERM)
            own = stems if end - start == len(text) else self._stems(text[start:end])
            if len(own) > 1:
                yield Token("_".join(own), start, end, TokenKind.PART)

    def _stems(self, name: str) -> list[str]:
        return [self._stemmer.stem(name[start:end].casefold()) for start, end in word_spans(name)]


# The same numbers for every word, and every short Han run, of a length: a process holds them once.


@lru_cache(LONGEST_CACHED)
def _whole(length: int) -> tuple[Offsets, Spans]:
    """Offsets of the two tokens of a word, and the span of its one atom."""
    return (0, length, 0, length), ((0, length),)


def _grams(length: int) -> tuple[Offsets, Spans]:
    """Offsets of the characters and pairs of a Han run, and the spans of its characters."""
    spans = tuple((at, at + 1) for at in range(length))
    pairs = ((at, at + 1, at, at + 2) for at in range(length - 1))
    return (*chain.from_iterable(pairs), length - 1, length), spans


_kept_grams = lru_cache(LONGEST_CACHED)(_grams)


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
