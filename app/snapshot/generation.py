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
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.disk import BUILDING, DAMAGED, open_plain, read_plain, remove, set_aside, sync, write_aside
from app.errors import IndexUnreadable
from app.search.index.array_file import Array, read_arrays
from app.snapshot.records import EntryRow, Header, RecordUnreadable, from_json, to_json
from app.snapshot.rows import SEAL_LENGTH, StoredRows

GENERATIONS = "generations"
CURRENT = "current"
ENTRIES, INDEX = "entries.jsonl", "index"
IMAGES = "images"
NAME = re.compile(r"[0-9a-f]{16}")
"""How generations are named."""
GRACE = 60.0
"""Seconds that a generation outlives being current: workers may still have to leave it."""


class GenerationUnreadable(Exception):
    """A generation that is missing, damaged or made by other code; `str` says why."""


@dataclass(frozen=True, slots=True, order=True)
class Pointer:
    """Which generation is to be served. The `number` grows each time that the pointer moves, also where it moves to a
    generation of before; 0 where there is none."""

    number: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation that was found whole. `rows` are in the order of their ids, `index` is a directory."""

    name: str
    header: Header
    rows: Sequence[EntryRow]
    index: Path


@dataclass(frozen=True, slots=True, eq=False)
class OpenGeneration(Generation):
    """A generation whose rows stay on disk. `arrays` are those of its catalog."""

    rows: StoredRows
    arrays: Mapping[str, Array]


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


def read_generation(data: Path, name: str) -> OpenGeneration:
    """Reads a generation, but for its rows and its index. Raises GenerationUnreadable."""
    folder = generation_folder(data, name)
    try:
        header = from_json(_unsealed(folder / "header.json"), Header)
        _check_seal(folder / ENTRIES)
        arrays = read_arrays(folder / INDEX, header.catalog)
        rows = StoredRows(folder / ENTRIES, arrays["rows.starts"], arrays["rows.digests"])
    except (OSError, RecordUnreadable, IndexUnreadable, KeyError) as error:
        raise GenerationUnreadable(getattr(error, "strerror", None) or str(error)) from error
    if header.generation != name:
        raise GenerationUnreadable(f"is the generation {header.generation}")
    return OpenGeneration(name, header, rows, folder / INDEX, arrays)


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
        # Whoever may write the data directory may remove it: another user of the group may be next to build.
        self._aside.chmod(stat.S_IMODE(data.stat().st_mode) & 0o770 | 0o700)
        self.index = self._aside / INDEX
        self.index.mkdir()

    def finish(self, header: Header, entries: bytes) -> None:
        """Writes what is left and gives the directory its name. Raises OSError."""
        _seal(self._aside / "header.json", to_json(header))
        _seal(self._aside / ENTRIES, entries)
        for path in self.index.iterdir():
            sync(path)
        sync(self.index)
        sync(self._aside)
        if os.path.lexists(self._target):
            set_aside(self._target)
        self._aside.rename(self._target)
        sync(self._target.parent)

    def abandon(self) -> None:
        """Removes what was not finished."""
        remove(self._aside)


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


def _seal(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        file.flush()
        os.fsync(file.fileno())


def _unsealed(path: Path) -> bytes:
    """The content of a sealed file. Raises OSError, RecordUnreadable where it is not what was written."""
    seal, _, content = read_plain(path).partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != seal:
        raise RecordUnreadable(f"{path.name} is damaged")
    return content


def _check_seal(path: Path) -> None:
    """Reads a sealed file piece by piece. Raises OSError, RecordUnreadable where it is not what was written."""
    with os.fdopen(open_plain(path), "rb") as file:
        seal = file.readline(SEAL_LENGTH).rstrip(b"\n")
        total = hashlib.file_digest(file, "sha256")
    if total.hexdigest().encode() != seal:
        raise RecordUnreadable(f"{path.name} is damaged")
