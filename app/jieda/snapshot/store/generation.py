"""Generations, directories that are renamed into place once complete, and the pointer to the current one.

data/
  current                  the name of the generation to serve; replaced by rename
  generations/<name>/      <digest>.sqlite, index/; immutable once in place
  images/<hash>.<type>     copies of images: what is served is what was read
  facts-1.sqlite           the fact store, from which generations are built and entries are read

The SQLite file of a generation is named after its digest, which is checked when it is opened. Its tables:

    entries       the row of each entry as JSON, its digest, and the keys of the texts of its editions
    orders, tags  the tables of `content.catalog`
    header        everything else as a record that is read when the file is opened
"""

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from jieda.analysis.pipeline import GlossaryMember
from jieda.content import catalog
from jieda.content.catalog import put_entries, remove_entries
from jieda.content.read.corpus import SampleFile
from jieda.content.read.gather import Vocabulary
from jieda.diagnosis.signatures import SignatureCount
from jieda.disk import BUILDING, DAMAGED, open_plain, read_plain, remove, set_aside, sync, write_aside
from jieda.entry import Edition, Entry, Language, Problem, Signature, Summary
from jieda.snapshot.store.facts import KEY_SIZE, translate_errors

Value = TypeVar("Value")

DIGEST_SIZE = 16


class GenerationUnreadable(Exception):
    """A generation is missing, damaged or made by other code, as `str` says."""


class RecordUnreadable(GenerationUnreadable):
    """Bytes do not decode to the expected record."""


@dataclass(frozen=True)
class EntryRow:
    """An entry in a generation, with the keys of its facts: `editions`, `places` (of terms in editions), `document`,
    `completions`, `diagnosis`, `meaning` (empty without an embedder) and `history` (only of editions with changes
    recorded in git)."""

    summary: Summary
    editions: Mapping[Language, bytes]
    places: Mapping[Language, bytes]
    document: bytes
    completions: bytes
    diagnosis: bytes
    meaning: bytes = b""
    history: Mapping[Language, bytes] = field(default_factory=dict)

    @property
    def keys(self) -> Iterator[bytes]:
        yield from self.editions.values()
        yield from self.places.values()
        yield from self.history.values()
        yield from (self.document, self.completions, self.diagnosis)
        if self.meaning:
            yield self.meaning

    @property
    def indexed(self) -> tuple[bytes, bytes, bytes]:
        """Keys of the facts that the index is made from."""
        return self.document, self.diagnosis, self.meaning

    @cached_property
    def digest(self) -> bytes:
        return hashlib.blake2b(to_json(self), digest_size=DIGEST_SIZE).digest()


@dataclass(frozen=True, slots=True)
class Header:
    """All of a generation but its entries, read when it is opened.

    `code`: version of the code that made it. `engine`: name of the external engine, empty for the in-process index.
    `members`: the analyzed words of the glossary.
    `background_words`: keys of the facts about the words of background logs, which no entry explains: the `samples`
    without an entry. `counts`: number of logs per signature. `signatures`: by id of the entry, if it has any.
    `anywhere`: ids of entries that apply to any framework. `problems`: sorted by path and line. `old_ids`: old id to
    current id. `images`: served name to file name in the images folder. `drafts`: files that are hidden from readers.
    `completions`: name of an array file in the index.
    """

    code: str
    engine: str
    vocabulary: Vocabulary
    members: tuple[GlossaryMember, ...]
    background_words: tuple[bytes, ...]
    counts: tuple[SignatureCount, ...]
    signatures: Mapping[str, tuple[Signature, ...]]
    anywhere: tuple[str, ...]
    samples: tuple[SampleFile, ...]
    problems: tuple[Problem, ...]
    old_ids: Mapping[str, str]
    images: Mapping[str, str]
    drafts: tuple[str, ...]
    completions: str = ""


def to_json(value: object) -> bytes:
    """Encode a record as JSON. Paths become strings, bytes base64."""
    return msgspec.json.encode(value, enc_hook=_encode)


