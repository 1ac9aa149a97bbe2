"""How much more likely a log is under an entry than under logs in general: a sum of log-odds.

    score(entry) = BASE + prior(entry, whose log it is) + signature(entry) + words(entry) - AGAINST * words(background)

docs/diagnosis.md says what each part means, docs/figures.md what it is worth, docs/decisions.md how the numbers were
chosen: SIGNATURE, WORDS and the priors of `origin` by a logistic regression over the open judged logs, rounded, the
others on the same logs afterwards. Rates are smoothed: those of a signature in an entry's samples by one sample more of
either kind (Laplace), elsewhere by UNSEEN logs with a rate of RARE; other entries' samples count with weight OTHERS.

`words` is the log ratio of two language models, one of them smoothed by the other (Jelinek-Mercer; J. Ponte and
W. Croft, A language modeling approach to information retrieval, SIGIR 1998; C. Zhai and J. Lafferty, A study of
smoothing methods for language models, TOIS 22, 2004), with P(w | entry) = c / (c + SATURATION) for c texts of the entry
with the word, as in BM25. Words of one message are far from independent, so a sum over n words is divided by the root
of n. Words that one kind of logs has as well prove little, however rare that kind is: so words(background) is that of
the background log that shares most. Words that nobody has (UNHEARD) belong to something else; `diagnose` weighs them
against an answer being likely, not against its being possible. FOUND is less than the value of a line that an author
chose, as its words count for a second time.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np

from jieda.analysis.token import TokenKind, text_of
from jieda.diagnosis.facts import CONCEPT, Array, DiagnosisData, EntryWords, Word, WordPostings, WordReader
from jieda.log.traceback import Passage
from jieda.log_knowledge import SHARED_BY

LAMBDA = 0.5
SATURATION = 1.0
HEARD = 0.9
"""P(w | a background log that has w)."""
OTHERS = 0.3
UNSEEN, RARE = 100.0, 0.005
HALF = 0.5
"""Added to counts of words, so that an unseen word is rare, not impossible."""
BASE, FOUND, SIGNATURE, WORDS, AGAINST, UNHEARD = -5.0, 0.9, 0.5, 0.7, 0.4, 1.0
UNEXPLAINED = math.log(1 - LAMBDA)
COMMON = 0.1
"""Share of background logs above which a word is not informative."""
RARE_LOGS, RARE_ENTRIES, FEW_ENTRIES = 0.02, 0.05, 2
"""Shares of background logs and of entries up to which a word is rare; FEW_ENTRIES entries may always have it."""
HELD_WORDS = 512
"""Words in the cache of postings."""

_MISREAD = str.maketrans("10", "lo")
_MISPRINT = re.compile(r"\b(?=[A-Za-z10]{3})(?:[A-Za-z]+[10])+[A-Za-z]*\b")
"""A word of letters with a digit that looks like a letter."""

Event = tuple[str, int, bool]
"""A signature by entry and index in it, and whether it was found with support."""


class SignatureRates:
    """How often signatures occur in samples of their entries and in other logs."""

    def __init__(self, known: DiagnosisData) -> None:
        self._own: dict[Event, int] = {}
        self._others: dict[Event, float] = {}
        for each in known.counts:
            event = (each.entry_id, each.place, each.supported)
            self._own[event] = each.own
            self._others[event] = each.background + OTHERS * each.others
        self._samples = known.samples
        self._logs = len(known.background.ids) + OTHERS * sum(self._samples.values())

    def is_shared(self, event: Event) -> bool:
        """Whether other programs print a signature, with or without support, as well."""
        return self._others.get(event, 0.0) >= SHARED_BY

    def log_odds(self, event: Event) -> float:
        """Return the log-odds that a signature found in a log adds to its entry."""
        samples = self._samples.get(event[0], 0)
        own = (self._own.get(event, 0) + 1) / (samples + 2)
        logs = self._logs - OTHERS * samples
        return FOUND + SIGNATURE * math.log(
            own * (logs + UNSEEN) / (self._others.get(event, 0.0) + RARE * UNSEEN)
        )


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """A word of a passage: the entries, or background logs, that have it, and its log ratio under each."""

    shown: str
    entries: Array
    ratios: Array


@dataclass(frozen=True, slots=True)
class PassageEvidence:
    """The evidence of a passage's `words`. By entry: their `log_odds`, −∞ if they share no word, and whether any word
    has `supported` it.

    For all entries alike: `against` are the log-odds, at most 0, for the background log `rival`, which shares words of
    the passage; `unheard` those, at most 0, for words that no entry and no log has. `spelled` maps each whole word to
    its spelling.
    """

    passage: Passage
    words: Sequence[WordEvidence]
    log_odds: Array
    supported: Array
    against: float
    rival: str
    unheard: float
    spelled: Callable[[], Mapping[str, str]]

    def shared(self, place: int) -> tuple[str, ...]:
        """Return the words that support the entry at an index, the strongest first."""
        found = []
        for word in self.words:
            at = int(word.entries.searchsorted(place))
            if at < len(word.entries) and word.entries[at] == place and word.ratios[at] > 0:
                found.append((float(word.ratios[at]), word.shown))
        return tuple(dict.fromkeys(name for _, name in sorted(found, reverse=True)))


class LogEvidence:
    """The evidence of a log's words for each entry, from the passage that supports it most. Arrays are by entry, in the
    order of `ids`."""

    def __init__(self, ids: Sequence[str], passages: Sequence[PassageEvidence]) -> None:
        self._passages = passages
        # The first row is of no passage: it is chosen for an entry that shares no word with any.
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
