"""The only reader of content files: what lies in one content directory, sorted, bytes unread by anyone.

    taxonomy.yaml  glossary.yaml  dictionary.txt
    en|zh/<framework>/<slug>.md            editions, with images beside them
    samples/<framework>/<slug>/*.log       texts that must be diagnosed as that entry

Nothing deeper is looked at, so no loop of links can catch it; hidden files are passed over; a link that
leads out of the directory is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.content.links import IMAGE_TYPES
from app.content.parse import MAX_FILE_BYTES, SourceFile
from app.entry import Language, Problem

SHARED_FILES = ("taxonomy.yaml", "glossary.yaml", "dictionary.txt")
MAX_OTHER_BYTES = 4 << 20
"""Largest image, log sample or shared file that is read."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Files by what they are for, each list sorted by `where`; `problems` about those passed over."""

    root: Path
    shared: tuple[SourceFile, ...]
    editions: tuple[SourceFile, ...]
    images: tuple[SourceFile, ...]
    samples: tuple[SourceFile, ...]
    problems: tuple[Problem, ...]

    def shared_file(self, name: str) -> SourceFile | None:
        """One of `SHARED_FILES`, where it is there."""
        return next((file for file in self.shared if file.where == name), None)


def read_shelf(directory: Path, languages: frozenset[Language]) -> Shelf:
    """Everything that belongs in a content directory; editions and images of `languages` only."""
    root = directory.resolve()
    reader = _Reader(root)
    shared = tuple(reader.read(root / name) for name in SHARED_FILES if (root / name).is_file())
    wanted = [language.value for language in Language if language in languages]
    files = [reader.read(path) for lang in wanted for path in reader.editions_and_images(root / lang)]
    samples = [reader.read(path) for path in reader.samples(root / "samples")]
    kept = sorted((file for file in files if file), key=lambda file: file.where)
    return Shelf(
        root=root,
        shared=tuple(file for file in shared if file),
        editions=tuple(file for file in kept if file.where.endswith(".md")),
        images=tuple(file for file in kept if not file.where.endswith(".md")),
        samples=tuple(sorted((file for file in samples if file), key=lambda file: file.where)),
        problems=tuple(reader.problems),
    )


class _Reader:
    """Reads below one root and collects problems about what it does not read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.problems: list[Problem] = []

    def editions_and_images(self, language: Path) -> Iterator[Path]:
        for framework in self._listing(language):
            if not framework.is_dir():
                self._complain(framework, "place", "editions lie in <lang>/<framework>/<slug>.md")
                continue
            for path in self._listing(framework):
                if path.suffix.lower() in IMAGE_TYPES or path.suffix == ".md":
                    yield path
                else:
                    self._complain(path, "place", "is neither an edition (.md) nor an image that is served")

    def samples(self, folder: Path) -> Iterator[Path]:
        for framework in self._listing(folder):
            for entry in self._listing(framework):
                for path in self._listing(entry):
                    if path.suffix == ".log":
                        yield path
                    else:
                        self._complain(path, "place", "samples lie in samples/<framework>/<slug>/*.log")

    def read(self, path: Path) -> SourceFile | None:
        limit = MAX_FILE_BYTES if path.suffix == ".md" else MAX_OTHER_BYTES
        try:
            status = path.stat()
            if not path.resolve().is_relative_to(self._root):
                self._complain(path, "link", "leads out of the content directory")
            elif not path.is_file():
                self._complain(path, "place", "is no file")
            elif status.st_size > limit:
                self._complain(path, "size", f"has {status.st_size} bytes, more than {limit}")
            else:
                return SourceFile(self._where(path), path, path.read_bytes(), status.st_mtime)
        except OSError as error:
            self._complain(path, "unreadable", error.strerror or "cannot be read")
        return None

    def _listing(self, folder: Path) -> list[Path]:
        try:
            if not folder.resolve().is_relative_to(self._root):
                self._complain(folder, "link", "leads out of the content directory")
                return []
            paths = sorted(folder.iterdir()) if folder.is_dir() else []
        except OSError as error:
            self._complain(folder, "unreadable", error.strerror or "cannot be read")
            return []
        return [path for path in paths if not path.name.startswith(".") and not path.name.endswith("~")]

    def _where(self, path: Path) -> str:
        # A name that is no UTF-8 must not break whoever prints the problem.
        below = path.relative_to(self._root) if path.is_relative_to(self._root) else Path(path.name)
        return below.as_posix().encode("utf-8", "replace").decode()

    def _complain(self, path: Path, rule: str, message: str) -> None:
        self.problems.append(Problem(self._where(path), 1, rule, message, served=False))
