"""Where a dictionary is kept in the form that it is used in: made once, mapped by every process after that."""

import hashlib
import logging
import shutil
import tempfile
from itertools import chain
from pathlib import Path

from app.disk import BUILDING, read_plain, temporary_folders
from app.errors import IndexUnreadable, JiedaError, SettingsError
from app.search.index.array_file import SUFFIX, Array, read_arrays, write_arrays
from app.search.translation.cedict import LARGEST, read_cedict
from app.search.translation.dictionary import Dictionary, MappedDictionary, dictionary_arrays

log = logging.getLogger(__name__)

FOLDER = "dictionary"
"""Below the data directory; holds what was made of the last file."""
SETTING = "JIEDA_DICTIONARY (--dictionary)"


def open_dictionary(path: Path, data: Path, code: str) -> Dictionary:
    """The dictionary of a file in CC-CEDICT's format, as kept below `data` by this `code`, or made now. Raises
    SettingsError where the file cannot be read or has a line of another format, JiedaError where nothing can be kept.
    """
    try:
        content = _content(path)
        key = hashlib.sha256(code.encode() + content).hexdigest()[:32]
        return MappedDictionary(_kept(data / FOLDER / key) or _made(path, content, data / FOLDER, key))
    except SettingsError as error:
        raise SettingsError([f"{SETTING}: {problem}" for problem in error.problems]) from error


def _content(path: Path) -> bytes:
    """Raises SettingsError."""
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise SettingsError([f"{path} has {size:,} bytes; a dictionary may have {LARGEST:,} at most"])
        return read_plain(path)
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from error


def _kept(folder: Path) -> dict[str, Array]:
    """What lies in a folder; empty where that is nothing, or not what was written."""
    for file in folder.glob(f"*{SUFFIX}"):
        try:
            return read_arrays(folder, file.stem)
        except IndexUnreadable as error:
            log.warning("the dictionary is made anew: %s", error)
    return {}


def _made(path: Path, content: bytes, folder: Path, key: str) -> dict[str, Array]:
    arrays = dictionary_arrays(read_cedict(path, content))
    for place in chain([folder], temporary_folders()):
        try:
            made = _written(place, key, arrays)
        except OSError as error:
            log.warning("the dictionary cannot be kept in %s: %s", place, error)
        else:
            _sweep(place, key if place == folder else "")
            return made
    raise JiedaError(f"{folder}: nothing can be kept there or in a temporary directory")


def _written(folder: Path, key: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Renamed into place when whole: others may be reading, or writing the same. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=BUILDING, dir=folder) as aside:
        name = write_arrays(Path(aside), arrays)
        (folder / key).mkdir(exist_ok=True)
        Path(aside, f"{name}{SUFFIX}").replace(folder / key / f"{name}{SUFFIX}")
    return read_arrays(folder / key, name)


def _sweep(folder: Path, kept: str) -> None:
    """Removes what other files or other code left; what is mapped stays readable. Without anything `kept`, the folder
    itself, which is a temporary one."""
    if not kept:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for other in folder.iterdir():
        if other.name != kept and not other.name.startswith(BUILDING):
            shutil.rmtree(other, ignore_errors=True)
