"""What the tools answer: small, and without what is empty, for every word of it is paid for."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema

from app.diagnosis.answers import Confidence, Verdict
from app.entry import Kind, Language

PREFIX = "Agent"
"""Of models; the schemas that clients see leave it out."""


class AnswerSchema(GenerateJsonSchema):
    """Schemas of answers, by the names that clients see."""

    def normalize_name(self, name: str) -> str:
        """Return the name of a model as a key of a schema."""
        return super().normalize_name(name).removeprefix(PREFIX)


class AgentAnswer(BaseModel):
    """Base of what is answered. A field with a default is left out where it has that."""

    model_config = ConfigDict(
        frozen=True, model_title_generator=lambda model: model.__name__.removeprefix(PREFIX)
    )

    def content(self) -> dict[str, Any]:
        """The answer as JSON, without empty fields."""
        return self.model_dump(mode="json", exclude_defaults=True)


class EntryName(AgentAnswer):
    """An entry by its id; `lang` is the language of what is shown of it."""

    id: str
    title: str
    lang: Language
    applies_to: str = ""
    url: str = ""


class Line(AgentAnswer):
    """A line of the log that speaks for an entry; secrets in it are masked."""

    line: int
    text: str


class AgentMatch(EntryName):
    """An entry that explains the log. `fix` is Markdown; `cut`: it is not all of it, `read` tells the rest."""

    confidence: Confidence
    matched: tuple[Line, ...] = ()
    fix: str = ""
    cut: bool = False


class AgentNear(EntryName):
    """An entry that shares `words` with the log and does not explain it."""

    words: tuple[str, ...] = ()


class AgentLogError(AgentAnswer):
    """A failure that the log tells of."""

    type: str
    message: str = ""
    line: int
    count: int = 1


class AgentDiagnosis(AgentAnswer):
    """`matched`: an entry explains the log. `near`, `unknown`: no known entry does. `no_error`: no sign of an error.
    `errors`: failures in the log that no entry explains for sure."""

    verdict: Verdict
    matches: tuple[AgentMatch, ...] = ()
    near: tuple[AgentNear, ...] = ()
    errors: tuple[AgentLogError, ...] = ()
    advice: str = ""


class AgentHit(EntryName):
    """An entry that fits a query; `snippet` is plain text."""

    snippet: str = ""
    why: tuple[str, ...] = ()


class AgentSearchResult(AgentAnswer):
    """`weak`: nothing fits well, so take it that no entry answers this. `correction`: what was searched instead."""

    total: int
    hits: tuple[AgentHit, ...] = ()
    weak: bool = False
    correction: str = ""
    next_offset: int = 0
    advice: str = ""


class AgentEntry(EntryName):
    """An entry, or a part of one, as Markdown. `sections`: what `section` can be. `next_offset`: it goes on there."""

    markdown: str
    sections: tuple[str, ...]
    next_offset: int = 0
    stale: bool = False


class AgentTag(AgentAnswer):
    """A tag and how many entries carry it."""

    id: str
    name: str
    count: int


class Item(AgentAnswer):
    """An entry in a list."""

    id: str
    title: str
    kind: Kind
    applies_to: str = ""


class AgentListing(AgentAnswer):
    """Without filters the tags with their counts, with filters the entries that pass them, latest change first."""

    total: int
    frameworks: tuple[AgentTag, ...] = ()
    kinds: tuple[AgentTag, ...] = ()
    topics: tuple[AgentTag, ...] = ()
    error_types: tuple[AgentTag, ...] = ()
    entries: tuple[Item, ...] = ()
    next_offset: int = 0
