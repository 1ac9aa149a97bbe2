"""Commits some files of a content directory: never more than those, and never a push."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jieda.errors import GitError
from jieda.git import run

CALLED = "the content directory"
"""What errors say instead of a path of this machine."""

_NAME = re.compile(r"[^\x00-\x1f\x7f<>]{1,100}")
_EMAIL = re.compile(r"[^\s\x00-\x1f\x7f<>@]{1,100}@[^\s\x00-\x1f\x7f<>@]{1,100}")


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes. Raises ValueError for what git would take for something else."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or not self.name.strip() or not _EMAIL.fullmatch(self.email):
            raise ValueError("a name and an e-mail address are needed")


def commit(directory: Path, wheres: Sequence[str], author: Author, message: str) -> str:
    """Commits these files below a directory and nothing else that may be staged; the commit's short name.

    Raises GitError with what git says. The files are left as they are.
    """
    check_repository(directory)
    environ = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.email,
    }

    def git(*arguments: str) -> bytes:
        return run(directory, *arguments, environ=environ, called=CALLED)

    git("add", "--", *wheres)
    try:
        git("commit", "--quiet", "--only", "-m", message, "--", *wheres)
    except GitError:
        git("reset", "--quiet", "--", *wheres)
        raise
    return git("rev-parse", "--short", "HEAD").decode().strip()


def check_repository(directory: Path) -> None:
    """Raises GitError where git is missing or a directory is in no repository."""
    run(directory, "rev-parse", "--git-dir", called=CALLED)


NO_END = "\\ No newline at end of file\n"
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; `before` is None where it is new. `where` is its path with slashes."""

    where: str
    before: str | None
    after: str


def patch_of(changes: Iterable[FileChange]) -> str:
    """The patch, empty where nothing changes."""
    return "".join(line for change in changes if change.before != change.after for line in _file(change))


def _file(change: FileChange) -> Iterator[str]:
    yield f"diff --git a/{change.where} b/{change.where}\n"
    if change.before is None:
        yield "new file mode 100644\n"
    old = "/dev/null" if change.before is None else f"a/{change.where}"
    # Lines end at line feeds alone: Python knows more ends of lines than git.
    before, after = _LINES.findall(change.before or ""), _LINES.findall(change.after)
    for line in difflib.unified_diff(before, after, old, f"b/{change.where}"):
        yield line if line.endswith("\n") else f"{line}\n{NO_END}"
