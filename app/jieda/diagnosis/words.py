"""The words that the model counts, in both languages and in identifiers; the entries and background logs that have
them; and the evidence of a log's words for the entries that share any."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Atom, Piece, RunKind, TokenKind
from jieda.analysis.words import is_function_word
from jieda.entry import Signature
from jieda.log.traceback import Passage
from jieda.log_knowledge import LogKnowledge

Word = frozenset[str]
"""Terms that each match the word: its stem and its glossary groups."""


class WordReader:
    """Reads texts. Safe to share between threads."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary

    def read(self, text: str) -> tuple[Word, ...]:
        """Return the words of any `text`, each once, in time linear in its length."""
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
        """Map each word of `text` to its spelling there, `memori` to `memory`; parts of names are left out."""
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
    """Yield each atom with the word it counts as: the dictionary word around a Han character, else the stem."""
    if piece.kind is not RunKind.HAN:
        yield from ((atom, atom.stem) for atom in piece.atoms)
        return
    around = {
        place: token.text
        for token in piece.of_kind(TokenKind.TERM)
        for place in range(token.start, token.end)
    }
    yield from ((atom, around.get(atom.start, atom.text)) for atom in piece.atoms)


Array = NDArray[Any]


class TellingWords(Protocol):
    """The words of entries; entries are numbered in the order of `ids`."""

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries, ascending."""

    @property
    def documents(self) -> int:
        """The number of entries about a failure."""

    def holders(self, word: str) -> tuple[Array, Array]:
        """Return the entries that have a word, ascending, and the number of texts in which each has it."""


class CountedWords:
    """The words of entries, or of logs that no entry explains, held in memory."""

    def __init__(self, counted: Mapping[str, Mapping[str, int]]) -> None:
        """`counted`: number of texts with each word, by entry id or name of a log."""
        self.ids: Sequence[str] = tuple(sorted(counted))
        self.documents = len(counted)
        held: dict[str, tuple[list[int], list[int]]] = {}
        for number, each in enumerate(self.ids):
            for word, count in counted[each].items():
                numbers, counts = held.setdefault(word, ([], []))
                numbers.append(number)
                counts.append(count)
        self._held = {word: (np.array(of), np.array(counts)) for word, (of, counts) in held.items()}

    def holders(self, word: str) -> tuple[Array, Array]:
        """As `TellingWords.holders`."""
        return self._held.get(word, NOBODY)


NOBODY: tuple[Array, Array] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class DiagnosisFacts:
    """The facts of an entry with signatures or symptoms. `words` counts its texts that have a term, samples included;
    `samples` is the number of its samples."""

    entry_id: str
    signatures: tuple[Signature, ...]
    words: Mapping[str, int]
    samples: int
    anywhere: bool = False
    """Whether the entry applies to the logs of any program."""


@dataclass(frozen=True, slots=True)
class BackgroundFacts:
    """The terms of a log that no entry explains, sorted."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignatureCount:
    """Number of logs with the signature at index `place` of an entry: samples of the entry (`own`) and of `others`, and
    logs of the `background`. `supported`: with one of its `any` lines."""

    entry_id: str
    place: int
    supported: bool
    own: int
    others: int
    background: int


@dataclass(frozen=True, slots=True)
class DiagnosisData:
    """All facts that a diagnoser needs. By id of the entries with signatures or symptoms: `signatures`, and the number
    of `samples`. `counts` lacks the signatures that no log has; `anywhere` are the entries that apply to the logs of
    any program."""

    knowledge: LogKnowledge
    signatures: Mapping[str, Sequence[Signature]]
    samples: Mapping[str, int]
    words: TellingWords
    background: TellingWords
    counts: Sequence[SignatureCount]
    anywhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """A word of a passage: the entries, or background logs, that have it, and its log ratio under each."""

    shown: str
    entries: Array
    ratios: Array


@dataclass(frozen=True, slots=True)
class WordSums:
    """Sums over the words of a passage, by entry or log: log ratios, words it has, and words that support it."""

    ratios: Array
    said: Array
    speaking: Array


@dataclass(frozen=True, slots=True)
class Saying:
    """The facts of a passage that are the same for all entries.

    `against` are the log-odds, at most 0, for the background log `rival`, which shares words of the passage; `unheard`
    those, at most 0, for words that no entry and no log has. `spelled` maps each whole word to its spelling.
    """

    passage: Passage
    words: Sequence[WordEvidence]
    against: float
    rival: str
    unheard: float
    spelled: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence of a passage for the entry at index `place`: log-odds, without what counts against all entries."""

    place: int
    log_odds: float
    by: Saying

    @property
    def shared(self) -> tuple[str, ...]:
        """The words that support the entry, the strongest first."""
        found = []
        for word in self.by.words:
            place = int(word.entries.searchsorted(self.place))
            if place < len(word.entries) and word.entries[place] == self.place and word.ratios[place] > 0:
                found.append((float(word.ratios[place]), word.shown))
        return tuple(dict.fromkeys(name for _, name in sorted(found, reverse=True)))


class Telling:
    """The evidence of a log for each entry, from the passage that supports it most.

    Arrays are indexed like `ids`, which ascend. As thousands of entries may share a word with a log, `PassageEvidence`
    is created on demand.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self._sayings: list[Saying] = []
        self._log_odds = np.zeros(len(ids))
        self._best = np.full(len(ids), -np.inf)
        self._speaking = np.zeros(len(ids), dtype=np.int64)
        self._chosen = np.full(len(ids), -1)

    def hear(self, saying: Saying, sums: WordSums, log_odds: Array) -> None:
        """Choose a passage for the entries that it supports more than the previous ones; `log_odds` is by entry."""
        best = log_odds + saying.against
        better = (sums.said > 0) & (best > self._best)
        self._best[better] = best[better]
        self._log_odds[better] = log_odds[better]
        self._speaking[better] = sums.speaking[better]
        self._chosen[better] = len(self._sayings)
        self._sayings.append(saying)

    @property
    def sharing(self) -> Array:
        """The indices of the entries that share a word with the log, ascending."""
        return np.flatnonzero(self._chosen >= 0)

    def place(self, entry_id: str) -> int | None:
        """Return the index of an entry, or None if it shares no word with the log."""
        place = bisect_left(self.ids, entry_id)
        shares = place < len(self.ids) and self.ids[place] == entry_id and self._chosen[place] >= 0
        return place if shares else None

    def log_odds(self, places: Array) -> tuple[Array, Array]:
        """Return for some entries the log-odds, `against` included, and `unheard`."""
        unheard = np.array([saying.unheard for saying in self._sayings])
        return self._best[places], unheard[self._chosen[places]]

    def speaking(self, places: Array) -> Array:
        """Count the words that support each of some entries."""
        return self._speaking[places]

    def at(self, place: int) -> PassageEvidence:
        """Return all evidence for one entry."""
        return PassageEvidence(place, float(self._log_odds[place]), self._sayings[self._chosen[place]])
