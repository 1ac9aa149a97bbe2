"""API response models, also used by client, agents and commands. Scripts depend on these names: they stay stable."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jieda.content.markdown.body import parse_body
from jieda.diagnosis.answers import Confidence, LogError, MatchedLine, MatchReason, Verdict
from jieda.entry import Heading, Kind, Language, Source
from jieda.feedback import TriedOutcome
from jieda.log.window import LineRange
from jieda.search.answers import CompletionType, QueryOperator, Reason, SuggestionType

PREFIX = "Api"
"""Prefix of models that share a name with a domain type; the OpenAPI document omits it."""


class ApiAnswer(BaseModel):
    """Base of all response models; immutable. Each is built on first use, since a command needs few of them."""

    model_config = ConfigDict(
        frozen=True, defer_build=True, model_title_generator=lambda model: model.__name__.removeprefix(PREFIX)
    )


class EditionLink(ApiAnswer):
    """An edition of an entry. `stale`: the edition in the other language has changed since the two were last synced."""

    lang: Language
    title: str
    url: str
    stale: bool


class ApiMention(ApiAnswer):
    """Fields of every mention of an entry. `lang` is the language of the edition shown."""

    id: str
    framework: str
    lang: Language
    title: str
    applies_to: str
    url: str
    api_url: str


class Tagged(ApiMention):
    """A mention with the tags of the entry and its editions."""

    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    editions: tuple[EditionLink, ...]


class MarkRange(ApiAnswer):
    """A range of characters (code points) in a text, counted from 0; `end` is exclusive."""

    start: int
    end: int


class ApiHit(Tagged):
    """A search result. `snippet` is escaped HTML whose only tag is `<mark>`; `snippet_text` is the same as plain text,
    with the ranges that are marked in `snippet_marks` and those that are code in `snippet_code`. `may_not_apply_to`: as
    in `Match`, for a version named in the query."""

    snippet: str
    snippet_text: str = ""
    snippet_marks: tuple[MarkRange, ...] = ()
    snippet_code: tuple[MarkRange, ...] = ()
    may_not_apply_to: str = ""
    score: float = Field(
        description="How well the entry fits: higher is better; comparable within one response only."
    )
    reasons: tuple[Reason, ...]


class Facet(ApiAnswer):
    """A filter value with the number of entries found if it were chosen."""

    value: str
    label: str
    count: int


class Facets(ApiAnswer):
    """The values to filter by, by facet."""

    framework: tuple[Facet, ...]
    kind: tuple[Facet, ...]
    topic: tuple[Facet, ...]
    error_type: tuple[Facet, ...]


class ApiSuggestion(ApiAnswer):
    """A suggestion where little was found; `url` is the page that it leads to. `applies_to` is set only for an
    entry."""

    type: SuggestionType
    text: str
    url: str
    applies_to: str = ""


class ApiMatch(ApiMention):
    """An entry that explains the text. `fix` is its answer as Markdown; empty as long as it is unclear which framework
    is meant. `may_not_apply_to`: a program and version found in the text for which the entry does not hold."""

    confidence: Confidence
    may_not_apply_to: str = ""
    matched: tuple[MatchedLine, ...]
    fix: str


class SearchResult(ApiAnswer):
    """`correction`: the corrected query that was searched instead, or empty. `weak`: nothing fits well.
    `absent_words`: words of the query that no entry contains. `judgement`: what `POST /diagnose` says of the query,
    only for a finished query and on its first page. `phrase_dropped`: the quoted phrase occurs nowhere, so its words
    were searched."""

    query: str
    total: int
    limit: int
    offset: int
    hits: tuple[ApiHit, ...]
    facets: Facets
    suggestions: tuple[ApiSuggestion, ...]
    correction: str
    phrase_dropped: bool
    operators: tuple[QueryOperator, ...] = ()
    weak: bool
    absent_words: tuple[str, ...] = ()
    judgement: "ApiDiagnosis | None" = None
    diagnosis: tuple[ApiMatch, ...] = Field(
        description="The `matches` of `judgement`. Will be removed in the next version.",
        json_schema_extra={"deprecated": True},
    )
    generation: str


class ApiCompletion(ApiAnswer):
    """A completion; `url` is the entry, tag or search that it leads to. `applies_to` is set only for an entry."""

    text: str
    type: CompletionType
    url: str
    applies_to: str = ""


class ApiSummary(Tagged):
    """An entry in a list. `updated` is the date of the last change to any edition, whichever is shown."""

    updated: date
    stale: bool


class Page(ApiAnswer):
    """Fields of every list. `generation` identifies the version of the content."""

    total: int
    limit: int
    offset: int
    generation: str


class SummaryList(Page):
    """Entries, most recently changed first."""

    items: tuple[ApiSummary, ...]


class Related(ApiAnswer):
    """A related entry. `named`: the entry itself names it; the others share its tags."""

    id: str
    lang: Language
    title: str
    applies_to: str
    named: bool = False
    url: str
    api_url: str


class CompositeSignature(ApiAnswer):
    """A signature with several lines or with conditions, as in the content format."""

    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    confidence: Literal["likely"] | None = None
    near: int | None = None
    shapes: dict[str, str] | None = None


class ApiEntry(ApiSummary):
    """A whole entry. `html` is safe to embed; `fix` is its answer as Markdown, which `markdown` contains as well.

    The fields from `signatures` on are the front matter of its file: `jieda load` recreates the file from them.
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
    versions: dict[str, str] = {}
    fixed_in: dict[str, str] = {}
    verified: dict[str, str] = {}
    applies_anywhere: bool = False

    def sections(self) -> dict[str, str]:
        """Map the key of each section (`fix`, `cause`, …) to its Markdown without the heading, in their order."""
        texts = parse_body(self.markdown, self.lang, self.framework, 0).section_texts
        return {key: text.strip() for key, text in texts.items()}