def from_json(data: bytes, kind: type[Value]) -> Value:
    """Decode a record of type `kind`. Raises RecordUnreadable for anything else."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_decode)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordUnreadable(str(error)) from error


def read_record(path: Path, kind: type[Value]) -> Value | None:
    """Return the record in a file; None if it is missing or unreadable."""
    try:
        return from_json(read_plain(path), kind)
    except (OSError, RecordUnreadable):
        return None


def _encode(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a record cannot contain a {type(value).__name__}")


def _decode(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"a record cannot contain a {kind.__name__}")


def read_entry(fact: Callable[[bytes], bytes | None], row: EntryRow) -> Entry:
    """Read a whole entry from its facts, and the paths and dates of its files, which facts lack, from its row. Raises
    RecordUnreadable, also if a text is missing."""
    editions: dict[Language, Edition] = {}
    for lang, key in row.editions.items():
        value = fact(key)
        if value is None:
            raise RecordUnreadable(f"a text of {row.summary.id} is missing")
        summary = row.summary.editions[lang]
        editions[lang] = replace(from_json(value, Edition), path=Path(summary.path), updated=summary.updated)
    return row.summary.entry(editions)


GENERATIONS = "generations"
CURRENT = "current"
INDEX = "index"
IMAGES = "images"
NAME = re.compile(r"[0-9a-f]{16}")
"""Name of a generation."""
GRACE_PERIOD = 60.0
"""Seconds for which a generation is kept once it is no longer current: workers may still serve it."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The generation to serve. `number` increases each time the pointer moves, even back to an earlier generation;
    0 if there is no pointer. `content`: the directories that the generation was built from."""

    generation: str = ""
    number: int = 0
    content: tuple[str, ...] = ()


TABLES = f"""{catalog.TABLES}
CREATE TABLE entries (id TEXT PRIMARY KEY, digest BLOB NOT NULL, texts BLOB NOT NULL, row BLOB NOT NULL);
CREATE TABLE header (value BLOB);
"""
SUFFIX = ".sqlite"
CACHED_ROWS = 4096
"""A row takes some 3 KB."""
MAX_MAPPED = 1 << 40
"""Maximum number of bytes of the file that are mapped into memory, which workers share."""


class Generation:
    """A generation whose file has been verified. Its index, a directory, is checked when that is opened.

    Safe to share between threads. Every query may raise GenerationUnreadable.
    """

    def __init__(self, data: Path, name: str) -> None:
        """Raises GenerationUnreadable if the file is missing or has changed since it was written."""
        folder = generation_folder(data, name)
        self.name, self.index = name, folder / INDEX
        self.path = _verified_file(folder)
        self._connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        weakref.finalize(self, self._connection.close)
        self._lock = threading.Lock()
        self.row = lru_cache(CACHED_ROWS)(self._read_row)
        """Returns the row of an entry. Raises KeyError for an unknown id."""
        self.ask(f"PRAGMA mmap_size = {MAX_MAPPED}")
        self.ask("PRAGMA trusted_schema = OFF")
        try:
            self.header = from_json(self.ask("SELECT value FROM header")[0][0], Header)
        except IndexError as error:
            raise GenerationUnreadable(str(error)) from error

    def ask(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(query, parameters).fetchall()
        except sqlite3.Error as error:
            raise GenerationUnreadable(str(error)) from error

    def rows(self) -> Iterator[EntryRow]:
        """Yield the rows of all entries, sorted by id, without displacing cached ones."""
        return (self._read_row(entry_id) for (entry_id,) in self.ask("SELECT id FROM entries ORDER BY id"))

    def digests(self) -> dict[str, bytes]:
        return dict(self.ask("SELECT id, digest FROM entries"))

    def texts(self) -> set[bytes]:
        """Return the fact keys of the texts of all editions."""
        rows = self.ask("SELECT texts FROM entries")
        return {keys[at : at + KEY_SIZE] for (keys,) in rows for at in range(0, len(keys), KEY_SIZE)}

    def _read_row(self, entry_id: str) -> EntryRow:
        rows = self.ask("SELECT row FROM entries WHERE id = ?", (entry_id,))
        if not rows:
            raise KeyError(entry_id)
        return from_json(rows[0][0], EntryRow)


def read_generation(data: Path, name: str) -> Generation | None:
    """Return a generation; None if it is missing, damaged or made by other code."""
    try:
        return Generation(data, name) if name else None
    except GenerationUnreadable:
        return None


def write_tables(
    folder: Path,
    previous: Generation | None,
    changed: Mapping[str, EntryRow],
    removed: Collection[EntryRow],
    header: Header,
) -> None:
    """Write the file of a generation into `folder`: a copy of the `previous` one, without the `removed` rows and with
    new or `changed` ones, by id; a new file if there is no previous one. Raises OSError, FactsUnreadable."""
    path, taxonomy = folder / f"new{SUFFIX}", header.vocabulary.taxonomy
    if previous:
        shutil.copyfile(previous.path, path)
    with translate_errors(path.parent), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # An unfinished file is thrown away, so nothing is ever rolled back.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        if previous is None:
            connection.executescript(TABLES)
        connection.execute("BEGIN")
        remove_entries(connection, (row.summary for row in removed), taxonomy)
        connection.executemany("DELETE FROM entries WHERE id = ?", ((row.summary.id,) for row in removed))
        put_entries(connection, (row.summary for row in changed.values()), taxonomy)
        rows = (
            (entry_id, row.digest, b"".join(row.editions.values()), to_json(row))
            for entry_id, row in changed.items()
        )
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", rows)
        connection.execute("DELETE FROM header")
        connection.execute("INSERT INTO header VALUES (?)", (to_json(header),))
        connection.execute("COMMIT")
    sync(path)
    path.rename(path.with_stem(_digest(path)))


def _verified_file(folder: Path) -> Path:
    """Return the path of a folder's file. Raises GenerationUnreadable if its digest does not match."""
    try:
        path = next(folder.glob(f"*{SUFFIX}"), folder / f"missing{SUFFIX}")
        if _digest(path) != path.stem:
            raise GenerationUnreadable("it was changed on disk")
    except OSError as error:
        raise GenerationUnreadable(error.strerror or str(error)) from error
    return path


