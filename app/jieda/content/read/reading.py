"""What lies in content directories at one moment: which files, and which bytes each has."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from jieda.content.read.directory import FoundFile, image_size
from jieda.content.read.gather import encoding_fault
from jieda.content.read.parse import SourceFile
from jieda.entry import Problem


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file and the SHA-256 of its content. `note`: of an image its size as `640x480`, of a log the line where
    it stops being UTF-8; otherwise empty."""

    found: FoundFile
    content: str
    note: str

    @property
    def where(self) -> str:
        """Its path below the content directory."""
        return self.found.where

    @property
    def path(self) -> Path:
        return Path(self.found.path)

    @property
    def modified(self) -> float:
        """Its time in seconds since the epoch."""
        return self.found.stamp.modified / 1e9


@dataclass(frozen=True, slots=True)
class DirectoryReading:
    """The files of one content directory, each list sorted by `where`."""

    root: Path
    shared: tuple[KnownFile, ...]
    editions: tuple[KnownFile, ...]
    images: tuple[KnownFile, ...]
    samples: tuple[KnownFile, ...]
    background: tuple[KnownFile, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """All content directories in their order. `problems` are about files that were passed over; `folders` are those
    that a change may happen in."""

    directories: tuple[DirectoryReading, ...]
    problems: tuple[Problem, ...]
    folders: frozenset[str]


def content_hash(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def note_of(source: SourceFile) -> str:
    """The note of a file."""
    if source.where.endswith(".log"):
        line = encoding_fault(source.content)
        return str(line) if line else ""
    if source.where.endswith((".md", ".yaml", ".txt")):
        return ""
    size = image_size(source.content)
    return f"{size[0]}x{size[1]}" if size else ""
