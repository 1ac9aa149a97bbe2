"""The one analysis, for what is indexed and what is asked: text to tokens, with spans in the original."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import repeat
from operator import add

from app.analysis import code
from app.analysis.chinese import ChineseTokenizer
from app.analysis.code import Name
from app.analysis.english import EnglishWords
from app.analysis.normalize import Folder
from app.analysis.segment import separates, without_gaps
from app.analysis.stems import Stemmer
from app.analysis.token import Analysis, Atom, Piece, Segment, SegmentKind, Token, TokenKind
from app.han import has_han

VERSION = "8"
"""Part of the digest an index is kept under: raise it when tokens of the same text come out differently."""


CACHED_CODE, LONGEST_CACHED = 16_384, 100
"""Pieces of code whose parts are kept, and their characters: a corpus repeats its identifiers."""


CACHED_TEXTS, LONGEST_TEXT = 128, 400
"""Texts whose analysis is kept, and their characters: what is indexed of an entry is read by the diagnosis as well."""

Places = range | tuple[int, ...]

# As calls of the classes do it, in half the time: a Chinese text has three of these a character.
_token: Callable[[tuple[str, int, int, TokenKind]], Token] = partial(tuple.__new__, Token)
_atom: Callable[[tuple[str, str, int, int, SegmentKind]], Atom] = partial(tuple.__new__, Atom)
_NOTHING = Token("", 0, 0, TokenKind.GRAM)


@dataclass(frozen=True, slots=True)
class CodeWord:
    """A word inside a piece of code, case folded, its stem, and its place in the piece."""

    text: str
    stem: str
    start: int
    end: int


CodeParts = tuple[tuple[tuple[Name, str], ...], tuple[CodeWord, ...]]
"""The names in a piece of code, each with its stems joined, and its words."""


class Analyzer:
    """Analyzes text of any language. Costs half a second to build; safe to share between threads."""

    def __init__(self, dictionary: Iterable[str] = ()) -> None:
        self._folder = Folder()
        self._stemmer = Stemmer()
        self._chinese = ChineseTokenizer(dictionary)
        self._english = EnglishWords()
        self._kept_parts = lru_cache(CACHED_CODE)(self._code_parts)
        self._pieces = {
            SegmentKind.HAN: self._han,
            SegmentKind.WORD: self._word,
            SegmentKind.CODE: self._code,
        }
        self._kept = lru_cache(CACHED_TEXTS)(self._analyze)

    def analyze(self, text: str) -> Analysis:
        """Tokens and atoms of `text`; total, linear in its length."""
        return self._kept(text) if len(text) <= LONGEST_TEXT else self._analyze(text)

    def key(self, text: str) -> str:
        """What two texts share that differ only in case, width, script, spacing or punctuation."""
        return "".join(atom.text for atom in self.analyze(text).atoms)

    def fold(self, text: str) -> str:
        """`text` with widths and scripts folded and case taken away, for comparing."""
        return self._folder.fold(text).text.casefold()

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
        whole, starts, ends, read = folded.text, folded.starts, folded.ends, self._pieces
        pieces: list[Piece] = []
        apart: list[int] = []
        end = atoms = 0
        for part in without_gaps(whole):
            found, start, kind = part
            if separates(whole[end:start]):
                apart.append(atoms)
            piece = read[kind](part, starts, ends)
            pieces.append(piece)
            end, atoms = start + len(found), atoms + len(piece.atoms)
        return Analysis.of(pieces, apart)

    # A piece from a part of the folded text, whose character i came from `starts[i]` to `ends[i]` of the original.

    def _han(self, part: Segment, starts: Places, ends: Places) -> Piece:
        text, at = part.text, part.start
        tokens = [
            Token(text[start:end], starts[at + start], ends[at + end - 1], TokenKind.TERM)
            for start, end in self._chinese.words(text)
        ]
        length = len(text)
        firsts, lasts = starts[at : at + length], ends[at : at + length]
        grams = [_NOTHING] * (2 * length - 1)
        grams[::2] = map(_token, zip(text, firsts, lasts, repeat(TokenKind.GRAM)))
        pairs = map(add, text, text[1:])
        grams[1::2] = map(_token, zip(pairs, firsts, lasts[1:], repeat(TokenKind.GRAM)))
        atoms = map(_atom, zip(text, text, firsts, lasts, repeat(SegmentKind.HAN)))
        return Piece(SegmentKind.HAN, (*tokens, *grams), tuple(atoms))

    def _word(self, part: Segment, starts: Places, ends: Places) -> Piece:
        text, at, kind = part
        start, end = starts[at], ends[at + len(text) - 1]
        word = text.casefold()
        stem = self._stemmer.stem(word)
        tokens = (_token((word, start, end, TokenKind.EXACT)), _token((stem, start, end, TokenKind.TERM)))
        return Piece(kind, tokens, (_atom((word, stem, start, end, kind)),))

    def _code(self, part: Segment, starts: Places, ends: Places) -> Piece:
        at, last = part.start, part.start - 1
        tokens = [Token(part.text.casefold(), starts[at], ends[last + len(part.text)], TokenKind.EXACT)]
        names, words = self._parts_of(part.text)
        for name, stems in names:
            start, end = starts[at + name.start], ends[last + name.end]
            tokens.append(_token((name.canonical, start, end, TokenKind.TERM)))
            if stems:
                tokens.append(_token((stems, start, end, TokenKind.PART)))
        atoms = [
            _atom((word.text, word.stem, starts[at + word.start], ends[last + word.end], SegmentKind.CODE))
            for word in words
        ]
        tokens += [_token((stem, start, end, TokenKind.PART)) for _, stem, start, end, _ in atoms]
        return Piece(SegmentKind.CODE, tuple(tokens), tuple(atoms))

    def _parts_of(self, text: str) -> CodeParts:
        return self._kept_parts(text) if len(text) <= LONGEST_CACHED else self._code_parts(text)

    def _code_parts(self, text: str) -> CodeParts:
        names = tuple((name, self._joined_stems(text[name.start : name.end])) for name in code.names(text))
        words = ((text[start:end].casefold(), start, end) for start, end in code.words(text))
        return names, tuple(
            CodeWord(word, self._stemmer.stem(word), start, end) for word, start, end in words
        )

    def _joined_stems(self, name: str) -> str:
        """`max_token_per_gpu` for `max_tokens_per_gpu`, so that a plural more or less still finds it."""
        stems = [self._stemmer.stem(name[start:end].casefold()) for start, end in code.words(name)]
        return "_".join(stems) if len(stems) > 1 else ""