class ApiNear(ApiMention):
    """An entry that does not explain the text but shares `words` with it. `foreign`: the entry is for `framework`, but
    the text comes from another one: the cause may be the same, the options differ."""

    foreign: bool = False
    words: tuple[str, ...]


class ApiDiagnosis(ApiAnswer):
    """The entries that explain the text, best first; `matches` is empty if there is none.

    In that case `near` contains up to three entries that share rare words, or that explain the same error for another
    framework; they are not answers. `outcome` is `known`, `possible`, `near`, `unknown`, or `no_error` for a text
    without any sign of an error, which may have `near` as well. `asks`: frameworks whose entries fit equally well; ask
    which one is meant.
    """

    outcome: Verdict
    verdict: Literal["matched", "near", "unknown", "no_error"] = Field(
        description="`outcome`, with `matched` for `known` and `possible`. Will be removed in the next version.",
        json_schema_extra={"deprecated": True},
    )
    asks: tuple[str, ...]
    matches: tuple[ApiMatch, ...]
    near: tuple[ApiNear, ...]
    errors: tuple[LogError, ...]
    framework: str
    elsewhere: str = Field(
        "", description="Where the cause is if the text only reports that another process failed."
    )
    read: tuple[LineRange, ...] = Field(
        (),
        description="The parts of a long log that were read: its end and the lines around its first failure.",
    )
    generation: str

    @property
    def is_program_output(self) -> bool:
        """As `Diagnosis.is_program_output`."""
        lines = (line for match in self.matches for line in match.matched)
        return bool(self.errors) or any(line.reason is MatchReason.SIGNATURE for line in lines)


class ApiTag(ApiAnswer):
    """A tag and the number of its entries."""

    id: str
    name: str
    description: str
    count: int
    url: str


class Framework(ApiTag):
    """A framework with its homepage and repository."""

    homepage: str
    repository: str


class TagList(Page):
    """Tags in the order of the taxonomy."""

    items: tuple[ApiTag, ...]


class FrameworkList(Page):
    """Frameworks in the order of the taxonomy."""

    items: tuple[Framework, ...]


class ContentProblem(ApiAnswer):
    """A problem in a content file. `served`: the file is served nevertheless."""

    path: str
    line: int
    rule: str
    message: str
    served: bool


class ContentProblemList(Page):
    """Problems of the content, in the order in which the check reports them."""

    items: tuple[ContentProblem, ...]


class Translation(ApiAnswer):
    """The state of an entry's editions."""

    id: str
    en: Literal["present", "missing", "stale"]
    zh: Literal["present", "missing", "stale"]
    url: str
    api_url: str


class TranslationList(Page):
    """The states of all entries, sorted by id."""

    items: tuple[Translation, ...]


class Reported(ApiAnswer):
    """`kept`: the report was counted. If not, the server cannot write, or this address has reported on the entry
    several times already; retrying does not help."""

    id: str
    outcome: TriedOutcome
    kept: bool
