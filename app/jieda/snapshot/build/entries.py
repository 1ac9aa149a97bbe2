"""Facts of entries, computed only from their files, by the builder or by helper processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from jieda.analysis.pipeline import Analyzer, Glossary, GlossaryMember
from jieda.content.markdown.links import Link, LinkKind
from jieda.content.read.corpus import FileOutline, Outline, SampleFile
from jieda.content.read.directory import KnownFile
from jieda.content.read.gather import ReadFile, Vocabulary
from jieda.content.read.parse import ParsedFile, parse_file
from jieda.content.read.state import ContentState, Decisions, Prepared
from jieda.diagnosis.words import TermCounter, WordReader
from jieda.entry import Language, Problem
from jieda.log.formats import compile_formats
from jieda.progress import with_progress
from jieda.search.completion import entry_candidates
from jieda.search.index.document import document_of, embed_entry
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder, NotEmbedded
from jieda.search.snippet import lines_of, places_of
from jieda.snapshot.build.files import BuildResources, read_again, read_unchanged, sample_text
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FactStore, code_version, fact_key, pack
from jieda.snapshot.store.generation import EntryRow, from_json, read_entry, to_json
from jieda.taxonomy import FACETS, facet_values

WORTH_HELP = 200
"""Entries, of one or two files each, that one process handles while helpers start."""

Facts = dict[bytes, bytes]
"""Packed values by key. The process that computes a fact packs it, which takes a tenth of the analysis time."""


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """Facts of an entry to compute: those whose keys in `row` are `missing`. `texts`: facts of editions that are known
    already, by key."""

    row: EntryRow
    missing: frozenset[bytes]
    files: Mapping[Language, Outline]
    decisions: Mapping[Language, Decisions]
    samples: tuple[SampleFile, ...]
    texts: Facts


class FactMaker:
    """Computes missing facts, also in another process, where it creates its own analyzer on first use."""

    def __init__(
        self, vocabulary: Vocabulary, members: tuple[GlossaryMember, ...], analyzers: Analyzers | None = None
    ) -> None:
        self._vocabulary, self._members, self._analyzers = vocabulary, members, analyzers or Analyzers()

    def __reduce__(self) -> tuple[object, ...]:
        return FactMaker, (self._vocabulary, self._members)

    @cached_property
    def _analyzer(self) -> Analyzer:
        return self._analyzers.analyzer(self._vocabulary.dictionary)

    @cached_property
    def _glossary(self) -> Glossary:
        return self._analyzers.glossary(self._vocabulary, self._members)

    @cached_property
    def reader(self) -> TermCounter:
        formats = compile_formats(self._vocabulary.logs.failures)
        return TermCounter(WordReader(self._analyzer, self._glossary), formats)

    def __call__(self, task: MissingFacts) -> Facts:
        """Return the missing facts, except meanings. Raises ContentMoved."""
        row, missing = task.row, task.missing
        facts = {
            key: _render_again(task.files[lang], task.decisions[lang])
            for lang, key in row.editions.items()
            if key in missing
        }
        entry = read_entry((task.texts | facts).get, row)
        if row.document in missing:
            document = document_of(entry, self._analyzer, self._glossary, self._vocabulary.taxonomy)
            facts[row.document] = to_json(document)
        for lang, key in row.places.items():
            if key in missing:
                facts[key] = places_of(lines_of(entry.editions[lang]), self._glossary)
        if row.completions in missing:
            facts[row.completions] = to_json(tuple(dict.fromkeys(entry_candidates(entry))))
        if row.diagnosis in missing:
            texts = [sample_text(sample) for sample in task.samples]
            facts[row.diagnosis] = to_json(self.reader.count_in_entry(entry, texts))
        return _pack_all(facts)


def file_key(where: str, content: str) -> bytes:
    """Return the fact key of an edition's file."""
    return fact_key("file", code_version(), where, content)


def edition_key(file: Outline, decisions: Decisions) -> bytes:
    """Return the fact key of an edition's text."""
    return fact_key("edition", code_version(), file.where, file.content, to_json(decisions))


