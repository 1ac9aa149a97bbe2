"""What speaks for an entry in a log, and how much it proves."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.search.answers import Confidence
from app.search.frameworks import Origin
from app.search.signatures import Place, SignatureHit
from app.search.telltales import Telltale
from app.search.wording import Coverage

CONFIDENCES = (Confidence.EXACT, Confidence.LIKELY, Confidence.POSSIBLE)


# Shares of a text that an entry must account for, by what else speaks for it.
TELLING = 0.6
PARTLY = 0.35
WORDS_ALONE = 0.5
SENTENCE = 0.8
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
    places: tuple[tuple[Place, str], ...]


def of_signatures(
    hits: Sequence[SignatureHit], rivals: Sequence[SignatureHit], origin: Origin, *, foreign: bool
) -> Evidence:
    """What an entry's signatures prove, by the best of them; `rivals` are those of other entries.

    `foreign`: the log is another program's.
    """
    entry_id = hits[0].entry_id
    framework = entry_id.partition("/")[0]
    levels = [_level(hit, rivals, foreign=foreign) for hit in hits]
    best = hits[levels.index(min(levels))]
    places = dict.fromkeys(place for hit in (best, *hits) for place in (*hit.places, *hit.support))
    own = sum(len(hit.places) + len(hit.support) for hit in hits if not hit.generic)
    strength = (
        own + 0.1 * len(places) + 100 * (framework in origin.known[:1]) + 10 * (framework in origin.known)
    )
    return Evidence(
        entry_id, CONFIDENCES[min(levels)], strength, tuple((place, "signature") for place in places)
    )


def _level(hit: SignatureHit, rivals: Sequence[SignatureHit], *, foreign: bool) -> int:
    """Index into CONFIDENCES, by the rules of contract §2."""
    shared = any(rival.covers(hit) for rival in rivals)
    if not shared and not hit.generic:
        return 0
    if foreign:
        return 2
    return 0 if hit.support and not shared else 1


def of_words(said: Said, telltale: Telltale | None, *, foreign: bool, prose: bool) -> Confidence | None:
    """What words prove where no signature is whole: a part of one, rare names, or most of what was said.

    `foreign`: the log is another program's; `prose`: somebody tells of a symptom.
    """
    names = len(telltale.names) if telltale else 0
    runs = telltale.runs if telltale else 0
    telling = names >= 2 or runs >= 2 or (names == 1 and said.least >= 0.9)
    symptom = prose and said.whole.sentence >= SENTENCE and said.whole.returned >= SENTENCE_RETURNED
    if foreign:
        return Confidence.POSSIBLE if telling and said.least >= TELLING else None
    if symptom or (telling and said.least >= TELLING):
        return Confidence.LIKELY
    enough = PARTLY if names or runs else WORDS_ALONE
    return Confidence.POSSIBLE if said.least >= enough else None
