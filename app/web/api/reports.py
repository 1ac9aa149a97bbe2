"""What the other routes answer: diagnosis, tags, the state of the content."""

from typing import Literal

from app.entry import Language
from app.search.answers import Confidence, MatchReason
from app.web.api.schemas import Answer, Page


class MatchedLine(Answer):
    """A line of the text that speaks for a match; `line` counts from 1."""

    line: int
    text: str
    reason: MatchReason


class Match(Answer):
    """An entry that explains the text; `fix` is the part that helps, as Markdown."""

    id: str
    title: str
    lang: Language
    confidence: Confidence
    matched: tuple[MatchedLine, ...]
    fix: str
    url: str
    api_url: str


class LogError(Answer):
    """A failure that the text tells of; `count` is how often, over all ranks."""

    type: str
    message: str
    line: int
    count: int


class Diagnosis(Answer):
    """What explains the text, best first; `matches` is empty where no known entry does."""

    matches: tuple[Match, ...]
    errors: tuple[LogError, ...]
    framework: str
    generation: str


class Tag(Answer):
    """A tag and how many entries carry it."""

    id: str
    name: str
    description: str
    count: int
    url: str


class Framework(Tag):
    """A framework with its home."""

    homepage: str
    repository: str


class TagList(Page):
    """Tags in the order of the taxonomy."""

    items: tuple[Tag, ...]


class FrameworkList(Page):
    """Frameworks in the order of the taxonomy."""

    items: tuple[Framework, ...]


class ContentProblem(Answer):
    """Something wrong in a content file. `served`: the rest of the file is served all the same."""

    path: str
    line: int
    rule: str
    message: str
    served: bool


class ContentProblemList(Page):
    """Problems of the content, in the order of the check."""

    items: tuple[ContentProblem, ...]


class Translation(Answer):
    """The state of an entry's editions."""

    id: str
    en: Literal["present", "missing", "stale"]
    zh: Literal["present", "missing", "stale"]
    url: str
    api_url: str


class TranslationList(Page):
    """Entries by id."""

    items: tuple[Translation, ...]


class Reloaded(Answer):
    """`changed`: something new is served."""

    changed: bool
    generation: str
