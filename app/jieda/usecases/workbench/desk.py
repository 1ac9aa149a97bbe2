"""Reads the content for authors, makes drafts, and writes and commits them."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path

from jieda.content.authoring.edition_text import known_skeletons, skeleton
from jieda.content.authoring.writing import (
    Author,
    FileChange,
    check_repository,
    commit,
    digest_of,
    opened,
    patch_of,
)
from jieda.content.check.findings import Matches, SignatureFinder, SignatureHolders
from jieda.content.read.corpus import Corpus
from jieda.content.read.load import Loaded
from jieda.content.read.parse import UnservableError, decode
from jieda.diagnosis.facts import Events, event_finder
from jieda.drafting.guesses import SlugAllocator, is_specific
from jieda.entry import Kind, Language, Signature
from jieda.errors import AuthoringError, GitError
from jieda.feedback import today
from jieda.log.formats import Formats, compile_formats
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.from_log import clues_of, known_failure
from jieda.usecases.gaps.redact import as_log, as_quoted, as_signature
from jieda.usecases.judge import judge
from jieda.usecases.secrets import masked
from jieda.usecases.workbench.draft import Draft, tidied, where_of

REMEMBERED = 4
"""Cached results of matching a list of signatures against all logs: those of the entry's last few states."""


@dataclass(frozen=True, slots=True)
class OpenedEdition:
    """The text of an edition on disk, and the digest of the file."""

    text: str
    digest: str


class LoadedContent:
    """The loaded content, and which logs match its signatures. Safe to share between threads."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.formats: Formats = compile_formats(loaded.vocabulary.logs.failures)
        spoken = SignatureHolders.of(loaded.corpus)
        self._known = frozenset(spoken.holders)
        self.finder = SignatureFinder(spoken.holders)
        texts = loaded.sample_texts
        logs = [*loaded.corpus.samples.values(), loaded.corpus.background]
        self._logs = {log.content: texts[log.path] for each in logs for log in each}
        self._matches: Matches = {content: self.finder.find(text) for content, text in self._logs.items()}
        self.events = lru_cache(REMEMBERED)(self._events)
        self._new = lru_cache(REMEMBERED)(self._find_new)

    def matches(self, signatures: Iterable[Signature], more: Mapping[str, str]) -> Matches:
        """Return the matches of every log, `signatures` included, and those of `more` logs, given by their hash."""
        fresh = frozenset(signatures) - self._known
        found = self._new(fresh) if fresh else {}
        own = SignatureFinder(fresh)
        added = {content: self.finder.find(text) | own.find(text) for content, text in more.items()}
        return {
            content: had | found.get(content, frozenset()) for content, had in self._matches.items()
        } | added

    def _find_new(self, signatures: frozenset[Signature]) -> Matches:
        finder = SignatureFinder(signatures)
        return {content: finder.find(text) for content, text in self._logs.items()}

    def _events(self, signatures: tuple[Signature, ...]) -> Mapping[str, Events]:
        """Return the events of some signatures in every log, as a diagnosis finds them, by the hash of the log."""
        find = event_finder(signatures, self.formats)
        return {content: find(text) for content, text in self._logs.items()}


@dataclass(slots=True)
class Desk:
    """Gives authors access to the content directories."""

    directories: Sequence[Path]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _held: tuple[str, LoadedContent] | None = None

    def material(self, snapshot: Snapshot) -> LoadedContent:
        """Return the loaded content. The first call per generation takes a second or more.

        Raises ContentError if a taxonomy, glossary or dictionary is broken.
        """
        with self._lock:
            if self._held is None or self._held[0] != snapshot.generation:
                loaded = Loaded(self.directories)
                self._held = (snapshot.generation, LoadedContent(loaded))
            return self._held[1]

    def directory_of(self, entry_id: str) -> Path:
        """Return the directory with the files of an entry; the last directory if there are none."""
        places = [where_of(entry_id, lang) for lang in Language]
        holding = (
            each for each in reversed(self.directories) if any((each / where).is_file() for where in places)
        )
        return next(holding, self.directories[-1])

    def open(self, entry_id: str) -> dict[Language, OpenedEdition]:
        """Read the editions of an entry. Raises AuthoringError for one that cannot be edited as text."""
        with opened(self.directory_of(entry_id)) as place:
            held = {lang: place.read(where_of(entry_id, lang)) for lang in Language}
        return {
            lang: OpenedEdition(_text(where_of(entry_id, lang), content), digest_of(content))
            for lang, content in held.items()
            if content is not None
        }


def _text(where: str, content: bytes) -> str:
    try:
        return decode(content, limit=len(content))
    except UnservableError as error:
        raise AuthoringError(f"{where}:{error.line}: {error.message}") from error


UNNAMED = "new-error"


def empty_draft(corpus: Corpus, framework: str, slug: str, kind: Kind, day: date) -> Draft:
    """Return the skeleton that `jieda new` writes. `framework` must be in the taxonomy."""
    texts = {lang: skeleton(corpus.taxonomy, framework, kind, lang, day) for lang in corpus.languages}
    return Draft(f"{framework}/{slug}", texts)


def draft_from_log(
    snapshot: Snapshot, material: LoadedContent, log: str, framework: str, redacted: str = ""
) -> Draft:
    """Return the skeleton of an error, filled in from a log: framework, error types, the line as title, symptom and
    signature, and the log itself, with secrets masked, as a sample. `redacted`: the redacted line of a gap, if the log
    was made from one with stand-ins for the redacted parts."""
    taxonomy, text = snapshot.library.taxonomy, masked(log)
    diagnosis = judge(snapshot, SearchRequest(text), framework)
    clues = clues_of(text, diagnosis, material.loaded)
    if redacted:
        signature = as_signature(redacted)
        signatures = (signature,) if is_specific(signature) else ()
        clues = replace(clues, line=as_quoted(redacted), signatures=signatures)
    chosen = next(
        each for each in (framework, diagnosis.framework, *taxonomy.framework) if each in taxonomy.framework
    )
    slug, _ = SlugAllocator(each.partition("/")[2] for each in snapshot.library.ids).take(
        clues.name, "", "", UNNAMED
    )
    corpus = material.loaded.corpus
    draft = empty_draft(corpus, chosen, slug, Kind.ERROR, today())
    known = known_failure(clues, material.loaded)
    texts = known_skeletons(corpus, draft.id, known, today()) if clues.line else draft.texts
    return Draft(draft.id, texts, tidied(text))


def draft_from_gap(snapshot: Snapshot, material: LoadedContent, line: str) -> Draft:
    """Return the skeleton of an error, filled in from the redacted line of a gap."""
    return draft_from_log(snapshot, material, as_log(line), "", line)


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A draft to be committed. `expected`: by language, the digests that the current file may have: as it was opened,
    or as the author has seen it since; the empty digest means no file."""

    draft: Draft
    expected: Mapping[Language, frozenset[str]]
    author: Author
    message: str


