"""Scores entries for a log, and decides whether a score is enough for an answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import chain, islice

import numpy as np

from jieda.diagnosis.answers import Confidence, Evidence
from jieda.diagnosis.facts import Array, DiagnosisData, WordReader
from jieda.diagnosis.model import BASE, LogEvidence, PassageEvidence, SignatureRates, WordModel
from jieda.diagnosis.origin import Origin
from jieda.diagnosis.signatures import SignatureHit
from jieda.log.traceback import LogPassages

# Least scores of an answer: log-odds, see `model`.
LIKELY = 0.0
"""More likely right than wrong."""
POSSIBLE = -2.5
"""With a signature that other programs print as well: unknown words suggest that the log is of one of these, and so
count STRANGE times as much there."""
STRANGE = 3.0
WORDS_ALONE = -1.7
UNTROUBLED = -0.5
"""As WORDS_ALONE, in a log without signs of trouble."""

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Most weak matches shown: more would not help."""
MOST_NEAR = 3
LOOKED_AT = 20
"""Most entries with shared words that are examined as near misses."""
TIE = 1.5
"""Difference in log-odds between entries of two frameworks below which the log does not tell which is meant."""
MOST_WORDS = 6
CONFIDENCES = tuple(Confidence)
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry with the evidence for it; `confidence` is None if that is too little."""

    entry_id: str
    score: float
    confidence: Confidence | None
    known: Sequence[Evidence]
    hits: Sequence[SignatureHit]
    words: PassageEvidence | None
    foreign: bool = False
    """Whether the log is of another framework than the entry's, and the entry does not apply anywhere."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence for and against the entry, words included."""
        if self.words is None:
            return tuple(self.known)
        words = Evidence("words", ", ".join(self.words.shared[:MOST_WORDS]), self.words.log_odds)
        by = self.words.by
        against = (Evidence("background", by.rival, by.against), Evidence("unheard", "", by.unheard))
        return (*self.known, words, *(each for each in against if each.log_odds))


@dataclass(frozen=True, slots=True)
class Scores:
    """The entries that have something in common with a log.

    `signed` entries have a signature in it. Words alone may support thousands of others: `enough` are those with enough
    evidence for an answer; `sharing` yields those with enough words to be near, best first, and scores each on demand,
    once.
    """

    signed: Sequence[Scored]
    enough: Sequence[Scored]
    sharing: Iterator[Scored]

    def best(self) -> list[Scored]:
        """Return the matches to show: best first, only a few weak ones."""
        found = [each for each in (*self.signed, *self.enough) if each.confidence and not each.foreign]
        found.sort(key=lambda each: (CONFIDENCES.index(each.confidence), -each.score, each.entry_id))
        weak = [each for each in found if each.confidence is Confidence.POSSIBLE]
        sure = found[: len(found) - len(weak)]
        return (sure + weak[: max(0, MOST_POSSIBLE - len(sure))])[:MOST_MATCHES]

    def nearest(self, is_near: Callable[[Scored], bool]) -> list[Scored]:
        """Return near misses, for a log without matches: first entries that explain the same failure for another
        framework, then the best of those that pass `is_near`."""

        def rank(one: Scored) -> tuple[float, str]:
            return -one.score, one.entry_id

        ranked = merge(sorted(self.signed, key=rank), self.sharing, key=rank)
        foreign = sorted((each for each in self.signed if each.foreign and each.confidence), key=rank)
        named = {each.entry_id for each in foreign}
        near = (each for each in islice(ranked, LOOKED_AT) if each.entry_id not in named and is_near(each))
        return list(islice(chain(foreign, near), MOST_NEAR))


@dataclass(frozen=True, slots=True)
class _LogFacts:
    """Facts of a log other than its words; `explain_root` are the entries with a signature in its first failure."""

    hits: Mapping[str, list[SignatureHit]]
    origin: Origin
    troubled: bool
    explain_root: Set[str]


