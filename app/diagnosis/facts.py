"""What diagnosis holds of the entries and of logs in general: worked out once, kept, and only counted afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.entry import Signature


@dataclass(frozen=True, slots=True)
class DiagnosisFacts:
    """An entry that has signatures or symptoms. `words` counts the texts of it that have a term, its samples included;
    `samples` is how many of these it has."""

    entry_id: str
    signatures: tuple[Signature, ...]
    words: Mapping[str, int]
    samples: int


@dataclass(frozen=True, slots=True)
class BackgroundFacts:
    """The terms of a log that no entry explains."""

    name: str
    words: frozenset[str]


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
