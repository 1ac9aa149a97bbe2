"""Writes files into a content directory: never outside of it, never through a link, each completely or not at all."""

import difflib
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from errno import EEXIST, ENOTDIR
from pathlib import Path, PurePosixPath
from tempfile import mkstemp

from jieda.errors import AuthoringError, GitError
from jieda.git import run

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
ABSENT = ""
"""Digest of a missing file."""
MOST_BYTES = 4 << 20


def digest_of(content: bytes | None) -> str:
    """Return the digest of a file's content; ABSENT for None."""
    return ABSENT if content is None else hashlib.sha256(content).hexdigest()


class ContentFolder:
    """A content directory opened for writing, locked against other writers that use this module."""

    def __init__(self, root: int) -> None:
        self._root = root

    def read(self, where: str) -> bytes | None:
        """Read a file below the directory; None if it is missing. Raises AuthoringError for anything but a file."""
        try:
            with self._folder(where, make=False) as (folder, name):
                descriptor = os.open(
                    name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
                )
        except FileNotFoundError:
            return None
        except OSError as error:
            raise AuthoringError(f"{where}: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise AuthoringError(f"{where} is not a file")
            return opened.read(MOST_BYTES)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files below the directory. All are written to temporary files before the first is renamed. Raises
        AuthoringError; files that its message does not name are then unchanged."""
        done: list[str] = []
        try:
            for where, content in files.items():
                self._write_aside(where, content)
            for where in files:
                self._rename_into_place(where)
                done.append(where)
        except OSError as error:
            self._discard(files.keys() - set(done))
            written = f"written already: {', '.join(done)}" if done else "nothing was written"
            raise AuthoringError(f"{error.strerror or error}; {written}") from error

    def remove(self, where: str) -> None:
        """Remove a file below the directory. Raises AuthoringError."""
        try:
            with self._folder(where, make=False) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            raise AuthoringError(f"{where}: {error.strerror}") from error

    def _write_aside(self, where: str, content: bytes) -> None:
        with self._folder(where, make=True) as (folder, name):
            self._check_target(folder, name)
            with suppress(FileNotFoundError):  # of an earlier, interrupted attempt
                os.unlink(_temporary_name(name), dir_fd=folder)
            descriptor = os.open(_temporary_name(name), _NEW, 0o644, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)

    def _discard(self, unwritten: Iterable[str]) -> None:
        """Remove temporary files: on a full disk they would take the space that somebody is about to free."""
        for where in unwritten:
            with suppress(OSError), self._folder(where, make=False) as (folder, name):
                os.unlink(_temporary_name(name), dir_fd=folder)

    def _rename_into_place(self, where: str) -> None:
        with self._folder(where, make=False) as (folder, name):
            os.replace(_temporary_name(name), name, src_dir_fd=folder, dst_dir_fd=folder)

    @staticmethod
    def _check_target(folder: int, name: str) -> None:
        try:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISREG(mode):
            raise OSError(0, f"{name} is a link or no file: it is not written through")

    @contextmanager
    def _folder(self, where: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a file, one name at a time so that no link is followed; yield it and the file's name."""
        *folders, name = PurePosixPath(where).parts
        if any(part in {"..", ".", "/"} for part in (*folders, name)):
            raise AuthoringError(f"{where} leads out of the content directory")
        current = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, 0o755, dir_fd=current)
                following = os.open(folder, _FOLDER, dir_fd=current)
                os.close(current)
                current = following
            yield current, name
        finally:
            os.close(current)


@contextmanager
def opened(directory: Path) -> Iterator[ContentFolder]:
    """Open a content directory for writing; other writers wait. Raises AuthoringError if it cannot be opened."""
    try:
        root = os.open(directory.resolve(), _FOLDER)
    except OSError as error:
        raise AuthoringError(f"{directory}: {error.strerror}") from error
    try:
        fcntl.flock(root, fcntl.LOCK_EX)
        yield ContentFolder(root)
    finally:
        os.close(root)