def _digest(path: Path) -> str:
    with os.fdopen(open_plain(path), "rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST_SIZE))
    return digest.hexdigest()


def generation_folder(data: Path, name: str) -> Path:
    """Return the directory of a generation."""
    return data / GENERATIONS / name


def read_pointer(data: Path) -> Pointer:
    """Return the current pointer."""
    pointer = read_record(data / CURRENT, Pointer)
    return pointer if pointer and NAME.fullmatch(pointer.generation) else Pointer()


def point_to(data: Path, name: str, content: Iterable[Path]) -> None:
    """Make a generation, built from the `content` directories, the one to serve. Sets the modification time of the
    previous one's folder for `prune`. Raises OSError."""
    previous = read_pointer(data)
    # Based on the time, so that numbers increase even if the previous pointer is lost.
    number = max(previous.number + 1, time.time_ns())
    if previous.generation:
        with contextlib.suppress(OSError):
            os.utime(generation_folder(data, previous.generation))
    write_aside(data / CURRENT, to_json(Pointer(name, number, tuple(map(str, content)))))
    sync(data)


@contextmanager
def new_generation(data: Path, name: str) -> Iterator[Path]:
    """Yield a temporary folder with an empty folder for the index. It is renamed into place after the block, or removed
    if the block fails. Raises OSError."""
    target = generation_folder(data, name)
    target.parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=BUILDING, dir=target.parent))
    try:
        # Whoever may write the data directory may remove it: another user of the group may build next.
        folder.chmod(stat.S_IMODE(data.stat().st_mode) & 0o770 | 0o700)
        index = folder / INDEX
        index.mkdir()
        yield folder
        for path in (*index.iterdir(), index, *folder.glob(f"*{SUFFIX}"), folder):
            sync(path)
        if os.path.lexists(target):
            set_aside(target)
        folder.rename(target)
        sync(target.parent)
    except BaseException:  # whatever the error, nothing partial may stay
        remove(folder)
        raise


def clean(data: Path) -> None:
    """Remove what dead builders left behind. Call it with the lock held and no links in place of the folders. It looks
    nowhere else: another builder may work in a data directory inside this one, and caches have no lock."""
    for folder in (data, data / GENERATIONS, data / IMAGES):
        for prefix in (BUILDING, DAMAGED):
            for path in folder.glob(f"{prefix}*"):
                remove(path)


def prune(data: Path, served: Iterable[str]) -> None:
    """Remove generations that are neither current, nor served, nor recently current."""
    kept = {read_pointer(data).generation, *served}
    for name in generation_names(data):
        folder = generation_folder(data, name)
        with contextlib.suppress(OSError):
            if name not in kept and time.time() - folder.stat().st_mtime > GRACE_PERIOD:
                remove(folder)


def generation_names(data: Path) -> tuple[str, ...]:
    """Return the names of all generations on disk."""
    folder = data / GENERATIONS
    # Only in our own folder: whatever is listed here may be removed.
    if folder.is_symlink() or not folder.is_dir():
        return ()
    return tuple(path.name for path in folder.iterdir() if NAME.fullmatch(path.name))
