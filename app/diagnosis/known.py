"""All that a diagnoser is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.diagnosis.facts import BackgroundFacts, DiagnosisFacts, SignatureCount
from app.diagnosis.telling import BackgroundWords, CountedWords, TellingWords
from app.entry import Signature
from app.log_knowledge import LogKnowledge


@dataclass(frozen=True, slots=True)
class Known:
    """Of entries that have signatures or symptoms, by id: `signatures`, and how many `samples` they have. `counts`
    without the signatures that no log has."""

    knowledge: LogKnowledge
    signatures: Mapping[str, Sequence[Signature]]
    samples: Mapping[str, int]
    words: TellingWords
    background: BackgroundWords
    counts: Sequence[SignatureCount]

    @classmethod
    def of(
        cls,
        knowledge: LogKnowledge,
        entries: Sequence[DiagnosisFacts],
        background: Sequence[BackgroundFacts],
        counts: Sequence[SignatureCount],
    ) -> "Known":
        """What facts say, `entries` sorted by id."""
        return cls(
            knowledge=knowledge,
            signatures={each.entry_id: each.signatures for each in entries},
            samples={each.entry_id: each.samples for each in entries},
            words=CountedWords(entries),
            background=BackgroundWords(background),
            counts=counts,
        )