class Scorer:
    """Scores entries by signatures, words and origin."""

    def __init__(self, known: DiagnosisData, words: WordReader) -> None:
        self._rates = SignatureRates(known)
        self.words = WordModel(known.words, known.background, words)
        self._anywhere = known.anywhere

    def scores(
        self,
        shown: LogPassages,
        hits: Mapping[str, list[SignatureHit]],
        origin: Origin,
        root: frozenset[int] = frozenset(),
    ) -> Scores:
        """Score the entries. `hits`: the signatures found, by entry; `root`: indices of the first failure's lines."""
        evidence = self.words.weigh(shown.passages)
        explain_root = {each for each, own in hits.items() if any(hit.touches(root) for hit in own)}
        score = partial(self._score, log=_LogFacts(hits, origin, shown.troubled, explain_root))
        places = {each: evidence.place(each) for each in hits}
        signed = [score(each, None if at is None else evidence.for_entry(at)) for each, at in places.items()]

        found = [at for at in places.values() if at is not None]
        rest = evidence.sharing
        rest = rest[np.isin(rest, found, invert=True)]
        sums = self._sums(rest, evidence, origin)
        enough = sums >= (WORDS_ALONE if shown.troubled else UNTROUBLED)
        near = evidence.count_supporting(rest) > 0
        ranked = rest[near][np.argsort(-sums[near], kind="stable")]

        def score_all(places: Array) -> Iterator[Scored]:
            return (score(evidence.ids[at], evidence.for_entry(at)) for at in places.tolist())

        return Scores(signed, [*score_all(rest[enough])], score_all(ranked))

    def _sums(self, places: Array, evidence: LogEvidence, origin: Origin) -> Array:
        """Return the scores of entries without a signature, by the same steps as `_score`."""
        by_words, unheard = evidence.log_odds(places)
        prior: Array = self.words.priors(origin.prior)[places]
        for entry_id in self._anywhere:
            prior[places == evidence.place(entry_id)] = self._prior(entry_id, origin)
        sums: Array = (BASE + prior) + (by_words + unheard)
        return sums

    def _prior(self, entry_id: str, origin: Origin) -> float:
        """As `Origin.prior`, but never negative for an entry that applies anywhere."""
        prior = origin.prior(entry_id.partition("/")[0])
        return max(0.0, prior) if entry_id in self._anywhere else prior

    def _score(self, entry_id: str, words: PassageEvidence | None, *, log: _LogFacts) -> Scored:
        own, origin, framework = log.hits.get(entry_id, []), log.origin, entry_id.partition("/")[0]
        known = [Evidence("base", "", BASE), Evidence("origin", origin.name, self._prior(entry_id, origin))]
        rated = [(self._rates.log_odds(entry_id, hit.event), hit) for hit in own]
        if rated:
            best, hit = max(rated, key=lambda pair: pair[0])
            known.append(Evidence("signature", hit.text, best))
        score = sum(each.log_odds for each in known)
        unheard = words.by.unheard if words else 0.0
        if words:
            score += words.log_odds + words.by.against + unheard
        foreign = entry_id not in self._anywhere and origin.is_foreign(framework)
        confidence = _confidence(score, unheard, found=bool(own), foreign=foreign, troubled=log.troubled)
        if self._has_own_signature(entry_id, log):
            # Another entry explains the first failure of the log.
            secondary = bool(log.explain_root) and entry_id not in log.explain_root
            confidence = Confidence.LIKELY if foreign or secondary else Confidence.EXACT
        return Scored(
            entry_id, score, confidence, known, own, words, foreign and origin.is_of_another(framework)
        )

    def _has_own_signature(self, entry_id: str, log: _LogFacts) -> bool:
        """Whether a signature of the entry is one that no other program prints: its author vouches for it."""
        own = log.hits.get(entry_id, ())
        rivals = [hit for other, theirs in log.hits.items() if own and other != entry_id for hit in theirs]
        return any(
            not (hit.likely or self._rates.is_shared(hit.event) or any(rival.covers(hit) for rival in rivals))
            for hit in own
        )


def _confidence(
    score: float, unheard: float, *, found: bool, foreign: bool, troubled: bool
) -> Confidence | None:
    """Return the confidence of a score without a signature that only the entry has; `found`: it has a shared one.

    A shared signature proves little in the logs of other programs, and words prove little where nothing went wrong.
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
