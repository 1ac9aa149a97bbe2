"""Reads the content for authors, makes drafts, and writes and commits them."""

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from jieda.content.authoring.edition_text import skeletons
from jieda.content.authoring.source_text import values_of, with_item, with_list, with_stamp, with_value
from jieda.content.authoring.writing import (
    Author,
    check_repository,
    commit,
    digest_of,
    lock_directory,
    patch_of,
)
from jieda.content.check.findings import Matches, SignatureHolders
from jieda.content.read.corpus import FileOutline
from jieda.content.read.directory import SourceFile
from jieda.content.read.forms import ENTRY_ID
from jieda.content.read.load import Loaded
from jieda.content.read.parse import UnservableError, decode, parse_file
from jieda.diagnosis.signatures import FoundSignatures, signature_finder, signatures_of
from jieda.drafting.guesses import SlugAllocator, is_specific
from jieda.entry import Kind, Language, Signature
from jieda.errors import AuthoringError, GitError
from jieda.log.formats import Formats, compile_formats
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.from_log import clues_of, known_failure
from jieda.usecases.gaps.redact import as_quoted, as_signature
from jieda.usecases.judge import judge
from jieda.usecases.secrets import masked


@dataclass(frozen=True, slots=True)
class Draft:
    """`texts`: the whole file of each non-empty edition; `sample`: a log to be stored with the entry."""

    id: str
    texts: Mapping[Language, str]
    sample: str = ""

    @property
    def is_named(self) -> bool:
        return ENTRY_ID.fullmatch(self.id) is not None

    def files(self) -> dict[str, str]:
        """Return the files to write, by path below the content directory: the editions, then the sample."""
        found = {where_of(self.id, lang): text for lang, text in self.texts.items()}
        return found | ({self.sample_place: self.sample} if self.sample else {})

    @property
    def sample_place(self) -> str:
        """Path of the sample; different logs have different names."""
        digest = hashlib.sha256(self.sample.encode("utf-8", "replace")).hexdigest()
        return f"samples/{self.id}/{digest[:10]}.log"

    def sources(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        """Return the editions as files of a directory; `modified` is in seconds since the epoch."""
        return tuple(
            source(directory, where_of(self.id, lang), text, modified) for lang, text in self.texts.items()
        )

    def samples(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        return (source(directory, self.sample_place, self.sample, modified),) if self.sample else ()

    def shown(self) -> "Draft":
        """Return a copy whose editions are no longer drafts."""
        return Draft(self.id, {lang: _published(text) for lang, text in self.texts.items()}, self.sample)


def where_of(entry_id: str, lang: Language) -> str:
    """Return the path of an edition below its content directory."""
    return f"{lang}/{entry_id}.md"


def source(directory: Path, where: str, text: str, modified: float) -> SourceFile:
    """Return a text as a file below a directory."""
    return SourceFile(where, directory / where, text.encode("utf-8", "replace"), modified)


def tidied(text: str) -> str:
    """Normalize a text from a form: line ends LF, and one at the end; empty if it is blank."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"{lines.rstrip(chr(10))}\n" if lines.strip() else ""


def _published(text: str) -> str:
    try:
        return with_value(text, "draft", "false") if values_of(text, "draft") else text
    except AuthoringError:
        return text


Texts = Mapping[Language, str]


def with_kind(texts: Texts, kind: str) -> dict[Language, str]:
    """Set the kind of both editions. Raises AuthoringError if it is unknown or a front matter cannot be read."""
    if kind not in set(Kind):
        raise AuthoringError(f"kind {kind!r} is not one of {', '.join(Kind)}")
    return {lang: with_value(text, "kind", kind) for lang, text in texts.items() if text}


def with_tag(texts: Texts, key: str, tag: str) -> dict[Language, str]:
    """Add a tag to the list `key` of both editions; remove it if either has it. Raises AuthoringError."""
    if not tag:
        return dict(texts)
    held = any(tag in values_of(text, key) for text in texts.values())
    changed = {}
    for lang, text in texts.items():
        others = tuple(each for each in values_of(text, key) if each != tag)
        if text:
            changed[lang] = with_list(text, key, others if held else (*others, tag))
    return changed


def with_wording(texts: Texts, lang: str, wording: str) -> dict[Language, str]:
    """Return both editions, with an alias added to the one in `lang`. Raises AuthoringError."""
    changed = {each: text for each, text in texts.items() if text}
    if wording and lang in changed:
        edition = Language(lang)
        changed[edition] = with_item(changed[edition], "aliases", wording)
    return changed


def agreed(texts: Texts, entry_id: str) -> dict[Language, str]:
    """Stamp both editions with each other's digest, as `jieda sync` does. Raises AuthoringError."""
    if not all(texts.get(lang) for lang in Language):
        raise AuthoringError("only two editions can agree")
    read = {lang: _outline(texts[lang], where_of(entry_id, lang)) for lang in Language}
    return {lang: with_stamp(texts[lang].encode(), read[lang.other].digest).decode() for lang in Language}


def _outline(text: str, where: str) -> FileOutline:
    parsed, problems = parse_file(source(Path(), where, text, 0.0))
    if parsed is None:
        raise AuthoringError("; ".join(str(problem) for problem in problems))
    return parsed.outline


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
        self._known = frozenset(SignatureHolders.of(loaded.corpus).files)
        self._find = signature_finder(self._known, self.formats)
        self._logs = loaded.log_texts
        self._found = {content: self._find(text) for content, text in self._logs.items()}
        self.events = lru_cache(REMEMBERED)(self._events)

    def matches(self, signatures: Iterable[Signature], more: Mapping[str, str]) -> Matches:
        """Return the matches of every log, `signatures` included, and those of `more` logs, given by their hash."""
        fresh = tuple(dict.fromkeys(each for each in signatures if each not in self._known))
        find, new = signature_finder(fresh, self.formats), self.events(fresh)
        found = {content: had | new[content] for content, had in self._found.items()}
        found |= {content: self._find(text) | find(text) for content, text in more.items()}
        return {content: signatures_of(events) for content, events in found.items()}

    def _events(self, signatures: tuple[Signature, ...]) -> Mapping[str, FoundSignatures]:
        """Return the events of some signatures in every log, as a diagnosis finds them, by the hash of the log."""
        find = signature_finder(signatures, self.formats)
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
        with lock_directory(self.directory_of(entry_id)) as place:
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


def error_draft(
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
    known, entry_id = known_failure(clues, material.loaded), f"{chosen}/{slug}"
    return Draft(entry_id, skeletons(corpus, chosen, known, known.title), tidied(text))


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files were written, and committed unless git refused it for `reason`; `commit` is the commit's name, empty if
    git had them already. None were written if others changed editions since they were opened: `theirs` has these."""

    files: tuple[str, ...] = ()
    commit: str = ""
    reason: str = ""
    theirs: Mapping[Language, OpenedEdition] = field(default_factory=dict)


def patch(desk: Desk, draft: Draft) -> str:
    """Return the patch that applies a draft to its content directory. Raises AuthoringError."""
    files = draft.files()
    with lock_directory(desk.directory_of(draft.id)) as place:
        before = {where: place.read(where) for where in files}
    return "".join(
        patch_of(where, None if had is None else had.decode("utf-8", "surrogateescape"), files[where])
        for where, had in before.items()
    )


def write(
    desk: Desk, draft: Draft, expected: Mapping[Language, frozenset[str]], author: Author, message: str
) -> WrittenFiles:
    """Write the files of a draft without unserved problems, and commit them. `expected`: by language, the digests that
    the current file may have: as it was opened, or as the author has seen it since; the empty digest means no file.

    Raises AuthoringError, GitError; nothing was written then, unless the message says so.
    """
    directory = desk.directory_of(draft.id)
    files = {where: text.encode() for where, text in draft.files().items()}
    check_repository(directory)
    with lock_directory(directory) as place:
        held = {lang: (where := where_of(draft.id, lang), place.read(where)) for lang in draft.texts}
        moved = [
            lang
            for lang, (where, content) in held.items()
            # What is there as wanted has come from a first press of the button.
            if content != files[where] and digest_of(content) not in expected.get(lang, frozenset({""}))
        ]
        if not moved:
            place.write(files)
            try:
                done = commit(directory, tuple(files), author, message or f"Write {draft.id}")
                return WrittenFiles(tuple(files), commit=done)
            except GitError as error:
                return WrittenFiles(tuple(files), reason=str(error))
    theirs = desk.open(draft.id)
    return WrittenFiles(theirs={lang: theirs.get(lang, OpenedEdition("", "")) for lang in moved})
