"""What the workbench holds and shows: the fields of its form, and its page before it is HTML."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.entry import Language
from app.usecases.workbench.desk import OpenedEdition
from app.web.pages.parts import Link


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the fields. `entry`: the id of the entry that was opened, empty for a new one; `draft`: what the
    browser keeps the text under; `opened` are the digests of its files then, `seen` those of files that the author has
    been shown since."""

    entry: str = ""
    draft: str = ""
    framework: str = ""
    slug: str = ""
    texts: Mapping[Language, str] = field(default_factory=dict)
    opened: Mapping[Language, str] = field(default_factory=dict)
    seen: Mapping[Language, str] = field(default_factory=dict)
    log: str = ""
    keep: bool = False
    author: str = ""
    email: str = ""
    message: str = ""

    @property
    def id(self) -> str:
        """The entry that is written."""
        return self.entry or f"{self.framework}/{self.slug}"


@dataclass(frozen=True, slots=True)
class Said:
    """What came of an action, as sentences for the top of the page. `done`: the draft that
    need not be kept any more; `begun`: one may be kept already."""

    note: str = ""
    warning: str = ""
    link: Link | None = None
    theirs: Mapping[Language, OpenedEdition] = field(default_factory=dict)
    done: str = ""
    begun: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a field; `held`: the draft has it."""

    value: str
    name: str
    held: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong. `fatal`: nothing is served while it is."""

    path: str
    line: int
    rule: str
    message: str
    fatal: bool


@dataclass(frozen=True, slots=True)
class EditionView:
    """A column. `preview`: the page as it would be served, empty where it could not be."""

    lang: Language
    name: str
    text: str
    opened: str
    findings: tuple[Finding, ...]
    preview: str
    theirs: OpenedEdition | None
    host: Link | None
    too_long: bool
    """Whether the git host's form cannot be filled in, because of the text's length."""


@dataclass(frozen=True, slots=True)
class TakenRow:
    """An entry that a log is taken for. `own`: it is the one that is written."""

    title: str
    lang: str
    own: bool
    confidence: str
    confidence_name: str
    signature: str


@dataclass(frozen=True, slots=True)
class RankRow:
    """A query, the place that the entry has for it, in words, and who wins instead."""

    query: str
    field: str
    place: str
    winner: Link | None


@dataclass(frozen=True, slots=True)
class WorkbenchView:
    """What `workbench.html` shows. `started`: something is being written."""

    action: str
    style: str
    started: bool
    form: Form
    said: Said
    frameworks: tuple[Choice, ...]
    kinds: tuple[Choice, ...]
    topics: tuple[Choice, ...]
    error_types: tuple[Choice, ...]
    wordings: tuple[Choice, ...]
    entries: tuple[str, ...]
    editions: tuple[EditionView, ...]
    others: tuple[Finding, ...]
    status: str
    before: tuple[TakenRow, ...]
    after: tuple[TakenRow, ...]
    tried: bool
    won: tuple[RankRow, ...]
    lost: tuple[RankRow, ...]
    """Queries for which the entry is first, and those for which it is not."""
    alike: tuple[Link, ...]
    writes: bool
