"""What the routes about entries answer. Scripts depend on these names: they are a promise."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.diagnosis.answers import Confidence, MatchedLine
from app.entry import Heading, Kind, Language, Source
from app.search.answers import CompletionType, Reason, SuggestionType


class Answer(BaseModel):
    """Base of what is answered; never changed once made."""

    model_config = ConfigDict(frozen=True)


class EditionLink(Answer):
    """An edition that an entry has. `stale`: its twin has changed since the two were last synced."""

    lang: Language
    title: str
    url: str
    stale: bool


class Tagged(Answer):
    """What every mention of an entry says. `lang` is the language of the edition shown."""

    id: str
    framework: str
    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    lang: Language
    title: str
    applies_to: str


class Hit(Tagged):
    """An entry that answers a query. `snippet` is escaped HTML whose only tag is `<mark>`."""

    snippet: str
    score: float
    reasons: tuple[Reason, ...]
    editions: tuple[EditionLink, ...]
    url: str
    api_url: str


class Facet(Answer):
    """How many entries would be found with this value chosen."""

    value: str
    label: str
    count: int


class Facets(Answer):
    """Counts by facet."""

    framework: tuple[Facet, ...]
    kind: tuple[Facet, ...]
    topic: tuple[Facet, ...]
    error_type: tuple[Facet, ...]


class Suggestion(Answer):
    """A way out where little was found; `url` leads to the page that follows it.

    `applies_to` stands where an entry is suggested.
    """

    type: SuggestionType
    text: str
    url: str
    applies_to: str = ""


class Match(Answer):
    """An entry that explains the text; `fix` is the part that helps, as Markdown."""

    id: str
    title: str
    applies_to: str
    lang: Language
    confidence: Confidence
    matched: tuple[MatchedLine, ...]
    fix: str
    url: str
    api_url: str


class QueryOperator(Answer):
    """A part of the query that was read as an operator: as typed, and the query without it."""

    text: str
    without: str


class SearchResult(Answer):
    """`correction`: what was searched instead, or empty. `weak`: nothing fits well.

    `phrase_dropped`: the quoted phrase occurs nowhere, so its words were searched. `diagnosis`: where the query is one
    line that reads like an error, the entries that explain it, as `POST /diagnose` has them; empty otherwise.
    """

    query: str
    total: int
    limit: int
    offset: int
    hits: tuple[Hit, ...]
    facets: Facets
    suggestions: tuple[Suggestion, ...]
    correction: str
    phrase_dropped: bool
    operators: tuple[QueryOperator, ...] = ()
    weak: bool
    diagnosis: tuple[Match, ...]
    generation: str


class Completion(Answer):
    """A completion; `url` leads to the entry, the tag or the search it stands for.

    `applies_to` stands where that is an entry.
    """

    text: str
    type: CompletionType
    url: str
    applies_to: str = ""


class Summary(Tagged):
    """An entry in a list. `updated` is the day of the edition that changed last, whichever is shown."""

    updated: date
    stale: bool
    editions: tuple[EditionLink, ...]
    url: str
    api_url: str


class Page(Answer):
    """What every list says. `generation` names the content it was taken from."""

    total: int
    limit: int
    offset: int
    generation: str


class SummaryList(Page):
    """Entries, latest change first."""

    items: tuple[Summary, ...]


class Related(Answer):
    """A neighbor of an entry. `named`: the entry names it itself; the others share its tags."""

    id: str
    lang: Language
    title: str
    applies_to: str
    named: bool = False
    url: str
    api_url: str


class CompositeSignature(Answer):
    """A signature of several lines, or with conditions, as the content format has it."""

    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    confidence: Literal["likely"] | None = None
    near: int | None = None
    shapes: dict[str, str] | None = None


class Entry(Summary):
    """A whole entry. `html` is safe to embed; `fix` is the part that helps, as Markdown like `markdown`.

    The last fields are what its file says beside its text: with them `jieda load` makes the file again.
    """

    html: str
    markdown: str
    fix: str
    headings: tuple[Heading, ...]
    related: tuple[Related, ...]
    source: tuple[Source, ...]
    generation: str
    signatures: tuple[str | CompositeSignature, ...] = ()
    symptoms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    synced_with: str = ""
