"""API response models, one each, also used by the client, agents and commands. Scripts depend on these names, so they
must stay stable."""

import re
from datetime import date
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from jieda.diagnosis.answers import Confidence, LogError, MatchedLine, MatchReason, Verdict
from jieda.entry import Heading, Kind, Language, Problem, Source
from jieda.feedback import TriedOutcome
from jieda.search.answers import CompletionType, Reason, SuggestionType

FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
SECOND_LEVEL = 2
PREFIX = "Api"
"""Prefix of models that share a name with a domain type; the OpenAPI document omits it."""


class ApiAnswer(BaseModel):
    """Base of what is answered; never changed once made."""

    model_config = ConfigDict(
        frozen=True, model_title_generator=lambda model: model.__name__.removeprefix(PREFIX)
    )


class EditionLink(ApiAnswer):
    """An edition that an entry has. `stale`: its twin has changed since the two were last synced."""

    lang: Language
    title: str
    url: str
    stale: bool


class Tagged(ApiAnswer):
    """What every mention of an entry says. `lang` is the language of the edition shown."""

    id: str
    framework: str
    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    lang: Language
    title: str
    applies_to: str


class MarkRange(ApiAnswer):
    """A part of a text, in characters (code points) from 0; `end` is behind it."""

    start: int
    end: int


class ApiHit(Tagged):
    """An entry that answers a query. `snippet` is escaped HTML whose only tag is `<mark>`; `snippet_text` is it as
    plain text, of which `snippet_marks` are marked and `snippet_code` is code. `may_not_apply_to` is as in `ApiMatch`,
    of the query."""

    snippet: str
    snippet_text: str = ""
    snippet_marks: tuple[MarkRange, ...] = ()
    snippet_code: tuple[MarkRange, ...] = ()
    may_not_apply_to: str = ""
    score: float = Field(
        description="How well the entry fits: the higher the better, to be compared within one answer only."
    )
    reasons: tuple[Reason, ...]
    editions: tuple[EditionLink, ...]
    url: str
    api_url: str


class Facet(ApiAnswer):
    """How many entries would be found with this value chosen."""

    value: str
    label: str
    count: int


class Facets(ApiAnswer):
    """Counts by facet."""

    framework: tuple[Facet, ...]
    kind: tuple[Facet, ...]
    topic: tuple[Facet, ...]
    error_type: tuple[Facet, ...]


class ApiSuggestion(ApiAnswer):
    """A way out where little was found; `url` leads to the page that follows it.

    `applies_to` stands where an entry is suggested.
    """

    type: SuggestionType
    text: str
    url: str
    applies_to: str = ""


class ApiMatch(ApiAnswer):
    """An entry that explains the text; `fix` is the part that helps, as Markdown, and empty where it has to be
    asked first which framework is meant. `may_not_apply_to`: a program and its version that the text says and the entry
    does not hold for."""

    id: str
    framework: str
    title: str
    applies_to: str
    lang: Language
    confidence: Confidence
    may_not_apply_to: str = ""
    matched: tuple[MatchedLine, ...]
    fix: str
    url: str
    api_url: str


class QueryOperator(ApiAnswer):
    """A part of the query that was read as an operator: as typed, and the query without it."""

    text: str
    without: str


class SearchResult(ApiAnswer):
    """`correction`: what was searched instead, or empty. `weak`: nothing fits well. `absent_words`: what of the
    query no entry mentions. `judgement`: of a finished query, on its first page, what `POST /diagnose` says of it.

    `phrase_dropped`: the quoted phrase occurs nowhere, so its words were searched.
    """

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
        description="The `matches` of `judgement`. Will go with the next version.",
        json_schema_extra={"deprecated": True},
    )
    generation: str


class ApiCompletion(ApiAnswer):
    """A completion; `url` leads to the entry, the tag or the search it stands for.

    `applies_to` stands where that is an entry.
    """

    text: str
    type: CompletionType
    url: str
    applies_to: str = ""


class ApiSummary(Tagged):
    """An entry in a list. `updated` is the day of the edition that changed last, whichever is shown."""

    updated: date
    stale: bool
    editions: tuple[EditionLink, ...]
    url: str
    api_url: str


class Page(ApiAnswer):
    """What every list says. `generation` names the content it was taken from."""

    total: int
    limit: int
    offset: int
    generation: str


class SummaryList(Page):
    """Entries, latest change first."""

    items: tuple[ApiSummary, ...]


class Related(ApiAnswer):
    """A neighbor of an entry. `named`: the entry names it itself; the others share its tags."""

    id: str
    lang: Language
    title: str
    applies_to: str
    named: bool = False
    url: str
    api_url: str


