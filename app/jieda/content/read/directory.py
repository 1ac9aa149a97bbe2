"""Lists and reads the files of content directories; no other module opens content files.

    taxonomy.yaml  glossary.yaml  dictionary.txt  programs.yaml  failures.yaml
    en|zh/<framework>/<slug>.md            editions, with images beside them
    samples/<framework>/<slug>/*.log       texts that must be diagnosed as that entry
    background/*.log                       texts that no entry explains
    site/<image>                           logo and icon, named in taxonomy.yaml

Nothing deeper is visited, so loops of links do no harm. Hidden files are skipped. A link that leads out of the
directory, or to a hidden file such as `.git/config`, is refused. A file that cannot be read is reported and affects no
other file.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import error, unpack_from
from typing import Generic, NamedTuple, TypeVar

from jieda.content.markdown.links import IMAGE_TYPES
from jieda.disk import is_readable_folder
from jieda.entry import Language, Problem
from jieda.errors import ContentError

SHARED_FILES = ("taxonomy.yaml", "glossary.yaml", "dictionary.txt", "programs.yaml", "failures.yaml")
BACKGROUND, BRAND = "background", "site"
SAMPLES = "samples"
LANGUAGE_LIKE = re.compile(r"(?!(?-i:en|zh)$)[a-z]{2}(?:[-_]\w+)?|chs|chinese|english", re.IGNORECASE)
_HIDDEN = re.compile(r"/\.(?!\.)")
"""A hidden name in a path. Names with two dots are not hidden: Kubernetes mounts files as links to `..data`."""
MAX_FILE_BYTES = 128 << 10
"""Maximum size of an edition: any Markdown of that size is parsed in two seconds. The longest shipped one has 7 KiB."""
MAX_OTHER_BYTES = 4 << 20
"""Maximum size of an image, log sample or shared file."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as read from disk. `where` is its path below the content directory, with slashes; `modified` is the file
    time in seconds since the epoch."""

    where: str
    path: Path
    content: bytes
    modified: float


class FoundFile(NamedTuple):
    """A readable content file. `where` is its path below the content directory, with slashes. The fields with defaults
    serve to detect changes without reading it; times are in nanoseconds since the epoch."""

    root: str
    where: str
    path: str
    size: int = 0
    modified: int = 0
    changed: int = 0
    inode: int = 0


File = TypeVar("File")
AnyFile = TypeVar("AnyFile", "FoundFile", "KnownFile")


@dataclass(frozen=True, slots=True)
class ContentFiles(Generic[File]):
    """The files of one content directory by purpose, each list sorted by `where`."""

    root: Path
    shared: tuple[File, ...]
    editions: tuple[File, ...]
    images: tuple[File, ...]
    samples: tuple[File, ...]
    background: tuple[File, ...]

    @property
    def files(self) -> tuple[File, ...]:
        return (*self.shared, *self.editions, *self.images, *self.samples, *self.background)


@dataclass(frozen=True, slots=True)
class DirectoryListing(ContentFiles[FoundFile]):
    """The files found, and `problems` about those that were skipped. `folders` are all listed folders, the root first,
    to be watched for changes."""

    problems: tuple[Problem, ...]
    folders: tuple[str, ...]

    def read(self, read: "Callable[[FoundFile], KnownFile | None]") -> "ContentFiles[KnownFile]":
        """Return the files as `read` returns them, without those that it cannot read."""
        lists = (self.shared, self.editions, self.images, self.samples, self.background)
        return ContentFiles(self.root, *(tuple(filter(None, map(read, files))) for files in lists))


def list_directory(directory: Path, languages: frozenset[Language] = frozenset(Language)) -> DirectoryListing:
    """List the files of a content directory, with editions and images only in `languages`. Raises ContentError if the
    directory is gone, for example because a volume is not mounted."""
    if not is_readable_folder(directory):
        raise ContentError(directory, 1, "the content directory is gone or cannot be read")
    walk = _Walk(os.path.realpath(directory))
    shared = tuple(walk.shared())
    walk.report_misnamed()
    ignored = frozenset(Language) - languages
    by_folder = {
        name: sort_files(walk.files(name, *rules)) for name, rules in _FOLDERS.items() if name not in ignored
    }
    in_languages = [file for lang in sorted(languages) for file in by_folder[lang]]
    return DirectoryListing(
        root=Path(walk.root),
        shared=shared,
        editions=tuple(file for file in in_languages if file.where.endswith(".md")),
        images=(*(file for file in in_languages if not file.where.endswith(".md")), *by_folder[BRAND]),
        samples=by_folder[SAMPLES],
        background=by_folder[BACKGROUND],
        problems=tuple(walk.problems),
        folders=tuple(walk.folders),
    )


def read_file(file: FoundFile) -> SourceFile:
    """Read a file. Raises OSError if it is gone, unreadable, or has become a link out of the content directory."""
    real = os.path.realpath(file.path)
    if not _is_below(real, file.root):
        raise PermissionError(0, "leads out of the content directory", file.path)
    # Do not follow a link created in the meantime, and do not wait for the writer of a pipe.
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PermissionError(0, "is not a file", file.path)
        content = opened.read(limit_of(file.where) + 1)
    return SourceFile(file.where, Path(file.path), content, file.modified / 1e9)


def unreadable(file: FoundFile, error: OSError) -> Problem:
    """Return the problem that a listed file cannot be read."""
    return Problem(file.where, 1, "unreadable", error.strerror or "cannot be read", served=False)


def limit_of(where: str) -> int:
    """Return the maximum size of a file in bytes."""
    return MAX_FILE_BYTES if where.endswith(".md") else MAX_OTHER_BYTES


def sort_files(files: Iterable[AnyFile]) -> tuple[AnyFile, ...]:
    """Sort files by their paths below the content directory."""
    return tuple(sorted(files, key=lambda file: file.where))


def _is_below(path: str, root: str) -> bool:
    """Whether a real path is in the directory `root`, with no hidden name below that."""
    folder = root.rstrip(os.sep)
    return path == root or (path.startswith(folder + os.sep) and not _HIDDEN.search(path, len(folder)))


def _printable(where: str) -> str:
    # A problem with a name that is not UTF-8 must still be printable.
    return where.encode("utf-8", "replace").decode()


_IMAGE = f"(?i:{'|'.join(map(re.escape, sorted(IMAGE_TYPES)))})"
_LOG = re.compile(r"\.log\Z")
_FOLDERS: Mapping[str, tuple[int, re.Pattern[str], str]] = {
    **dict.fromkeys(
        Language,
        (
            1,
            re.compile(rf"(?:\.md|{_IMAGE})\Z"),
            "is neither an edition, <lang>/<framework>/<slug>.md, nor an image beside one that can be served",
        ),
    ),
    BRAND: (
        0,
        re.compile(rf"(?:(?i:\.svg)|{_IMAGE})\Z"),
        "is not an image that can be served as a logo or an icon",
    ),
    SAMPLES: (2, _LOG, "samples belong in samples/<framework>/<slug>/*.log"),
    BACKGROUND: (0, _LOG, "logs that no entry explains belong in background/*.log"),
}
"""For each folder: the levels of folders in it, the endings of file names, and the message about anything else."""


class _Walk:
    """Lists files below one root and collects problems about those that it skips."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.folders: list[str] = [root]

    def shared(self) -> Iterator[FoundFile]:
        for name in SHARED_FILES:
            path = os.path.join(self.root, name)  # noqa: PTH118 - tens of thousands of files: Path costs seconds
            if os.path.lexists(path) and (file := self._take(path, name, link=os.path.islink(path))):  # noqa: PTH114 - as above
                yield file

    def report_misnamed(self) -> None:
        """Report files and folders that would be read if they had the right name."""
        with suppress(OSError), os.scandir(self.root) as items:
            for item in sorted(items, key=lambda each: each.name):
                if item.name.endswith(".yml") and f"{item.name[:-4]}.yaml" in SHARED_FILES:
                    self._report(item.name, "place", f"is not read: name it {item.name[:-4]}.yaml")
                elif LANGUAGE_LIKE.fullmatch(item.name) and any(Path(item.path).glob("*/*.md")):
                    self._report(item.name, "place", "is not read: editions belong in en/ and zh/")

    def files(
        self, folder: str, levels: int, ending: re.Pattern[str], message: str, *, link: bool = True
    ) -> Iterator[FoundFile]:
        """Yield files whose names end in `ending`, `levels` folders deep in a folder; report the rest."""
        for item in self._listing(folder, link=link):
            where = f"{folder}/{item.name}"
            if levels and item.is_dir():
                yield from self.files(where, levels - 1, ending, message, link=item.is_symlink())
            elif levels or not ending.search(item.name):
                self._report(where, "place", message)
            elif file := self._take(item.path, where, link=item.is_symlink()):
                yield file

    def _take(self, path: str, where: str, *, link: bool) -> FoundFile | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - as above
            if link and not _is_below(os.path.realpath(path), self.root):
                self._report(where, "link", "leads out of the content directory")
            elif not stat.S_ISREG(status.st_mode):
                self._report(where, "place", "is not a file")
            elif status.st_size > limit_of(where):
                self._report(where, "size", f"has {status.st_size} bytes, more than {limit_of(where)}")
            else:
                stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
                return FoundFile(self.root, where, path, *stamp)
        except OSError as error:
            self._report(where, "unreadable", error.strerror or "cannot be read")
        return None

    def _listing(self, where: str, *, link: bool = True) -> list[os.DirEntry[str]]:
        """List a folder, sorted by name. `link`: whether it may be a link itself; its parents have been checked."""
        folder = os.path.join(self.root, where)  # noqa: PTH118 - as above
        try:
            if link and not _is_below(os.path.realpath(folder), self.root):
                self._report(where, "link", "leads out of the content directory")
                return []
            with os.scandir(folder) as items:
                visible = [item for item in items if item.name[0] != "." and item.name[-1] != "~"]
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
            if not is_missing or os.path.islink(folder):  # noqa: PTH114 - as above
                self._report(where, "unreadable", error.strerror or "cannot be read")
            return []
        self.folders.append(folder)
        # A name that is not UTF-8 cannot be printed, stored in a database or written into an address.
        undecodable = [item for item in visible if _printable(item.name) != item.name]
        for item in undecodable:
            self._report(f"{where}/{item.name}", "place", "is not read: its name is not UTF-8")
        return sorted(set(visible).difference(undecodable), key=lambda item: item.name)

    def _report(self, where: str, rule: str, message: str) -> None:
        self.problems.append(Problem(_printable(where), 1, rule, message, served=False))