@dataclass(frozen=True, slots=True)
class Committed:
    """The files were written and committed; `commit` is the commit's name."""

    commit: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """The files were written, but git refused the commit."""

    reason: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else changed these editions since they were opened; nothing was written."""

    theirs: Mapping[Language, OpenedEdition]


Finished = Committed | Uncommitted | Conflict


def patch(desk: Desk, draft: Draft) -> str:
    """Return the patch that applies a draft to its content directory. Raises AuthoringError."""
    files = draft.files()
    with opened(desk.directory_of(draft.id)) as place:
        before = {where: place.read(where) for where in files}
    return patch_of(
        FileChange(where, None if had is None else had.decode("utf-8", "surrogateescape"), files[where])
        for where, had in before.items()
    )


def write(desk: Desk, wish: CommitRequest) -> Finished:
    """Write the files of a draft without unserved problems, and commit them.

    Raises AuthoringError, GitError; nothing was written then, unless the message says so.
    """
    draft, directory = wish.draft, desk.directory_of(wish.draft.id)
    files = {where: text.encode() for where, text in draft.files().items()}
    check_repository(directory)
    with opened(directory) as place:
        moved = [
            lang
            for lang in draft.texts
            if digest_of(place.read(where_of(draft.id, lang))) not in wish.expected.get(lang, frozenset({""}))
        ]
        if not moved:
            place.write(files)
            try:
                return Committed(
                    commit(directory, tuple(files), wish.author, wish.message or f"Write {draft.id}"),
                    tuple(files),
                )
            except GitError as error:
                return Uncommitted(str(error), tuple(files))
    held = desk.open(draft.id)
    return Conflict({lang: held.get(lang, OpenedEdition("", "")) for lang in moved})
