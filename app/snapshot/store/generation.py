"""Generations on disk: directories that are complete before they have their name, and the pointer to one of them.

data/
  current                  the generation to serve, a name; replaced by rename
  generations/<name>/      <digest>.sqlite, index/; never changed once it is there
  images/<hash>.<type>     copies of the images, so that what is served is what was read
  facts-1.sqlite           what generations are made from and entries are read from
  build.lock               held while somebody builds
  workers/                 what every worker serves
"""

import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.disk import BUILDING, DAMAGED, read_plain, remove, set_aside, sync, write_aside
from app.snapshot.store.tables import GenerationUnreadable, Tables

GENERATIONS = "generations"
CURRENT = "current"
INDEX = "index"
IMAGES = "images"
NAME = re.compile(r"[0-9a-f]{16}")
"""How generations are named."""
GRACE = 60.0
"""Seconds that a generation outlives being current: workers may still have to leave it."""


@dataclass(frozen=True, slots=True, order=True)
class Pointer:
    """Which generation is to be served. The `number` grows each time that the pointer moves, also where it moves to a
    generation of before; 0 where there is none."""

    number: int = 0
    name: str = ""


class Generation(Tables):
    """A generation that was found whole, but for its index, a directory that is checked when it is opened."""

    def __init__(self, data: Path, name: str) -> None:
        """Raises GenerationUnreadable."""
        folder = generation_folder(data, name)
        super().__init__(folder)
        self.name = name
        self.index = folder / INDEX


def generation_folder(data: Path, name: str) -> Path:
    """Where a generation lies."""
    return data / GENERATIONS / name


def read_pointer(data: Path) -> Pointer:
    """The pointer as it is now."""
    try:
        content = json.loads(read_plain(data / CURRENT))
        name, number = content["generation"], content.get("number", 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Pointer()
    if not (isinstance(name, str) and NAME.fullmatch(name) and isinstance(number, int)):
        return Pointer()
    return Pointer(number, name)


def current_name(data: Path) -> str:
    """The name of the generation to serve; empty where there is none."""
    return read_pointer(data).name


def point_to(data: Path, name: str) -> None:
    """Makes a generation the one to serve. Raises OSError."""
    # The time, so that numbers also grow where the pointer of before is lost.
    number = max(read_pointer(data).number + 1, time.time_ns())
    pointer = json.dumps({"generation": name, "number": number}).encode()
    write_aside(data / CURRENT, pointer)
    sync(data)


def read_generation(data: Path, name: str) -> Generation | None:
    """A generation, None where it is missing, damaged or made by other code."""
    try:
        return Generation(data, name) if name else None
    except GenerationUnreadable:
        return None


class NewGeneration:
    """A generation while it is written, in a directory of its own that disappears unless it is finished."""

    def __init__(self, data: Path, name: str) -> None:
        """Raises OSError."""
        self._target = data / GENERATIONS / name
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=BUILDING, dir=self._target.parent))
        # Whoever may write the data directory may remove it: another user of the group may be next to build.
        self.folder.chmod(stat.S_IMODE(data.stat().st_mode) & 0o770 | 0o700)
        self.index = self.folder / INDEX
        self.index.mkdir()

    def finish(self) -> None:
        """Gives the directory its name. Raises OSError."""
        for folder in (self.index, self.folder):
            for path in folder.iterdir():
                sync(path)
            sync(folder)
        if os.path.lexists(self._target):
            set_aside(self._target)
        self.folder.rename(self._target)
        sync(self._target.parent)

    def abandon(self) -> None:
        """Removes what was not finished."""
        remove(self.folder)


def clean(data: Path) -> None:
    """Removes what dead builders left. Call it while holding the lock: nobody else can be building then."""
    for folder in (data, data / GENERATIONS, data / IMAGES):
        if folder != data and folder.is_symlink():
            continue
        for prefix in (BUILDING, DAMAGED):
            for path in folder.glob(f"{prefix}*"):
                remove(path)


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
            remove(path)


def generation_names(data: Path) -> tuple[str, ...]:
    """All generations on disk."""
    return tuple(path.name for path in _generations(data))


def _generations(data: Path) -> Iterator[Path]:
    # Only what we made, in a folder of ours: what is listed here may be removed.
    folder = data / GENERATIONS
    if folder.is_dir() and not folder.is_symlink():
        yield from (path for path in folder.iterdir() if NAME.fullmatch(path.name))
