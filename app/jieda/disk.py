"""Files that others may have put something else in the place of: read, written and taken out of the way with care."""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

BUILDING = ".building-"
DAMAGED = ".damaged-"
MEMORY = Path("/dev/shm")  # noqa: S108 - a private directory is made in it


def read_plain(path: Path) -> bytes:
    """The content of a plain file. Raises OSError, also for what is none."""
    with os.fdopen(open_plain(path), "rb") as file:
        return file.read()


def open_plain(path: Path) -> int:
    """The descriptor of a plain file, to be read. Raises OSError, also for what is none: a pipe would keep its reader
    waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no plain file")
    return descriptor


def make_room(path: Path) -> None:
    """Sets aside what stands in the place of a file of ours and is none, such as a link, a folder or a pipe. Raises
    OSError."""
    # Somebody else may have done so meanwhile.
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            set_aside(path)


def write_aside(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Writes a file aside, then renames it over `path`, whatever that is. Raises OSError.

    What is not `lasting` may be lost with the power.
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
    except BaseException:  # however it ends, nothing half done stays
        Path(name).unlink(missing_ok=True)
        raise


def set_aside(path: Path) -> None:
    """Takes something out of the way that should not be there. Raises OSError."""
    aside = Path(tempfile.mkdtemp(prefix=DAMAGED, dir=path.parent))
    path.rename(aside / path.name)
    shutil.rmtree(aside, ignore_errors=True)


def clear_the_way(data: Path, *names: str) -> None:
    """Sets aside what stands in the place of our folders of these names and is none. Raises OSError.

    A link to a folder is none either: what is removed from ours would be removed from there.
    """
    for name in names:
        path = data / name
        if path.is_symlink():
            path.unlink()
        elif path.exists() and not path.is_dir():
            set_aside(path)


def remove(path: Path) -> None:
    """Removes whatever is at a place; what cannot be removed of a folder stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Has the system write a file or folder to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def temporary_folders() -> Iterator[Path]:
    """New folders of our own, where the data directory cannot be used."""
    for place in (None, MEMORY):
        try:
            yield Path(tempfile.mkdtemp(prefix="jieda-", dir=place))
        except OSError:
            continue


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at `path`; None where there is none or nobody can tell."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def make_private(path: Path) -> None:
    """Makes a file that is missing, for this user and, where it shares the directory, its group: SQLite would let
    everybody read it."""
    with contextlib.suppress(OSError):
        mode = 0o660 if path.parent.stat().st_mode & stat.S_IWGRP else 0o600
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, mode))
