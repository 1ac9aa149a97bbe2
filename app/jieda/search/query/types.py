"""A query of finished terms: what was asked, and what may stand for it."""

from dataclasses import dataclass, field
from enum import StrEnum

from jieda.entry import Language
from jieda.taxonomy import Filters


class MatchKind(StrEnum):
    """What an alternative stands for its words by."""

    TEXT = "text"
    IDENTIFIER = "identifier"
    GLOSSARY = "glossary"
    TYPO = "typo"
    COMPLETED = "completed"
    TRANSLATION = "translation"


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A word of a query: any of `variants` (index terms) stands for it, pooled as one term when scored.

    `label` is the word as typed, or what stands for it (a glossary word, a correction).
    """

    variants: tuple[str, ...]
    label: str
    weight: float = 1.0
    lacking: Language | None = None
    """Stands for it only in documents that have no edition in this language."""
    beside: tuple[str, ...] = ()
    """Variants of the word that it stands for, whose documents count as its own where its rarity is told: a
    translation is not rarer than what it translates."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy a clause: `weight` scales its score, `cover` is how much of the clause it covers."""

    terms: tuple[WeightedTerm, ...]
    weight: float = 1.0
    cover: float = 1.0
    source: MatchKind = MatchKind.TEXT


class ClauseKind(StrEnum):
    """What a clause is made of, and so what it says where no entry has it."""

    SERVING = "serving"
    """Words that only serve the sentence, names of frameworks included."""
    NUMBER = "number"
    CODE = "code"
    NAME = "name"
    """A word that no general dictionary has."""
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Clause:
    """A word or phrase of the query with everything that may stand for it; the first is the literal one."""

    alternatives: tuple[Alternative, ...]
    kind: ClauseKind = ClauseKind.WORD

    @property
    def meant(self) -> tuple[Alternative, ...]:
        """The ways to hold it as a whole: words of an identifier are not the identifier."""
        first, *rest = self.alternatives
        if self.kind is not ClauseKind.CODE:
            return self.alternatives
        return (first, *(way for way in rest if way.source is not MatchKind.TEXT))


@dataclass(frozen=True, slots=True)
class Writing:
    """How a query is written. `separators` stand before, between and behind its atoms (`document.separators_of`).

    `spans`: keys of the code spans that are the query. `is_span`: it is a code span of some entry, case aside.
    """

    separators: tuple[str, ...] = ()
    spans: tuple[str, ...] = ()
    is_span: bool = False
    is_code: bool = False
    has_han: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `phrase` is the whole query as atoms; `required` phrases must occur."""

    clauses: tuple[Clause, ...]
    keys: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    literal: bool = False
    """The query is one word or written as code: documents that hold it word for word come first."""
    writing: Writing = field(default_factory=Writing)
    filters: Filters = field(default_factory=Filters)
    frameworks: tuple[str, ...] = ()
    """Whose entries are asked for: those that fit come before all others."""
    saying: str = ""
    """The query as one text, for its meaning."""
    prose: float = 0.0
    """How far its meaning counts, from 0 to 1: what is code means only itself."""
