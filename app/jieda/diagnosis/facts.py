"""The facts that a diagnosis uses: the words, signatures and samples of entries, and the words of background logs.

They depend only on the texts, the words and the log knowledge.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Atom, Run, RunKind, Token, TokenKind
from jieda.analysis.words import is_function_word
from jieda.diagnosis.signatures import SignatureIndex
from jieda.entry import Entry, Signature
from jieda.log.failures import without_values
from jieda.log.formats import Formats
from jieda.log.traceback import find_passages, parse
from jieda.log_knowledge import LogKnowledge
from jieda.signature import literal_text

Word = frozenset[str]
"""Terms that each match the word: its stem and its glossary groups."""
CONCEPT = TokenKind.CONCEPT.term("")
"""Prefix of the terms that stand for a glossary group."""


class WordReader:
    """Reads texts. Safe to share between threads."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary

    def read(self, text: str) -> tuple[Word, ...]:
        """Return the words of any `text`, each once, in time linear in its length."""
        analysis = self._analyzer.analyze(text)
        concepts: dict[int, set[str]] = {}
        for mention in self._glossary.mentions(analysis):
            for place in range(mention.first, mention.last + 1):
                concepts.setdefault(place, set()).add(TokenKind.CONCEPT.term(str(mention.group)))
        words: dict[Word, None] = {}
        place = 0
        for run in analysis.runs:
            for atom, word in _words(run):
                if not _is_noise(atom, word):
                    words[frozenset({TokenKind.TERM.term(word), *concepts.get(place, ())})] = None
                place += 1
            words.update((frozenset({token.term}), None) for token in _compound_name(run))
        return tuple(words)

    def spelled(self, text: str) -> Mapping[str, str]:
        """Map each word of `text` to its spelling there, `memori` to `memory`; parts of names are left out."""
        found: dict[str, str] = {}
        for run in self._analyzer.analyze(text).runs:
            if name := _compound_name(run):
                found.setdefault(name[0].text, text[name[0].start : name[0].end])
                continue
            around = {token.text: text[token.start : token.end] for token in run.of_kind(TokenKind.TERM)}
            for atom, word in _words(run):
                if not _is_noise(atom, word):
                    found.setdefault(word, around.get(word, text[atom.start : atom.end]))
        return found


def _is_noise(atom: Atom, word: str) -> bool:
    return is_function_word(word) or is_function_word(atom.text) or word.isdecimal()


def _compound_name(run: Run) -> Sequence[Token]:
    """Return the token of an identifier that has several parts; nothing for any other run."""
    return run.of_kind(TokenKind.TERM)[:1] if run.kind is RunKind.CODE and len(run.atoms) > 1 else ()


def _words(run: Run) -> Iterator[tuple[Atom, str]]:
    """Yield each atom with the word it counts as: the dictionary word around a Han character, else the stem."""
    if run.kind is not RunKind.HAN:
        yield from ((atom, atom.stem) for atom in run.atoms)
        return
    around = {
        place: token.text for token in run.of_kind(TokenKind.TERM) for place in range(token.start, token.end)
    }
    yield from ((atom, around.get(atom.start, atom.text)) for atom in run.atoms)


Array = NDArray[Any]
WordPostings = tuple[Array, Array]
"""The entries that have a word, ascending by number, and the number of texts in which each has it."""


