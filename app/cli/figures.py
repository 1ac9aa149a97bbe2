"""Where several workers leave their figures for each other: a folder that lives as long as the process that made it."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.disk import remove

PREFIX = "metrics-"


@contextmanager
def figures_folder(data: Path) -> Iterator[str]:
    """A new folder below the data directory, for a hardened container has no other place to write to. Raises OSError.

    It is locked for as long as this process lives.
    """
    descriptor, folder = _locked(data)
    try:
        yield str(folder)
    finally:
        remove(folder)
        os.close(descriptor)


def clear_figures(data: Path) -> None:
    """Removes the folders that nobody has locked: those who made them were killed."""
    for path in data.glob(f"{PREFIX}*"):
        if _is_abandoned(path):
            remove(path)


def _locked(data: Path) -> tuple[int, Path]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=data))
        # Another process that starts at this moment may take it for one that is left behind.
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = _taken(folder)
            if folder.is_dir():
                return descriptor, folder
            os.close(descriptor)


def _is_abandoned(path: Path) -> bool:
    """Whether nobody holds it; whatever is no folder of ours is left alone."""
    try:
        os.close(_taken(path))
    except OSError:
        return False
    return True


def _taken(folder: Path) -> int:
    """The lock of a folder, as a descriptor. Raises OSError, BlockingIOError where somebody holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
