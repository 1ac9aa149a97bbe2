"""What passes between the later stages of an import."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

from app.entry import Kind, Language, Source
from app.importing.doubts import Doubt
from app.importing.page import Page
from app.importing.questions import Question


@dataclass(frozen=True, slots=True)
class PagePair:
    """A page in one or both languages. `key`, the end of its path, names it in the records.

    `addresses` has the page's address on the web for each language it was given for.
    """

    key: str
    pages: Mapping[Language, Page]
    addresses: Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question in one or both languages. `shared` and `sure`: see `Pair`."""

    pair: PagePair
    found: Mapping[Language, Question]
    shared: float
    sure: bool

    @property
    def titles(self) -> dict[Language, str]:
        """The question in each language it has."""
        return {lang: question.title for lang, question in self.found.items()}


class Status(StrEnum):
    """What a second look at a page finds about a question."""

    NEW = "new"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    REMOVED = "removed"
    """Was imported, and its entry has been deleted since: it is not written again."""
    GONE = "gone"
    """Was imported, and is on the page no more."""


@dataclass(frozen=True, slots=True)
class EditionDraft:
    """One edition, ready to be written."""

    lang: Language
    title: str
    body: str
    source: Source
    updated: date
    doubts: tuple[Doubt, ...]
    images: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry as it would be written."""

    id: str
    candidate: Candidate
    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    signatures: tuple[str, ...]
    editions: Mapping[Language, EditionDraft]

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Those of both editions, each once."""
        return tuple(dict.fromkeys(each for edition in self.editions.values() for each in edition.doubts))
