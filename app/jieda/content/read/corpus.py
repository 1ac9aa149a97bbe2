"""Outlines of editions, and the corpus: all content that was read, drafts included. Input of checks and entries."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import unquote

from jieda.content.markdown.body import PlacedHeading
from jieda.content.markdown.links import Link, LinkKind
from jieda.content.read.directory import KnownFile
from jieda.content.read.forms import FrontMatter
from jieda.entry import Language
from jieda.taxonomy import Taxonomy

PLACEHOLDER = re.compile(r"\bTODO:|待填：|license: 'TODO'")
"""Placeholders that `jieda new` writes."""


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The part of an outline that depends only on a file's bytes and path. It is stored under their hash.

    `lines`: the line of each front matter field; `code`: code spans and blocks in order, as written; `unfinished`:
    lines that still have text of the skeleton; `outside_references`: line and message of each place where the fix
    relies on text outside it; `fix_words`: number of words in the fix, outside code blocks and tables;
    `fix_names_no_option`: the fix names neither its framework nor anything that looks like an option.
    """

    id: str
    lang: Language
    where: str
    front: FrontMatter
    lines: dict[str, int]
    digest: str
    headings: tuple[PlacedHeading, ...]
    links: tuple[Link, ...]
    code: tuple[str, ...]
    code_spans: tuple[str, ...]
    first_line: int
    starts_with_section: bool
    unfinished: tuple[int, ...]
    outside_references: tuple[tuple[int, str], ...]
    fix_words: int
    fix_names_no_option: bool


@dataclass(frozen=True, slots=True)
class Outline(FileOutline):
    """An outline with the path and state of the file. `modified` is the file time in seconds since the epoch."""

    path: Path
    modified: float
    content: str
    """SHA-256 of the file's bytes, in hexadecimal."""
    anchors: frozenset[str]
    """All anchors that a link may target."""

    @classmethod
    def of(cls, outline: FileOutline, file: KnownFile) -> "Outline":
        values = {each.name: getattr(outline, each.name) for each in fields(outline)}
        anchors = frozenset(placed.heading.anchor for placed in outline.headings)
        return cls(**values, path=file.path, modified=file.modified, content=file.content, anchors=anchors)

    def line(self, name: str) -> int:
        """Return the line of a front matter field; 1 if it is absent."""
        return self.lines.get(name, 1)

    @property
    def section_keys(self) -> tuple[str, ...]:
        """Anchors of the sections, in order."""
        return tuple(placed.heading.anchor for placed in self.headings if placed.section)

    @property
    def updated(self) -> date:
        """The date in the front matter, or else the date of the file."""
        return self.front.updated or file_day(self.modified)


def file_day(modified: float) -> date:
    """Return the date of a file time. For times outside the calendar, return the first or last possible date."""
    try:
        return datetime.fromtimestamp(modified, UTC).date()
    except (OverflowError, ValueError, OSError):
        return date.max if modified > 0 else date.min


Editions = Mapping[Language, Outline]


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A log that must be diagnosed as its entry, or a background log, which has no entry: its `entry_id` is empty.
    `content`: SHA-256 of its bytes."""

    entry_id: str
    where: str
    path: Path
    content: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """All content that was read. `by_id`: all entries, sorted by id; `published`: the same without draft editions;
    `samples`: by entry id, including ids without an entry; `images`: by `<lang>/<framework>/<file name>`, in NFC;
    `background`: logs that no entry explains."""

    by_id: Mapping[str, Editions]
    published: Mapping[str, Editions]
    taxonomy: Taxonomy
    samples: Mapping[str, tuple[SampleFile, ...]]
    images: Mapping[str, KnownFile]
    background: tuple[SampleFile, ...] = ()

    @property
    def files(self) -> Iterable[Outline]:
        """All editions, sorted by id and language."""
        return (file for editions in self.by_id.values() for file in editions.values())

    @property
    def drafts(self) -> tuple[str, ...]:
        """The paths of draft editions, in the order of their entries."""
        return tuple(file.where for file in self.files if file.front.draft)

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages of the editions, in which new entries are written too; both if there are no entries."""
        used = {lang for editions in self.by_id.values() for lang in editions}
        return tuple(lang for lang in Language if lang in used or not used)


def published(editions: Editions) -> Editions:
    """Return the editions that are not drafts."""
    return {lang: file for lang, file in editions.items() if not file.front.draft}


def link_fault(corpus: Corpus, file: Outline, link: Link) -> str:
    """Describe what is wrong with a link or an image in `file`; empty if its target exists. Only a draft may link to a
    draft."""
    if link.kind is LinkKind.REFUSED:
        return f"{unquote(link.written)!r} is not an http(s) or mailto address, #anchor or relative .md path"
    if link.kind is LinkKind.ANCHOR and link.anchor not in file.anchors:
        return f"{link.written!r}: this page has no such anchor"
    if link.kind is LinkKind.REFUSED_IMAGE or (
        link.kind is LinkKind.IMAGE and f"{file.lang}/{link.target}" not in corpus.images
    ):
        return (
            f"{unquote(link.written)!r}: there is no such image (.png, .jpg, .gif or .webp) beside the file"
        )
    if link.kind is LinkKind.ENTRY:
        return _entry_link_fault(corpus, file, link)
    return ""


def _entry_link_fault(corpus: Corpus, file: Outline, link: Link) -> str:
    target = (corpus.by_id if file.front.draft else corpus.published).get(link.target)
    if target is None:
        state = "is a draft" if link.target in corpus.by_id else "does not exist"
        return f"{link.written!r}: {link.target} {state}"
    edition = target.get(file.lang) or next(iter(target.values()))
    if link.anchor and link.anchor not in edition.anchors:
        return f"{link.written!r}: {link.target} has no anchor {link.anchor}"
    return ""


def stale_languages(editions: Editions) -> frozenset[Language]:
    """Return the languages of editions that are behind their twin.

    If only one has changed since the sync, the digests show which. If both have, the one with the earlier `updated`, or
    else the earlier file time, is stale; if those are equal, both are. Git's times are not used: they would cost a
    process per file, git is absent from container images, and it does not know uncommitted edits.
    """
    if len(editions) < 2:
        return frozenset()
    first, second = editions.values()
    behind = {
        file.lang
        for file, twin in ((first, second), (second, first))
        if file.front.synced_with not in {"", twin.digest}
    }
    if len(behind) < 2 or _time(first) == _time(second):
        return frozenset(behind)
    return frozenset({min(first, second, key=_time).lang})


def newest(editions: Editions) -> Outline:
    """Return the edition that was changed last. It prevails if twins contradict each other."""
    return max(editions.values(), key=lambda file: (*_time(file), file.lang))


def _time(file: Outline) -> tuple[int, float]:
    return file.updated.toordinal(), file.modified