def read_facts(file: KnownFile) -> Facts:
    """Return the fact of an edition's file, and that of its text, rendered on the assumption that no link to an entry
    is broken. Raises ContentMoved."""
    source = read_unchanged(file.found, file.content)
    parsed, problems = parse_file(source)
    facts = {file_key(file.where, file.content): to_json((parsed.outline if parsed else None, problems))}
    if parsed is None or parsed.outline.front.draft:
        return _pack_all(facts)
    links = parsed.outline.links
    if any(link.kind is LinkKind.IMAGE for link in links):
        return _pack_all(facts)
    outline = Outline.of(parsed.outline, file)
    targets: dict[Link, Link | None] = {}
    for link in links:
        if link.kind in {LinkKind.ENTRY, LinkKind.ANCHOR}:
            is_broken = link.kind is LinkKind.ANCHOR and link.anchor not in outline.anchors
            targets[link] = None if is_broken else link
    decisions = tuple(targets.items())
    facts[edition_key(outline, decisions)] = _render(parsed, decisions)
    return _pack_all(facts)


def _pack_all(facts: Mapping[bytes, bytes]) -> Facts:
    return {key: pack(value) for key, value in facts.items()}


def _render_again(file: Outline, decisions: Decisions) -> bytes:
    """Read an edition's file again and render it. Raises ContentMoved."""
    parsed, _ = parse_file(read_again(file.path, file.where, file.content))
    if parsed is None:
        raise RuntimeError(f"{file.where} cannot be parsed any more, although it did not change")
    return _render(parsed, decisions)


def _render(parsed: ParsedFile, decisions: Decisions) -> bytes:
    targets: dict[Link, Link | None] = dict(decisions)
    # The path and date of the file do not depend on its text.
    return to_json(parsed.edition(targets.__getitem__, Path(), date.min))


def read_files(resources: BuildResources, files: Iterable[KnownFile]) -> dict[KnownFile, ReadFile]:
    """Return the parsed files from facts, after reading those that are new. Raises ContentMoved."""
    keys = {file: file_key(file.where, file.content) for file in files}
    by_key = {key: file for file, key in keys.items()}
    known = resources.facts.known(by_key)
    # Twins together: they have the same code, which is then highlighted once.
    new = [file for key, file in by_key.items() if key not in known]
    new.sort(key=lambda file: file.where.partition("/")[2])
    resources.facts.put_all(resources.helpers.map(new, read_facts, 2 * WORTH_HELP, resources.pause))
    parsed = {
        key: from_json(value, tuple[FileOutline | None, tuple[Problem, ...]])
        for key, value in resources.facts.get_all(by_key)
    }
    return {file: ReadFile.of(file, *parsed[key]) for file, key in keys.items()}  # two may be copies of one


def model_of(embedder: GuardedEmbedder | None, facts: FactStore) -> str:
    """Return the name of an embedder, for a server with the length of its vectors, or, if it fails, what that was:
    another model may have taken the name, and vectors of two cannot be compared."""
    if embedder is None or not embedder.is_remote:
        return embedder.name if embedder else ""
    with suppress(NotEmbedded):
        facts.put_note("width", embedder.name, b"%d" % embedder.embed(["."], as_query=True).shape[1])
    return f"{embedder.name} {(facts.note('width', embedder.name) or b'').decode()}"


