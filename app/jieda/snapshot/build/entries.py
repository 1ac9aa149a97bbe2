"""Facts of entries, computed from their files alone, by the builder itself or by helper processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from jieda.search.meaning.embedder import Embedder, NotEmbedded
from jieda.search.snippet import lines_of, places_of
from jieda.snapshot.build.files import BuildResources, read_again, read_unchanged, sample_text
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import code_version, fact_key, packed
from jieda.snapshot.store.generation import (
    EntryRow,
    from_json,
    read_entry,
    to_json,
)
from jieda.taxonomy import FACETS, facet_values

WORTH_HELP = 200
"""Entries, of one or two files each, that one process handles in the time that helpers take to start."""

Facts = dict[bytes, bytes]
"""Values by their keys, `packed`: by the process that makes them, since it takes a tenth of the analysis time."""


@dataclass(frozen=True, slots=True)
class MissingFacts:
    """Facts of an entry to be computed: those keys of `row` that are in `missing`. `texts`: the facts of the editions
    that are known already, by key."""

    row: EntryRow
    missing: frozenset[bytes]
    files: Mapping[Language, Outline]
    decisions: Mapping[Language, Decisions]
    samples: tuple[SampleFile, ...]
    texts: Facts


class FactMaker:
    """Computes missing facts, also in another process, which makes its own analyzer on first use."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        members: tuple[GlossaryMember, ...],
        analyzers: Analyzers | None = None,
    ) -> None:
        self._vocabulary, self._members, self._analyzers = vocabulary, members, analyzers or Analyzers()

    def __reduce__(self) -> tuple[object, ...]:
        return FactMaker, (self._vocabulary, self._members)

    @cached_property
    def _analyzer(self) -> Analyzer:
        return self._analyzers.of(self._vocabulary.dictionary)

    @cached_property
    def _glossary(self) -> Glossary:
        return self._analyzers.glossary(self._vocabulary, self._members)

    @cached_property
    def reader(self) -> TermCounter:
        formats = compile_formats(self._vocabulary.logs.failures)
        return TermCounter(WordReader(self._analyzer, self._glossary), formats)

    def __call__(self, order: MissingFacts) -> Facts:
        """Return the missing facts, except meanings. Raises ContentMoved."""
        row, missing = order.row, order.missing
        made = {
            key: _render_again(order.files[lang], order.decisions[lang])
            for lang, key in row.editions.items()
            if key in missing
        }
        entry = read_entry((order.texts | made).get, row)
        if row.document in missing:
            document = document_of(entry, self._analyzer, self._glossary, self._vocabulary.taxonomy)
            made[row.document] = to_json(document)
        for lang, key in row.places.items():
            if key in missing:
                made[key] = places_of(lines_of(entry.editions[lang]), self._glossary)
        if row.completions in missing:
            made[row.completions] = to_json(tuple(dict.fromkeys(entry_candidates(entry))))
        if row.diagnosis in missing:
            texts = [sample_text(sample) for sample in order.samples]
            made[row.diagnosis] = to_json(self.reader.count_in_entry(entry, texts))
        return _pack_all(made)


def file_key(where: str, content: str) -> bytes:
    """Return the fact key of an edition's file."""
    return fact_key("file", code_version(), where, content)


def edition_key(file: Outline, decisions: Decisions) -> bytes:
    """Return the fact key of an edition's text."""
    return fact_key("edition", code_version(), file.where, file.content, to_json(decisions))


def read_facts(file: KnownFile) -> Facts:
    """Return the fact of an edition's file, and that of its text, rendered as if no link to an entry were broken.
    Raises ContentMoved."""
    source = read_unchanged(file.found, file.content)
    parsed, problems = parse_file(source)
    facts = {file_key(file.where, file.content): to_json((parsed.outline if parsed else None, problems))}
    if parsed is None or parsed.outline.front.draft:
        return _pack_all(facts)
    links = parsed.outline.links
    if any(link.kind is LinkKind.IMAGE for link in links):
        return _pack_all(facts)
    outline = Outline.of(parsed.outline, file)
    inner = [link for link in links if link.kind in {LinkKind.ENTRY, LinkKind.ANCHOR}]
    kept = {
        link: None if link.kind is LinkKind.ANCHOR and link.anchor not in outline.anchors else link
        for link in inner
    }
    decisions = tuple(kept.items())
    facts[edition_key(outline, decisions)] = _render(parsed, decisions)
    return _pack_all(facts)


def _pack_all(facts: Mapping[bytes, bytes]) -> Facts:
    return {key: packed(value) for key, value in facts.items()}


def _render_again(file: Outline, decisions: Decisions) -> bytes:
    """Read an edition's file again and render it. Raises ContentMoved."""
    parsed, _ = parse_file(read_again(file.path, file.where, file.content))
    if parsed is None:
        raise RuntimeError(f"{file.where} cannot be parsed any more, although it did not change")
    return _render(parsed, decisions)


def _render(parsed: ParsedFile, decisions: Decisions) -> bytes:
    kept: dict[Link, Link | None] = dict(decisions)
    # The path and the date of its file do not follow from its text.
    return to_json(parsed.edition(kept.__getitem__, Path(), date.min))


def _twins(file: KnownFile) -> str:
    """Sort key that puts twins together: they contain the same code, which is then highlighted once."""
    return file.where.partition("/")[2]


