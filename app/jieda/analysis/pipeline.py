"""The analysis that documents and queries share: text to tokens, with spans in the original text, and to the words of
the glossary in it."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from operator import add
from typing import NamedTuple

from jieda.analysis.token import (
    Analysis,
    Run,
    RunAnalysis,
    RunKind,
    Token,
    TokenKind,
    is_code,
    name_spans,
    separates,
    split_runs,
    terms_of,
    word_spans,
)
from jieda.analysis.words import ChineseTokenizer, Stemmer, english_words, fold_text
from jieda.byte_cache import LONGEST_WORD, cache_short
from jieda.han import has_han
from jieda.taxonomy import GlossaryGroup

CACHED_WORDS = 16_384
"""Entries of the cache of words and pieces of code."""

CACHED_TEXTS, LONGEST_TEXT = 128, 400
"""Entries of the cache of analyses, and their longest text: diagnosis analyzes the same texts as the index."""

OF_A_WORD = (TokenKind.EXACT, TokenKind.TERM)

Offsets = tuple[int, ...]
Spans = tuple[tuple[int, int], ...]


class Analyzer:
    """Analyzes text of any language; safe to share between threads. The first Chinese text takes a tenth of a second
    more."""

    def __init__(self, dictionary: Iterable[str] = ()) -> None:
        self._stemmer = Stemmer()
        self._chinese = ChineseTokenizer(dictionary)
        self._split_cached = cache_short(CACHED_WORDS, self._split_word)
        self.analyze = cache_short(CACHED_TEXTS, self._analyze, LONGEST_TEXT)
        """Returns tokens and atoms of any text, in time linear in its length."""
        self.is_word = cache_short(CACHED_WORDS, self._is_word)
        """Returns whether a general dictionary, or ours, has a case-folded text."""

    def key(self, text: str) -> str:
        """Return a key that is equal for texts that differ only in case, width, script, spacing or punctuation."""
        return "".join(self.analyze(text).words)

    def fold(self, text: str) -> str:
        """Return `text` with widths, scripts and case folded, for comparison."""
        return self.plain(text).casefold()

    def plain(self, text: str) -> str:
        """Return `text` with widths and scripts folded, for display."""
        return fold_text(text).text

    @property
    def dictionary(self) -> tuple[str, ...]:
        """The lines of its dictionary, all with frequencies, of which an equal analyzer is made sooner."""
        return self._chinese.dictionary

    def _is_word(self, text: str) -> bool:
        return text in (self._chinese if has_han(text) else english_words())

    def _analyze(self, text: str) -> Analysis:
        folded = fold_text(text)
        whole, starts, ends = folded.text, folded.starts, folded.ends
        runs: list[Run] = []
        breaks: list[int] = []
        end = atoms = 0
        for found, start, is_han in split_runs(whole):
            if separates(whole[end:start]):
                breaks.append(atoms)
            analysis = self._split_han(found) if is_han else self._split_cached(found)
            runs.append(Run(analysis, start, starts, ends))
            end, atoms = start + len(found), atoms + len(analysis.words)
        return Analysis(tuple(runs), frozenset(breaks))

    def _split_han(self, text: str) -> RunAnalysis:
        words = [*self._chinese.words(text)]
        of_grams, spans = (_cached_gram_offsets if len(text) <= LONGEST_WORD else _gram_offsets)(len(text))
        grams = [""] * (2 * len(text) - 1)
        grams[::2] = text
        grams[1::2] = map(add, text, text[1:])
        texts = (*[text[start:end] for start, end in words], *grams)
        kinds = (TokenKind.TERM,) * len(words) + (TokenKind.GRAM,) * len(grams)
        offsets = (*chain.from_iterable(words), *of_grams)
        characters = tuple(text)
        terms = terms_of(texts, kinds)
        return RunAnalysis(RunKind.HAN, texts, kinds, terms, offsets, characters, characters, spans)

    def _split_word(self, text: str) -> RunAnalysis:
        folded = text.casefold()
        if not is_code(text):
            stem = self._stemmer.stem(folded)
            offsets, spans = _word_offsets(len(text))
            texts = (folded, stem)
            terms = terms_of(texts, OF_A_WORD)
            return RunAnalysis(RunKind.WORD, texts, OF_A_WORD, terms, offsets, texts[:1], texts[1:], spans)
        spans = tuple(word_spans(text))
        words = tuple(text[start:end].casefold() for start, end in spans)
        stems = tuple(map(self._stemmer.stem, words))
        parts = (Token(stem, *span, TokenKind.PART) for stem, span in zip(stems, spans, strict=True))
        tokens = (Token(folded, 0, len(text), TokenKind.EXACT), *self._names(text, stems), *parts)
        texts, starts, ends, kinds = zip(*tokens, strict=True)
        offsets = tuple(chain.from_iterable(zip(starts, ends, strict=True)))
        terms = terms_of(texts, kinds)
        return RunAnalysis(RunKind.CODE, texts, kinds, terms, offsets, words, stems, spans)

    def _names(self, text: str, stems: Sequence[str]) -> Iterator[Token]:
        """Yield the names in a piece of code, each followed by the stems of its words, so that singular and plural
        match: `max_token_per_gpu` for `max_tokens_per_gpu`. `stems` are those of the whole run."""
        for name, start, end in name_spans(text):
            yield Token(name, start, end, TokenKind.TERM)
            own = stems if end - start == len(text) else self._stems(text[start:end])
            if len(own) > 1:
                yield Token("_".join(own), start, end, TokenKind.PART)

    def _stems(self, name: str) -> list[str]:
        return [self._stemmer.stem(name[start:end].casefold()) for start, end in word_spans(name)]


# All words, and all short Han runs, of one length share these tuples: a process holds them once.


@lru_cache(LONGEST_WORD)
def _word_offsets(length: int) -> tuple[Offsets, Spans]:
    """Return the offsets of the two tokens of a word, and the span of its one atom."""
    return (0, length, 0, length), ((0, length),)


def _gram_offsets(length: int) -> tuple[Offsets, Spans]:
    """Return the offsets of the characters and pairs of a Han run, and the spans of its characters."""
    spans = tuple((at, at + 1) for at in range(length))
    pairs = ((at, at + 1, at, at + 2) for at in range(length - 1))
    return (*chain.from_iterable(pairs), length - 1, length), spans


_cached_gram_offsets = lru_cache(LONGEST_WORD)(_gram_offsets)


class Mention(NamedTuple):
    """A member of group number `group` at atoms `first` to `last` (inclusive) of a text."""

    group: int
    first: int
    last: int


@dataclass(slots=True)
class _GlossaryNode:
    """A node of the trie of members' words."""

    following: "dict[str, _GlossaryNode]" = field(default_factory=dict)
    groups: list[int] = field(default_factory=list)
    """Groups with a member that ends here."""
    is_across: bool = False
    """Whether a member continues after punctuation here, as `Weights & Biases` does."""


