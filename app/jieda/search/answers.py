"""The request and the answer types of a search, shared by every surface."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape

from jieda.entry import Edition, Entry, Language
from jieda.taxonomy import Filters


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search request. `lang` is the language to show; it never filters. `verbatim` turns spelling correction off.
    `frameworks` are those the reader works with; a filter and names in the question take precedence.

    `unfinished`: the last word may be half typed. It matches as a prefix, and nothing is corrected.
    """

    text: str
    lang: Language = Language.EN
    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    offset: int = 0
    frameworks: tuple[str, ...] = ()
    verbatim: bool = False
    unfinished: bool = False

    def __post_init__(self) -> None:
        # Lone surrogates, from escapes in JSON or invalid bytes on a command line, which no answer could hold.
        object.__setattr__(self, "text", self.text.encode("utf-8", "replace").decode())


class ReasonType(StrEnum):
    """Why a hit was found, strongest first."""

    TITLE = "title"
    ALIAS = "alias"
    IDENTIFIER = "identifier"
    SIGNATURE = "signature"
    TEXT = "text"
    GLOSSARY = "glossary"
    TYPO = "typo"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True)
class Reason:
    """`text` is what was asked for; `via` is what the entry has instead (glossary, typo, meaning), or empty. Both are
    empty if the entry resembles the query as a whole."""

    type: ReasonType
    text: str
    via: str = ""


Span = tuple[int, int]
"""Start and end of a part of a text, in characters."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of an entry with the spans to mark and the spans of code; both in order, without overlap."""

    text: str
    marks: tuple[Span, ...] = ()
    code: tuple[Span, ...] = ()

    @property
    def html(self) -> str:
        """Escaped HTML whose only tag is `<mark>`."""
        return "".join(self._layered(0, len(self.text), ("mark", self.marks)))

    @property
    def html_with_code(self) -> str:
        """Escaped HTML with `<code>`, and `<mark>` within and between."""
        return "".join(self._layered(0, len(self.text), ("code", self.code), ("mark", self.marks)))

    def _layered(self, start: int, end: int, *layers: tuple[str, Sequence[Span]]) -> Iterator[str]:
        if not layers:
            yield escape(self.text[start:end])
            return
        (tag, spans), *inner = layers
        for span in spans:
            left, right = max(span[0], start), min(span[1], end)
            if left < right:
                yield from self._layered(start, left, *inner)
                yield f"<{tag}>"
                yield from self._layered(left, right, *inner)
                yield f"</{tag}>"
                start = right
        yield from self._layered(start, end, *inner)


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that answers a query, with the edition to show."""

    entry: Entry
    edition: Edition
    score: float
    reasons: tuple[Reason, ...]
    elsewhere: frozenset[str]
    """Texts of title reasons that occur only in the title of the edition not shown."""
    title: str
    """Escaped HTML whose only tag is `<mark>`."""
    snippet: Snippet


MOST_WEAK = 2
"""Most entries shown, by their titles, if nothing fits well."""


@dataclass(frozen=True, slots=True)
class FacetCount:
    """Number of hits with this value chosen in its facet."""

    value: str
    count: int


class SuggestionType(StrEnum):
    """How to go on where little or nothing was found."""

    SPELLING = "spelling"
    NEAR_MISS = "near_miss"
    DROP_FILTER = "drop_filter"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion by `type`: to search for `query`, to read `entry`, or to search with `filters`."""

    type: SuggestionType
    query: str = ""
    entry: Entry | None = None
    facet: str = ""
    """For `drop_filter`: the facet (or `edition`) that filtered everything out."""
    filters: Filters = field(default_factory=Filters)
    count: int = 0
    """Number of entries that the search with `filters` finds."""


@dataclass(frozen=True, slots=True)
class QueryOperator:
    """A part of the query that was read as an operator, as typed; `without` is the query without it."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a search. `correction`: the query searched instead, or empty. `phrase_dropped`: a quoted phrase
    occurs nowhere."""

    query: str
    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, tuple[FacetCount, ...]]
    suggestions: tuple[Suggestion, ...] = ()
    correction: str = ""
    phrase_dropped: bool = False
    weak: bool = False
    """Whether no hit fits well."""
    absent_words: tuple[str, ...] = ()
    """Words of a question that no entry has in any form, filters aside."""
    operators: tuple[QueryOperator, ...] = ()
    frameworks: tuple[str, ...] = ()
    """Frameworks asked about: those of a filter, else those named in the question, else those of the request."""
    framework_fits: bool = False
    """Whether the first hit is for one of these, and fits."""

    @property
    def is_of_others(self) -> bool:
        """Whether all hits are for other frameworks than those asked about."""
        return bool(self.frameworks and self.hits) and not self.framework_fits


class CompletionType(StrEnum):
    """What a completion is."""

    TITLE = "title"
    IDENTIFIER = "identifier"
    TAG = "tag"
    GLOSSARY = "glossary"


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion; `target` is an entry id for a title, `facet/value` for a tag, otherwise empty: search `text`."""

    text: str
    type: CompletionType
    target: str = ""
