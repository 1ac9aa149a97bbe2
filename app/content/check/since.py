"""The content as it was in an earlier revision, and the problems that a change since then is answerable for."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.content.read.directory import BACKGROUND, SHARED_FILES, list_directory
from app.entry import Language, Problem
from app.errors import GitError
from app.git import Repository

_FOLDERS = frozenset({*Language, "samples", BACKGROUND})


@dataclass(frozen=True, slots=True)
class Earlier:
    """Copies of content directories as they were; `changed` are the paths below them that are otherwise now."""

    directories: tuple[Path, ...]
    changed: frozenset[str]

    def answerable(self, now: Iterable[Problem], then: Iterable[Problem]) -> tuple[Problem, ...]:
        """Of the problems of now, those of files that changed and those of others that were not there then."""
        known = Counter((each.path, each.rule, each.message) for each in then)
        found = []
        for each in now:
            key = (each.path, each.rule, each.message)
            if each.path in self.changed or not known[key]:
                found.append(each)
            known[key] -= 1
        return tuple(found)


@contextmanager
def as_of(directories: Sequence[Path], revision: str) -> Iterator[Earlier]:
    """The content where the work on it began: at the last commit that `revision` and HEAD have in common.

    The repository is that of the last directory; what lies in another one, or in none, counts as unchanged. Raises
    GitError.
    """
    repository = Repository.around(directories[-1])
    commit = repository.fork_point(revision)
    changed: set[str] = set()
    with TemporaryDirectory(prefix="jieda-") as folder:
        copies = []
        for number, directory in enumerate(directories):
            copy = Path(folder) / str(number)
            copy.mkdir()
            _copy(directory, copy)
            changed.update(_take_back(repository, commit, directory.resolve(), copy))
            copies.append(copy)
        yield Earlier(tuple(copies), frozenset(changed))


def _copy(directory: Path, target: Path) -> None:
    """Everything that a check looks at; file times, too, for which of two twins is stale may hang on them."""
    listing = list_directory(directory)
    for where in (*(file.where for file in listing.files), *(each.path for each in listing.problems)):
        source, copy = listing.root / where, target / where
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(copy):
                shutil.copy2(source, copy, follow_symlinks=False)


def _take_back(repository: Repository, commit: str, directory: Path, copy: Path) -> Iterator[str]:
    """Gives a copy the files of an earlier commit; the paths that differ."""
    if not directory.is_relative_to(repository.root):
        return
    prefix = directory.relative_to(repository.root).as_posix()
    for path, was_there in repository.changed_since(commit, [prefix]):
        where = path if prefix == "." else path.removeprefix(f"{prefix}/")
        if where.split("/")[0] not in _FOLDERS and where not in SHARED_FILES:
            continue
        file = copy / where
        if os.path.lexists(file):
            file.unlink()
        if was_there:
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                file.write_bytes(repository.file_at(commit, path))
            except OSError as error:
                raise GitError(f"{path} cannot be looked at as it was: {error}") from error
            os.utime(file, (0, 0))
        yield where
