"""The index protocol: requests to an index and their results. An index stores and finds; it does not rank.

Documents and queries hold finished terms (`Token.term`); an index never parses text. One call fetches the documents
that a search may show, with all that is needed to score and explain them; the counts of the same search come from its
result. So an index across a network is called twice at most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.entry import Language
from jieda.search.meaning.embedder import Vector
from jieda.search.meaning.word_vectors import WordVectors
from jieda.search.query.words import Clause
from jieda.taxonomy import Filters

Numbers = NDArray[np.intp]
"""Indices of documents in their columns, ascending, shape (n,)."""
Scores = NDArray[np.float64]
"""One number per document."""
Mask = NDArray[np.bool_]
"""True for each document that has a property."""


Variants = tuple[str, ...]
"""The index terms of a word, which are scored as one."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of several terms pooled as one word: `documents` of the columns, and the `saturation` of each,
    tf~ / (k1 + tf~), where tf~ (`rank/scoring.py`) is the sum over the terms, each times the weight of its kind; both
    of shape (n,). `holders` counts the live documents of the whole index with the word."""

    documents: Numbers
    saturation: Scores
    holders: int


class Similarity(NamedTuple):
    """Similarity of each document to the query, each shape (size,); 0 for documents without vectors, and for those
    that are neither among the closest nor among the best by words."""

    text: Scores
    """Cosine of the query with the document's closest vector, plus `weights.GIST` times that with their mean."""
    title: Scores
    """Cosine with the closest of the document's titles and aliases."""


Likeness = Callable[[Scores], Similarity]
"""From the documents' scores by words to their similarity."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The lookup's findings on `size` documents, numbered from 0 in the order of their ids.

    These are all documents of an index in memory, or a window of candidates of another index. `best_coverage` is that
    of documents outside the window, if it is known to be higher than any inside; `exact_outside` says whether one of
    them has a key of the first group or holds `Lookup.writing`.
    """

    size: int
    total: int
    """Number of live documents of the whole index."""
    pools: Mapping[Variants, Postings]
    """The words of `Lookup.pools`."""
    keyed: tuple[Numbers, ...]
    """Parallel to `Lookup.keys`."""
    phrase: Numbers
    """Documents that hold `Lookup.phrase`."""
    neighbors: tuple[Postings, ...]
    """Documents that hold each of `Lookup.neighbors`; a saturation of 1."""
    written: NDArray[np.uint16]
    """How each of these holds `Lookup.writing`: `document.Held`, shifted by WRITTEN_BITS for each of the regions
    titles, bodies and fronts (`document`); zeros if `Lookup.writing` is empty."""
    best_coverage: float = 0.0
    exact_outside: bool = False
    likeness: Likeness | None = None
    """Given if `Lookup.meaning` is."""
    recency: Scores | None = None
    """Given if `Lookup.within` lists documents: all of them answer, and recency ranks them where words do not."""
    lacking: Mapping[Language, Mask] = field(default_factory=dict)
    """Documents that have no edition in a language; empty if the index does not know."""


WRITTEN_BITS = 3
"""Bits of `document.Held`."""


@dataclass(frozen=True, slots=True)
class Standings:
    """The judgement of each document of some columns, each of shape (size,).

    `tiers` rank before `score`. `answering` documents answer the query, `near` ones share too little with it: their
    coverage is less than `least`.
    """

    score: Scores
    coverage: Scores
    tiers: NDArray[np.int64]
    answering: Mask
    near: Mask
    lift: Scores
    """The part of the score that came from meaning."""
    least: float = 0.0


Judge = Callable[[Columns], Standings]
"""The ranking. An index in memory applies it to all its documents, another to a window of candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class AdmittedDocuments:
    """The documents that a query's operators admit: a `mask` over the documents of an index in the order of their ids,
    and their `recency`. `listed`: only operators were typed, so all of them answer, the latest first."""

    mask: Mask
    recency: Scores
    listed: bool


@dataclass(frozen=True, slots=True)
class Lookup:
    """A search's request to an index."""

    judge: Judge
    pools: tuple[Variants, ...] = ()
    """The words to look up, each once."""
    clauses: tuple[Clause, ...] = ()
    """The clauses that `pools` belong to, with their weights: an index may choose its window by them."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Groups of keys; a document matches a group by any of its keys."""
    phrase: tuple[str, ...] = ()
    """Consecutive atoms; documents that hold them are marked, the others stay."""
    neighbors: tuple[tuple[str, ...], ...] = ()
    """Further phrases whose documents are marked, each once."""
    writing: tuple[str, ...] = ()
    """Separators of the phrase as typed (`document.separators_of`); empty if the spelling does not matter."""
    required: tuple[tuple[str, ...], ...] = ()
    """Phrases that a document must hold, all of them; dropped if no document does."""
    filters: Filters = field(default_factory=Filters)
    window: int = 10
    """Most answers to return."""
    near: int = 0
    """Most near misses to return."""
    meaning: Vector | None = None
    """The embedded query; None where words alone decide."""
    within: AdmittedDocuments | None = None
    """None if all documents may answer."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document that was found, at `number` of the columns. `coverage`, 0 to 1, is the share of the query's weight
    that it accounts for; `tier` is 0 unless an exact match ranks it before all merely relevant ones; `lift` is the part
    of the score that came from meaning."""

    id: str
    number: int
    score: float
    coverage: float
    tier: int
    lift: float = 0.0


class Share(NamedTuple):
    """The part of a document's tf~ that a term in a zone adds."""

    term: str
    zone: str
    amount: float


class LookupResult(Protocol):
    """The result of one `Lookup`. Refers to one generation, whatever happens to the index meanwhile."""

    @property
    def answers(self) -> Sequence[ScoredDocument]:
        """The best answers that pass the filters: best tier, then best score, then in the order of ids."""

    @property
    def near(self) -> Sequence[ScoredDocument]:
        """Near misses that pass the filters, in the same order."""

    @property
    def columns(self) -> Columns:
        """The judged columns; they include all of `answers` and `near`."""

    @property
    def phrases_dropped(self) -> bool:
        """Whether no document holds all required phrases."""

    def shares(self, word: Variants, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """Return for each of some documents the part of its tf~ that each term of a word adds, zone by zone."""

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """Count for each of some filters the answers that pass it."""

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Count for each facet of `taxonomy.FACETS` and each value that documents have the answers if that value alone
        were chosen in that facet."""


class Lexicon(Protocol):
    """The vocabulary of a generation, available in each process without a request."""

    vectors: WordVectors | None
    """The vectors of its words, if they are embedded."""

    def frequency(self, term: str) -> int:
        """Count the documents that hold an index term in any zone."""

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """Return all index terms that start with `prefix` (a kind's letter and colon, and more), sorted."""

    def has_key(self, key: str) -> bool:
        """Whether any document has a key."""

    def are_neighbors(self, first: str, second: str) -> bool:
        """Whether some text has `second` after `first` with a space or a hyphen between them; False if this process
        cannot know."""


class Index(Protocol):
    """An index of one generation. Safe to share between threads."""

    waits: bool
    """Whether a lookup waits for another process."""

    @property
    def lexicon(self) -> Lexicon:
        """Its vocabulary and frequencies."""

    def find(self, wanted: Lookup) -> LookupResult:
        """Look up and judge. Raises IndexUnreadable if the index is damaged."""
