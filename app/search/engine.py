"""The engine protocol: what is indexed, what is asked of an index, and what it answers.

Documents and queries hold finished terms (`Token.term`). No engine ever parses text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.search.answers import FacetCount, Filters


@dataclass(frozen=True, slots=True)
class Document:
    """An entry, analyzed. `zones` has the terms of every zone of `fields.ZONES`, repeated as they occur."""

    id: str
    zones: Mapping[str, Sequence[str]]
    keys: tuple[str, ...]
    """`TokenKind.KEY` terms of its titles and aliases."""
    atoms: Sequence[str]
    """Atoms of all its texts in order, `BOUNDARY` between texts."""
    facets: Mapping[str, tuple[str, ...]]
    """Tags by facet, and its languages under `edition`."""


BOUNDARY = "\x00"
"""Stands between the atoms of two texts, so that no phrase reaches from one into the next."""


class Source(StrEnum):
    """What an alternative stands for its words by."""

    TEXT = "text"
    IDENTIFIER = "identifier"
    GLOSSARY = "glossary"
    TYPO = "typo"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A word of a query: any of `variants` (index terms) stands for it, pooled as one term when scored.

    `label` is the word as typed, or what stands for it (a glossary word, a correction).
    """

    variants: tuple[str, ...]
    label: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy a clause: `weight` scales its score, `cover` is how much of the clause it covers."""

    terms: tuple[WeightedTerm, ...]
    weight: float = 1.0
    cover: float = 1.0
    source: Source = Source.TEXT


@dataclass(frozen=True, slots=True)
class Clause:
    """A word or phrase of the query with everything that may stand for it; the first is the literal one."""

    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `phrase` is the whole query as atoms; `required` phrases must occur."""

    clauses: tuple[Clause, ...]
    keys: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    required: tuple[tuple[str, ...], ...] = ()
    literal: bool = False
    """The query is one word or written as code: documents that hold it word for word come first."""
    filters: Filters = field(default_factory=Filters)


EXACT_TIER = 6
"""The tier of a document one of whose titles or aliases the query is."""

HOLDER_TIER = 1
"""The tier of a document that holds the whole query, word for word, where the query is one word or code."""

TIER_STEP = 10.0
"""Lifts a tier above every score below it, so that scores fall from the first hit to the last."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A document that answers a query. `coverage`, 0 to 1, is the part of the query's weight it accounts for;
    `tier` is 0 unless an exact form puts it before all that are merely relevant, and is in the score."""

    id: str
    score: float
    coverage: float
    tier: int


@dataclass(frozen=True, slots=True)
class Results:
    """All that answer, best first, and counts. `phrase_dropped`: no document holds the required phrases."""

    ranked: tuple[Scored, ...]
    facets: Mapping[str, tuple[FacetCount, ...]]
    near: tuple[Scored, ...]
    """Documents that share something with the query, and too little to be answers; best first, at most 5."""
    phrase_dropped: bool


@dataclass(frozen=True, slots=True)
class Contribution:
    """Why a document scored: what a term of an alternative brought in a zone of `fields.ZONES`."""

    label: str
    source: Source
    zone: str
    term: str
    score: float


class Engine(Protocol):
    """An index that can be searched. Safe to share between threads."""

    def search(self, query: Query) -> Results:
        """Ranks all documents that answer. Raises IndexUnreadable where the index is damaged."""

    def explain(self, query: Query, document_id: str, least: float = 0.0) -> tuple[Contribution, ...]:
        """What made up the score of a document, largest first, for each clause its best alternative; without
        terms that bring less than the share `least` of it."""

    def frequency(self, term: str) -> int:
        """How many documents hold an index term in any zone."""

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix` (a kind's letter and colon, and more), sorted."""
