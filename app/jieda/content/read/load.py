"""Loads content directories into a Library, all at once and in memory: for commands, measurements and tests.

A server opens a generation instead (`jieda.snapshot`), which is built from the same parts.
"""

import copy
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from jieda.content.catalog import in_memory
from jieda.content.library import Library
from jieda.content.read.corpus import Corpus, Outline, draft_files
from jieda.content.read.directory import (
    FoundFile,
    KnownFile,
    Reading,
    SourceFile,
    content_hash,
    list_directory,
    note_of,
    read_file,
    sort_files,
    unreadable,
)
from jieda.content.read.gather import GLOSSARY, ReadFile, Vocabulary, entry_id_of, in_order, make_vocabulary
from jieda.content.read.parse import parse_file
from jieda.content.read.state import Prepared, advance
from jieda.entry import Entry, Language, Problem, Sample
from jieda.progress import with_progress


class Loaded:
    """All files of some content directories, read and parsed. An entry of a later directory replaces all editions of
    that id if one of its files can be served. Editions in other languages than `languages` are ignored.

    Raises ContentError if a taxonomy, glossary or dictionary is broken.
    """

    def __init__(
        self, directories: Sequence[Path], languages: frozenset[Language] = frozenset(Language)
    ) -> None:
        self._languages = languages
        self._sources: dict[Path, SourceFile] = {}
        self._unreadable: list[Problem] = []
        listings = [list_directory(directory, languages) for directory in directories]
        read = tuple(listing.read(self._read) for listing in listings)
        problems = (*(problem for each in listings for problem in each.problems), *self._unreadable)
        shared = [self._sources[file.path] for each in read for file in each.shared]
        self.vocabulary: Vocabulary = make_vocabulary(listings[0].root, shared)
        self.glossaries: tuple[str, ...] = tuple(
            file.content.decode() for file in shared if file.where == GLOSSARY
        )
        self.state = advance(None, Reading(read, problems, frozenset()), self.vocabulary, self._parse_files)
        self.log_texts = self._read_logs()

    @property
    def corpus(self) -> Corpus:
        return self.state.corpus

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of single files, without those that `jieda.content.check` finds."""
        return self.state.file_problems

    @property
    def samples(self) -> tuple[Sample, ...]:
        """All sample logs, including those of ids without an entry."""
        return tuple(
            Sample(owner, file.path, self.log_texts[file.content])
            for owner, files in self.corpus.samples.items()
            for file in files
        )

    def body(self, file: Outline) -> str:
        """Return the Markdown of an edition below its front matter."""
        parsed, _ = parse_file(self._sources[file.path])
        return parsed.body.markdown if parsed else ""

    def library(self) -> Library:
        corpus, entries = self.corpus, self.state.entries
        samples = {**corpus.samples, "": corpus.background}
        summaries = {entry_id: each.summary for entry_id, each in entries.items()}
        return Library(
            ask=in_memory(summaries.values(), corpus.taxonomy),
            summary=summaries.__getitem__,
            read_entry=lambda entry_id: self._make_entry(entries[entry_id]),
            vocabulary=self.vocabulary,
            problems=in_order(self.problems),
            formerly=self.state.claims,
            images={where: image.path for where, image in corpus.images.items()},
            sampled=frozenset(corpus.samples) & entries.keys(),
            read_samples=lambda entry_id: tuple(
                Sample(entry_id, file.path, self.log_texts[file.content]) for file in samples[entry_id]
            ),
            digest=self._digest(),
            drafts=draft_files(corpus.by_id),
        )

    def with_entry(self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]) -> Self:
        """Return a copy with `sources` in place of an entry's editions, and with additional `samples` of it."""
        other = copy.copy(self)
        other._replace_entry(entry_id, sources, samples)  # noqa: SLF001 - a copy of its own, which nobody else has seen
        return other

    def _replace_entry(
        self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]
    ) -> None:
        self._sources = self._sources | {source.path: source for source in (*sources, *samples)}
        places = {source.where for source in (*sources, *samples)}
        reading = self.state.reading
        directories = []
        for each in reading.directories:
            others = (file for file in each.editions if entry_id_of(file.where) != entry_id)
            directories.append(replace(each, editions=tuple(others)))
        # In the directory of the existing samples: those of a later directory would replace them.
        held = {log.path for log in self.corpus.samples.get(entry_id, ())}
        beside = (n for n, each in enumerate(directories) if any(file.path in held for file in each.samples))
        home = next(beside, -1)
        directories[home] = replace(
            directories[home], samples=sort_files((*directories[home].samples, *map(_unsaved_file, samples)))
        )
        directories[-1] = replace(
            directories[-1], editions=sort_files((*directories[-1].editions, *map(_unsaved_file, sources)))
        )
        problems = tuple(problem for problem in reading.problems if problem.path not in places)
        changed = Reading(tuple(directories), problems, reading.folders)
        self.state = advance(self.state, changed, self.vocabulary, self._parse_files)
        self.log_texts = self._read_logs()

    def _read(self, file: FoundFile) -> KnownFile | None:
        try:
            source = self._sources[Path(file.path)] = read_file(file)
        except OSError as error:
            self._unreadable.append(unreadable(file, error))
            return None
        return KnownFile(file, content_hash(source.content), note_of(source))

    def _parse_files(self, files: Iterable[KnownFile]) -> dict[KnownFile, ReadFile]:
        found, wanted = {}, tuple(files)
        for file in with_progress(wanted, len(wanted), "files read"):
            parsed, problems = parse_file(self._sources[file.path])
            found[file] = ReadFile.of(file, parsed.outline if parsed else None, problems)
        return found

    def _read_logs(self) -> dict[str, str]:
        """Return the texts of all samples and background logs, by the hash of their content."""
        logs = (*self.corpus.samples.values(), self.corpus.background)
        return {log.content: self._sources[log.path].content.decode() for each in logs for log in each}

    def _make_entry(self, prepared: Prepared) -> Entry:
        editions = {}
        for lang, file in self.corpus.published[prepared.summary.id].items():
            parsed, _ = parse_file(self._sources[file.path])
            if parsed:
                kept = dict(prepared.decisions[lang])
                editions[lang] = parsed.edition(kept.__getitem__, file.path, file.updated)
        return prepared.summary.entry(editions)

    def _digest(self) -> str:
        """Return a digest of every file, and of which editions are stale, which may depend on file times."""
        total = hashlib.sha256(",".join(sorted(self._languages)).encode())
        for number, each in enumerate(self.state.reading.directories):
            for file in each.files:
                total.update(f"\n{number} {file.where} {file.content}".encode())
        for entry_id, prepared in self.state.entries.items():
            if stale := prepared.summary.stale:
                total.update(f"\n{entry_id} {','.join(sorted(stale))}".encode())
        return total.hexdigest()


def _unsaved_file(source: SourceFile) -> KnownFile:
    """Return the file for content that may differ from what is on disk."""
    root = str(source.path)[: -len(source.where) - 1]
    stamp = len(source.content), int(source.modified * 1e9)
    found = FoundFile(root, source.where, str(source.path), *stamp)
    return KnownFile(found, content_hash(source.content), note_of(source))