def read_files(resources: BuildResources, files: Iterable[KnownFile]) -> dict[KnownFile, ReadFile]:
    """Return the parsed files, from facts; new files are read first. Raises ContentMoved."""
    keys = {file_key(file.where, file.content): file for file in files}
    known = resources.facts.known(keys)
    new = sorted((file for key, file in keys.items() if key not in known), key=_twins)
    resources.facts.put_all(resources.helpers.map(new, read_facts, 2 * WORTH_HELP, resources.pause))
    found: dict[KnownFile, ReadFile] = {}
    for key, value in resources.facts.get_all(keys):
        found[keys[key]] = ReadFile.of(
            keys[key], *from_json(value, tuple[FileOutline | None, tuple[Problem, ...]])
        )
    return found


class EntryFacts:
    """Computes the missing facts of entries, for one vocabulary."""

    def __init__(
        self, resources: BuildResources, vocabulary: Vocabulary, members: tuple[GlossaryMember, ...]
    ) -> None:
        self.resources, self._facts = resources, resources.facts
        self.vocabulary, self.members = vocabulary, members
        self._maker = FactMaker(vocabulary, members, resources.analyzers)
        self._embedder = resources.analyzers.embedder
        self._known: dict[str, tuple[Prepared, tuple[SampleFile, ...], EntryRow]] = {}
        """The last row of each entry, with what it was made of."""
        words = to_json((vocabulary.glossary, vocabulary.dictionary))
        self._words = fact_key("words", code_version(), words)
        logs = to_json((vocabulary.taxonomy.framework, vocabulary.logs))
        self._logs = fact_key("logs", self._words, logs)
        self._formats = fact_key("formats", self._words, to_json(vocabulary.logs.failures))

    def background(self, logs: Sequence[SampleFile]) -> tuple[bytes, ...]:
        """Return the keys of the facts about the words of `logs`, and compute the missing ones."""
        keys = [fact_key("background", self._formats, log.content) for log in logs]
        known = self._facts.known(keys)
        for key, log in zip(keys, logs, strict=True):
            if key not in known:
                self.resources.pause()
                self._facts.put(key, to_json(self._maker.reader.terms_of_log(sample_text(log))))
        return tuple(keys)

    def rows(
        self, state: ContentState, histories: Mapping[Path, bytes], *, embeds: bool
    ) -> dict[str, EntryRow]:
        """Return the row of each entry, by id; its facts need not exist yet. `histories`: keys of facts, by file.
        Without `embeds`, rows name vectors only if they exist."""
        rows, known = {}, self._known
        self._known = {}
        for entry_id, prepared in state.entries.items():
            files, logs = state.corpus.published[entry_id], state.corpus.samples.get(entry_id, ())
            before, searched, row = known.get(entry_id, (None, None, None))
            lacks_meaning = self._embedder is not None and not (row and row.meaning)
            if not row or before is not prepared or searched != logs or lacks_meaning:
                row = self._row(prepared, files, logs, embeds=embeds)
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
        samples: Sequence[SampleFile],
        *,
        embeds: bool,
    ) -> EntryRow:
        editions = {lang: edition_key(file, prepared.decisions[lang]) for lang, file in files.items()}
        summary, taxonomy = prepared.summary, self.vocabulary.taxonomy
        tags = [taxonomy.facet(facet)[value] for facet in FACETS for value in facet_values(summary)[facet]]
        named = [(tag.id, tag.name) for tag in tags]
        own = (summary.id, summary.kind, summary.signatures, summary.applies_anywhere, named)
        said = to_json((*own, list(editions.items())))
        return EntryRow(
            summary=summary,
            editions=editions,
            places={lang: fact_key("places", self._words, key) for lang, key in editions.items()},
            document=fact_key("document", self._words, said),
            completions=fact_key("completions", code_version(), said),
            diagnosis=fact_key("diagnosis", self._logs, said, *(sample.content for sample in samples)),
            meaning=self._meaning_key(editions, embeds=embeds),
        )

    def _meaning_key(self, editions: Mapping[Language, bytes], *, embeds: bool) -> bytes:
        if self._embedder is None:
            return b""
        key = fact_key("meaning", code_version(), self._embedder.name, to_json(list(editions.items())))
        return key if embeds or self._facts.known([key]) else b""

    def ensure(self, rows: Mapping[str, EntryRow], state: ContentState) -> None:
        """Compute the missing facts of `rows`. Raises NotEmbedded, once all other facts are stored."""
        known = self._facts.known(key for row in rows.values() for key in row.keys)
        lacking = {entry_id: row for entry_id, row in rows.items() if not known.issuperset(row.keys)}
        orders = self._orders(lacking, known, state)
        made = self.resources.helpers.map(orders, self._maker, WORTH_HELP, self.resources.pause)
        self._facts.put_all(with_progress(made, len(lacking), "entries read and analyzed"))
        if self._embedder is not None:
            unembedded = [row for row in lacking.values() if row.meaning and row.meaning not in known]
            self._embed(self._embedder, unembedded)

    def _orders(
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
        # Only in this process: the embedder may be a network service, and may fail.
        try:
            for row in with_progress(rows, len(rows), "entries embedded"):
                self.resources.pause()
                meaning = to_json(embed_entry(read_entry(self._facts.get, row), embedder))
                self._facts.put(row.meaning, meaning)
        except NotEmbedded:
            for row in rows:
                del self._known[row.summary.id]
            raise
