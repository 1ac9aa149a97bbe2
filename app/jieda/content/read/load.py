"""Loads content directories into a Library all at once, in memory, for commands, benchmarks and tests.

A server instead opens a generation (`jieda.snapshot`), which is built from the same parts.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from jieda.content.catalog import in_memory
from jieda.content.library import Library
from jieda.content.read.corpus import Corpus, Outline
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
from jieda.content.read.gather import (
    GLOSSARY,
    TAXONOMY,
    ReadFile,
    entry_id_of,
    make_vocabulary,
    sort_problems,
)
from jieda.content.read.parse import parse_file
from jieda.content.read.state import Prepared, advance
from jieda.entry import Entry, Language, Problem, Sample
from jieda.progress import with_progress


class Loaded:
    """All files of the content directories, read and parsed. An entry in a later directory replaces all editions of
    that id if one of its files can be served. Editions in languages other than `languages` are ignored.
    Raises ContentError."""

    def __init__(
        self, directories: Sequence[Path], languages: frozenset[Language] = frozenset(Language)
    ) -> None:
        self._sources: dict[Path, SourceFile] = {}
        self._unreadable: list[Problem] = []
        listings = [list_directory(directory, languages) for directory in directories]
        files = tuple(listing.read(self._read) for listing in listings)
        problems = (*(problem for listing in listings for problem in listing.problems), *self._unreadable)
        shared = [self._sources[file.path] for each in files for file in each.shared]
        self.vocabulary = make_vocabulary(listings[0].root, shared)
        self.shared: Mapping[str, Sequence[str]] = {
            name: [file.content.decode() for file in shared if file.where == name]
            for name in (TAXONOMY, GLOSSARY)
        }
        self.state = advance(None, Reading(files, problems, frozenset()), self.vocabulary, self._parse_files)
        self.log_texts = self._read_logs()

    @property
    def corpus(self) -> Corpus:
        return self.state.corpus

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of single files, except those that `jieda.content.check` finds."""
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
        """Return the Markdown below the front matter of an edition."""
        parsed, _ = parse_file(self._sources[file.path])
        return parsed.body.markdown if parsed else ""

    def library(self) -> Library:
        corpus, entries = self.corpus, self.state.entries
        samples = {**corpus.samples, "": corpus.background}
        summaries = {entry_id: each.summary for entry_id, each in entries.items()}
        return Library(
            fetch_rows=in_memory(summaries.values(), corpus.taxonomy),
            summary=summaries.__getitem__,
            read_entry=lambda entry_id: self._make_entry(entries[entry_id]),
            vocabulary=self.vocabulary,
            problems=sort_problems(self.problems),
            current_ids=self.state.claims,
            images={where: image.path for where, image in corpus.images.items()},
            sampled=frozenset(corpus.samples) & entries.keys(),
            read_samples=lambda entry_id: tuple(
                Sample(entry_id, file.path, self.log_texts[file.content]) for file in samples[entry_id]
            ),
            drafts=corpus.drafts,
        )

    def with_entry(self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]) -> Self:
        """Return a copy in which `sources` replace an entry's editions, and which has additional `samples` of it."""
        changed = copy.copy(self)
        changed._replace_entry(entry_id, sources, samples)  # noqa: SLF001 - the copy is this method's own
        return changed

    def _replace_entry(
        self, entry_id: str, sources: Sequence[SourceFile], samples: Sequence[SourceFile]
    ) -> None:
        self._sources = self._sources | {source.path: source for source in (*sources, *samples)}
        replaced = {source.where for source in (*sources, *samples)}
        reading = self.state.reading
        directories = []
        for each in reading.directories:
            others = (file for file in each.editions if entry_id_of(file.where) != entry_id)
            directories.append(replace(each, editions=tuple(others)))
        # New samples go where the existing ones are: in a later directory, they would replace them.
        existing = {log.path for log in self.corpus.samples.get(entry_id, ())}
        homes = (n for n, each in enumerate(directories) if any(log.path in existing for log in each.samples))
        home = next(homes, -1)
        directories[home] = replace(
            directories[home], samples=sort_files((*directories[home].samples, *map(_unsaved_file, samples)))
        )
        directories[-1] = replace(
            directories[-1], editions=sort_files((*directories[-1].editions, *map(_unsaved_file, sources)))
        )
        problems = tuple(problem for problem in reading.problems if problem.path not in replaced)
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
        results, files = {}, tuple(files)
        for file in with_progress(files, len(files), "files read"):
            parsed, problems = parse_file(self._sources[file.path])
            results[file] = ReadFile.of(file, parsed.outline if parsed else None, problems)
        return results

    def _read_logs(self) -> dict[str, str]:
        """Return the texts of all samples and background logs, by the hash of their content."""
        logs = (*self.corpus.samples.values(), self.corpus.background)
        return {log.content: self._sources[log.path].content.decode() for each in logs for log in each}

    def _make_entry(self, prepared: Prepared) -> Entry:
        editions = {}
        for lang, file in self.corpus.published[prepared.summary.id].items():
            parsed, _ = parse_file(self._sources[file.path])
            if parsed:
                decisions = dict(prepared.decisions[lang])
                editions[lang] = parsed.edition(decisions.__getitem__, file.path, file.updated)
        return prepared.summary.entry(editions)


def _unsaved_file(source: SourceFile) -> KnownFile:
    """Return a file whose content may differ from what is on disk."""
    root = str(source.path)[: -len(source.where) - 1]
    stamp = len(source.content), int(source.modified * 1e9)
    found = FoundFile(root, source.where, str(source.path), *stamp)
    return KnownFile(found, content_hash(source.content), note_of(source))
