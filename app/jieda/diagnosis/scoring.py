"""Scores entries for a log, and decides whether a score is enough for an answer.

The score says how much more likely the log is under the entry than under logs in general: a sum of log-odds.

    score(entry) = BASE + prior(entry, whose log it is) + signature(entry) + words(entry) - AGAINST * words(background)

docs/diagnosis.md says what each part means, docs/figures.md what it is worth, docs/decisions.md how the numbers were
chosen: SIGNATURE, WORDS and the priors of `origin` by a logistic regression over the open judged logs, rounded, the
others on the same logs afterwards. Rates are smoothed: those of a signature in an entry's samples by one sample more of
either kind (Laplace), elsewhere by UNSEEN logs with a rate of RARE.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import merge
from itertools import chain, islice

import numpy as np

from jieda.diagnosis.answers import Confidence, Evidence
from jieda.diagnosis.origin import Origin
from jieda.diagnosis.signatures import SignatureCount, SignatureHit, SignatureRates
from jieda.diagnosis.words import Array, EntryWords, LogEvidence, PassageEvidence, WordModel, WordReader
from jieda.entry import Signature
from jieda.log.traceback import LogPassages
from jieda.log_knowledge import LogKnowledge

BASE = -5.0
# Least scores of an answer.
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
class Scored:
    """An entry with the `evidence` for and against it, whose log-odds add up to `score`; `confidence` is None if that
    is too little. `shared`: the words of the passage `words` that support it, the strongest first."""

    entry_id: str
    score: float
    confidence: Confidence | None
    evidence: tuple[Evidence, ...]
    hits: Sequence[SignatureHit]
    words: PassageEvidence | None
    shared: tuple[str, ...]
    foreign: bool
    """Whether the log is of another framework than the entry's, and the entry does not apply anywhere."""
    general: bool
    """Whether the entry applies anywhere, and one of the log's own framework has a signature in the same lines."""


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
        found.sort(
            key=lambda each: (CONFIDENCES.index(each.confidence), each.general, -each.score, each.entry_id)
        )
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
    """Facts of a log. `hits`: signatures by entry; `hits_on`: by index of a line that has one of their places;
    `explain_root`: the entries with a signature in its first failure."""

    words: LogEvidence
    hits: Mapping[str, list[SignatureHit]]
    hits_on: Mapping[int, list[SignatureHit]]
    origin: Origin
    priors: Array
    troubled: bool
    explain_root: Set[str]