class EntryFacts:
    """Computes the missing facts of entries with a vocabulary."""

    def __init__(
        self, resources: BuildResources, vocabulary: Vocabulary, members: tuple[GlossaryMember, ...]
    ) -> None:
        self.resources, self._facts = resources, resources.facts
        self.vocabulary, self.members = vocabulary, members
        self._maker = FactMaker(vocabulary, members, resources.analyzers)
        self._embedder, self._model = resources.analyzers.embedder, ""
        self._known: dict[str, tuple[Prepared, tuple[SampleFile, ...], EntryRow]] = {}
        """The last row of each entry, with what it was made from."""
        words = to_json((vocabulary.glossary, vocabulary.dictionary))
        self._words_key = fact_key("words", code_version(), words)
        logs = to_json((vocabulary.taxonomy.framework, vocabulary.logs))
        self._logs_key = fact_key("logs", self._words_key, logs)
        self._formats_key = fact_key("formats", self._words_key, to_json(vocabulary.logs.failures))

    def background(self, logs: Sequence[SampleFile]) -> tuple[bytes, ...]:
        """Return the keys of the facts about the words of `logs`, after computing the missing ones."""
        keys = [fact_key("background", self._formats_key, log.content) for log in logs]
        known = self._facts.known(keys)
        for key, log in zip(keys, logs, strict=True):
            if key not in known:
                self.resources.pause()
                self._facts.put(key, to_json(self._maker.reader.terms_of_log(sample_text(log))))
        return tuple(keys)

    def rows(
        self, state: ContentState, histories: Mapping[Path, bytes], model: str, *, embed: bool
    ) -> dict[str, EntryRow]:
        """Return the row of each entry, by id; its facts need not exist yet. `histories`: fact keys by file. `model`:
        from `model_of`. Without `embed`, rows refer only to vectors that exist."""
        rows, known = {}, self._known if model == self._model else {}
        self._known, self._model = {}, model
        for entry_id, prepared in state.entries.items():
            files, logs = state.corpus.published[entry_id], state.corpus.samples.get(entry_id, ())
            old_prepared, old_logs, row = known.get(entry_id, (None, None, None))
            lacks_meaning = self._embedder is not None and not (row and row.meaning)
            if not row or old_prepared is not prepared or old_logs != logs or lacks_meaning:
                row = self._row(prepared, files, logs, embed=embed)
            history = {lang: histories[file.path] for lang, file in files.items() if file.path in histories}
            if row.history != history:
                row = replace(row, history=history)
            rows[entry_id] = row
            self._known[entry_id] = prepared, logs, row
        return rows

    def _row(
        self,
        prepared: Prepared,
        files: Mapping[Language, Outline],
        logs: Sequence[SampleFile],
        *,
        embed: bool,
    ) -> EntryRow:
        editions = {lang: edition_key(file, prepared.decisions[lang]) for lang, file in files.items()}
        summary, taxonomy = prepared.summary, self.vocabulary.taxonomy
        tags = [taxonomy.facet(facet)[value] for facet in FACETS for value in facet_values(summary)[facet]]
        names = [(tag.id, tag.name) for tag in tags]
        metadata = (summary.id, summary.kind, summary.signatures, summary.applies_anywhere, names)
        inputs = to_json((*metadata, list(editions.items())))
        return EntryRow(
            summary=summary,
            editions=editions,
            places={lang: fact_key("places", self._words_key, key) for lang, key in editions.items()},
            document=fact_key("document", self._words_key, inputs),
            completions=fact_key("completions", code_version(), inputs),
            diagnosis=fact_key("diagnosis", self._logs_key, inputs, *(log.content for log in logs)),
            meaning=self._meaning_key(editions, embed=embed),
        )

    def _meaning_key(self, editions: Mapping[Language, bytes], *, embed: bool) -> bytes:
        if self._embedder is None:
            return b""
        key = fact_key("meaning", code_version(), self._model, to_json(list(editions.items())))
        return key if embed or self._facts.known([key]) else b""

    def ensure(self, rows: Mapping[str, EntryRow], state: ContentState) -> None:
        """Compute the missing facts of `rows`. Raises NotEmbedded after storing all other facts."""
        known = self._facts.known(key for row in rows.values() for key in row.keys)
        incomplete = {entry_id: row for entry_id, row in rows.items() if not known.issuperset(row.keys)}
        tasks = self._tasks(incomplete, known, state)
        facts = self.resources.helpers.map(tasks, self._maker, WORTH_HELP, self.resources.pause)
        self._facts.put_all(with_progress(facts, len(incomplete), "entries read and analyzed"))
        if self._embedder is not None:
            unembedded = [row for row in incomplete.values() if row.meaning and row.meaning not in known]
            self._embed(self._embedder, unembedded)

    def _tasks(
        self, rows: Mapping[str, EntryRow], known: frozenset[bytes], state: ContentState
    ) -> Iterator[MissingFacts]:
        for entry_id, row in rows.items():
            missing = frozenset(row.keys) - known
            if missing - {row.meaning}:
                yield MissingFacts(
                    row=row,
                    missing=missing,
                    files=state.corpus.published[entry_id],
                    decisions=state.entries[entry_id].decisions,
                    samples=state.corpus.samples.get(entry_id, ()),
                    texts=dict(self._facts.get_all(known.intersection(row.editions.values()))),
                )

    def _embed(self, embedder: Embedder, rows: Sequence[EntryRow]) -> None:
        # Only in this process: the embedder may be a network service that fails.
        try:
            for row in with_progress(rows, len(rows), "entries embedded"):
                self.resources.pause()
                meaning = to_json(embed_entry(read_entry(self._facts.get, row), embedder))
                self._facts.put(row.meaning, meaning)
        except NotEmbedded:
            for row in rows:
                del self._known[row.summary.id]
            raise
