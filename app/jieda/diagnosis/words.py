"""The words of logs and entries: how they are read and counted, and what those of a log say for each entry.

`LogEvidence` is the log ratio of two language models, one of them smoothed by the other (Jelinek-Mercer; J. Ponte and
W. Croft, A language modeling approach to information retrieval, SIGIR 1998; C. Zhai and J. Lafferty, A study of
smoothing methods for language models, TOIS 22, 2004), with P(w | entry) = c / (c + SATURATION) for c texts of the entry
with the word, as in BM25. Words of one message are far from independent, so a sum over n words is divided by the root
of n. Words that one kind of logs has as well prove little, however rare that kind is: so the background log that shares
most counts against all entries. Words that nobody has (UNHEARD) belong to something else; `scoring` weighs them
against an answer being likely, not against its being possible.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Atom, Run, RunKind, Token, TokenKind, text_of
from jieda.analysis.words import is_function_word
from jieda.entry import Entry
from jieda.log.failures import without_values
from jieda.log.formats import Formats
from jieda.log.traceback import Passage, find_passages, parse
from jieda.signature import literal_text

Word = frozenset[str]
"""Terms that each match the word: its stem and its glossary groups."""
CONCEPT = TokenKind.CONCEPT.term("")
"""Prefix of the terms that stand for a glossary group."""


class WordReader:
    """Reads the words of texts. Safe to share between threads."""

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

    ids: Sequence[str]
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


class WordsWith:
    """The words of entries with those of one entry replaced. Implements `EntryWords`."""

    def __init__(self, words: EntryWords, entry_id: str, counted: Mapping[str, int]) -> None:
        self._words, self._counted = words, counted
        self.ids: Sequence[str] = tuple(sorted({*words.ids, entry_id}))
        numbers = {each: number for number, each in enumerate(self.ids)}
        self._number, self._numbers = (
            numbers[entry_id],
            np.array([numbers[each] for each in words.ids], np.int64),
        )

    def postings(self, word: str) -> WordPostings:
        entries, counts = self._words.postings(word)
        entries = self._numbers[entries]
        kept = entries != self._number
        entries, counts = entries[kept], counts[kept]
        if not (count := self._counted.get(word, 0)):
            return entries, counts
        place = int(np.searchsorted(entries, self._number))
        return np.insert(entries, place, self._number), np.insert(counts, place, count)


@dataclass(frozen=True, slots=True)
class TermCounter:
    """Counts the terms of entries and logs. Safe to share between threads."""

    words: WordReader
    formats: Formats

    def count_in_entry(self, entry: Entry, samples: Sequence[str]) -> dict[str, int]:
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

    def terms_of_log(self, log: str) -> tuple[str, ...]:
        """Return the terms of a log that no entry explains, sorted."""
        text = "\n".join(parse(log, self.formats).texts)
        return tuple(sorted({*chain.from_iterable(self.words.read(without_values(text)))}))


def _failure_texts(entry: Entry) -> Iterator[str]:
    yield from map(literal_text, entry.signature_lines)
    for edition in entry.editions.values():
        yield from (edition.title, *edition.aliases, *edition.symptoms)
        if section := edition.section("symptom"):
            yield from filter(str.strip, section.text.splitlines())


LAMBDA = 0.5
"""Weight of the entry's own model."""
SATURATION = 1.0
HEARD = 0.9
"""P(w | a background log that has w)."""
OTHERS = 0.3
"""Weight of an entry among the logs in general."""
HALF = 0.5
"""Added to counts of words, so that an unseen word is rare, not impossible."""
WORDS, AGAINST, UNHEARD = 0.7, 0.4, 1.0
"""Weights of the words of entries, of the background log, and of words that nobody has."""
UNEXPLAINED = math.log(1 - LAMBDA)
COMMON = 0.1
"""Share of background logs above which a word is not informative."""
RARE_LOGS, RARE_ENTRIES, FEW_ENTRIES = 0.02, 0.05, 2
"""Shares of background logs and of entries up to which a word is rare; FEW_ENTRIES entries may always have it."""
HELD_WORDS = 512
"""Words in the cache of postings."""

_MISREAD = str.maketrans("10", "lo")
_MISPRINT = re.compile(r"\b(?=[A-Za-z10]{3})(?:[A-Za-z]+[10])+[A-Za-z]*\b")
"""A word of letters with a digit that looks like a letter, as in text read from a screenshot."""


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """A word of a passage: the entries, or background logs, that have it, and its log ratio under each."""

    shown: str
    entries: Array
    ratios: Array


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence of a passage's words for each entry."""

    passage: Passage
    words: Sequence[WordEvidence]
    log_odds: Array
    """By entry; −∞ for an entry without any of the words."""
    supported: Array
    """By entry: whether any word speaks for it."""
    against: float
    """Log-odds, at most 0, against every entry: the background log `rival` has words of the passage as well."""
    rival: str
    unheard: float
    """Log-odds, at most 0, against every entry: for words that no entry and no log has."""
    spelled: Callable[[], Mapping[str, str]]
    """Returns the spelling of each whole word."""

    def shared(self, place: int) -> tuple[str, ...]:
        """Return the words that support the entry at an index, the strongest first."""
        found = []
        for word in self.words:
            at = int(word.entries.searchsorted(place))
            if at < len(word.entries) and word.entries[at] == place and word.ratios[at] > 0:
                found.append((float(word.ratios[at]), word.shown))
        return tuple(dict.fromkeys(name for _, name in sorted(found, reverse=True)))


