"""Changes to several files of which all happen or none does."""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from errno import EEXIST, ENOTDIR
from pathlib import Path
from tempfile import mkstemp


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
                _make_folder(step.path.parent if isinstance(step, Create) else step.target.parent, folders)
        ready = [_prepare(step, asides) for step in steps]
        for act in ready:
            undo.callback(act())
        undo.pop_all()
        folders.pop_all()
    _remove_empty(step.source.parent for step in steps if isinstance(step, Rename))


def _make_folder(folder: Path, undo: ExitStack) -> None:
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(ENOTDIR, "is not a folder", str(folder))
    if not folder.exists():
        _make_folder(folder.parent, undo)
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
