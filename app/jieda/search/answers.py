"""The request and the answer of a search: the types that every surface shares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape

from jieda.entry import Edition, Entry, Language
from jieda.taxonomy import Filters


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """`lang` is the language to show; it never filters. `verbatim` turns spelling correction off.
    `frameworks` are what the reader works with: a filter and what the question names come before them.

    `unfinished`: the last word may be half typed. It is read as the beginning of one, and nothing is corrected.
    """

    text: str
    lang: Language = Language.EN
    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    offset: int = 0
    frameworks: tuple[str, ...] = ()
    verbatim: bool = False
    unfinished: bool = False


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
    """`text` is what was asked for; `via` is what the entry has instead (glossary, typo), or empty. A meaning is of the
    whole query: both are empty."""

    type: ReasonType
    text: str
    via: str = ""


Span = tuple[int, int]
"""Start and end of a part of a text, in characters."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage of an entry: what of it is marked, and what the entry has as code; both in order, none overlapping."""

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
    """Texts of title reasons that the other edition's title has, and not the one shown."""
    title: str
    """Escaped HTML whose only tag is `<mark>`."""
    snippet: Snippet


MOST_WEAK = 2
"""Entries whose titles are shown first where nothing fits well."""


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many entries would be found with this value chosen in its facet."""

    value: str
    count: int


class SuggestionType(StrEnum):
    """What kind of way out is offered where little or nothing was found."""

    SPELLING = "spelling"
    NEAR_MISS = "near_miss"
    DROP_FILTER = "drop_filter"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What is offered: a search for `query`, a look at `entry`, or a search with `filters`, by `type`."""

    type: SuggestionType
    query: str = ""
    entry: Entry | None = None
    facet: str = ""
    """For `drop_filter`: the facet (or `edition`) that filtered everything out."""
    filters: Filters = field(default_factory=Filters)
    count: int = 0
    """How many entries that search finds (drop filter)."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the query language that was understood: as typed, and the query without it."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`correction`: what was searched instead, or empty. `phrase_dropped`: a quoted phrase occurs nowhere."""

    query: str
    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, tuple[FacetCount, ...]]
    suggestions: tuple[Suggestion, ...]
    correction: str
    phrase_dropped: bool
    weak: bool
    """True when nothing fits well."""
    absent_words: tuple[str, ...]
    """Words of a question that no entry has in any way, filters aside."""
    operators: tuple[Operator, ...] = ()
    frameworks: tuple[str, ...] = ()
    """Whose entries are asked for: by a filter, otherwise by name in the question, otherwise by `SearchRequest`."""
    framework_fits: bool = False
    """Whether any of these has an entry that answers, which then comes before all others."""

    @property
    def is_of_others(self) -> bool:
        """Whether what was found is written for other frameworks than the one that is asked about."""
        return bool(self.frameworks and self.hits) and not self.framework_fits


class CompletionType(StrEnum):
    """What a completion is."""

    TITLE = "title"
    IDENTIFIER = "identifier"
    TAG = "tag"
    GLOSSARY = "glossary"


@dataclass(frozen=True, slots=True)
class Completion:
    """`target` is an entry id for a title, `facet/value` for a tag, otherwise empty: search `text`."""

    text: str
    type: CompletionType
    target: str = ""
