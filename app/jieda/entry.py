"""The model of an entry: frozen values with look-ups."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from enum import StrEnum
from pathlib import Path

from jieda.han import has_han


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
        """The name that speakers of the language use."""
        return "中文" if self is Language.ZH else "English"

    @property
    def other(self) -> "Language":
        return Language.EN if self is Language.ZH else Language.ZH

    @classmethod
    def of(cls, text: str) -> "Language":
        """Return Chinese for a text with Han characters, otherwise English."""
        return cls.ZH if has_han(text) else cls.EN


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

    @property
    def stated_license(self) -> str:
        """The license to show; empty for `NOASSERTION`, SPDX's word for none stated."""
        return "" if self.license == "NOASSERTION" else self.license


@dataclass(frozen=True, slots=True)
class Signature:
    """Error text to find in a log: every line of `all` must occur; lines of `any` raise the confidence.

    `likely`: other programs print it as well, so a match is at most likely. `near`: the lines of `all` must be within
    this many lines of each other or in one traceback; 0 for anywhere. `shapes`: conditions on two shapes in one line,
    as pairs of a part (`first` number, `rest`) and a relation (`differ`, `equal`). `unless`: a log with one of these
    lines has another failure.
    """

    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    likely: bool = False
    near: int = 0
    shapes: tuple[tuple[str, str], ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All its lines, the required ones first."""
        return self.all + self.any


@dataclass(frozen=True, slots=True)
class Verified:
    """The day on which an entry was last verified, and with what, such as `slime 0.2.4`."""

    on: date
    using: str


@dataclass(frozen=True, slots=True)
class Validity:
    """The versions that an entry holds for, by program: `versions` has the range, `fixed_in` the first version that it
    no longer holds for."""

    versions: Mapping[str, str] = field(default_factory=dict)
    fixed_in: Mapping[str, str] = field(default_factory=dict)
    verified: Verified | None = None

    @property
    def holds(self) -> tuple[str, ...]:
        """Program, range and `fixed_in` in one text each, such as `slime >=0.2,<0.3 0.2.5`, for filters."""
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
    """The content under one H2. `key` is the H2's anchor (`fix`, `cause`, …), the same in both languages."""

    key: str
    title: str
    markdown: str
    html: str
    text: str
    """Plain text of the rendered section: one line per block, code included, no markup."""
    code: tuple[tuple[int, int], ...]
    """Start and end of code spans and code blocks in `text`."""


@dataclass(frozen=True, slots=True)
class Edition:
    """An entry in one language: the content of one Markdown file."""

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
        """Return the first section with one of `keys`, in the order of `keys`."""
        by_key = {section.key: section for section in self.sections}
        return next((by_key[key] for key in keys if key in by_key), None)

    @property
    def answer(self) -> Section | None:
        return self.section("fix", "answer", "steps", "example")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryHead:
    """An entry without its editions; `id` is `<framework>/<slug>`."""

    id: str
    kind: Kind
    topics: tuple[str, ...]
    error_types: tuple[str, ...]
    signatures: tuple[Signature, ...]
    related: tuple[str, ...]
    formerly: tuple[str, ...]
    validity: Validity = Validity()
    applies_anywhere: bool = False
    """Whether its fix holds for the logs of any program, not only of its framework."""

    @property
    def framework(self) -> str:
        return self.id.partition("/")[0]

    @property
    def slug(self) -> str:
        return self.id.partition("/")[2]

    @property
    def signature_lines(self) -> tuple[str, ...]:
        return tuple(line for signature in self.signatures for line in signature.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(EntryHead):
    """One question with its answer, in one or two editions."""

    editions: Mapping[Language, Edition]
    stale: frozenset[Language]
    """Editions whose twin has changed since the two were last synced."""

    def edition(self, lang: Language) -> Edition:
        """Return the edition to show to a reader of `lang`: that one if it exists, otherwise the other."""
        return self.editions.get(lang) or next(iter(self.editions.values()))

    @property
    def updated(self) -> date:
        """The day of the latest change to any edition."""
        return max(edition.updated for edition in self.editions.values())


@dataclass(frozen=True, slots=True)
class EditionSummary:
    """The fields of an edition that lists show. `stale`: its twin has changed since the two were last synced."""

    lang: Language
    title: str
    applies_to: str
    updated: date
    stale: bool
    digest: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(EntryHead):
    """An entry with the fields of its editions that lists show."""

    updated: date
    editions: Mapping[Language, EditionSummary]

    @property
    def stale(self) -> frozenset[Language]:
        """Editions whose twin has changed since the two were last synced."""
        return frozenset(lang for lang, edition in self.editions.items() if edition.stale)

    def shown(self, lang: Language) -> Language:
        """Return the language of the edition to show to a reader of `lang`."""
        return lang if lang in self.editions else lang.other

    def edition(self, lang: Language) -> EditionSummary:
        """Return the edition to show to a reader of `lang`: that one if it exists, otherwise the other."""
        return self.editions[self.shown(lang)]

    def entry(self, editions: Mapping[Language, Edition]) -> Entry:
        """Return the whole entry, given its editions."""
        head = {each.name: getattr(self, each.name) for each in fields(EntryHead)}
        return Entry(**head, editions=editions, stale=self.stale)


@dataclass(frozen=True, slots=True)
class Sample:
    """A log whose diagnosis must be the entry it belongs to."""

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
    """Whether the file is served despite the problem."""
    draft: bool = False
    """Whether it is about a draft: shown to authors, not to readers."""

    def __str__(self) -> str:
        return escape_controls(f"{self.path}:{self.line}: {self.rule}: {self.message}")


NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no text of an entry has: controls other than tab and LF, which a reader's terminal would obey, lone
surrogates and noncharacters."""


def escape_controls(line: str) -> str:
    """Return a line with control characters and line ends escaped, since file names may contain them."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


def fold_program(name: str) -> str:
    """Normalize the name of a program as pip does: `PyTorch_Lightning` is `pytorch-lightning`."""
    return re.sub("[-_.]+", "-", name).casefold()


def fold_name(name: str) -> str:
    """Normalize the case, width and white space of a title, or another name of an entry, for comparison."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
