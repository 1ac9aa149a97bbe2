"""How much more likely a log is under an entry than under logs in general: a sum of log-odds.

    score(entry) = BASE + prior(entry, whose log it is) + signature(entry) + words(entry) - AGAINST * words(background)

**Signature**, the best of those found: log P(found | entry) / P(found | other logs). P(found | entry) is the share of
the entry's samples that have it, with one sample more of either kind (Laplace's rule); P(found | other logs) its share
of the background and, at weight OTHERS, of other entries' samples, smoothed by UNSEEN logs with a rate of RARE. So a
line that background logs print proves little, without anybody having to list such lines.

**Words** of a passage of the log, each once: the sum of log((1 - LAMBDA) + LAMBDA * P(w | entry) / P(w | background)),
the log ratio of two language models, one of them smoothed by the other (Jelinek-Mercer; J. Ponte and W. Croft, A
language modeling approach to information retrieval, SIGIR 1998; C. Zhai and J. Lafferty, A study of smoothing methods
for language models, TOIS 22, 2004). A word that the entry never says costs log(1 - LAMBDA), so what an entry does not
explain counts against it. P(w | entry) = c / (c + SATURATION) for c texts of the entry with the word, as in BM25;
P(w | background) is the share of background logs, and of other entries at weight OTHERS. Words of one message are far
from independent, so their sum over n words is divided by the root of n.

words(background) is the same sum for the background log that shares most with the passage, if it is positive: "logs in
general" are many kinds of logs, and words that one kind has as well prove little, however rare that kind is.

A word that no entry and no background log has belongs to something else: the name of a program, a term of another
field. Each lowers the log-odds by UNHEARD, also divided by the root of n. `diagnose` weighs that against an answer
being likely, not against its being possible.

BASE is the log-odds of an entry before anything is known. FOUND is the value of a line that an author chose to identify
the failure, minus the part that its words count for a second time. The weights SIGNATURE and WORDS, and the priors of
`origin` are the coefficients of a logistic regression over the open judged logs, rounded, so a score is about the
log-odds that the entry is right; AGAINST, HEARD, BASE, UNHEARD and FOUND were chosen on the same logs afterwards.
docs/decisions.md explains how; docs/figures.md has what each part is worth.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache, partial

import numpy as np

from jieda.analysis.token import TokenKind
from jieda.diagnosis.words import (
    Array,
    DiagnosisData,
    Saying,
    Telling,
    TellingWords,
    Word,
    WordEvidence,
    WordReader,
    WordSums,
)
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

Holders = Callable[[str], tuple[Array, Array]]
"""As `TellingWords.holders`."""
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
        self._logs = known.background.documents + OTHERS * sum(self._samples.values())

    def is_shared(self, event: Event) -> bool:
        """Whether other programs print a signature, with or without support, as well."""
        return self._others.get(event, 0.0) >= SHARED_BY

    def log_odds(self, entry_id: str, event: Event) -> float:
        """Return the log-odds that a signature found in a log adds to its entry."""
        samples = self._samples.get(entry_id, 0)
        own = (self._own.get(event, 0) + 1) / (samples + 2)
        logs = self._logs - OTHERS * samples
        return FOUND + SIGNATURE * math.log(
            own * (logs + UNSEEN) / (self._others.get(event, 0.0) + RARE * UNSEEN)
        )


class WordModel:
    """Language model of the words of entries against those of the background."""

    def __init__(self, words: TellingWords, background: TellingWords, reader: WordReader) -> None:
        self._reader = reader
        self._words = words
        self._background = background
        self._total = background.documents + OTHERS * words.documents + 1
        self._holders = lru_cache(HELD_WORDS)(words.holders)

    @cached_property
    def _frameworks(self) -> tuple[Sequence[str], Array]:
        """The frameworks of the entries, and the index of each entry's framework."""
        names, places = np.unique([each.partition("/")[0] for each in self._words.ids], return_inverse=True)
        return names.tolist(), places

    def by_framework(self, prior: Callable[[str], float]) -> Array:
        """Return the prior of each entry's framework, by the entry's index."""
        names, places = self._frameworks
        return np.array([prior(name) for name in names])[places]

    def told(self, passages: Iterable[Passage]) -> Telling:
        """Return the evidence of some passages for each entry."""
        telling = Telling(self._words.ids)
        for passage in passages:
            self._hear(passage, telling)
        return telling

    def is_common(self, word: str) -> bool:
        """Whether a word is common in background logs."""
        return self._spread(word)[0] > COMMON * self._background.documents

    def is_rare(self, word: str) -> bool:
        """Whether few logs and few entries have a word."""
        logs, entries = self._spread(word)
        few = max(FEW_ENTRIES, RARE_ENTRIES * self._words.documents)
        return logs <= RARE_LOGS * self._background.documents and entries <= few

    def _spread(self, word: str) -> tuple[int, int]:
        term = TokenKind.TERM.term(word)
        return len(self._background.holders(term)[0]), len(self._holders(term)[0])

    def _hear(self, passage: Passage, telling: Telling) -> None:
        words = self._reader.read(_MISPRINT.sub(self._as_meant, passage.text))
        root = math.sqrt(len(words) or 1)
        heard = [each for word in words if (each := self._heard(word, self._holders, SATURATION))]
        sums = _sums(heard, len(telling.ids), len(words))
        others = [
            each for word in words if (each := self._heard(word, self._background.holders, 1 / HEARD - 1))
        ]
        rivals = _sums(others, len(self._background.ids), len(words)).ratios
        against = -AGAINST * WORDS * float(rivals.max(initial=0.0)) / root
        rival = self._background.ids[int(rivals.argmax())] if against else ""
        unheard = -UNHEARD * sum(not self._is_said(word) for word in words) / root
        spelled = cache(partial(self._reader.spelled, passage.text))
        telling.hear(
            Saying(passage, heard, against, rival, unheard, spelled), sums, WORDS * sums.ratios / root
        )

    def _as_meant(self, found: re.Match[str]) -> str:
        """Correct a word that no entry and no log has by reading `1` as `l` and `0` as `o`, if the result is known."""
        meant = found[0].translate(_MISREAD)
        return found[0] if self._says_all(found[0]) or not self._says_all(meant) else meant

    def _says_all(self, text: str) -> bool:
        words = self._reader.read(text)
        return bool(words) and all(map(self._is_said, words))

    def _is_said(self, word: Word) -> bool:
        """Whether an entry or a background log has any term of a word."""
        return any(len(said(term)[0]) for term in word for said in (self._holders, self._background.holders))

    def _heard(self, word: Word, holders: Holders, saturation: float) -> WordEvidence | None:
        """Return the holders of any term of a word, each with the highest log ratio among its terms."""
        found = [self._ratios(term, holders, saturation) for term in word if len(holders(term)[0])]
        if not found:
            return None
        entries, ratios = found[0]
        if len(found) > 1:
            every, each = (np.concatenate(column) for column in zip(*found, strict=True))
            entries, places = np.unique(every, return_inverse=True)
            ratios = np.full(len(entries), -np.inf)
            np.maximum.at(ratios, places, each)
        return WordEvidence(_shown(word), entries, ratios)

    def _ratios(self, term: str, holders: Holders, saturation: float) -> tuple[Array, Array]:
        """Return the holders of a term, and its log ratio under each."""
        entries, counts = holders(term)
        said = counts / (counts + saturation)
        return entries, np.log(1 - LAMBDA + LAMBDA * said / self._rate(term))

    def _rate(self, term: str) -> float:
        """Return the rate of a term in logs in general, one holder left out."""
        others = len(self._holders(term)[0]) - 1
        return (len(self._background.holders(term)[0]) + OTHERS * others + HALF) / self._total


def _sums(heard: Iterable[WordEvidence], size: int, words: int) -> WordSums:
    """Sum up what the `heard` of `words` words say for each of `size` entries or logs."""
    ratios, said, speaking = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for each in heard:
        ratios[each.entries] += each.ratios
        said[each.entries] += 1
        speaking[each.entries] += each.ratios > 0
    return WordSums(ratios + UNEXPLAINED * (words - said), said, speaking)


def _shown(word: Word) -> str:
    """Return the text of a word: its first term that is not a concept."""
    return min((term for term in word if not term.startswith("c:")), default="").partition(":")[2]