class Scorer:
    """Scores entries by signatures, words and origin."""

    def __init__(self, known: DiagnosisData, words: WordReader) -> None:
        self._rates = SignatureRates(known.counts, known.samples, len(known.background.ids))
        self.words = WordModel(known.words, known.background, words)
        self._ids, self._anywhere = known.words.ids, known.anywhere

    def scores(
        self,
        shown: LogPassages,
        hits: Mapping[str, list[SignatureHit]],
        origin: Origin,
        root: frozenset[int] = frozenset(),
    ) -> Scores:
        """Score the entries. `hits`: the signatures found, by entry; `root`: indices of the first failure's lines."""
        words = LogEvidence(self._ids, [*map(self.words.weigh, shown.passages)])
        explain_root = {each for each, own in hits.items() if any(hit.touches(root) for hit in own)}
        hits_on: dict[int, list[SignatureHit]] = {}
        for hit in chain.from_iterable(hits.values()):
            for line in {place.line for place in hit.places}:
                hits_on.setdefault(line, []).append(hit)
        priors = self._priors(origin)
        log = _LogFacts(words, hits, hits_on, origin, priors, shown.troubled, explain_root)
        score = partial(self._score, log=log)
        signed = [bisect_left(self._ids, entry_id) for entry_id in hits]
        sums = (BASE + priors) + words.log_odds
        unsigned = np.isfinite(sums)
        unsigned[signed] = False
        enough = np.flatnonzero(unsigned & (sums >= (WORDS_ALONE if shown.troubled else UNTROUBLED)))
        sharing = np.flatnonzero(unsigned & words.supported)
        ranked = sharing[np.argsort(-sums[sharing], kind="stable")]
        return Scores([*map(score, signed)], [*map(score, enough.tolist())], map(score, ranked.tolist()))

    @cached_property
    def _frameworks(self) -> tuple[Sequence[str], Array, Array]:
        """The frameworks of the entries, the index of each entry's framework, and whether each applies anywhere."""
        names, places = np.unique([each.partition("/")[0] for each in self._ids], return_inverse=True)
        return names.tolist(), places, np.array([each in self._anywhere for each in self._ids])

    def _priors(self, origin: Origin) -> Array:
        """Return the prior of each entry, by its index: never negative for one that applies anywhere."""
        names, places, anywhere = self._frameworks
        priors = np.array([origin.prior(name) for name in names])[places]
        return np.where(anywhere, np.maximum(priors, 0.0), priors)

    def _score(self, place: int, *, log: _LogFacts) -> Scored:
        entry_id, words = self._ids[place], log.words.passage(place)
        own = log.hits.get(entry_id, [])
        known = self._weigh_origin_and_signature(place, own, log)
        score = sum(each.log_odds for each in known) + (float(log.words.log_odds[place]) if words else 0.0)
        shared = words.shared(place) if words else ()
        said = _evidence_of_words(words, place, shared) if words else ()
        foreign = entry_id not in self._anywhere and log.origin.is_foreign(entry_id.partition("/")[0])
        unheard = words.unheard if words else 0.0
        confidence = _confidence(score, unheard, found=bool(own), foreign=foreign, troubled=log.troubled)
        if self._has_own_signature(entry_id, log):
            # Another entry explains the first failure of the log.
            secondary = bool(log.explain_root) and entry_id not in log.explain_root
            confidence = Confidence.LIKELY if foreign or secondary else Confidence.EXACT
        of_another = foreign and log.origin.is_of_another(entry_id.partition("/")[0])
        general = entry_id in self._anywhere and _is_own_rival(entry_id, own, log)
        return Scored(entry_id, score, confidence, (*known, *said), own, words, shared, of_another, general)

    def _weigh_origin_and_signature(
        self, place: int, own: Sequence[SignatureHit], log: _LogFacts
    ) -> list[Evidence]:
        """Return the evidence other than words; of the `own` signatures of the entry, the best one counts."""
        known = [Evidence("base", "", BASE), Evidence("origin", log.origin.name, float(log.priors[place]))]
        if own:
            odds = [self._rates.log_odds(hit.key) for hit in own]
            best = max(odds)
            known.append(Evidence("signature", own[odds.index(best)].text, best))
        return known

    def _has_own_signature(self, entry_id: str, log: _LogFacts) -> bool:
        """Whether a signature of the entry is one that no other program prints: its author vouches for it."""
        return any(
            not (hit.likely or self._rates.is_shared(hit.key) or _is_inside_another(hit, log))
            for hit in log.hits.get(entry_id, ())
        )


def _is_inside_another(hit: SignatureHit, log: _LogFacts) -> bool:
    """Whether a signature of another entry covers all places of a hit."""
    rivals = log.hits_on[hit.places[0].line]
    return any(rival.entry_id != hit.entry_id and rival.covers(hit) for rival in rivals)


def _is_own_rival(entry_id: str, own: Sequence[SignatureHit], log: _LogFacts) -> bool:
    """Whether an entry of the log's framework has a signature in the lines of `own`, hits of one of another."""
    known = log.origin.known
    rivals = (rival for hit in own for place in hit.places for rival in log.hits_on[place.line])
    return entry_id.partition("/")[0] not in known and any(
        rival.entry_id.partition("/")[0] in known for rival in rivals
    )


def _evidence_of_words(words: PassageEvidence, place: int, shared: Sequence[str]) -> Iterator[Evidence]:
    yield Evidence("words", ", ".join(shared[:MOST_WORDS]), float(words.log_odds[place]))
    if words.against:
        yield Evidence("background", words.rival, words.against)
    if words.unheard:
        yield Evidence("unheard", "", words.unheard)


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
