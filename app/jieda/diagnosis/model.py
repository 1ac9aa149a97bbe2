"""How much more likely a log is under an entry than under logs in general: a sum of log-odds.

    score(entry) = BASE + prior(entry, whose log it is) + signature(entry) + words(entry) - AGAINST * words(background)

**Signature**, the best of those found: log P(found | entry) / P(found | other logs). P(found | entry) is the share of
the entry's samples that have it, with one sample more of either kind (Laplace's rule); P(found | other logs) its share
of the background and, at weight OTHERS, of other entries' samples, smoothed by UNSEEN logs with a rate of RARE. A line
that background logs print proves little by itself; nobody has to list such lines.

**Words** of a passage of the log, each once: the sum of log((1 - LAMBDA) + LAMBDA * P(w | entry) / P(w | background)),
the log ratio of two language models, one of them smoothed by the other (Jelinek-Mercer; J. Ponte and W. Croft, A
language modeling approach to information retrieval, SIGIR 1998; C. Zhai and J. Lafferty, A study of smoothing methods
for language models, TOIS 22, 2004). A word that the entry never says costs log(1 - LAMBDA), so what an entry does not
explain counts against it. P(w | entry) = c / (c + SATURATION) for c texts of the entry with the word, as in BM25;
P(w | background) is the share of background logs, and of other entries at weight OTHERS. Words of one message are far
from independent, so their sum over n words is divided by the root of n.

words(background) is the same sum for the log of the background that says most of the passage, where it is positive:
"logs in general" are many kinds of logs, and what one kind says as well tells little, however rare that kind is.

A word that no entry and no background log says is somebody else's: the name of a program, a thing that another field
speaks of. Each lowers the log-odds by UNHEARD, divided by the root of n as well. `diagnose` weighs that against an
answer being likely, not against its being possible.

BASE is the log-odds of an entry before anything is known, FOUND what it is worth that somebody chose a line to tell
the failure by, less what its words are counted for a second time. The weights SIGNATURE and WORDS, and the priors of
`origin` are the coefficients of a logistic regression over the open judged logs, rounded, so a score is about the
log-odds that the entry is right; AGAINST, HEARD, BASE, UNHEARD and FOUND were chosen on the same logs afterwards.
docs/decisions.md has how, and what each part is worth.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache, partial

import numpy as np

from jieda.analysis.token import TokenKind
from jieda.diagnosis.words import Array, Heard, Known, Saying, Sums, Telling, TellingWords, Word, WordReader
from jieda.log.traceback import Passage
from jieda.log_knowledge import SHARED_BY

LAMBDA = 0.5
SATURATION = 1.0
HEARD = 0.9
"""P(w | a background log that has w)."""
OTHERS = 0.3
UNSEEN, RARE = 100.0, 0.005
HALF = 0.5
"""Added to counts of words, so that a word nobody has said is rare, not impossible."""
BASE, FOUND, SIGNATURE, WORDS, AGAINST, UNHEARD = -5.0, 0.9, 0.5, 0.7, 0.4, 1.0
UNEXPLAINED = math.log(1 - LAMBDA)
COMMON = 0.1
"""A share of the background in which a word tells nobody anything."""
RARE_LOGS, RARE_ENTRIES, FEW_ENTRIES = 0.02, 0.05, 2
"""Shares of background logs and of entries up to which a word is rare, and so many entries in any case."""
HELD_WORDS = 512
"""Words whose entries are kept at hand."""

_MISREAD = str.maketrans("10", "lo")
_MISPRINT = re.compile(r"\b(?=[A-Za-z10]{3})(?:[A-Za-z]+[10])+[A-Za-z]*\b")
"""A word of letters that has a digit in it which looks like one."""

Holders = Callable[[str], tuple[Array, Array]]
"""As `TellingWords.holders`."""
Event = tuple[str, int, bool]
"""A signature by entry and place in it, found with or without support."""


class SignatureRates:
    """How often signatures are found in samples of their entries and in other logs."""

    def __init__(self, known: Known) -> None:
        self._own: dict[Event, int] = {}
        self._others: dict[Event, float] = {}
        for each in known.counts:
            event = (each.entry_id, each.place, each.supported)
            self._own[event] = each.own
            self._others[event] = each.background + OTHERS * each.others
        self._samples = known.samples
        self._logs = known.background.documents + OTHERS * sum(self._samples.values())

    def is_shared(self, event: Event) -> bool:
        """Whether a signature, found like this, is one that any program prints."""
        return self._others.get(event, 0.0) >= SHARED_BY

    def log_odds(self, entry_id: str, event: Event) -> float:
        """Of a signature of an entry that was found."""
        samples = self._samples.get(entry_id, 0)
        own = (self._own.get(event, 0) + 1) / (samples + 2)
        logs = self._logs - OTHERS * samples
        return FOUND + SIGNATURE * math.log(
            own * (logs + UNSEEN) / (self._others.get(event, 0.0) + RARE * UNSEEN)
        )


class WordModel:
    """The words of some entries beside those of the background."""

    def __init__(self, words: TellingWords, background: TellingWords, reader: WordReader) -> None:
        self._reader = reader
        self._words = words
        self._background = background
        self._total = background.documents + OTHERS * words.documents + 1
        self._holders = lru_cache(HELD_WORDS)(words.holders)

    @cached_property
    def _frameworks(self) -> tuple[Sequence[str], Array]:
        """Those of the entries, and which of them is each one's."""
        names, places = np.unique([each.partition("/")[0] for each in self._words.ids], return_inverse=True)
        return names.tolist(), places

    def by_framework(self, prior: Callable[[str], float]) -> Array:
        """What is true of each entry for its framework, by place."""
        names, places = self._frameworks
        return np.array([prior(name) for name in names])[places]

    def told(self, passages: Iterable[Passage]) -> Telling:
        """What some passages say for each entry."""
        telling = Telling(self._words.ids)
        for passage in passages:
            self._hear(passage, telling)
        return telling

    def is_common(self, word: str) -> bool:
        """Whether logs in general say a word."""
        return self._spread(word)[0] > COMMON * self._background.documents

    def is_rare(self, word: str) -> bool:
        """Whether hardly a log and hardly an entry says a word."""
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
        """A word that nobody says, as one that somebody says where `1` stands for `l` and `0` for `o`."""
        meant = found[0].translate(_MISREAD)
        return found[0] if self._says_all(found[0]) or not self._says_all(meant) else meant

    def _says_all(self, text: str) -> bool:
        words = self._reader.read(text)
        return bool(words) and all(map(self._is_said, words))

    def _is_said(self, word: Word) -> bool:
        """Whether an entry or a background log says any term of a word."""
        return any(len(said(term)[0]) for term in word for said in (self._holders, self._background.holders))

    def _heard(self, word: Word, holders: Holders, saturation: float) -> Heard | None:
        """Who says any term of a word, with the ratio of the term that says most for each."""
        found = [self._ratios(term, holders, saturation) for term in word if len(holders(term)[0])]
        if not found:
            return None
        entries, ratios = found[0]
        if len(found) > 1:
            every, each = (np.concatenate(column) for column in zip(*found, strict=True))
            entries, places = np.unique(every, return_inverse=True)
            ratios = np.full(len(entries), -np.inf)
            np.maximum.at(ratios, places, each)
        return Heard(_shown(word), entries, ratios)

    def _ratios(self, term: str, holders: Holders, saturation: float) -> tuple[Array, Array]:
        """Who has a term, and its log ratio under each."""
        entries, counts = holders(term)
        said = counts / (counts + saturation)
        return entries, np.log(1 - LAMBDA + LAMBDA * said / self._rate(term))

    def _rate(self, term: str) -> float:
        """How often logs in general say a term, an entry or a log that does so left out."""
        others = len(self._holders(term)[0]) - 1
        return (len(self._background.holders(term)[0]) + OTHERS * others + HALF) / self._total


def _sums(heard: Iterable[Heard], size: int, words: int) -> Sums:
    """Of so many `words`, for each of `size` entries or logs."""
    ratios, said, speaking = np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for each in heard:
        ratios[each.entries] += each.ratios
        said[each.entries] += 1
        speaking[each.entries] += each.ratios > 0
    return Sums(ratios + UNEXPLAINED * (words - said), said, speaking)


def _shown(word: Word) -> str:
    """The term of a word that is its text."""
    return min((term for term in word if not term.startswith("c:")), default="").partition(":")[2]
