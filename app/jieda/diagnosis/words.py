"""A text as what a model counts: words in either language, and names somebody has coined."""

from collections.abc import Iterator, Mapping

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Atom, Piece, RunKind, TokenKind
from jieda.analysis.words import is_function_word

Word = frozenset[str]
"""Terms any of which stands for the word: its stem, the glossary groups it belongs to."""


class WordReader:
    """Reads texts. Safe to share between threads."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary

    def read(self, text: str) -> tuple[Word, ...]:
        """The words of `text`, each once; total, linear in its length."""
        analysis = self._analyzer.analyze(text)
        meanings: dict[int, set[str]] = {}
        for mention in self._glossary.mentions(analysis):
            for place in range(mention.first, mention.last + 1):
                meanings.setdefault(place, set()).add(TokenKind.CONCEPT.term(str(mention.group)))
        words: dict[Word, None] = {}
        place = 0
        for piece in analysis.pieces:
            for atom, word in _words(piece):
                terms = frozenset({TokenKind.TERM.term(word), *meanings.get(place, ())})
                place += 1
                if not _says_nothing(atom, word):
                    words[terms] = None
            if piece.kind is RunKind.CODE and len(piece.atoms) > 1:
                words.update((frozenset({token.term}), None) for token in piece.of_kind(TokenKind.TERM)[:1])
        return tuple(words)

    def spelled(self, text: str) -> Mapping[str, str]:
        """What stands in `text` for each word of it, `memory` for `memori`; parts of names are none."""
        found: dict[str, str] = {}
        for piece in self._analyzer.analyze(text).pieces:
            if piece.kind is RunKind.CODE and len(piece.atoms) > 1:
                for token in piece.of_kind(TokenKind.TERM)[:1]:
                    found.setdefault(token.text, text[token.start : token.end])
                continue
            around = {token.text: text[token.start : token.end] for token in piece.of_kind(TokenKind.TERM)}
            for atom, word in _words(piece):
                if not _says_nothing(atom, word):
                    found.setdefault(word, around.get(word, text[atom.start : atom.end]))
        return found


def _says_nothing(atom: Atom, word: str) -> bool:
    return is_function_word(word) or is_function_word(atom.text) or word.isdecimal()


def _words(piece: Piece) -> Iterator[tuple[Atom, str]]:
    """Each atom with the word it counts as: a Han character as the dictionary's word around it, others by stem."""
    if piece.kind is not RunKind.HAN:
        yield from ((atom, atom.stem) for atom in piece.atoms)
        return
    around = {
        place: token.text
        for token in piece.of_kind(TokenKind.TERM)
        for place in range(token.start, token.end)
    }
    yield from ((atom, around.get(atom.start, atom.text)) for atom in piece.atoms)