class LogEvidence:
    """The evidence of a log's words: for each entry that of the passage that supports it most. Arrays are by entry, in
    the order of `ids`."""

    def __init__(self, ids: Sequence[str], passages: Sequence[PassageEvidence]) -> None:
        self._passages = passages
        # Row 0 stands for no passage, and is chosen for an entry that shares no word with any.
        places, nothing = np.arange(len(ids)), np.full(len(ids), -np.inf)
        whole = np.array([nothing, *(one.log_odds + one.against for one in passages)])
        self._chosen = whole.argmax(axis=0)
        unheard = np.array([0.0, *(one.unheard for one in passages)])
        self.log_odds = whole[self._chosen, places] + unheard[self._chosen]
        """Log-odds, `against` and `unheard` included; −∞ for an entry that shares no word."""
        supported = np.array([np.zeros(len(ids), np.bool_), *(one.supported for one in passages)])
        self.supported = supported[self._chosen, places]
        """Whether a word supports the entry."""

    def passage(self, place: int) -> PassageEvidence | None:
        """Return the passage that supports the entry at an index most; None if it shares no word with any."""
        chosen = int(self._chosen[place])
        return self._passages[chosen - 1] if chosen else None


class WordModel:
    """Language model of the words of entries against those of the background."""

    def __init__(self, words: EntryWords, background: EntryWords, reader: WordReader) -> None:
        self._reader = reader
        self._words = words
        self._background = background
        self._total = len(background.ids) + OTHERS * len(words.ids) + 1
        self._postings = lru_cache(HELD_WORDS)(words.postings)

    def is_common(self, word: str) -> bool:
        return self._doc_frequencies(word)[0] > COMMON * len(self._background.ids)

    def is_rare(self, word: str) -> bool:
        """Whether few logs and few entries have a word."""
        logs, entries = self._doc_frequencies(word)
        few = max(FEW_ENTRIES, RARE_ENTRIES * len(self._words.ids))
        return logs <= RARE_LOGS * len(self._background.ids) and entries <= few

    def _doc_frequencies(self, word: str) -> tuple[int, int]:
        term = TokenKind.TERM.term(word)
        return len(self._background.postings(term)[0]), len(self._postings(term)[0])

    def weigh(self, passage: Passage) -> PassageEvidence:
        """Return the evidence of a passage for each entry."""
        words = self._reader.read(_MISPRINT.sub(self._correct_misprint, passage.text))
        root = math.sqrt(len(words) or 1)
        heard = self._weigh_words(words, self._postings, SATURATION)
        ratios = _sum_ratios(heard, len(self._words.ids), len(words))
        supported = np.zeros(len(ratios), dtype=np.bool_)
        for word in heard:
            supported[word.entries[word.ratios > 0]] = True
        background = self._background
        others = self._weigh_words(words, background.postings, 1 / HEARD - 1)
        rivals = _sum_ratios(others, len(background.ids), len(words))
        against = -AGAINST * WORDS * float(rivals.max(initial=0.0)) / root
        return PassageEvidence(
            passage,
            heard,
            WORDS * ratios / root,
            supported,
            against,
            rival=background.ids[int(rivals.argmax())] if against else "",
            unheard=-UNHEARD * sum(not self._is_known(word) for word in words) / root,
            spelled=cache(partial(self._reader.spelled, passage.text)),
        )

    def _correct_misprint(self, found: re.Match[str]) -> str:
        """Correct a word that no entry and no log has by reading `1` as `l` and `0` as `o`, if the result is known."""
        corrected = found[0].translate(_MISREAD)
        return found[0] if self._knows_all(found[0]) or not self._knows_all(corrected) else corrected

    def _knows_all(self, text: str) -> bool:
        words = self._reader.read(text)
        return bool(words) and all(map(self._is_known, words))

    def _is_known(self, word: Word) -> bool:
        return any(len(of(term)[0]) for term in word for of in (self._postings, self._background.postings))

    def _weigh_words(
        self, words: Iterable[Word], postings: Callable[[str], WordPostings], saturation: float
    ) -> list[WordEvidence]:
        """Return for each word the entries or logs that have it, if any, each with its highest log ratio among the
        terms of the word."""
        weighed = []
        for word in words:
            found = [
                self._ratios(term, postings(term), saturation) for term in word if len(postings(term)[0])
            ]
            if not found:
                continue
            entries, ratios = found[0]
            if len(found) > 1:
                every, each = (np.concatenate(column) for column in zip(*found, strict=True))
                entries, places = np.unique(every, return_inverse=True)
                ratios = np.full(len(entries), -np.inf)
                np.maximum.at(ratios, places, each)
            weighed.append(WordEvidence(_text_of(word), entries, ratios))
        return weighed

    def _ratios(self, term: str, postings: WordPostings, saturation: float) -> tuple[Array, Array]:
        """Return the entries or logs that have a term, and its log ratio under each. Its rate in logs in general
        leaves one of them out."""
        entries, counts = postings
        others = len(self._postings(term)[0]) - 1
        rate = (len(self._background.postings(term)[0]) + OTHERS * others + HALF) / self._total
        return entries, np.log(1 - LAMBDA + LAMBDA * (counts / (counts + saturation)) / rate)


def _sum_ratios(heard: Iterable[WordEvidence], size: int, words: int) -> Array:
    """Sum up the log ratios of `words` words, of which the `heard` are known, for each of `size` entries or logs; −∞
    for those that have none of them."""
    ratios, shared = np.zeros(size), np.zeros(size, np.int64)
    for each in heard:
        ratios[each.entries] += each.ratios
        shared[each.entries] += 1
    return np.where(shared > 0, ratios + UNEXPLAINED * (words - shared), -np.inf)


def _text_of(word: Word) -> str:
    """Return the text of a word: its first term that is not a concept."""
    return text_of(min((term for term in word if not term.startswith(CONCEPT)), default=""))
