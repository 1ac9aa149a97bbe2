"""The last part of a build: writes a generation to disk and deletes facts that are no longer needed."""

import hashlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from jieda.content.library import OnDemand
from jieda.content.read.directory import KnownFile, Reading, content_hash
from jieda.disk import make_room, read_plain, write_aside
from jieda.search.completion import (
    CompletionCandidate,
    completion_arrays,
    glossary_candidates,
    tag_candidates,
)
from jieda.search.index.array_file import link_arrays, write_arrays
from jieda.search.index.document import Document
from jieda.search.index.writer import embed_words, update_index
from jieda.search.meaning.embedder import EntryVectors
from jieda.snapshot.build.entries import file_key
from jieda.snapshot.build.files import BuildResources, read_again
from jieda.snapshot.snapshot import WantedIndex
from jieda.snapshot.store.facts import FactsUnreadable, code_version
from jieda.snapshot.store.generation import (
    IMAGES,
    INDEX,
    EntryRow,
    Generation,
    Header,
    from_json,
    generation_names,
    new_generation,
    read_generation,
    to_json,
    write_tables,
)
from jieda.taxonomy import facet_values

log = logging.getLogger(__name__)

SPARE_FACTS = 1000
"""Unneeded facts are deleted once there are this many more of them than of needed ones."""
NAME_DIGITS = 16

Rows = Mapping[str, EntryRow]


@dataclass(frozen=True)
class GenerationPlan:
    """The content of a generation to write. `rows`: by id, sorted."""

    header: Header
    rows: Rows

    @cached_property
    def name(self) -> str:
        """The generation's name: a digest of its content and of the code that made it."""
        digest = hashlib.sha256(to_json(self.header))
        for entry_id, row in self.rows.items():
            digest.update(entry_id.encode() + row.digest)
        return digest.hexdigest()[:NAME_DIGITS]


def copy_images(data: Path, images: Mapping[str, KnownFile], *, verify: bool) -> None:
    """Copy each image to a file named after the hash of its content. `verify`: check existing copies."""
    folder = data / IMAGES
    folder.mkdir(exist_ok=True)
    for where, image in images.items():
        target = folder / image_name(where, image.content)
        make_room(target)
        if not target.is_file() or (verify and not _is_copy(target, image)):
            write_aside(target, read_again(image.path, where, image.content).content)


def _is_copy(target: Path, image: KnownFile) -> bool:
    try:
        return content_hash(read_plain(target)) == image.content
    except OSError:
        return False


def image_name(where: str, content: str) -> str:
    """Return the file name of an image's copy."""
    return f"{content}{Path(where).suffix.lower()}"