def _temporary_name(name: str) -> str:
    # Hidden files are skipped when content is read.
    return f".{name}.new"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New content for an existing file. Its mode and time are kept: the time may decide which of two twins is newer,
    and such a change is not one of the text."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """A new file, which must not exist."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Rename:
    """A new name, which must not exist, for a file or a folder."""

    source: Path
    target: Path


Step = Rewrite | Create | Rename
_Undo = Callable[[], object]


def carry_out(steps: Sequence[Step]) -> None:
    """Carry out all `steps` in order. What may fail for lack of space or permission is done first, in temporary files;
    if a step fails nevertheless, the steps before it are undone. Raises OSError, with everything as it was before."""
    # Folders are removed last, because temporary files may be in them.
    with ExitStack() as folders, ExitStack() as asides, ExitStack() as undo:
        for step in steps:
            if not isinstance(step, Rewrite):
                _make_folders(step.path.parent if isinstance(step, Create) else step.target.parent, folders)
        ready = [_prepare(step, asides) for step in steps]
        for act in ready:
            undo.callback(act())
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


def _prepare(step: Step, asides: ExitStack) -> Callable[[], _Undo]:
    """Return a function that does the step and returns a function that undoes it."""
    if isinstance(step, Rename):
        return lambda: _rename(step.source, step.target)
    new = _make_temporary(step.path, asides)
    new.write_bytes(step.content)
    if isinstance(step, Create):
        new.chmod(0o644)
        return lambda: _rename(new, step.path)
    kept = _make_temporary(step.path, asides)
    shutil.copy2(step.path, kept)
    shutil.copystat(step.path, new)
    return lambda: _exchange(new, step.path, kept)


def _make_temporary(path: Path, asides: ExitStack) -> Path:
    """Create a temporary file beside `path`, hidden from readers of content; `asides` removes it."""
    handle, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    asides.callback(Path(name).unlink, missing_ok=True)
    return Path(name)


def _rename(source: Path, target: Path) -> _Undo:
    if os.path.lexists(target):
        raise FileExistsError(EEXIST, "is there already", str(target))
    source.rename(target)
    return lambda: target.rename(source)


def _exchange(new: Path, path: Path, kept: Path) -> _Undo:
    new.replace(path)
    return lambda: kept.replace(path)


CALLED = "the content directory"
"""Text that errors show instead of a local path."""
ROLES = ("AUTHOR", "COMMITTER")

_NAME = re.compile(r"[^\x00-\x1f\x7f<>]{1,100}")
_EMAIL = re.compile(r"[^\s\x00-\x1f\x7f<>@]{1,100}@[^\s\x00-\x1f\x7f<>@]{1,100}")


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a commit. Raises ValueError for what git would misread."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or not self.name.strip() or not _EMAIL.fullmatch(self.email):
            raise ValueError("a name and an e-mail address are needed")


def commit(directory: Path, wheres: Sequence[str], author: Author, message: str) -> str:
    """Commit these files below a directory, and nothing else that may be staged; return the commit's short name. Raises
    GitError with git's message; the files stay as they are."""
    environ = {f"GIT_{role}_NAME": author.name for role in ROLES}
    environ |= {f"GIT_{role}_EMAIL": author.email for role in ROLES}

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
    """Raise GitError if git is missing or a directory is in no repository."""
    run(directory, "rev-parse", "--git-dir", called=CALLED)


NO_END = "\\ No newline at end of file\n"
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after a change; `before` is None if it is new. `where` is its path with slashes."""

    where: str
    before: str | None
    after: str


def patch_of(changes: Iterable[FileChange]) -> str:
    """Return the patch of some changes, empty if nothing changes."""
    return "".join(line for change in changes if change.before != change.after for line in _diff_file(change))


def _diff_file(change: FileChange) -> Iterator[str]:
    yield f"diff --git a/{change.where} b/{change.where}\n"
    if change.before is None:
        yield "new file mode 100644\n"
    old = "/dev/null" if change.before is None else f"a/{change.where}"
    # Split at line feeds only: Python's splitlines knows more line ends than git.
    before, after = _LINES.findall(change.before or ""), _LINES.findall(change.after)
    for line in difflib.unified_diff(before, after, old, f"b/{change.where}"):
        yield line if line.endswith("\n") else f"{line}\n{NO_END}"