class EntryWords(Protocol):
    """The words of entries; entries are numbered in the order of `ids`."""

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries, ascending."""

    def postings(self, word: str) -> WordPostings:
        """Return the entries that have a word."""


class CountedWords:
    """The words of entries, or of background logs, held in memory. Implements `EntryWords`."""

    def __init__(self, counted: Mapping[str, Mapping[str, int]]) -> None:
        """`counted`: number of texts with each word, by entry id or name of a log."""
        self.ids: Sequence[str] = tuple(sorted(counted))
        held: dict[str, tuple[list[int], list[int]]] = {}
        for number, each in enumerate(self.ids):
            for word, count in counted[each].items():
                numbers, counts = held.setdefault(word, ([], []))
                numbers.append(number)
                counts.append(count)
        self._held = {word: (np.array(of), np.array(counts)) for word, (of, counts) in held.items()}

    def postings(self, word: str) -> WordPostings:
        return self._held.get(word, NO_POSTINGS)


NO_POSTINGS: WordPostings = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


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
    """All facts that a diagnoser needs. By id of the entries that have any: `signatures`, and the number of `samples`.
    `counts` lacks the signatures that no log has; `anywhere` are the entries that apply to the logs of
    any program."""

    knowledge: LogKnowledge
    signatures: Mapping[str, Sequence[Signature]]
    samples: Mapping[str, int]
    words: EntryWords
    background: EntryWords
    counts: Sequence[SignatureCount]
    anywhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FactReader:
    """Reads facts. Safe to share between threads."""

    words: WordReader
    formats: Formats

    def entry(self, entry: Entry, samples: Sequence[str]) -> dict[str, int]:
        """Count the texts of an entry, its samples included, that have each term."""
        shown = (
            passage.text
            for log in samples
            for passage in find_passages(parse(log, self.formats), self.formats).passages
        )
        counts: Counter[str] = Counter()
        for text in chain(_failure_texts(entry), shown):
            counts.update(frozenset[str]().union(*self.words.read(text)))
        # In the order of terms, so that equal input gives equal facts.
        return dict(sorted(counts.items()))

    def background(self, log: str) -> tuple[str, ...]:
        """Return the terms of a log that no entry explains, sorted."""
        text = "\n".join(parse(log, self.formats).texts)
        return tuple(sorted({*chain.from_iterable(self.words.read(without_values(text)))}))


def _failure_texts(entry: Entry) -> Iterator[str]:
    yield from map(literal_text, entry.signature_lines)
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)
        if section := edition.section("symptom"):
            yield from filter(str.strip, section.text.splitlines())


Events = frozenset[tuple[Signature, bool]]
"""Signatures that a log has, each with whether one of its `any` lines supports it."""


def event_finder(signatures: Iterable[Signature], formats: Formats) -> Callable[[str], Events]:
    """Return a function that finds `signatures` in a log as a diagnosis does."""
    wanted = tuple(dict.fromkeys(signatures))
    index = SignatureIndex([("", wanted)])

    def find(text: str) -> Events:
        hits = index.find(parse(text, formats), pasted=False)
        return frozenset((wanted[hit.place], bool(hit.support)) for hit in hits)

    return find


def signatures_of(events: Events) -> frozenset[Signature]:
    """Return the signatures of a log, with support or not."""
    return frozenset(signature for signature, _ in events)


def count_signatures(
    holders: Mapping[str, Sequence[Signature]],
    samples: Iterable[tuple[str, Events]],
    background: Iterable[Events],
) -> tuple[SignatureCount, ...]:
    """Count the logs that have each signature of `holders`, by entry; `samples`: pairs of an entry and the signatures
    in its log."""
    total: Counter[tuple[Signature, bool]] = Counter()
    behind: Counter[tuple[Signature, bool]] = Counter()
    own: Counter[tuple[str, tuple[Signature, bool]]] = Counter()
    for entry_id, found in samples:
        for event in _with_unsupported(found):
            total[event] += 1
            own[entry_id, event] += 1
    for found in background:
        behind.update(_with_unsupported(found))
    counts = []
    for entry_id, signatures in sorted(holders.items()):
        for (place, signature), supported in product(enumerate(signatures), (False, True)):
            event = signature, supported
            if event in total or event in behind:
                mine = own[entry_id, event]
                others = total[event] - mine
                counts.append(SignatureCount(entry_id, place, supported, mine, others, behind[event]))
    return tuple(counts)


def _with_unsupported(found: Events) -> Events:
    """Count a signature that was found with support as found without it, too."""
    return found | {(signature, False) for signature, _ in found}
