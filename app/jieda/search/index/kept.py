"""Arrays that are made once of something else, kept on disk, and mapped by every process that needs them."""

import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path

from jieda.disk import BUILDING, temporary_folders
from jieda.errors import IndexUnreadable, JiedaError
from jieda.search.index.array_file import SUFFIX, Array, read_arrays, write_arrays

log = logging.getLogger(__name__)


def kept_arrays(folder: Path, key: str, make: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
    """What lies in `folder` under `key`; made, and kept there, where there is nothing or not what was written. Other
    keys are removed. Raises JiedaError where nothing can be kept, and what `make` raises."""
    return _kept(folder / key) or _made(folder, key, make())


def _kept(folder: Path) -> dict[str, Array]:
    """What lies in a folder; empty where that is nothing, or not what was written."""
    for file in folder.glob(f"*{SUFFIX}"):
        try:
            return read_arrays(folder, file.stem)
        except IndexUnreadable as error:
            log.warning("what is kept in %s is made anew: %s", folder.parent.name, error)
    return {}


def _made(folder: Path, key: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    for place in chain([folder], temporary_folders()):
        try:
            made = _written(place, key, arrays)
        except OSError as error:
            log.warning("nothing can be kept in %s: %s", place, error)
        else:
            _sweep(place, key if place == folder else "")
            return made
    raise JiedaError(f"{folder}: nothing can be kept there or in a temporary directory")


def _written(folder: Path, key: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Renamed into place when whole: others may be reading, or writing the same. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=BUILDING, dir=folder) as aside:
        name = write_arrays(Path(aside), arrays)
        (folder / key).mkdir(exist_ok=True)
        Path(aside, f"{name}{SUFFIX}").replace(folder / key / f"{name}{SUFFIX}")
    return read_arrays(folder / key, name)


def _sweep(folder: Path, kept: str) -> None:
    """Removes what something else or other code left; what is mapped stays readable. Without anything `kept`, the
    folder itself, which is a temporary one."""
    if not kept:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for other in folder.iterdir():
        if other.name != kept and not other.name.startswith(BUILDING):
            shutil.rmtree(other, ignore_errors=True)
