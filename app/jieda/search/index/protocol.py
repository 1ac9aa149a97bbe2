"""The index protocol: what is asked of an index, and what it answers. An index stores and finds; it ranks nothing.

Documents and questions hold finished terms (`Token.term`); no index ever parses text. One call asks for the documents
that a search may show, with all that is needed to score and explain them; the counts of the same search come from
what that call found. So an index across a network is asked twice at most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jieda.entry import Language
from jieda.search.meaning.embedder import Vector
from jieda.search.query.words import Clause
from jieda.taxonomy import Filters

Numbers = NDArray[np.intp]
"""Places of documents in the columns that they are in, ascending, shape (n,)."""
Scores = NDArray[np.float64]
"""A number for each of some documents."""
Mask = NDArray[np.bool_]
"""True for each document that has a property."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where any of some terms, taken as one word, occurs: `documents` of the columns, and `saturation` of each,

        tf~(d) = Σ_v kind(v) · Σ_z  w_z · tf(v, d, z) / (1 − b_z + b_z · len(d, z) / pivot(z))
        saturation(d) = tf~ / (k1 + tf~)

    for the terms v and zones z; both of shape (n,). `holders` is how many live documents of the whole index have the
    word.
    """

    documents: Numbers
    saturation: Scores
    holders: int


class Alike(NamedTuple):
    """How alike each document is to what is asked, each shape (size,); 0 for documents without vectors, and for those
    that are neither among the closest nor among the best by words."""

    told: Scores
    """The cosine of the vector asked for with the closest one of the document, and `Weighting.gist` times that with
    their mean."""
    titled: Scores
    """The cosine with the closest of its titles and aliases."""


Likeness = Callable[[Scores], Alike]
"""What documents score by words, to how alike they are."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What an index found of `size` documents, numbered from 0 in the order of their ids.

    They are all documents of an index that is in memory, or those of a window of another. `best_coverage` is that of
    documents outside the window, where it is known to be higher than any inside.
    """

    size: int
    total: int
    """How many live documents the whole index has."""
    pools: tuple[Postings, ...]
    """By `Lookup.pools`."""
    keyed: tuple[Numbers, ...]
    """By `Lookup.keys`."""
    phrase: Numbers
    """Documents that hold `Lookup.phrase`."""
    written: NDArray[np.uint16]
    """How each of these holds `Lookup.writing`: `document.Held`, shifted by WRITTEN_BITS for each of the regions
    titles, bodies and fronts (`fields`); zeros where it was not asked for."""
    best_coverage: float = 0.0
    likeness: Likeness | None = None
    """Where `Lookup.meaning` was given."""
    recency: Scores | None = None
    """Where `Lookup.within` lists documents: all of them answer, and this ranks what words do not."""
    lacking: Mapping[Language, Mask] = field(default_factory=dict)
    """Documents that have no edition in a language; none where an index does not say."""


WRITTEN_BITS = 3


@dataclass(frozen=True, slots=True)
class Standings:
    """Where each document of some columns stands, each of shape (size,).

    `tiers` come before `score`. `answering` documents answer, `near` ones share too little with what was asked.
    """

    score: Scores
    coverage: Scores
    tiers: NDArray[np.int64]
    answering: Mask
    near: Mask
    lift: Scores
    """What of the score came by meaning."""


Judge = Callable[[Columns], Standings]
"""The ranking. An index in memory applies it to everything it has, another to a window of candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Where a query with operators looks: `mask` of the documents of an index in the order of their ids, and their
    `recency`. `listed`: nothing but operators was typed, so all of them answer, the latest first."""

    mask: Mask
    recency: Scores
    listed: bool


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a search looks up."""

    judge: Judge
    pools: tuple[tuple[str, ...], ...] = ()
    """Terms that stand for one word."""
    clauses: tuple[Clause, ...] = ()
    """What `pools` are the words of, and what each is worth: what an index chooses a window by."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Keys of documents, any of each group."""
    phrase: tuple[str, ...] = ()
    """Atoms one behind the other; documents that hold them are told apart, the others stay."""
    writing: tuple[str, ...] = ()
    """Separators of the phrase as written (`document.separators_of`); empty where the writing does not matter."""
    required: tuple[tuple[str, ...], ...] = ()
    """Phrases that a document must hold, all of them; dropped where no document does."""
    filters: Filters = field(default_factory=Filters)
    window: int = 10
    """How many answers are wanted at most."""
    near: int = 0
    """How many near misses are wanted at most."""
    meaning: Vector | None = None
    """What is asked, embedded; None where words alone decide."""
    within: Within | None = None
    """None where all documents may answer."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """A document that was found, at `number` of the columns. `coverage`, 0 to 1, is the part of the query's weight that
    it accounts for; `tier` is 0 unless an exact form puts it before all that are merely relevant; `lift` is what came
    into the score by meaning."""

    id: str
    number: int
    score: float
    coverage: float
    tier: int
    lift: float = 0.0


class Share(NamedTuple):
    """What a term brought to tf~ of a document in a zone."""

    term: str
    zone: str
    amount: float


class LookupResult(Protocol):
    """What an index found for one `Lookup`. Speaks of one generation, whatever happens to the index meanwhile."""

    @property
    def answers(self) -> Sequence[ScoredDocument]:
        """The best answers that pass the filters: best tier, then best score, then in the order of ids."""

    @property
    def near(self) -> Sequence[ScoredDocument]:
        """Near misses that pass the filters, in the same order."""

    @property
    def columns(self) -> Columns:
        """What was judged; has every one of `answers` and `near`."""

    @property
    def phrases_dropped(self) -> bool:
        """Whether no document holds all required phrases."""

    def shares(self, pool: int, numbers: Sequence[int]) -> Sequence[Sequence[Share]]:
        """What the terms of a pool brought, zone by zone, for each of some documents."""

    def totals(self, filters: Sequence[Filters]) -> tuple[int, ...]:
        """How many documents answer and pass, for each of some filters."""

    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """For each facet of `entry.FACETS` and each value of it that documents have: how many answers there would be
        with it alone chosen in that facet."""


class Lexicon(Protocol):
    """What each process knows of a generation without asking for it."""

    def frequency(self, term: str) -> int:
        """How many documents hold an index term in any zone."""

    def vocabulary(self, prefix: str) -> Sequence[str]:
        """All index terms that start with `prefix` (a kind's letter and colon, and more), sorted."""

    def has_key(self, key: str) -> bool:
        """Whether any document has a key."""

    def are_neighbors(self, first: str, second: str) -> bool:
        """Whether an atom stands before another one in some text, a space or a hyphen between them; False where nothing
        that is here tells."""


class Index(Protocol):
    """An index of one generation. Safe to share between threads."""

    waits: bool
    """Whether to ask it is to wait for others."""

    @property
    def lexicon(self) -> Lexicon:
        """Its vocabulary and frequencies."""

    def find(self, wanted: Lookup) -> LookupResult:
        """Looks up and judges. Raises IndexUnreadable where the index is damaged."""
