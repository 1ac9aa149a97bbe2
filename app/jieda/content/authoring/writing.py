"""Writing files into a content directory: none outside of it, none through a link, each whole or not at all."""

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
"""The digest of a file that is not there."""
MOST_BYTES = 4 << 20


def digest_of(content: bytes | None) -> str:
    """What tells one content of a file from another."""
    return ABSENT if content is None else hashlib.sha256(content).hexdigest()


class ContentFolder:
    """A content directory that is being written to, by nobody else who comes through here."""

    def __init__(self, root: int) -> None:
        self._root = root

    def read(self, where: str) -> bytes | None:
        """A file below the directory, None where there is none. Raises AuthoringError for anything but a file."""
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
        """Puts files below the directory in place of what is there. All are written aside before the first is renamed.

        Raises AuthoringError; then those not named in it are as they were.
        """
        done: list[str] = []
        try:
            for where, content in files.items():
                self._write_aside(where, content)
            for where in files:
                self._put(where)
                done.append(where)
        except OSError as error:
            self._discard(files.keys() - set(done))
            told = f"; written already: {', '.join(done)}" if done else "; nothing was written"
            raise AuthoringError(f"{error.strerror or error}{told}") from error

    def remove(self, where: str) -> None:
        """Removes a file below the directory. Raises AuthoringError."""
        try:
            with self._folder(where, make=False) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            raise AuthoringError(f"{where}: {error.strerror}") from error

    def _write_aside(self, where: str, content: bytes) -> None:
        with self._folder(where, make=True) as (folder, name):
            self._check_target(folder, name)
            remove_leftover(_hidden(name), folder)
            descriptor = os.open(_hidden(name), _NEW, 0o644, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)

    def _discard(self, unwritten: Iterable[str]) -> None:
        """Removes what was written aside: on a full disk it takes the room that somebody is about to make."""
        for where in unwritten:
            with suppress(OSError), self._folder(where, make=False) as (folder, name):
                remove_leftover(_hidden(name), folder)

    def _put(self, where: str) -> None:
        with self._folder(where, make=False) as (folder, name):
            os.replace(_hidden(name), name, src_dir_fd=folder, dst_dir_fd=folder)

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
        """The folder of a file, opened one name at a time so that no link is followed, and the file's name."""
        *folders, name = PurePosixPath(where).parts
        if any(part in {"..", ".", "/"} for part in (*folders, name)):
            raise AuthoringError(f"{where} leads out of the content directory")
        current = os.dup(self._root)
        try:
            for folder in folders:
                if make:
                    make_folder(folder, current)
                following = os.open(folder, _FOLDER, dir_fd=current)
                os.close(current)
                current = following
            yield current, name
        finally:
            os.close(current)


@contextmanager
def opened(directory: Path) -> Iterator[ContentFolder]:
    """A content directory to write to; others who want to wait. Raises AuthoringError where it cannot be opened."""
    try:
        root = os.open(directory.resolve(), _FOLDER)
    except OSError as error:
        raise AuthoringError(f"{directory}: {error.strerror}") from error
    try:
        fcntl.flock(root, fcntl.LOCK_EX)
        yield ContentFolder(root)
    finally:
        os.close(root)


def make_folder(folder: str, parent: int) -> None:
    """Makes a folder unless it is there."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o755, dir_fd=parent)


def remove_leftover(name: str, folder: int) -> None:
    """Removes what an earlier, interrupted attempt left."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _hidden(name: str) -> str:
    # Hidden files are passed over when content is read.
    return f".{name}.new"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Other content for a file that is there. Its mode and its time are kept: which of two twins is the newer may
    hang on the time, and the change is not one of its text."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """A file that is not there yet."""

    path: Path
    content: bytes


@dataclass(frozen=True, slots=True)
class Rename:
    """Another name for a file or a folder; nothing has that name yet."""

    source: Path
    target: Path


Step = Rewrite | Create | Rename
_Undo = Callable[[], object]


def carry_out(steps: Sequence[Step]) -> None:
    """Does all `steps` in their order. What can fail for want of room or of a right is done first, aside; where a
    step fails all the same, those before it are taken back.

    Raises OSError, with everything as it was.
    """
    # Folders go last, for what was written aside may lie in them.
    with ExitStack() as folders, ExitStack() as asides, ExitStack() as undo:
        for step in steps:
            if not isinstance(step, Rewrite):
                _make_folders(step.path.parent if isinstance(step, Create) else step.target.parent, folders)
        ready = [_prepare(step, asides) for step in steps]
        for act in ready:
            undo.callback(act())
        undo.pop_all()
        folders.pop_all()
    _remove_empty(step.source.parent for step in steps if isinstance(step, Rename))


def _make_folders(folder: Path, undo: ExitStack) -> None:
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, "is not a folder", str(folder))
    if not folder.exists():
        _make_folders(folder.parent, undo)
        folder.mkdir()
        undo.callback(folder.rmdir)


def _prepare(step: Step, asides: ExitStack) -> Callable[[], _Undo]:
    """What does the step and gives what takes it back."""
    if isinstance(step, Rename):
        return lambda: _rename(step.source, step.target)
    new = _aside(step.path, asides)
    new.write_bytes(step.content)
    if isinstance(step, Create):
        new.chmod(0o644)
        return lambda: _rename(new, step.path)
    kept = _aside(step.path, asides)
    shutil.copy2(step.path, kept)
    shutil.copystat(step.path, new)
    return lambda: _exchange(new, step.path, kept)


def _aside(path: Path, asides: ExitStack) -> Path:
    """A new file beside `path`, hidden, so that no reader of content looks at it; gone in the end."""
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


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


CALLED = "the content directory"
"""What errors say instead of a path of this machine."""
ROLES = ("AUTHOR", "COMMITTER")

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
