"""What diagnosis holds of the entries and of logs in general: worked out once, kept, and only counted afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jieda.diagnosis.telling import TellingWords
from jieda.entry import Signature
from jieda.log_knowledge import LogKnowledge


@dataclass(frozen=True, slots=True)
class DiagnosisFacts:
    """An entry that has signatures or symptoms. `words` counts the texts of it that have a term, its samples included;
    `samples` is how many of these it has."""

    entry_id: str
    signatures: tuple[Signature, ...]
    words: Mapping[str, int]
    samples: int
    anywhere: bool = False
    """Whether the entry applies to the logs of any program."""


@dataclass(frozen=True, slots=True)
class BackgroundFacts:
    """The terms of a log that no entry explains, sorted."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignatureCount:
    """How many logs have a signature, the one at `place` among those of an entry: samples of the entry (`own`), of
    `others`, and logs of the `background`. `supported`: with one of its `any` lines."""

    entry_id: str
    place: int
    supported: bool
    own: int
    others: int
    background: int


@dataclass(frozen=True, slots=True)
class Known:
    """All that a diagnoser is made of. Of entries that have signatures or symptoms, by id: `signatures`, and how many
    `samples` they have. `counts` without the signatures that no log has; `anywhere` are the entries that apply to the
    logs of any program."""

    knowledge: LogKnowledge
    signatures: Mapping[str, Sequence[Signature]]
    samples: Mapping[str, int]
    words: TellingWords
    background: TellingWords
    counts: Sequence[SignatureCount]
    anywhere: frozenset[str] = frozenset()
