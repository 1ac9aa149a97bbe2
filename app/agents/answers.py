"""What the tools answer: small, and without what is empty, for every word of it is paid for."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from app.diagnosis.answers import Confidence, Verdict
from app.entry import Kind, Language


class Answer(BaseModel):
    """Base of what is answered. A field with a default is left out where it has that."""

    model_config = ConfigDict(frozen=True)

    def content(self) -> dict[str, Any]:
        """The answer as JSON, without empty fields."""
        return self.model_dump(mode="json", exclude_defaults=True)


class EntryName(Answer):
    """An entry by its id; `lang` is the language of what is shown of it."""

    id: str
    title: str
    lang: Language
    applies_to: str = ""
    url: str = ""


class Line(Answer):
    """A line of the log that speaks for an entry; secrets in it are masked."""

    line: int
    text: str


class Match(EntryName):
    """An entry that explains the log. `fix` is Markdown; `cut`: it is not all of it, `read` tells the rest."""

    confidence: Confidence
    matched: tuple[Line, ...] = ()
    fix: str = ""
    cut: bool = False


class Near(EntryName):
    """An entry that shares `words` with the log and does not explain it."""

    words: tuple[str, ...] = ()


class LogError(Answer):
    """A failure that the log tells of."""

    type: str
    message: str = ""
    line: int
    count: int = 1


class Diagnosis(Answer):
    """`matched`: an entry explains the log. `near`, `unknown`: no known entry does. `no_error`: no sign of an error.
    `errors`: failures in the log that no entry explains for sure."""

    verdict: Verdict
    matches: tuple[Match, ...] = ()
    near: tuple[Near, ...] = ()
    errors: tuple[LogError, ...] = ()
    advice: str = ""


class Hit(EntryName):
    """An entry that fits a query; `snippet` is plain text."""

    snippet: str = ""
    why: tuple[str, ...] = ()


class SearchResult(Answer):
    """`weak`: nothing fits well, so take it that no entry answers this. `correction`: what was searched instead."""

    total: int
    hits: tuple[Hit, ...] = ()
    weak: bool = False
    correction: str = ""
    next_offset: int = 0
    advice: str = ""


class Entry(EntryName):
    """An entry, or a part of one, as Markdown. `sections`: what `section` can be. `next_offset`: it goes on there."""

    markdown: str
    sections: tuple[str, ...]
    next_offset: int = 0
    stale: bool = False


class Tag(Answer):
    """A tag and how many entries carry it."""

    id: str
    name: str
    count: int


class Item(Answer):
    """An entry in a list."""

    id: str
    title: str
    kind: Kind
    applies_to: str = ""


class Listing(Answer):
    """Without filters the tags with their counts, with filters the entries that pass them, latest change first."""

    total: int
    frameworks: tuple[Tag, ...] = ()
    kinds: tuple[Tag, ...] = ()
    topics: tuple[Tag, ...] = ()
    error_types: tuple[Tag, ...] = ()
    entries: tuple[Item, ...] = ()
    next_offset: int = 0