class CompositeSignature(ApiAnswer):
    """A signature of several lines, or with conditions, as the content format has it."""

    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    confidence: Literal["likely"] | None = None
    near: int | None = None
    shapes: dict[str, str] | None = None


class ApiEntry(ApiSummary):
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
    versions: dict[str, str] = {}
    fixed_in: dict[str, str] = {}
    verified: dict[str, str] = {}
    applies_anywhere: bool = False

    def sections(self) -> dict[str, str]:
        """Map the key of each section (`fix`, `cause`, …) to its Markdown without the heading, in their order."""
        keys = {heading.text: heading.anchor for heading in self.headings if heading.level == SECOND_LEVEL}
        lines: dict[str, list[str]] = {}
        key, fence = "", ""
        for line in self.markdown.splitlines():
            mark = FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
                fence = ""
            title = line.removeprefix("## ").strip() if line.startswith("## ") and not fence else ""
            if title in keys:
                key = keys[title]
                lines[key] = []
            elif key:
                lines[key].append(line)
        return {key: "\n".join(found).strip() for key, found in lines.items()}


class ApiNear(ApiAnswer):
    """An entry that does not explain the text, but shares `words` with it. `foreign`: it is written for `framework`,
    and the text is another one's: the cause may be the same, the options are not."""

    id: str
    framework: str
    foreign: bool = False
    title: str
    applies_to: str
    lang: Language
    words: tuple[str, ...]
    url: str
    api_url: str


class LineRange(ApiAnswer):
    """Lines of a log, from 1, the last one included."""

    first: int
    last: int


class ApiDiagnosis(ApiAnswer):
    """What explains the text, best first; `matches` is empty where no known entry does.

    `near` holds up to three entries then that share rare words, or that explain the same for another framework; they
    are not answers. `outcome` says which it is: `known`, `possible`, `near`, `unknown`, or `no_error` for a text
    without any sign of an error, which may have `near` as well. `asks`: frameworks whose entries fit alike; ask which
    one is meant.
    """

    outcome: Verdict
    verdict: Literal["matched", "near", "unknown", "no_error"] = Field(
        description="`outcome`, with `matched` for `known` and `possible`. Will go with the next version.",
        json_schema_extra={"deprecated": True},
    )
    asks: tuple[str, ...]
    matches: tuple[ApiMatch, ...]
    near: tuple[ApiNear, ...]
    errors: tuple[LogError, ...]
    framework: str
    read: tuple[LineRange, ...] = Field(
        (),
        description="The parts that were read of a long log: its end and what stands around its first failure.",
    )
    generation: str

    @property
    def printed(self) -> bool:
        """As `Diagnosis.printed`."""
        lines = (line for match in self.matches for line in match.matched)
        return bool(self.errors) or any(line.reason is MatchReason.SIGNATURE for line in lines)


class ApiTag(ApiAnswer):
    """A tag and how many entries carry it."""

    id: str
    name: str
    description: str
    count: int
    url: str


class Framework(ApiTag):
    """A framework with its home."""

    homepage: str
    repository: str


class TagList(Page):
    """Tags in the order of the taxonomy."""

    items: tuple[ApiTag, ...]


class FrameworkList(Page):
    """Frameworks in the order of the taxonomy."""

    items: tuple[Framework, ...]


class ContentProblem(ApiAnswer):
    """Something wrong in a content file. `served`: the rest of the file is served all the same."""

    path: str
    line: int
    rule: str
    message: str
    served: bool

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return a problem as the API tells it."""
        return cls.model_validate(problem, from_attributes=True)


class ContentProblemList(Page):
    """Problems of the content, in the order of the check."""

    items: tuple[ContentProblem, ...]


class Translation(ApiAnswer):
    """The state of an entry's editions."""

    id: str
    en: Literal["present", "missing", "stale"]
    zh: Literal["present", "missing", "stale"]
    url: str
    api_url: str


class TranslationList(Page):
    """Entries by id."""

    items: tuple[Translation, ...]


class Reported(ApiAnswer):
    """`kept`: what was said of an entry is counted. Where it is not, the server cannot write, or was told of it by this
    address several times already: to ask again is of no use."""

    id: str
    outcome: TriedOutcome
    kept: bool


class Reloaded(ApiAnswer):
    """`changed`: something new is served. `behind`: the process ids of those of the `workers` that did not serve
    `generation` yet when the answer was due."""

    changed: bool
    generation: str
    workers: int
    behind: tuple[int, ...]
