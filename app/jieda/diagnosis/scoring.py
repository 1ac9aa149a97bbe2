"""How much speaks for each entry, and whether that is enough for an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import chain, islice

import numpy as np

from jieda.diagnosis.answers import Confidence, Evidence
from jieda.diagnosis.model import BASE, SignatureRates, WordModel
from jieda.diagnosis.origin import Origin
from jieda.diagnosis.signatures import SignatureHit
from jieda.diagnosis.words import Array, Known, Telling, Told, WordReader
from jieda.log.traceback import Shown

# Scores from which an entry is an answer: log-odds, see `model`.
LIKELY = 0.0
"""Likelier right than wrong."""
POSSIBLE = -2.5
"""With a signature that others print as well: what nobody is known to say tells that it is one of them, and so counts
STRANGE times as much there."""
STRANGE = 3.0
WORDS_ALONE = -1.7
UNTROUBLED = -0.5
"""Where words alone speak for an entry, in a log that tells of nothing that went wrong."""

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Weak matches shown: more of them would not help."""
MOST_NEAR = 3
LOOKED_AT = 20
"""Entries that share words which are looked at for being near."""
TIE = 1.5
"""Log-odds between entries of two frameworks below which nothing tells which is meant."""
MOST_WORDS = 6
CONFIDENCES = tuple(Confidence)
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry with what speaks for it; `confidence` is None where that is too little."""

    entry_id: str
    score: float
    confidence: Confidence | None
    known: Sequence[Evidence]
    hits: Sequence[SignatureHit]
    told: Told | None
    foreign: bool = False
    """Whether the log is another framework's than the entry's, and the entry is not one that applies anywhere."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What speaks for and against it, words included."""
        if self.told is None:
            return tuple(self.known)
        words = Evidence("words", ", ".join(self.told.shared[:MOST_WORDS]), self.told.log_odds)
        by = self.told.by
        against = (("background", by.rival, by.against), ("unheard", "", by.unheard))
        return (*self.known, words, *(Evidence(*each) for each in against if each[2]))


@dataclass(frozen=True, slots=True)
class Scores:
    """The entries that have something in common with a log.

    Those with a signature in it, and of those for which words alone speak, which may be thousands, the ones that an
    answer can be made of: `enough` speaks for some, and those with words enough to be near, best first, are scored as
    they are asked for, once.
    """

    signed: Sequence[Scored]
    enough: Sequence[Scored]
    sharing: Iterator[Scored]

    def best(self) -> list[Scored]:
        """The matches to show: best first, weak ones only a few."""
        found = [each for each in (*self.signed, *self.enough) if each.confidence and not each.foreign]
        found.sort(key=lambda each: (CONFIDENCES.index(each.confidence), -each.score, each.entry_id))
        weak = [each for each in found if each.confidence is Confidence.POSSIBLE]
        sure = found[: len(found) - len(weak)]
        return (sure + weak[: max(0, MOST_POSSIBLE - len(sure))])[:MOST_MATCHES]

    def nearest(self, is_near: Callable[[Scored], bool]) -> list[Scored]:
        """Where nothing is a match: what explains the same in the log of another framework, then the best of those that
        share something worth a look."""

        def rank(one: Scored) -> tuple[float, str]:
            return -one.score, one.entry_id

        ranked = merge(sorted(self.signed, key=rank), self.sharing, key=rank)
        foreign = sorted((each for each in self.signed if each.foreign and each.confidence), key=rank)
        named = {each.entry_id for each in foreign}
        near = (each for each in islice(ranked, LOOKED_AT) if each.entry_id not in named and is_near(each))
        return list(islice(chain(foreign, near), MOST_NEAR))


@dataclass(frozen=True, slots=True)
class _ReadLog:
    """What is known of a log beside its words; `explain_root` are the entries with a signature in its first failure."""

    hits: Mapping[str, list[SignatureHit]]
    origin: Origin
    troubled: bool
    explain_root: Set[str]