class Publication:
    """Writes a generation, reusing unchanged parts of the `previous` one."""

    def __init__(self, resources: BuildResources, plan: GenerationPlan, previous: Generation | None) -> None:
        # Other code may have written rows in another form, and all keys of its facts differ.
        previous = previous if previous and previous.header.code == plan.header.code else None
        self._resources, self._plan, self._previous = resources, plan, previous
        old = previous.digests() if previous else {}
        self._changed = frozenset(key for key, row in plan.rows.items() if old.get(key) != row.digest)
        """Ids of new and changed entries."""
        self._removed = frozenset(old.keys() - plan.rows.keys())
        affected = (self._changed & old.keys()) | self._removed
        self._old_rows = {entry_id: previous.row(entry_id) for entry_id in affected} if previous else {}
        """The old rows of changed and removed entries."""

    def write(self) -> None:
        """Write the generation, and load its documents into the cluster if there is one. Raises OSError,
        FactsUnreadable, ClusterUnavailable."""
        with new_generation(self._resources.data, self._plan.name) as folder:
            self._write_index(folder / INDEX)
            self._resources.pause()
            self._write_tables(folder, self._write_completions(folder / INDEX))

    def _write_index(self, target: Path) -> None:
        rows, previous, old = self._plan.rows, self._previous, self._old_rows
        # An index of another engine cannot be updated.
        before = previous.index if previous and previous.header.engine == self._plan.header.engine else None
        changed: Collection[str] = rows.keys()
        if before:
            same = {key for key in old if key in rows and old[key].indexed == rows[key].indexed}
            changed = self._changed - same
        documents = OnDemand(rows, partial(_read_document, self._resources, rows))
        resources = self._resources
        engine, embedder = resources.analyzers.engine, resources.analyzers.embedder
        if engine is None:
            update_index(target, before, documents, changed, self._removed)
            if embedder:
                embed_words(target, before, embedder, resources.pause)
        else:
            wanted = WantedIndex(index_digest(engine.name, rows), documents, changed, self._removed)
            engine.update(resources.data, target, before, wanted, resources.pause)

    def _write_tables(self, folder: Path, completions: str) -> None:
        """Write an updated copy of the previous tables, or new ones if there are none or the taxonomy has changed."""
        previous, rows, header = self._previous, self._plan.rows, self._plan.header
        header = replace(header, completions=completions)
        if previous and previous.header.vocabulary.taxonomy == header.vocabulary.taxonomy:
            changed = {entry_id: rows[entry_id] for entry_id in sorted(self._changed)}
            write_tables(folder, previous, changed, self._old_rows.values(), header)
        else:
            write_tables(folder, None, rows, (), header)

    def _write_completions(self, target: Path) -> str:
        """Write the completions, or link the previous ones if they are the same. Return the name of the file."""
        previous, rows = self._previous, self._plan.rows.values()
        if previous and self._has_same_completions(previous.header):
            try:
                link_arrays(previous.index, previous.header.completions, target)
            except OSError:
                log.warning("the completions of generation %s are lost: rebuilding them", previous.name)
            else:
                return previous.header.completions
        candidates: list[CompletionCandidate] = []
        for _, value in sorted(self._resources.facts.get_all(row.completions for row in rows)):
            candidates += from_json(value, tuple[CompletionCandidate, ...])
        vocabulary = self._plan.header.vocabulary
        candidates += tag_candidates((row.summary for row in rows), vocabulary.taxonomy)
        candidates += glossary_candidates(vocabulary.glossary)
        fold = self._resources.analyzers.analyzer(vocabulary.dictionary).fold
        return write_arrays(target, completion_arrays(tuple(dict.fromkeys(candidates)), fold))

    def _has_same_completions(self, old_header: Header) -> bool:
        """Whether entries, tags in use and glossary still yield the same completions."""
        old, new = old_header.vocabulary, self._plan.header.vocabulary
        if self._removed or not self._changed <= self._old_rows.keys():
            return False
        return (old.glossary, old.taxonomy) == (new.glossary, new.taxonomy) and all(
            self._sources(self._old_rows[key]) == self._sources(self._plan.rows[key]) for key in self._changed
        )

    def _sources(self, row: EntryRow) -> tuple[object, ...]:
        """Return what the completions of an entry are made from."""
        return facet_values(row.summary), self._resources.facts.get(row.completions)


def index_digest(engine: str, rows: Rows) -> str:
    """Return the name of an external index: a digest of its documents and the code, the same on every host."""
    digest = hashlib.sha256(f"{code_version()} {engine}".encode())
    for entry_id, row in sorted(rows.items()):
        digest.update(f"\n{entry_id} {row.document.hex()}".encode())
    return digest.hexdigest()[:NAME_DIGITS]


def forget_old_facts(resources: BuildResources, plan: GenerationPlan, reading: Reading) -> None:
    """Delete facts that neither the content nor a generation on disk needs, once there are many."""
    facts = resources.facts
    files = [file for directory in reading.directories for file in directory.editions]
    words = plan.header.background_words
    if len(facts) <= 2 * (len(files) + 6 * len(plan.rows) + len(words)) + SPARE_FACTS:
        return
    needed = {key for row in plan.rows.values() for key in row.keys}
    needed.update(words, (file_key(file.where, file.content) for file in files))
    for name in generation_names(resources.data):
        if other := read_generation(resources.data, name):
            needed.update(other.header.background_words, (key for row in other.rows() for key in row.keys))
    log.info("deleted %d facts that are no longer needed", facts.keep_only(frozenset(needed)))


def document_from(document: bytes, diagnosis: bytes, meaning: bytes | None = None) -> Document:
    """Decode a document fact and add the entry's diagnosis terms and vectors. Raises RecordUnreadable."""
    decoded = from_json(document, Document)
    if meaning is not None:
        decoded = replace(decoded, meaning=from_json(meaning, EntryVectors))
    return replace(decoded, diagnosis_terms=from_json(diagnosis, dict[str, int]))


def _read_document(resources: BuildResources, rows: Rows, entry_id: str) -> Document:
    """Read the document of an entry from the facts. Raises FactsUnreadable if one is missing."""
    resources.pause()
    row = rows[entry_id]
    document, diagnosis, meaning = (resources.facts.get(key) for key in row.indexed)
    if document is None or diagnosis is None or (row.meaning and meaning is None):
        raise FactsUnreadable(f"the search document of {entry_id} is missing")
    return document_from(document, diagnosis, meaning)
