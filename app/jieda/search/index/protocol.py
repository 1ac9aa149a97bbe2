"""The interface of an index, which stores and finds documents, and applies a ranking that is defined elsewhere.

Documents and queries have finished terms (`Token.term`): an index never parses text. One call fetches all that is
needed to score and explain the documents that a search may show; its counts come from the same result. So an index
across a network is called twice at most.
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
"""Numbers of candidates, ascending, shape (n,)."""
Scores = NDArray[np.float64]
"""A number for each candidate."""
Mask = NDArray[np.bool_]
"""True for each candidate that has a property."""


Variants = tuple[str, ...]
"""The index terms of a word, which are scored as one."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a word, over all its variants: the candidates that have it, and the `saturation` of each,
    tf~ / (k1 + tf~), where tf~ (`rank/scoring.py`) is the sum over the variants, each times the weight of its kind;
    both of shape (n,). `doc_frequency` counts the live documents of the whole index with the word."""

    documents: Numbers
    saturation: Scores
    doc_frequency: int


class Similarity(NamedTuple):
    """Similarity of each candidate to the query, each of shape (size,); 0 for candidates without vectors, and for
    those that are neither among the closest nor among the best by words."""

    text: Scores
    """Cosine of the query with the closest of its chunks, plus CENTROID_WEIGHT times that with their centroid."""
    title: Scores
    """Cosine of the query with the closest of its titles and aliases."""


SimilarityFunction = Callable[[Scores], Similarity]
"""Computes the similarity of the candidates, given their scores by words."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a lookup found, for each of `size` documents, numbered from 0 in the order of their ids.

    An index in memory returns all its documents, another one a window. `best_coverage`: that of a document outside the
    window, if it is known to be higher than any inside; `exact_outside`: whether such a document has a key of the
    first group or contains the query as spelled.
    """

    size: int
    total: int
    """Number of live documents of the whole index."""
    postings: Mapping[Variants, Postings]
    """Those of each of `Lookup.words`."""
    key_matches: tuple[Numbers, ...]
    """The candidates with a key of each group of `Lookup.keys`."""
    phrase: Numbers
    """The candidates that contain `Lookup.phrase`."""
    neighbors: tuple[Postings, ...]
    """Those of each of `Lookup.neighbors`, with a saturation of 1."""
    spelled: NDArray[np.uint16]
    """How each of `phrase` spells it: `document.Spelled`, shifted by SPELLED_BITS for each of the regions titles,
    bodies and fronts (`document`); zeros without `Lookup.separators`."""
    best_coverage: float = 0.0
    exact_outside: bool = False
    similarity: SimilarityFunction | None = None
    """Given if `Lookup.query_vector` is."""
    recency: Scores | None = None
    """Given if `Lookup.within` lists documents: all of them answer, and recency ranks them where words do not."""
    without_edition: Mapping[Language, Mask] = field(default_factory=dict)
    """The candidates without an edition in a language; empty if the index does not know."""


SPELLED_BITS = 3
"""Bits of `document.Spelled`."""


@dataclass(frozen=True, slots=True)
class CandidateScores:
    """The scores of some candidates, each of shape (size,).

    A higher tier ranks before any score. `answering` candidates answer the query; `near` ones share too little with
    it: their coverage is less than `least`.
    """

    score: Scores
    coverage: Scores
    tiers: NDArray[np.int64]
    answering: Mask
    near: Mask
    semantic: Scores
    """The part of the score that comes from the similarity of vectors."""
    least: float = 0.0


ScoringFunction = Callable[[Candidates], CandidateScores]
"""The ranking, which an index applies to its candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class AdmittedDocuments:
    """The documents that a query's operators admit: a `mask` over the documents of an index in the order of their ids,
    and the `recency` of each. `listed`: only operators were typed, so all that pass answer, the latest first."""

    mask: Mask
    recency: Scores
    listed: bool


@dataclass(frozen=True, slots=True)
class Lookup:
    """A search's request to an index."""

    score: ScoringFunction
    words: tuple[Variants, ...] = ()
    """The words to look up, each once."""
    clauses: tuple[Clause, ...] = ()
    """The clauses with these words, and their weights: an index may choose its window by them."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Groups of keys; a document matches a group with any key of it."""
    phrase: tuple[str, ...] = ()
    """Consecutive atoms. It does not restrict the candidates."""
    neighbors: tuple[tuple[str, ...], ...] = ()
    """Further phrases, each once."""
    separators: tuple[str, ...] = ()
    """Those of the phrase as typed (`document.separators_of`); empty if its spelling does not matter."""
    required: tuple[tuple[str, ...], ...] = ()
    """Phrases that an answer must contain, all of them; ignored if no document does."""
    filters: Filters = field(default_factory=Filters)
    window: int = 10
    """Most answers to return."""
    near: int = 0
    """Most near misses to return."""
    query_vector: Vector | None = None
    """The embedded query; None where words alone decide."""
    admitted: AdmittedDocuments | None = None
    """None if all documents may answer."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document that was found: candidate `number`. `coverage`, 0 to 1, is the share of the query's weight that it
    accounts for; `tier` is 0 unless an exact match ranks it before all merely relevant ones; `semantic` is the part of
    the score that comes from the similarity of vectors."""

    id: str
    number: int
    score: float
    coverage: float
    tier: int
    semantic: float = 0.0


class Share(NamedTuple):
    """The part of a document's tf~ that a term in a zone adds."""

    term: str
    zone: str
    amount: float


class LookupResult(Protocol):
    """The result of one `Lookup`. Refers to one generation, whatever happens to the index meanwhile."""

    answers: tuple[ScoredDocument, ...]
    """The best answers that pass the filters: best tier, then best score, then in the order of ids."""
    near: tuple[ScoredDocument, ...]
    """Near misses that pass the filters, in the same order."""
    candidates: Candidates
    """All candidates, `answers` and `near` included."""
    phrases_dropped: bool
    """Whether no document contains all required phrases."""

    def shares(self, word: Variants, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """Return for each of some candidates the part of its tf~ that each variant of a word adds, zone by zone."""

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """Count for each of some filters the answers that pass it."""

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Count for each facet of `taxonomy.FACETS` and each value that documents have the answers if that value alone
        were chosen in that facet."""


class Lexicon(Protocol):
    """The vocabulary of a generation, available in each process without a request."""

    vectors: WordVectors | None
    """The vectors of its words, if they are embedded."""

    def doc_frequency(self, term: str) -> int:
        """Count the documents that have an index term in any zone."""

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """Return all index terms that start with `prefix` (a kind's letter and colon, and more), sorted."""

    def has_key(self, key: str) -> bool:
        """Whether any document has a key."""

    def are_neighbors(self, first: str, second: str) -> bool:
        """Whether some text has `second` after `first` with a space or a hyphen between them; False if this process
        cannot know."""


class Index(Protocol):
    """An index of one generation. Safe to share between threads."""

    is_remote: bool
    """Whether a lookup waits for another process."""

    @property
    def lexicon(self) -> Lexicon:
        """Its vocabulary and frequencies."""

    def find(self, wanted: Lookup) -> LookupResult:
        """Find and score the candidates. Raises IndexUnreadable if the index is damaged."""
