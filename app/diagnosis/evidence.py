"""What speaks for an entry in a log, and how much it proves."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.diagnosis.frameworks import Origin
from app.diagnosis.signatures import Place, SignatureHit
from app.diagnosis.telltales import Telltale
from app.diagnosis.wording import Coverage
from app.search.answers import Confidence, MatchReason

CONFIDENCES = tuple(Confidence)
"""Strongest first."""

# What belonging to the log's framework counts among entries of one confidence, against 1 for a matched line.
OF_FIRST_FRAMEWORK = 100.0
OF_FRAMEWORK = 10.0

# Shares of a text that an entry must account for, by what else speaks for it.
TELLING = 0.6
PARTLY = 0.25
WORDS_ALONE = 0.4
WORDS_ALONE_VERBATIM = 0.7
SENTENCE = 0.8
SENTENCE_VERBATIM = 0.6
SENTENCE_RETURNED = 0.3


@dataclass(frozen=True, slots=True)
class Said:
    """How much of a text an entry says: of all of it, and of what only few programs print (`telling`)."""

    whole: Coverage
    telling: float

    @property
    def least(self) -> float:
        """The smaller of both: what everybody prints proves nothing, and what is left may be a small rest."""
        return min(self.whole.whole, self.telling)


@dataclass(frozen=True, slots=True)
class Evidence:
    """`strength` orders entries of one confidence; `places` are where it stands, with the reason."""

    entry_id: str
    confidence: Confidence
    strength: float
    places: tuple[tuple[Place, MatchReason], ...]


def of_signatures(
    hits: Sequence[SignatureHit],
    rivals: Sequence[SignatureHit],
    origin: Origin,
    *,
    foreign: bool,
    wording: float,
) -> Evidence:
    """What an entry's signatures prove, by the best of them; `rivals` are those of other entries.

    `foreign`: the log is another program's. `wording` is what the rest of the text adds.
    """
    entry_id = hits[0].entry_id
    framework = entry_id.partition("/")[0]
    levels = [_level(hit, rivals, foreign=foreign) for hit in hits]
    best = hits[levels.index(min(levels))]
    places = dict.fromkeys(place for hit in (best, *hits) for place in (*hit.places, *hit.support))
    own = sum(len(hit.places) + len(hit.support) for hit in hits if not hit.generic)
    known = OF_FIRST_FRAMEWORK * (framework in origin.known[:1]) + OF_FRAMEWORK * (framework in origin.known)
    return Evidence(
        entry_id,
        CONFIDENCES[min(levels)],
        known + own + wording,
        tuple((place, MatchReason.SIGNATURE) for place in places),
    )


def _level(hit: SignatureHit, rivals: Sequence[SignatureHit], *, foreign: bool) -> int:
    """Index into CONFIDENCES, by the rules of docs/content-format.md."""
    shared = any(rival.covers(hit) for rival in rivals)
    if not shared and not hit.generic:
        return 0
    if foreign and not hit.unmistakable:
        return 2
    return 0 if hit.support and not shared else 1


def of_words(
    said: Said, telltale: Telltale, *, foreign: bool, verbatim: bool, kin: bool
) -> Confidence | None:
    """What words prove where no signature is whole: a part of one, rare names, or most of what was said.

    `foreign`: the log is another program's. `verbatim`: there is a failure just as a program printed it; then
    a part of a signature is most likely another message that begins or ends alike, and proves little, and words
    that the entry says here and there prove nothing. In prose it is what somebody remembers of the message.
    `kin`: the entry tells of such an exception; in another one's message a single name is a coincidence.
    """
    names, runs = len(telltale.names), telltale.runs
    telling = said.least >= TELLING and (names >= 2 or runs >= 2 or (names == 1 and said.least >= 0.9))
    symptom = said.whole.sentence >= SENTENCE and said.whole.returned >= SENTENCE_RETURNED
    if foreign:
        return Confidence.POSSIBLE if telling else None
    if not verbatim and (symptom or telling):
        return Confidence.LIKELY
    alone = WORDS_ALONE_VERBATIM if verbatim else WORDS_ALONE
    partial = names + runs >= 2 or (names + runs == 1 and (kin or not verbatim))
    if partial:
        return Confidence.POSSIBLE if said.least >= PARTLY else None
    scattered = verbatim and said.whole.sentence < SENTENCE_VERBATIM
    return Confidence.POSSIBLE if said.least >= alone and not scattered else None
