"""The one analysis, for what is indexed and what is asked: text to tokens, with spans in the original."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain
from operator import add

from jieda.analysis import runs
from jieda.analysis.chinese import ChineseTokenizer
from jieda.analysis.english import EnglishWords, Stemmer
from jieda.analysis.normalize import Folder
from jieda.analysis.runs import is_code, saying, separates
from jieda.analysis.token import (
    Analysis,
    Origins,
    Parts,
    Piece,
    RunKind,
    Token,
    TokenKind,
    terms_of,
)
from jieda.han import has_han

CACHED_WORDS, LONGEST_CACHED = 16_384, 100
"""Words and pieces of code whose parts are kept, and their characters: a corpus repeats them."""


CACHED_TEXTS, LONGEST_TEXT = 128, 400
"""Texts whose analysis is kept, and their characters: what is indexed of an entry is read by the diagnosis as well."""

OF_A_WORD = (TokenKind.EXACT, TokenKind.TERM)

Offsets = tuple[int, ...]
Spans = tuple[tuple[int, int], ...]

_piece: Callable[[tuple[Parts, int, Origins, Origins]], Piece] = partial(tuple.__new__, Piece)


class Analyzer:
    """Analyzes text of any language. Costs half a second to build; safe to share between threads."""

    def __init__(self, dictionary: Iterable[str] = ()) -> None:
        self._folder = Folder()
        self._stemmer = Stemmer()
        self._chinese = ChineseTokenizer(dictionary)
        self._english = EnglishWords()
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
        """Chinese words that are names of people. Takes a tenth of a second."""
        return self._chinese.names()

    def keeps_whole(self, word: str) -> bool:
        """Whether `word` is a token of its own, and not only the words that it is made of."""
        return any(
            token.kind is TokenKind.TERM and (token.start, token.end) == (0, len(word))
            for token in self.analyze(word).tokens
        )

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
        spans = tuple(runs.words(text))
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
        for name, start, end in runs.names(text):
            yield Token(name, start, end, TokenKind.TERM)
            own = stems if end - start == len(text) else self._stems(text[start:end])
            if len(own) > 1:
                yield Token("_".join(own), start, end, TokenKind.PART)

    def _stems(self, name: str) -> list[str]:
        return [self._stemmer.stem(name[start:end].casefold()) for start, end in runs.words(name)]


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