Size = tuple[int, int]
"""Width and height in pixels."""

FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame. The three excluded ones begin something else."""


def image_size(content: bytes) -> Size | None:
    """Return the size of a PNG, GIF, JPEG or WebP image; None for other formats or without a valid size."""
    reader = next((read for start, read in _READERS.items() if content.startswith(start)), None)
    try:
        size = reader(content) if reader else None
    except error:
        return None
    return size if size and all(size) else None


def _jpeg(content: bytes) -> Size | None:
    offset = 2
    while offset + 4 <= len(content) and content[offset] == 0xFF:
        marker, length = unpack_from(">xBH", content, offset)
        if marker in FRAMES:
            height, width = unpack_from(">HH", content, offset + 5)
            return width, height
        offset += 2 + length
    return None


def _webp(content: bytes) -> Size | None:
    if content[8:16] == b"WEBPVP8 ":
        width, height = unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if content[8:16] == b"WEBPVP8L":
        (bits,) = unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if content[8:16] == b"WEBPVP8X":
        width, height = unpack_from("<I", content, 24)[0], unpack_from("<I", content, 26)[0] >> 8
        return (width & 0xFFFFFF) + 1, height + 1
    return None


_READERS: Mapping[bytes, Callable[[bytes], Size | None]] = {
    b"\x89PNG\r\n\x1a\n": lambda content: unpack_from(">II", content, 16),
    b"GIF87a": lambda content: unpack_from("<HH", content, 6),
    b"GIF89a": lambda content: unpack_from("<HH", content, 6),
    b"\xff\xd8": _jpeg,
    b"RIFF": _webp,
}


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file and the SHA-256 of its content. `note`: the size of an image, such as `640x480`; the first line of a log
    that is not UTF-8; otherwise empty."""

    found: FoundFile
    content: str
    note: str

    @property
    def where(self) -> str:
        return self.found.where

    @property
    def path(self) -> Path:
        return Path(self.found.path)

    @property
    def modified(self) -> float:
        """File time in seconds since the epoch."""
        return self.found.modified / 1e9

    @property
    def size(self) -> Size | None:
        """The size of an image, if known."""
        width, _, height = self.note.partition("x")
        return (int(width), int(height)) if height else None


@dataclass(frozen=True, slots=True)
class Reading:
    """All content directories, in order. `problems`: about files that were skipped; `folders`: to be watched for
    changes."""

    directories: tuple[ContentFiles[KnownFile], ...]
    problems: tuple[Problem, ...]
    folders: frozenset[str]


def content_hash(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def note_of(source: SourceFile) -> str:
    """Return the `KnownFile.note` of a file."""
    if source.where.endswith(".log"):
        try:
            source.content.decode("utf-8")
        except UnicodeDecodeError as error:
            return str(source.content.count(b"\n", 0, error.start) + 1)
        return ""
    if source.where.endswith((".md", ".yaml", ".txt")):
        return ""
    size = image_size(source.content)
    return f"{size[0]}x{size[1]}" if size else ""
