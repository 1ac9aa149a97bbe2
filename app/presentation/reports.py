"""What the other routes answer: diagnosis, tags, the state of the content."""

from typing import Literal

from app.diagnosis.answers import LogError, Verdict
from app.entry import Language
from app.presentation.schemas import Answer, Match, Page


class Near(Answer):
    """An entry that does not explain the text, but shares `words` with it."""

    id: str
    title: str
    applies_to: str
    lang: Language
    words: tuple[str, ...]
    url: str
    api_url: str


class Diagnosis(Answer):
    """What explains the text, best first; `matches` is empty where no known entry does.

    `near` holds up to three entries that are similar in wording then; they are not answers. `verdict` says which it is:
    `matched`, `near`, `unknown`, or `no_error` for a text without any sign of an error, which may have `near` as well.
    """

    verdict: Verdict
    matches: tuple[Match, ...]
    near: tuple[Near, ...]
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
    """`changed`: something new is served. `behind`: the process ids of those of the `workers` that did not serve
    `generation` yet when the answer was due."""

    changed: bool
    generation: str
    workers: int
    behind: tuple[int, ...]
