"""What an entry is, whatever reads or shows it. Frozen values with look-ups, no more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path


class Language(StrEnum):
    """A language that editions are written in and that pages are shown in."""

    EN = "en"
    ZH = "zh"

    @property
    def tag(self) -> str:
        """The BCP 47 tag for `lang` and `hreflang`."""
        return "zh-CN" if self is Language.ZH else "en"

    @property
    def own_name(self) -> str:
        """What the language calls itself, whatever the language of the page."""
        return "中文" if self is Language.ZH else "English"

    @property
    def other(self) -> "Language":
        return Language.EN if self is Language.ZH else Language.ZH


class Kind(StrEnum):
    """What sort of question an entry answers."""

    ERROR = "error"
    HOW_TO = "how-to"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Source:
    """Where an entry's facts come from."""

    title: str
    url: str
    license: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Error text to be found in a log: every line of `all`, and `any` raises confidence.

    `likely`: other programs print it as well, so it never proves more than that. `near`: the lines of `all` stand
    within so many lines or in one traceback; 0 for anywhere. `shapes`: what two shapes in one line must have, as pairs
    of a part (`first` number, `rest`) and a relation (`differ`, `equal`). `unless`: a log that has one of these lines
    is of another failure.
    """

    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    likely: bool = False
    near: int = 0
    shapes: tuple[tuple[str, str], ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All its lines, those that must occur first."""
        return self.all + self.any


@dataclass(frozen=True, slots=True)
class Verified:
    """The day on which somebody last made sure of an entry, and with what, such as `slime 0.2.4`."""

    on: date
    using: str


@dataclass(frozen=True, slots=True)
class Validity:
    """What an entry holds for. `versions` and `fixed_in` by program: the range in which it holds, and the version from
    which on it does not any more."""

    versions: Mapping[str, str] = field(default_factory=dict)
    fixed_in: Mapping[str, str] = field(default_factory=dict)
    verified: Verified | None = None

    @property
    def holds(self) -> tuple[str, ...]:
        """What an entry says of each program, such as `slime >=0.2,<0.3 0.2.5`: the range that it holds for, and from
        which version on it is mended. Entries are filtered by it."""
        return tuple(
            f"{program} {self.versions.get(program, '').replace(' ', '')} {self.fixed_in.get(program, '')}"
            for program in {**self.versions, **self.fixed_in}
        )


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below H1; `anchor` is unique within its page."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one H2. `key` is the H2's anchor (`fix`, `cause`, …), the same in both languages."""

    key: str
    title: str
    markdown: str
    html: str
    text: str
    """Plain text of the rendered section: one line per block, code included, no markup."""
    code: tuple[tuple[int, int], ...]
    """Where in `text` code spans and code blocks start and end."""


@dataclass(frozen=True, slots=True)
class Edition:
    """An entry in one language: what one Markdown file says."""

    lang: Language
    title: str
    aliases: tuple[str, ...]
    symptoms: tuple[str, ...]
    applies_to: str
    source: tuple[Source, ...]
    updated: date
    synced_with: str
    digest: str
    """First 12 hex digits of SHA-256 over title and body."""
    path: Path
    raw: str
    """The whole file, front matter included."""
    markdown: str
    html: str
    sections: tuple[Section, ...]
    headings: tuple[Heading, ...]
    code: tuple[str, ...]
    """Code spans and code blocks of the body, in order, as written."""

    def section(self, *keys: str) -> Section | None:
        """The first section that has one of `keys`, in the order of `keys`."""
        by_key = {section.key: section for section in self.sections}
        return next((by_key[key] for key in keys if key in by_key), None)

    @property
    def answer(self) -> Section | None:
        """The section that a reader came for."""
        return self.section("fix", "answer", "steps", "example")


@dataclass(frozen=True, slots=True)
class Named:
    """What has the id of an entry, `<framework>/<slug>`."""

    id: str

    @property
    def framework(self) -> str:
        """The folder the entry lies in."""
        return self.id.partition("/")[0]

    @property
    def slug(self) -> str:
        """The file name without its ending."""
        return self.id.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Entry(Named):
    """One question with its answer, in one or two editions that agree on everything said here."""

    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    signatures: tuple[Signature, ...]
    related: tuple[str, ...]
    formerly: tuple[str, ...]
    editions: Mapping[Language, Edition]
    stale: frozenset[Language]
    """Editions whose twin has changed since the two were last synced."""
    validity: Validity = Validity()
    applies_anywhere: bool = False
    """Its fix holds in the log of any program, not of its framework alone."""

    @property
    def signature_lines(self) -> tuple[str, ...]:
        return tuple(line for signature in self.signatures for line in signature.lines)

    def edition(self, lang: Language) -> Edition:
        """The edition to show to a reader of `lang`: that one if it exists, otherwise the other."""
        return self.editions.get(lang) or next(iter(self.editions.values()))

    @property
    def updated(self) -> date:
        """The day of the latest change to any edition."""
        return max(edition.updated for edition in self.editions.values())


@dataclass(frozen=True, slots=True)
class EditionSummary:
    """What a list shows of an edition. `stale`: its twin has changed since the two were last synced."""

    lang: Language
    title: str
    applies_to: str
    updated: date
    stale: bool
    digest: str
    path: str


@dataclass(frozen=True, slots=True)
class Summary(Named):
    """What a list shows of an entry. All of them are held in memory, so it has no more than lists need."""

    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    related: tuple[str, ...]
    updated: date
    editions: Mapping[Language, EditionSummary]
    validity: Validity = Validity()

    @property
    def stale(self) -> frozenset[Language]:
        """Editions whose twin has changed since the two were last synced."""
        return frozenset(lang for lang, edition in self.editions.items() if edition.stale)

    def shown(self, lang: Language) -> Language:
        """The language of the edition that a reader of `lang` is shown."""
        return lang if lang in self.editions else lang.other

    def edition(self, lang: Language) -> EditionSummary:
        """The edition to show to a reader of `lang`: that one if it exists, otherwise the other."""
        return self.editions[self.shown(lang)]


@dataclass(frozen=True, slots=True)
class Sample:
    """A log that must be diagnosed as the entry it belongs to."""

    entry_id: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a content file: `path:line: rule: message`."""

    path: str
    """Relative to its content directory."""
    line: int
    rule: str
    message: str
    served: bool
    """False where the file is kept from being served."""
    draft: bool = False
    """Whether it tells of a draft, which is for those who work on the files and not for readers."""

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {self.rule}: {self.message}")


def printable(line: str) -> str:
    """Return a line in which nothing controls a terminal or ends the line: names of files may hold anything."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in line
    )
