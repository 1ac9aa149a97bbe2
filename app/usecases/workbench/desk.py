"""All content as it lies in its directories, read for whoever writes; kept until something else is served."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from app.content.authoring.place import digest_of, opened
from app.content.check.samples import Matches, SignatureFinder, Spoken
from app.content.read.load import Loaded
from app.content.read.parse import UnservableError, decode
from app.diagnosis.collect import Events, event_finder
from app.entry import Language, Signature
from app.errors import AuthoringError
from app.log.formats import Formats, compile_formats
from app.snapshot.snapshot import Snapshot
from app.usecases.workbench.draft import where_of

REMEMBERED = 4
"""Lists of signatures whose finds in all logs are kept: that of the entry at hand, as it was a moment ago."""


@dataclass(frozen=True, slots=True)
class OpenedEdition:
    """The text of an edition as it lies in its directory, and the digest of the file."""

    text: str
    digest: str


class Material:
    """The content, and what logs have of its signatures. Safe to share between threads."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.formats: Formats = compile_formats(loaded.vocabulary.logs.failures)
        spoken = Spoken.of(loaded.corpus)
        self._known = frozenset(spoken.holders)
        self.finder = SignatureFinder(spoken.holders)
        texts = loaded.sample_texts
        logs = [*loaded.corpus.samples.values(), loaded.corpus.background]
        self._logs = {log.content: texts[log.path] for each in logs for log in each}
        self._matches: Matches = {content: self.finder.find(text) for content, text in self._logs.items()}
        self.events = lru_cache(REMEMBERED)(self._events)
        self._new = lru_cache(REMEMBERED)(self._found_anew)

    def matches(self, signatures: Iterable[Signature], more: Mapping[str, str]) -> Matches:
        """The signatures that every log has, `signatures` among them, and those of `more` logs by their hash."""
        fresh = frozenset(signatures) - self._known
        found = self._new(fresh) if fresh else {}
        own = SignatureFinder(fresh)
        added = {content: self.finder.find(text) | own.find(text) for content, text in more.items()}
        return {
            content: had | found.get(content, frozenset()) for content, had in self._matches.items()
        } | added

    def _found_anew(self, signatures: frozenset[Signature]) -> Matches:
        finder = SignatureFinder(signatures)
        return {content: finder.find(text) for content, text in self._logs.items()}

    def _events(self, signatures: tuple[Signature, ...]) -> Mapping[str, Events]:
        """What every log has of some signatures, as a diagnosis reads it, by the hash of the log."""
        find = event_finder(signatures, self.formats)
        return {content: find(text) for content, text in self._logs.items()}


@dataclass(slots=True)
class Desk:
    """Where entries are written. `directories` are those of the content."""

    directories: Sequence[Path]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _held: tuple[str, Material] | None = None

    def material(self, snapshot: Snapshot) -> Material:
        """The content. Takes a second or more the first time after something else is served.

        Raises ContentError where a taxonomy, glossary or dictionary is broken.
        """
        with self._lock:
            if self._held is None or self._held[0] != snapshot.generation:
                loaded = Loaded(self.directories, frozenset(Language))
                self._held = (snapshot.generation, Material(loaded))
            return self._held[1]

    def directory_of(self, entry_id: str) -> Path:
        """The directory that the files of an entry lie in; the last one where there are none."""
        holding = (each for each in reversed(self.directories) if _has(each, entry_id))
        return next(holding, self.directories[-1])

    def open(self, entry_id: str) -> dict[Language, OpenedEdition]:
        """The editions of an entry as they are now. Raises AuthoringError for one that cannot be edited as text."""
        with opened(self.directory_of(entry_id)) as place:
            held = {lang: place.read(where_of(entry_id, lang)) for lang in Language}
        return {
            lang: OpenedEdition(_text(where_of(entry_id, lang), content), digest_of(content))
            for lang, content in held.items()
            if content is not None
        }


def _has(directory: Path, entry_id: str) -> bool:
    return any((directory / where_of(entry_id, lang)).is_file() for lang in Language)


def _text(where: str, content: bytes) -> str:
    try:
        return decode(content, limit=len(content))
    except UnservableError as error:
        raise AuthoringError(f"{where}:{error.line}: {error.message}") from error
