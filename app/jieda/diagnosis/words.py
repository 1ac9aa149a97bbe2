"""Words that a model counts, in either language and as somebody has coined them; who says them, entries or logs in
general; and what those of a log say for the entries that share any with it."""

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


Array = NDArray[Any]


class TellingWords(Protocol):
    """The words of entries, which are numbers in the order of `ids`."""

    @property
    def ids(self) -> Sequence[str]:
        """Their ids, ascending."""

    @property
    def documents(self) -> int:
        """How many of them tell a failure."""

    def holders(self, word: str) -> tuple[Array, Array]:
        """The entries that have a word, ascending, and in how many texts each has it."""


class CountedWords:
    """The words of entries, or of logs that no entry explains, counted here and now."""

    def __init__(self, counted: Mapping[str, Mapping[str, int]]) -> None:
        """`counted`: in how many texts each has a word, by id or by the name of the log."""
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
    """An entry that has signatures or symptoms. `words` counts the texts of it that have a term, its samples included;
    `samples` is how many of these it has."""

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
    """How many logs have a signature, the one at `place` among those of an entry: samples of the entry (`own`), of
    `others`, and logs of the `background`. `supported`: with one of its `any` lines."""

    entry_id: str
    place: int
    supported: bool
    own: int
    others: int
    background: int


@dataclass(frozen=True, slots=True)
class Known:
    """All that a diagnoser is made of. Of entries that have signatures or symptoms, by id: `signatures`, and how many
    `samples` they have. `counts` without the signatures that no log has; `anywhere` are the entries that apply to the
    logs of any program."""

    knowledge: LogKnowledge
    signatures: Mapping[str, Sequence[Signature]]
    samples: Mapping[str, int]
    words: TellingWords
    background: TellingWords
    counts: Sequence[SignatureCount]
    anywhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Heard:
    """A word of a passage: who of the entries, or of the background, says it, and its log ratio under each."""

    shown: str
    entries: Array
    ratios: Array


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the words of a passage, by entry or log: their log ratios, how many it says, and how many speak for it."""

    ratios: Array
    said: Array
    speaking: Array


@dataclass(frozen=True, slots=True)
class Saying:
    """A passage, for all entries alike.

    `against` are the log-odds, at most 0, that the background log called `rival` says the passage as well; `unheard`
    those, at most 0, of the words that nobody says. `spelled` has each whole word as it stands in the passage.
    """

    passage: Passage
    words: Sequence[Heard]
    against: float
    rival: str
    unheard: float
    spelled: Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Told:
    """What the words of a passage say for the entry at a `place`: log-odds, without what speaks against all."""

    place: int
    log_odds: float
    by: Saying

    @property
    def shared(self) -> tuple[str, ...]:
        """The words that speak for the entry, the strongest first."""
        found = []
        for word in self.by.words:
            place = int(word.entries.searchsorted(self.place))
            if place < len(word.entries) and word.entries[place] == self.place and word.ratios[place] > 0:
                found.append((float(word.ratios[place]), word.shown))
        return tuple(dict.fromkeys(name for _, name in sorted(found, reverse=True)))


class Telling:
    """What a log says for each entry, by the passage that says most for it.

    Arrays are by the entry's place in `ids`, which ascend. Thousands of entries may share a word with a log: `Told` is
    made for those that are asked for.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self._sayings: list[Saying] = []
        self._log_odds = np.zeros(len(ids))
        self._best = np.full(len(ids), -np.inf)
        self._speaking = np.zeros(len(ids), dtype=np.int64)
        self._chosen = np.full(len(ids), -1)

    def hear(self, saying: Saying, sums: Sums, log_odds: Array) -> None:
        """Chooses a passage for the entries for which it says more than those before it: `log_odds` for each entry."""
        best = log_odds + saying.against
        better = (sums.said > 0) & (best > self._best)
        self._best[better] = best[better]
        self._log_odds[better] = log_odds[better]
        self._speaking[better] = sums.speaking[better]
        self._chosen[better] = len(self._sayings)
        self._sayings.append(saying)

    @property
    def sharing(self) -> Array:
        """The places of the entries that share a word with the log, ascending."""
        return np.flatnonzero(self._chosen >= 0)

    def place(self, entry_id: str) -> int | None:
        """That of an entry, if it shares a word with the log."""
        place = bisect_left(self.ids, entry_id)
        shares = place < len(self.ids) and self.ids[place] == entry_id and self._chosen[place] >= 0
        return place if shares else None

    def log_odds(self, places: Array) -> tuple[Array, Array]:
        """For some of these entries, `against` included; and `unheard`."""
        unheard = np.array([saying.unheard for saying in self._sayings])
        return self._best[places], unheard[self._chosen[places]]

    def speaking(self, places: Array) -> Array:
        """How many words speak for each of these entries."""
        return self._speaking[places]

    def at(self, place: int) -> Told:
        """All that is said for one of these entries."""
        return Told(place, float(self._log_odds[place]), self._sayings[self._chosen[place]])