class Scorer:
    """Scores entries by signatures, words and origin."""

    def __init__(self, known: Known, words: WordReader) -> None:
        self._rates = SignatureRates(known)
        self.words = self._words = WordModel(known.words, known.background, words)
        self._anywhere = known.anywhere

    def scores(
        self,
        shown: Shown,
        hits: Mapping[str, list[SignatureHit]],
        origin: Origin,
        root: frozenset[int] = frozenset(),
    ) -> Scores:
        """`hits` are the signatures that were found, by entry; `root`, the lines of the first failure, by index."""
        telling = self._words.told(shown.passages)
        explain_root = {each for each, own in hits.items() if any(hit.touches(root) for hit in own)}
        score = partial(self._score, log=_ReadLog(hits, origin, shown.troubled, explain_root))
        places = {each: telling.place(each) for each in hits}
        signed = [score(each, None if at is None else telling.at(at)) for each, at in places.items()]

        found = [at for at in places.values() if at is not None]
        rest = telling.sharing
        rest = rest[np.isin(rest, found, invert=True)]
        sums = self._sums(rest, telling, origin)
        enough = sums >= (WORDS_ALONE if shown.troubled else UNTROUBLED)
        near = telling.speaking(rest) > 0
        ranked = rest[near][np.argsort(-sums[near], kind="stable")]

        def scored(places: Array) -> Iterator[Scored]:
            return (score(telling.ids[at], telling.at(at)) for at in places.tolist())

        return Scores(signed, [*scored(rest[enough])], scored(ranked))

    def _sums(self, places: Array, telling: Telling, origin: Origin) -> Array:
        """The scores of entries without a signature, by the same steps as `_score`."""
        told, unheard = telling.log_odds(places)
        prior: Array = self._words.by_framework(origin.prior)[places]
        for entry_id in self._anywhere:
            prior[places == telling.place(entry_id)] = self._prior(entry_id, origin)
        sums: Array = (BASE + prior) + (told + unheard)
        return sums

    def _is_foreign(self, entry_id: str, origin: Origin) -> bool:
        return entry_id not in self._anywhere and origin.is_foreign(entry_id.partition("/")[0])

    def _prior(self, entry_id: str, origin: Origin) -> float:
        """As `Origin.prior`; where the log comes from says nothing against an entry that applies anywhere."""
        prior = origin.prior(entry_id.partition("/")[0])
        return max(0.0, prior) if entry_id in self._anywhere else prior

    def _score(
        self,
        entry_id: str,
        told: Told | None,
        *,
        log: _ReadLog,
    ) -> Scored:
        hits, origin = log.hits, log.origin
        own = hits.get(entry_id, [])
        rated = [(self._rates.log_odds(entry_id, hit.event), hit) for hit in own]
        best, first = max(rated, key=lambda pair: pair[0], default=(0.0, None))
        known = [
            Evidence("base", "", BASE),
            Evidence("origin", origin.name, self._prior(entry_id, origin)),
        ]
        if first:
            known.append(Evidence("signature", first.text, best))
        score = sum(each.log_odds for each in known)
        unheard = told.by.unheard if told else 0.0
        if told:
            score += told.log_odds + told.by.against + unheard
        rivals = [hit for other, theirs in hits.items() if own and other != entry_id for hit in theirs]
        # A signature of the entry's own that nobody else prints: for that one its author vouches.
        telling = any(
            not (hit.likely or self._rates.is_shared(hit.event) or any(rival.covers(hit) for rival in rivals))
            for hit in own
        )
        foreign = self._is_foreign(entry_id, origin)
        anothers = foreign and origin.is_anothers(entry_id.partition("/")[0])
        confidence = _confidence(score, unheard, found=bool(own), foreign=foreign, troubled=log.troubled)
        if telling:
            # What came first in the log is another's to explain.
            secondary = bool(log.explain_root) and entry_id not in log.explain_root
            confidence = Confidence.LIKELY if foreign or secondary else Confidence.EXACT
        return Scored(entry_id, score, confidence, known, own, told, anothers)


def _confidence(
    score: float, unheard: float, *, found: bool, foreign: bool, troubled: bool
) -> Confidence | None:
    """What a score is worth where no signature of the entry's own was `found` that nobody else prints.

    What other programs print as well proves little in their logs, and words prove little where nothing went wrong.
    """
    enough = (
        score >= LIKELY or score + (STRANGE - 1) * unheard >= POSSIBLE
        if found
        else score >= (WORDS_ALONE if troubled else UNTROUBLED)
    )
    if not enough:
        return None
    weak = score < LIKELY or (found and foreign) or not (found or troubled)
    return Confidence.POSSIBLE if weak else Confidence.LIKELY
