"""Safe access to files that others may have replaced by links, folders or pipes."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

BUILDING = ".building-"
DAMAGED = ".damaged-"
MEMORY = Path("/dev/shm")  # noqa: S108 - a private directory is made in it


def read_plain(path: Path) -> bytes:
    """Return the content of a plain file. Raises OSError, also for anything else."""
    with os.fdopen(open_plain(path), "rb") as file:
        return file.read()


def open_plain(path: Path) -> int:
    """Open a plain file for reading. Raises OSError, also for anything else: a pipe would block its reader."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def make_room(path: Path, is_ours: Callable[[int], bool] = stat.S_ISREG) -> None:
    """Remove whatever occupies the path of our file (with `stat.S_ISDIR`: our folder) and is something else. That
    includes a link: deleting inside our folder would delete in its target. Raises OSError."""
    # Another process may have removed it meanwhile.
    with contextlib.suppress(FileNotFoundError):
        if not is_ours(path.lstat().st_mode):
            set_aside(path)


def write_aside(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a temporary file, then rename it to `path`, replacing whatever is there. Raises OSError.

    A file that is not `lasting` may be lost in a power cut.
    """
    descriptor, name = tempfile.mkstemp(prefix=BUILDING, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        Path(name).chmod(0o640)
        if path.is_dir() and not path.is_symlink():
            set_aside(path)
        Path(name).replace(path)
    except BaseException:  # also if interrupted: leave nothing half written
        Path(name).unlink(missing_ok=True)
        raise


def set_aside(path: Path) -> None:
    """Rename something that should not be there, then remove it. Raises OSError."""
    aside = Path(tempfile.mkdtemp(prefix=DAMAGED, dir=path.parent))
    path.rename(aside / path.name)
    shutil.rmtree(aside, ignore_errors=True)


def remove(path: Path) -> None:
    """Remove whatever is at `path`; the parts of a folder that cannot be removed stay."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Flush a file or folder to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def temporary_folders(*last: Path, prefix: str = "jieda-") -> Iterator[Path]:
    """Yield new temporary folders outside the data directory; as a last resort, folders in `last`."""
    for place in _temporary_places(last):
        try:
            yield Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        except OSError:
            continue


def remove_temporary_folders(*last: Path, prefix: str) -> None:
    """Remove the folders with this prefix that a killed process left."""
    for place in _temporary_places(last):
        for folder in place.glob(f"{prefix}*"):
            remove(folder)


def _temporary_places(last: Sequence[Path]) -> Iterator[Path]:
    with contextlib.suppress(OSError):  # no place can be written to
        yield Path(tempfile.gettempdir())
    yield from (MEMORY, *last)


def is_readable_folder(path: Path) -> bool:
    """Whether there is a folder at `path` that this process may list and enter."""
    return os.access(f"{path}/", os.R_OK | os.X_OK)


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at `path`; None if there is none or it cannot be read."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


BESIDE = ("-wal", "-shm")
"""Suffixes of the files that SQLite keeps beside a database."""


def delete_database(path: Path, suffixes: Sequence[str] = (*BESIDE, "")) -> bool:
    """Delete an SQLite file and its companions, or only those with these suffixes. Return whether `path` is gone."""
    for suffix in suffixes:
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()
    return identity(path) is None


def database_failure(error: Exception, folder: Path) -> str:
    """Say why a database in a folder failed, quoting none of its data. SQLite may call a full disk an I/O error."""
    kind = type(error)
    name = getattr(error, "sqlite_errorname", f"{kind.__module__}.{kind.__name__}")
    with contextlib.suppress(OSError):
        if name.startswith(("SQLITE_IOERR", "SQLITE_FULL")) and not os.statvfs(folder).f_bavail:
            return os.strerror(errno.ENOSPC)
    return name


def make_private(path: Path) -> None:
    """Create a missing file, readable by this user and, if the directory is group-writable, its group: SQLite would
    make it readable by everybody."""
    with contextlib.suppress(OSError):
        mode = 0o660 if path.parent.stat().st_mode & stat.S_IWGRP else 0o600
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, mode))
