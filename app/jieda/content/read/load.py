"""Content directories to a Library, all at once and in memory: for commands, measurements and tests.

A server opens a generation instead (`jieda.snapshot`), which is built from the same parts.
"""

import copy
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from jieda.content.catalog import in_memory
from jieda.content.library import Holdings, Library
from jieda.content.read.assemble import EntryHead, claimed_ids, decide_links, make_head, old_ids
from jieda.content.read.corpus import Corpus, Editions, Image, SampleFile, draft_files, published
from jieda.content.read.directory import (
    DirectoryListing,
    FoundFile,
    image_size,
    list_directory,
    read_file,
    unreadable,
)
from jieda.content.read.gather import (
    GLOSSARY,
    ReadFile,
    Vocabulary,
    by_place,
    choose,
    collisions,
    encoding_fault,
    entry_id_of,
    in_order,
    make_vocabulary,
    not_utf8,
    sample_owner,
)
from jieda.content.read.outline import Outline
from jieda.content.read.parse import SourceFile, parse_file
from jieda.entry import Entry, Language, Problem, Sample
from jieda.log_knowledge import Background


class Loaded:
    """Everything below some content directories, read and parsed. Raises ContentError where a taxonomy,
    glossary or dictionary is broken."""

    def __init__(self, directories: Sequence[Path], languages: frozenset[Language]) -> None:
        self._problems: list[Problem] = []
        self._contents = hashlib.sha256(",".join(sorted(languages)).encode())
        self._sources: dict[Path, SourceFile] = {}
        listings = [list_directory(directory, languages) for directory in directories]
        files = [self._read(number, listing) for number, listing in enumerate(listings)]
        shared = [file for by_kind in files for file in by_kind["shared"]]
        self.vocabulary: Vocabulary = make_vocabulary(listings[0].root, shared)
        self.glossaries: tuple[str, ...] = tuple(
            file.content.decode() for file in shared if file.where == GLOSSARY
        )
        self._problems += self.vocabulary.problems
        by_id = self._choose([by_kind["editions"] for by_kind in files])
        self.sample_texts: dict[Path, str] = {}
        self.corpus = Corpus(
            by_id=by_id,
            published={entry_id: shown for entry_id, each in by_id.items() if (shown := published(each))},
            taxonomy=self.vocabulary.taxonomy,
            samples=self._samples([by_kind["samples"] for by_kind in files]),
            images={file.where: _image(file) for by_kind in files for file in by_kind["images"]},
            background=self._background([by_kind["background"] for by_kind in files]),
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong with single files; what `jieda.content.check` finds comes on top."""
        return tuple(self._problems)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Every log, those of ids without an entry included."""
        return tuple(
            Sample(owner, file.path, self.sample_texts[file.path])
            for owner, files in self.corpus.samples.items()
            for file in files
        )

    def body(self, file: Outline) -> str:
        """The Markdown of an edition below its front matter, as it was read."""
        parsed, _ = parse_file(self._sources[file.path])
        return parsed.body.markdown if parsed else ""

    def library(self, problems: Iterable[Problem] | None = None) -> Library:
        """The entries that are served; `problems` are those of a whole check, if there was one."""
        corpus = self.corpus
        claims = claimed_ids(corpus)
        held = old_ids(claims)
        heads = {each: make_head(corpus, each, held.get(each, ())) for each in corpus.published}
        summaries = {entry_id: head.summary for entry_id, head in heads.items()}
        return Library(
            Holdings(
                ask=in_memory(summaries.values(), corpus.taxonomy),
                summary=summaries.__getitem__,
                read=lambda entry_id: self._entry(heads[entry_id]),
                vocabulary=self.vocabulary,
                problems=in_order(self._problems if problems is None else problems),
                formerly=claims,
                images={where: image.path for where, image in corpus.images.items()},
                sampled=frozenset(corpus.samples) & heads.keys(),
                samples_of=lambda entry_id: tuple(
                    Sample(entry_id, file.path, self.sample_texts[file.path])
                    for file in corpus.samples[entry_id]
                ),
                background=lambda: tuple(
                    Background(file.where, self.sample_texts[file.path]) for file in corpus.background
                ),
                digest=self._digest(heads),
                drafts=draft_files(corpus.by_id),
            )
        )

    def with_entry(self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]) -> Self:
        """All this as it would be with `sources` in place of the editions of an entry, and more `samples` of it."""
        other = copy.copy(self)
        other._put(entry_id, sources, samples)  # noqa: SLF001 - a copy of its own, which nobody else has seen
        return other

    def _put(self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]) -> None:
        places = {file.where for file in (*sources, *samples)}
        self._sources, self.sample_texts = dict(self._sources), dict(self.sample_texts)
        self._problems = [problem for problem in self._problems if problem.path not in places]
        corpus = self.corpus
        by_id = {each: editions for each, editions in corpus.by_id.items() if each != entry_id}
        files = [self._parse(source) for source in sources]
        chosen = choose([files], corpus.taxonomy, collisions([*by_id, entry_id]))
        self._problems += chosen.problems
        if chosen.editions:
            by_id[entry_id] = chosen.editions
        logs = dict(corpus.samples)
        if more := tuple(log for source in samples if (log := self._log(source, entry_id))):
            logs[entry_id] = corpus.samples.get(entry_id, ()) + more
        self.corpus = replace(
            corpus,
            by_id=dict(sorted(by_id.items())),
            published={each: shown for each, editions in by_id.items() if (shown := published(editions))},
            samples=logs,
        )

    def _read(self, number: int, listing: DirectoryListing) -> dict[str, list[SourceFile]]:
        self._problems += listing.problems
        return {
            kind: [source for file in getattr(listing, kind) if (source := self._take(number, file))]
            for kind in ("shared", "editions", "images", "samples", "background")
        }

    def _take(self, number: int, file: FoundFile) -> SourceFile | None:
        try:
            source = read_file(file)
        except OSError as error:
            self._problems.append(unreadable(file, error))
            return None
        self._contents.update(f"\n{number} {file.where} {content_hash(source.content)}".encode())
        return source

    def _choose(self, directories: Sequence[Sequence[SourceFile]]) -> dict[str, Editions]:
        by_id: dict[str, list[list[ReadFile]]] = defaultdict(lambda: [[] for _ in directories])
        for number, sources in enumerate(directories):
            for source in sources:
                by_id[entry_id_of(source.where)][number].append(self._parse(source))
        colliding = collisions(by_id)
        found: dict[str, Editions] = {}
        for entry_id in sorted(by_id):
            chosen = choose(by_id[entry_id], self.vocabulary.taxonomy, colliding)
            self._problems += chosen.problems
            if chosen.editions:
                found[entry_id] = chosen.editions
        return found

    def _parse(self, source: SourceFile) -> ReadFile:
        parsed, problems = parse_file(source)
        if parsed is None:
            return ReadFile(source.where, None, problems)
        self._sources[source.path] = source
        content = content_hash(source.content)
        return ReadFile(
            source.where, Outline.of(parsed.outline, source.path, source.modified, content), problems
        )

    def _samples(self, directories: Iterable[Sequence[SourceFile]]) -> dict[str, tuple[SampleFile, ...]]:
        chosen: dict[str, tuple[SampleFile, ...]] = {}
        for sources in directories:
            here: dict[str, list[SampleFile]] = defaultdict(list)
            for source in sources:
                owner = sample_owner(source.where)
                if log := self._log(source, owner):
                    here[owner].append(log)
            chosen |= {owner: tuple(files) for owner, files in here.items()}
        return dict(sorted(chosen.items()))

    def _background(self, directories: Iterable[Sequence[SourceFile]]) -> tuple[SampleFile, ...]:
        logs = (self._log(source, "") for sources in directories for source in sources)
        return by_place(log for log in logs if log)

    def _log(self, source: SourceFile, owner: str) -> SampleFile | None:
        if line := encoding_fault(source.content):
            self._problems.append(not_utf8(source.where, line))
            return None
        self.sample_texts[source.path] = source.content.decode()
        return SampleFile(owner, source.where, source.path, content_hash(source.content))

    def _entry(self, head: EntryHead) -> Entry:
        editions = {}
        for lang, file in self.corpus.published[head.summary.id].items():
            kept = dict(decide_links(self.corpus, file))
            parsed, _ = parse_file(self._sources[file.path])
            if parsed:
                editions[lang] = parsed.edition(kept.__getitem__, file.path, file.updated)
        return head.entry(editions)

    def _digest(self, heads: Mapping[str, EntryHead]) -> str:
        return finished_digest(self._contents.copy(), (head.summary.stale for head in heads.values()), heads)


def finished_digest(
    contents: "hashlib._Hash", stale: Iterable[frozenset[Language]], ids: Iterable[str]
) -> str:
    """The digest of a library: of every file, and of which editions are stale, for that may hang on file times."""
    for entry_id, languages in zip(ids, stale, strict=True):
        if languages:
            contents.update(f"\n{entry_id} {','.join(sorted(languages))}".encode())
    return contents.hexdigest()


def content_hash(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _image(source: SourceFile) -> Image:
    return Image(source.path, content_hash(source.content), image_size(source.content))


def load_library(
    directories: Sequence[Path], *, languages: frozenset[Language] = frozenset(Language)
) -> Library:
    """All that the content directories hold; a later one overrides by id and adds its own.

    Editions in other languages than `languages` are treated as if they were not there. An entry of a later
    directory replaces all editions of that id, once one of its files can be served. Its problems are those of
    single files: `jieda.content.check` finds the others. Raises ContentError where a taxonomy, glossary or
    dictionary is broken.
    """
    return Loaded(directories, languages).library()


def load_corpus(directories: Sequence[Path]) -> Corpus:
    """The outlines of all editions, drafts included, for commands that work on the files. Raises ContentError."""
    return Loaded(directories, frozenset(Language)).corpus
