"""Writes files into a content directory: never outside it, never through a link, each completely or not at all."""

import difflib
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from errno import EEXIST, ENOTDIR
from pathlib import Path, PurePosixPath
from secrets import token_hex

from jieda.disk import read_plain, sync
from jieda.errors import AuthoringError, GitError
from jieda.git import run


def digest_of(content: bytes | None) -> str:
    """Return the digest of a file's content; empty for None, which stands for a missing file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def safe_path(root: Path, where: str) -> Path:
    """Return the path `where` below a content directory. Raises AuthoringError if it leads out or through a link."""
    parts = PurePosixPath(where).parts
    if {"..", "/"} & set(parts):
        raise AuthoringError(f"{where} leads out of the content directory")
    path = root
    for part in parts:
        path /= part
        if path.is_symlink():
            raise AuthoringError(f"{path} is a symbolic link: put the file itself there first")
    return path


@dataclass(frozen=True, slots=True)
class ContentFolder:
    """A content directory, locked against other writers. Methods take paths below it, and raise AuthoringError."""

    root: Path

    def read(self, where: str) -> bytes | None:
        """Return the content of a file; None if it is missing."""
        try:
            return read_plain(safe_path(self.root, where))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise AuthoringError(f"{where}: {error.strerror}") from error

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write all these files, or none of them."""
        by_path = {safe_path(self.root, where): content for where, content in files.items()}
        try:
            carry_out([_step_to(path, content) for path, content in by_path.items()])
        except OSError as error:
            raise AuthoringError(f"{error.strerror or error}; nothing was written") from error

    def remove(self, where: str) -> None:
        """Remove a file."""
        try:
            safe_path(self.root, where).unlink()
        except OSError as error:
            raise AuthoringError(f"{where}: {error.strerror}") from error


@contextmanager
def lock_directory(directory: Path, busy: str = "") -> Iterator[ContentFolder]:
    """Lock a directory for writing; other writers wait, or fail with the message `busy`. Raises AuthoringError."""
    try:
        root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise AuthoringError(f"{directory}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(root, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError as error:
            raise AuthoringError(busy) from error
        yield ContentFolder(directory.resolve())
    finally:
        os.close(root)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New content for an existing file, whose mode is kept. `keeps_time`: keep the file time, which may decide which of
    two twins is newer, because the text does not change."""

    path: Path
    content: bytes
    keeps_time: bool = True


@dataclass(frozen=True, slots=True)
class Create:
    """A new file, which must not exist."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Rename:
    """A new path, which must not exist, for a file or a folder."""

    source: Path
    target: Path


Step = Rewrite | Create | Rename


def _step_to(path: Path, content: bytes) -> Step:
    return Rewrite(path, content, keeps_time=False) if path.exists() else Create(path, content)


_Undo = Callable[[], object]


def carry_out(steps: Sequence[Step]) -> None:
    """Carry out all `steps` in order. What may fail for lack of space or permission is done first, in temporary files.
    If a step still fails, the steps before it are undone. Raises OSError, with everything as it was before."""
    # Folders are removed last because temporary files may be in them.
    with ExitStack() as folders, ExitStack() as temporaries, ExitStack() as undo:
        for step in steps:
            if not isinstance(step, Rewrite):
                _make_folders(step.path.parent if isinstance(step, Create) else step.target.parent, folders)
        prepared = [_prepare(step, temporaries) for step in steps]
        for execute in prepared:
            undo.callback(execute())
        undo.pop_all()
        folders.pop_all()
    for step in steps:
        if isinstance(step, Rename):
            with suppress(OSError):  # it is not empty
                step.source.parent.rmdir()


def _make_folders(folder: Path, undo: ExitStack) -> None:
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, "is not a folder", str(folder))
    if not folder.exists():
        _make_folders(folder.parent, undo)
        folder.mkdir()
        undo.callback(folder.rmdir)


def _prepare(step: Step, temporaries: ExitStack) -> Callable[[], _Undo]:
    """Return a function that executes the step and returns a function that undoes it."""
    if isinstance(step, Rename):
        return lambda: _rename(step.source, step.target)
    # A new file gets the permissions that the user's umask allows; any other those of what it replaces.
    new = _make_temporary(step.path, temporaries, 0o666 if isinstance(step, Create) else 0o600)
    new.write_bytes(step.content)
    sync(new)
    if isinstance(step, Create):
        return lambda: _rename(new, step.path)
    backup = _make_temporary(step.path, temporaries)
    shutil.copy2(step.path, backup)
    (shutil.copystat if step.keeps_time else shutil.copymode)(step.path, new)
    return lambda: _exchange(new, step.path, backup)


def _make_temporary(path: Path, temporaries: ExitStack, mode: int = 0o600) -> Path:
    """Create a temporary file beside `path`, hidden from readers of content. `temporaries` removes it."""
    new = path.with_name(f".{path.name}.{token_hex(4)}")
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    temporaries.callback(new.unlink, missing_ok=True)
    return new


def _rename(source: Path, target: Path) -> _Undo:
    if os.path.lexists(target):
        raise FileExistsError(EEXIST, "already exists", str(target))
    source.rename(target)
    return lambda: target.rename(source)


def _exchange(new: Path, path: Path, backup: Path) -> _Undo:
    new.replace(path)
    return lambda: backup.replace(path)


SHOWN_NAME = "the content directory"
"""What git's errors show instead of a local path."""
ROLES = ("AUTHOR", "COMMITTER")

_NAME = re.compile(r"[^\x00-\x1f\x7f<>]{1,100}")
_EMAIL = re.compile(r"[^\s\x00-\x1f\x7f<>@]{1,100}@[^\s\x00-\x1f\x7f<>@]{1,100}")


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a commit. Raises ValueError for a name or address that git would misread."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or not self.name.strip() or not _EMAIL.fullmatch(self.email):
            raise ValueError("a name and an e-mail address are needed")


def commit(directory: Path, paths: Sequence[str], author: Author, message: str) -> str:
    """Commit these files below a directory, but nothing else that may be staged, and return the commit's short hash;
    empty if git has them already. Raises GitError with git's message; the files stay as they are."""
    environ = {f"GIT_{role}_NAME": author.name for role in ROLES}
    environ |= {f"GIT_{role}_EMAIL": author.email for role in ROLES}

    def git(*arguments: str) -> bytes:
        return run(directory, *arguments, environ=environ, called=SHOWN_NAME)

    git("add", "--", *paths)
    if not git("status", "--porcelain", "--", *paths):
        return ""
    try:
        git("commit", "--quiet", "--only", "-m", message, "--", *paths)
    except GitError:
        git("reset", "--quiet", "--", *paths)
        raise
    return git("rev-parse", "--short", "HEAD").decode().strip()


def check_repository(directory: Path) -> None:
    """Raise GitError if git is missing or the directory is in no repository."""
    run(directory, "rev-parse", "--git-dir", called=SHOWN_NAME)


NO_END = "\\ No newline at end of file\n"
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


def patch_of(where: str, before: str | None, after: str) -> str:
    """Return the change of a file as a patch; empty if nothing changes. `before` is None if the file is new; `where`
    is its path with slashes."""
    if before == after:
        return ""
    head = f"diff --git a/{where} b/{where}\n" + ("new file mode 100644\n" if before is None else "")
    # Split at line feeds only: Python's splitlines recognizes more line ends than git.
    old, new = _LINES.findall(before or ""), _LINES.findall(after)
    lines = difflib.unified_diff(old, new, "/dev/null" if before is None else f"a/{where}", f"b/{where}")
    return head + "".join(line if line.endswith("\n") else f"{line}\n{NO_END}" for line in lines)
