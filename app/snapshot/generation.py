"""Generations on disk: directories that are complete before they have their name, and the pointer to one of them.

data/
  current                  the generation to serve, a name; replaced by rename
  generations/<name>/      header.json, entries.jsonl, index/; never changed once it is there
  images/<hash>.<type>     copies of the images, so that what is served is what was read
  facts-1.sqlite           what generations are made from and entries are read from
  build.lock               held while somebody builds
  workers/                 what every worker serves
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.snapshot.records import EntryRow, Header, RecordUnreadable, from_json, to_json

GENERATIONS = "generations"
CURRENT = "current"
IMAGES = "images"
BUILDING = ".building-"
DAMAGED = ".damaged-"
NAME = re.compile(r"[0-9a-f]{16}")
"""How generations are named."""
GRACE = 60.0
"""Seconds that a generation outlives being current: workers may still have to leave it."""


class GenerationUnreadable(Exception):
    """A generation that is missing, damaged or made by other code; `str` says why."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation that was read whole. `index` is the directory of its index."""

    name: str
    header: Header
    rows: tuple[EntryRow, ...]
    index: Path


def generation_folder(data: Path, name: str) -> Path:
    """Where a generation lies."""
    return data / GENERATIONS / name


def current_name(data: Path) -> str:
    """The name of the generation to serve; empty where there is none."""
    try:
        pointer = json.loads((data / CURRENT).read_bytes())
        name = pointer["generation"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return name if isinstance(name, str) and name.isalnum() else ""


def point_to(data: Path, name: str) -> None:
    """Makes a generation the one to serve. Raises OSError."""
    pointer = json.dumps({"generation": name}).encode()
    if (data / CURRENT).is_dir() and not (data / CURRENT).is_symlink():
        set_aside(data / CURRENT)
    write_aside(data / CURRENT, pointer)
    _sync(data)


def write_aside(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Writes a file aside, then renames it over `path`. Raises OSError.

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
        Path(name).replace(path)
    except BaseException:  # however it ends, nothing half done stays
        Path(name).unlink(missing_ok=True)
        raise


def read_generation(data: Path, name: str) -> Generation:
    """Raises GenerationUnreadable."""
    folder = generation_folder(data, name)
    try:
        header = from_json(_unsealed(folder / "header.json"), Header)
        lines = _unsealed(folder / "entries.jsonl").split(b"\n")
        rows = tuple(from_json(line, EntryRow) for line in lines if line)
    except (OSError, RecordUnreadable) as error:
        raise GenerationUnreadable(getattr(error, "strerror", None) or str(error)) from error
    if header.generation != name:
        raise GenerationUnreadable(f"is the generation {header.generation}")
    return Generation(name, header, rows, folder / "index")


def is_whole(data: Path, name: str) -> bool:
    """Whether the generation is there and can be read."""
    try:
        read_generation(data, name)
    except GenerationUnreadable:
        return False
    return True


def name_of(version: str, header: bytes, entries: bytes) -> str:
    """The name of a generation: a digest of all that is in it, and of the code that made it."""
    total = hashlib.sha256(version.encode())
    total.update(b"\n%d\n" % len(header) + header + entries)
    return total.hexdigest()[:16]


class NewGeneration:
    """A generation while it is written, in a directory of its own that disappears unless it is finished."""

    def __init__(self, data: Path, name: str) -> None:
        """Raises OSError."""
        self._target = data / GENERATIONS / name
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._aside = Path(tempfile.mkdtemp(prefix=BUILDING, dir=self._target.parent))
        self._aside.chmod(0o750)
        self.index = self._aside / "index"
        self.index.mkdir()

    def finish(self, header: Header, entries: bytes) -> None:
        """Writes what is left and gives the directory its name. Raises OSError."""
        _seal(self._aside / "header.json", to_json(header))
        _seal(self._aside / "entries.jsonl", entries)
        for path in self.index.iterdir():
            _sync(path)
        _sync(self.index)
        _sync(self._aside)
        if os.path.lexists(self._target):
            set_aside(self._target)
        self._aside.rename(self._target)
        _sync(self._target.parent)

    def abandon(self) -> None:
        """Removes what was not finished."""
        shutil.rmtree(self._aside, ignore_errors=True)


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


def clean(data: Path) -> None:
    """Removes what dead builders left. Call it while holding the lock: nobody else can be building then."""
    for folder in (data, data / GENERATIONS, data / IMAGES):
        if folder != data and folder.is_symlink():
            continue
        for prefix in (BUILDING, DAMAGED):
            for path in folder.glob(f"{prefix}*"):
                _remove(path)


def prune(data: Path, served: Iterable[str]) -> None:
    """Removes generations that are neither current, nor served, nor were current a moment ago."""
    kept = {current_name(data), *served}
    for path in _generations(data):
        if path.name in kept:
            continue
        try:
            # The directory's time is that of its last use: `point_to` follows right after it got its name.
            idle = time.time() - path.stat().st_mtime > GRACE
        except OSError:
            continue
        if idle:
            _remove(path)


def generation_names(data: Path) -> tuple[str, ...]:
    """All generations on disk."""
    return tuple(path.name for path in _generations(data))


def _generations(data: Path) -> Iterator[Path]:
    # Only what we made, in a folder of ours: what is listed here may be removed.
    folder = data / GENERATIONS
    if folder.is_dir() and not folder.is_symlink():
        yield from (path for path in folder.iterdir() if NAME.fullmatch(path.name))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _seal(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        file.flush()
        os.fsync(file.fileno())


def _unsealed(path: Path) -> bytes:
    """The content of a sealed file. Raises OSError, RecordUnreadable where it is not what was written."""
    seal, _, content = path.read_bytes().partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != seal:
        raise RecordUnreadable(f"{path.name} is damaged")
    return content


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
