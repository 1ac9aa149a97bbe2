"""The one analysis, for what is indexed and what is asked: text to tokens, with spans in the original."""

from collections.abc import Iterable, Iterator

from app.analysis import code
from app.analysis.chinese import ChineseTokenizer
from app.analysis.english import EnglishWords
from app.analysis.normalize import Folded, Folder
from app.analysis.segment import segment
from app.analysis.stems import Stemmer
from app.analysis.token import Analysis, Atom, Segment, SegmentKind, Token, TokenKind

VERSION = "5"
"""Part of the digest an index is kept under: raise it when tokens of the same text come out differently."""


class Analyzer:
    """Analyzes text of any language. Costs half a second to build; safe to share between threads."""

    def __init__(self, dictionary: Iterable[str] = ()) -> None:
        self._folder = Folder()
        self._stemmer = Stemmer()
        self._chinese = ChineseTokenizer(dictionary)
        self._english = EnglishWords()
        self._segmenters = {
            SegmentKind.HAN: (self._han_tokens, self._han_atoms),
            SegmentKind.WORD: (self._word_tokens, self._word_atoms),
            SegmentKind.CODE: (self._code_tokens, self._code_atoms),
        }

    def analyze(self, text: str) -> Analysis:
        """Tokens and atoms of `text`; total, linear in its length."""
        folded = self._folder.fold(text)
        tokens: list[Token] = []
        atoms: list[Atom] = []
        for piece in segment(folded.text):
            if piece.kind is not SegmentKind.GAP:
                to_tokens, to_atoms = self._segmenters[piece.kind]
                tokens += to_tokens(piece, folded)
                atoms += to_atoms(piece, folded)
        return Analysis(tuple(tokens), tuple(atoms))

    def key(self, text: str) -> str:
        """What two texts share that differ only in case, width, script, spacing or punctuation."""
        return "".join(atom.text for atom in self.analyze(text).atoms)

    def fold(self, text: str) -> str:
        """`text` with widths and scripts folded and case taken away, for comparing."""
        return self._folder.fold(text).text.casefold()

    def is_word(self, text: str) -> bool:
        """Whether a general dictionary, or ours, has the case-folded `text` as a word."""
        return text in self._english if text.isascii() else text in self._chinese

    def _han_tokens(self, piece: Segment, folded: Folded) -> Iterator[Token]:
        for start, end in self._chinese.words(piece.text):
            yield _token(piece, folded, start, end, TokenKind.TERM)
        for start in range(len(piece.text)):
            yield _token(piece, folded, start, start + 1, TokenKind.GRAM)
            if start + 2 <= len(piece.text):
                yield _token(piece, folded, start, start + 2, TokenKind.GRAM)

    def _han_atoms(self, piece: Segment, folded: Folded) -> Iterator[Atom]:
        for offset, character in enumerate(piece.text, piece.start):
            yield Atom(character, character, *folded.span(offset, offset + 1))

    def _word_tokens(self, piece: Segment, folded: Folded) -> Iterator[Token]:
        span = folded.span(piece.start, piece.end)
        word = piece.text.casefold()
        yield Token(word, *span, TokenKind.EXACT)
        yield Token(self._stemmer.stem(word), *span, TokenKind.TERM)

    def _word_atoms(self, piece: Segment, folded: Folded) -> Iterator[Atom]:
        word = piece.text.casefold()
        yield Atom(word, self._stemmer.stem(word), *folded.span(piece.start, piece.end))

    def _code_tokens(self, piece: Segment, folded: Folded) -> Iterator[Token]:
        yield Token(piece.text.casefold(), *folded.span(piece.start, piece.end), TokenKind.EXACT)
        for name in code.names(piece.text):
            span = folded.span(piece.start + name.start, piece.start + name.end)
            yield Token(name.canonical, *span, TokenKind.TERM)
            if stems := self._joined_stems(piece.text[name.start : name.end]):
                yield Token(stems, *span, TokenKind.PART)
        for atom in self._code_atoms(piece, folded):
            yield Token(atom.stem, atom.start, atom.end, TokenKind.PART)

    def _joined_stems(self, name: str) -> str:
        """`max_token_per_gpu` for `max_tokens_per_gpu`, so that a plural more or less still finds it."""
        stems = [self._stemmer.stem(name[start:end].casefold()) for start, end in code.words(name)]
        return "_".join(stems) if len(stems) > 1 else ""

    def _code_atoms(self, piece: Segment, folded: Folded) -> Iterator[Atom]:
        for start, end in code.words(piece.text):
            word = piece.text[start:end].casefold()
            span = folded.span(piece.start + start, piece.start + end)
            yield Atom(word, self._stemmer.stem(word), *span)


def _token(piece: Segment, folded: Folded, start: int, end: int, kind: TokenKind) -> Token:
    return Token(piece.text[start:end], *folded.span(piece.start + start, piece.start + end), kind)