class GlossedText(NamedTuple):
    """An analyzed text, its glossary tokens, and the index terms of all tokens, the glossary's last."""

    analysis: Analysis
    concepts: tuple[Token, ...]
    terms: tuple[str, ...]


class GlossaryMember(NamedTuple):
    """The stems of a word of group number `group`; `breaks` as in `Analysis`, sorted."""

    group: int
    stems: tuple[str, ...]
    breaks: tuple[int, ...]


def glossary_members(groups: Iterable[GlossaryGroup], analyzer: Analyzer) -> tuple[GlossaryMember, ...]:
    """Return all words of a glossary as `analyzer` reads them, and in small letters: a name whose capitals tell its
    parts is one word without them (`HuggingFace`, `huggingface`)."""
    members = {
        GlossaryMember(number, read.stems, tuple(sorted(read.breaks))): None
        for number, group in enumerate(groups)
        for word in group.words
        for read in map(analyzer.analyze, dict.fromkeys((word, word.casefold())))
    }
    return tuple(members)


class Glossary:
    """Groups of synonyms, and the search for them in text that `analyzer` reads."""

    def __init__(
        self, groups: Sequence[GlossaryGroup], analyzer: Analyzer, members: Sequence[GlossaryMember] = ()
    ) -> None:
        """`members`: from `glossary_members` with the same arguments, if they are known already."""
        self.groups = tuple(groups)
        self._analyzer = analyzer
        self.read = cache_short(CACHED_TEXTS, self._read, LONGEST_TEXT)
        """Analyzes a text as for the index."""
        self._root = _GlossaryNode()
        for member in members or glossary_members(self.groups, analyzer):
            self._add(member)

    def _add(self, member: GlossaryMember) -> None:
        node = self._root
        for length, stem in enumerate(member.stems, 1):
            node = node.following.setdefault(stem, _GlossaryNode())
            node.is_across |= length in member.breaks
        # Only once, however many forms of a word a group lists.
        if node is not self._root and member.group not in node.groups:
            node.groups.append(member.group)

    def _read(self, text: str) -> GlossedText:
        analysis = self._analyzer.analyze(text)
        concepts = tuple(self.tokens(analysis))
        return GlossedText(analysis, concepts, (*analysis.terms, *(token.term for token in concepts)))

    def mentions(self, analysis: Analysis) -> Iterator[Mention]:
        """Yield every member in the text, except inside a longer one (`memory` in `shared memory`)."""
        stems, starting = analysis.stems, self._root.following
        if starting.keys().isdisjoint(stems):
            return
        furthest = 0
        for first, stem in enumerate(stems):
            if (node := starting.get(stem)) is None:
                continue
            end, groups = _longest_member(node, stems, first + 1, analysis.breaks)
            if end > furthest:
                furthest = end
                for group in groups:
                    yield Mention(group, first, end - 1)

    def tokens(self, analysis: Analysis) -> Iterator[Token]:
        spans: Sequence[tuple[int, int]] = ()
        for group, first, last in self.mentions(analysis):
            spans = spans or analysis.spans
            yield Token(str(group), spans[first][0], spans[last][1], TokenKind.CONCEPT)


def _longest_member(
    node: _GlossaryNode, stems: Sequence[str], end: int, breaks: Container[int]
) -> tuple[int, Sequence[int]]:
    """Return the atom after the longest member that continues from `node`, or 0 if there is none, and its groups.
    `end` is the atom after `node`; `breaks`: see `Analysis.breaks`."""
    found: tuple[int, Sequence[int]] = (0, ())
    while True:
        if node.groups:
            found = end, node.groups
        if end == len(stems) or (end in breaks and not node.is_across):
            return found
        following = node.following.get(stems[end])
        if following is None:
            return found
        node, end = following, end + 1
