"""What one edition's file says by itself, without its text: what twins, links and checks need of it."""

import re
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path

from jieda.content.markdown.body import PlacedHeading
from jieda.content.markdown.links import Link
from jieda.content.read.front_matter import FrontMatter
from jieda.entry import Language

LEFT_TO_WRITE = re.compile(r"\bTODO:|待填：|license: 'TODO'")
"""What `jieda new` leaves to be written."""


@dataclass(frozen=True, slots=True)
class FileOutline:
    """What follows from the bytes and the place of a file alone: it is kept on disk under their hash.

    `lines` has the line of every front matter field; `code` the code spans and blocks in order, as written;
    `unfinished` the lines that still hold text of the skeleton; `leanings` where the fix leans on something else
    than itself, with what is wrong; `fix_words` how long the fix is, code blocks and tables left out;
    `fix_names_no_option`: neither its framework nor anything that looks like an option.
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
    leanings: tuple[tuple[int, str], ...]
    fix_words: int
    fix_names_no_option: bool


@dataclass(frozen=True, slots=True)
class Outline(FileOutline):
    """An edition's file: what it says and where it lies. `modified` is the file time in seconds since the epoch."""

    path: Path
    modified: float
    content: str
    """SHA-256 of its bytes, in hexadecimal digits."""
    anchors: frozenset[str]
    """Every anchor that a link may lead to."""

    @classmethod
    def of(cls, file: FileOutline, path: Path, modified: float, content: str) -> "Outline":
        """The outline of a file that lies at `path`."""
        said = {each.name: getattr(file, each.name) for each in fields(file)}
        anchors = frozenset(placed.heading.anchor for placed in file.headings)
        return cls(**said, path=path, modified=modified, content=content, anchors=anchors)

    def line(self, name: str) -> int:
        """The line of a front matter field; the first line where it is absent."""
        return self.lines.get(name, 1)

    @property
    def section_keys(self) -> tuple[str, ...]:
        """The anchors of the sections, in order."""
        return tuple(placed.heading.anchor for placed in self.headings if placed.section)

    @property
    def updated(self) -> date:
        """The day it says, or that of the file where it says none."""
        return self.front.updated or file_day(self.modified)


def file_day(modified: float) -> date:
    """The day of a file time; the first or last day there is for times outside of the calendar."""
    try:
        return datetime.fromtimestamp(modified, UTC).date()
    except (OverflowError, ValueError, OSError):
        return date.max if modified > 0 else date.min
