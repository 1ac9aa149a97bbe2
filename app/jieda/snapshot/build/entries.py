"""Facts of entries, computed from their files alone, by the builder itself or by helper processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.markdown.links import Link, LinkKind
from jieda.content.read.corpus import Corpus, Outline, SampleFile
from jieda.content.read.directory import KnownFile
from jieda.content.read.gather import ReadFile, Vocabulary
from jieda.content.read.parse import ParsedFile, parse_file
from jieda.content.read.state import Decisions, Prepared
from jieda.diagnosis.facts import FactReader, WordReader
from jieda.entry import Entry, Language
from jieda.log.formats import compile_formats
from jieda.log_knowledge import Background
from jieda.progress import with_progress
from jieda.search.completion import entry_candidates
from jieda.search.index.document import document_of
from jieda.search.meaning.embedder import Embedder
from jieda.search.meaning.sayings import meaning_of
from jieda.search.snippet import lines_of, places_of
from jieda.snapshot.build.files import BuildResources, read_again, read_unchanged, sample_text
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import code_version, fact_key, packed
from jieda.snapshot.store.records import (
    EntryRow,
    FileFact,
    edition_from_json,
    edition_to_json,
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
    """Facts of an entry to be computed: those keys of `row` that are in `missing`. `editions`: facts of the editions
    that are known already."""

    row: EntryRow
    missing: frozenset[bytes]
    files: Mapping[Language, Outline]
    decisions: Mapping[Language, Decisions]
    samples: tuple[SampleFile, ...]
    editions: Mapping[Language, bytes]

    def edition(self, lang: Language) -> bytes:
        """Render an edition. Raises ContentMoved, OSError."""
        file = self.files[lang]
        parsed, _ = parse_file(read_again(file.path, file.where, file.content))
        if parsed is None:
            raise RuntimeError(f"{file.where} was an edition a moment ago")
        return _render(parsed, file, self.decisions[lang])

    def entry(self, made: Mapping[bytes, bytes]) -> Entry:
        """Return the entry, with editions from `editions` or else from `made`."""
        texts = {lang: self.editions.get(lang) or made[key] for lang, key in self.row.editions.items()}
        return self.row.head.entry(
            {
                lang: edition_from_json(text, str(self.files[lang].path), self.files[lang].updated)
                for lang, text in texts.items()
            }
        )


class Maker:
    """Computes missing facts, also in another process, which makes its own analyzer on first use."""

    def __init__(self, vocabulary: Vocabulary, analyzers: Analyzers | None = None) -> None:
        self._vocabulary, self._analyzers = vocabulary, analyzers or Analyzers()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the vocabulary alone."""
        return Maker, (self._vocabulary,)

    @cached_property
    def _analyzer(self) -> Analyzer:
        return self._analyzers.of(self._vocabulary.dictionary)

    @cached_property
    def _glossary(self) -> Glossary:
        return self._analyzers.glossary(self._vocabulary.dictionary, self._vocabulary.glossary)

    @cached_property
    def reader(self) -> FactReader:
        formats = compile_formats(self._vocabulary.logs.failures)
        return FactReader(WordReader(self._analyzer, self._glossary), formats)

    def __call__(self, order: MissingFacts) -> Facts:
        """Return the missing facts, except meanings. Raises ContentMoved, OSError."""
        keys = order.row.editions.items()
        made = {key: order.edition(lang) for lang, key in keys if key in order.missing}
        made.update(self._analyze(order, order.entry(made)))
        return _pack_all(made)

    def _analyze(self, order: MissingFacts, entry: Entry) -> Iterator[tuple[bytes, bytes]]:
        row, missing = order.row, order.missing
        if row.document in missing:
            document = document_of(entry, self._analyzer, self._glossary, self._vocabulary.taxonomy)
            yield row.document, to_json(document)
        for lang, key in row.places.items():
            if key in missing:
                yield key, places_of(lines_of(entry.editions[lang]), self._glossary)
        if row.completions in missing:
            yield row.completions, to_json(tuple(dict.fromkeys(entry_candidates(entry))))
        if row.diagnosis in missing:
            found = self.reader.entry(entry, [sample_text(sample) for sample in order.samples])
            yield row.diagnosis, to_json(found)


def file_key(where: str, content: str) -> bytes:
    """Return the fact key of an edition's file."""
    return fact_key("file", code_version(), where, content)


def edition_key(file: Outline, decisions: Decisions) -> bytes:
    """Return the fact key of an edition's text."""
    return fact_key("edition", code_version(), file.where, file.content, to_json(decisions))


def read_facts(file: KnownFile) -> Facts:
    """Return the fact of an edition's file, and that of its text, rendered as if no link to an entry were broken.
    Raises ContentMoved, OSError."""
    source = read_unchanged(file.found, file.content)
    parsed, problems = parse_file(source)
    said = to_json(FileFact(parsed.outline if parsed else None, problems))
    facts = {file_key(file.where, file.content): said}
    if parsed is None or parsed.outline.front.draft:
        return _pack_all(facts)
    links = parsed.outline.links
    if any(link.kind is LinkKind.IMAGE for link in links):
        return _pack_all(facts)
    outline = Outline.of(parsed.outline, source.path, source.modified, file.content)
    inner = [link for link in links if link.kind in {LinkKind.ENTRY, LinkKind.ANCHOR}]
    kept = {
        link: None if link.kind is LinkKind.ANCHOR and link.anchor not in outline.anchors else link
        for link in inner
    }
    decisions = tuple(kept.items())
    facts[edition_key(outline, decisions)] = _render(parsed, outline, decisions)
    return _pack_all(facts)


def _pack_all(facts: Mapping[bytes, bytes]) -> Facts:
    return {key: packed(value) for key, value in facts.items()}


def _render(parsed: ParsedFile, file: Outline, decisions: Decisions) -> bytes:
    kept: dict[Link, Link | None] = dict(decisions)
    return edition_to_json(parsed.edition(kept.__getitem__, file.path, file.updated))


def _twins(file: KnownFile) -> str:
    """Sort key that puts twins together: they contain the same code, which is then highlighted once."""
    return file.where.partition("/")[2]


def read_files(resources: BuildResources, files: Iterable[KnownFile]) -> dict[KnownFile, ReadFile]:
    """Return the parsed files, from facts; new files are read first. Raises ContentMoved, OSError."""
    keys = {file_key(file.where, file.content): file for file in files}
    known = resources.facts.known(keys)
    new = sorted((file for key, file in keys.items() if key not in known), key=_twins)
    resources.facts.put_all(resources.helpers.map(new, read_facts, 2 * WORTH_HELP, resources.pause))
    found: dict[KnownFile, ReadFile] = {}
    for key, value in resources.facts.get_all(keys):
        file, fact = keys[key], from_json(value, FileFact)
        said = fact.outline
        outline = Outline.of(said, file.path, file.modified, file.content) if said else None
        found[file] = ReadFile(file.where, outline, fact.problems)
    return found


class EntryFacts:
    """Computes the missing facts of entries, for one vocabulary."""

    def __init__(self, resources: BuildResources, vocabulary: Vocabulary) -> None:
        self.resources, self._facts = resources, resources.facts
        self.vocabulary, self._maker = vocabulary, Maker(vocabulary, resources.analyzers)
        self._embedder = resources.analyzers.embedder
        words = to_json((vocabulary.glossary, vocabulary.dictionary))
        self._words = fact_key("words", code_version(), words)
        logs = to_json((vocabulary.taxonomy.framework, vocabulary.logs))
        self._logs = fact_key("logs", self._words, logs)
        self._formats = fact_key("formats", self._words, to_json(vocabulary.logs.failures))

    def background(self, logs: Sequence[SampleFile]) -> tuple[bytes, ...]:
        """Return the keys of the facts about the words of `logs`, and compute the missing ones."""
        keys = [fact_key("background", self._formats, log.where, log.content) for log in logs]
        known = self._facts.known(keys)
        for key, log in zip(keys, logs, strict=True):
            if key not in known:
                self.resources.pause()
                found = self._maker.reader.background(Background(log.where, sample_text(log)))
                self._facts.put(key, to_json(found))
        return tuple(keys)

    def row(
        self,
        prepared: Prepared,
        files: Mapping[Language, Outline],
        samples: Sequence[SampleFile],
        *,
        embeds: bool,
    ) -> EntryRow:
        """Return the row of an entry; its facts need not exist yet. Without `embeds`, the row names vectors only if
        they exist."""
        editions = {lang: edition_key(file, prepared.decisions[lang]) for lang, file in files.items()}
        summary = prepared.head.summary
        taxonomy = self.vocabulary.taxonomy
        tags = [taxonomy.facet(facet)[value] for facet in FACETS for value in facet_values(summary)[facet]]
        said = to_json(
            (
                summary.id,
                summary.kind,
                prepared.head.signatures,
                prepared.head.applies_anywhere,
                [(tag.id, tag.name) for tag in tags],
                list(editions.items()),
            )
        )
        return EntryRow(
            head=prepared.head,
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
        texts = to_json(list(editions.items()))
        key = fact_key("meaning", code_version(), self._embedder.name, texts)
        return key if embeds or self._facts.known([key]) else b""

    def ensure(
        self,
        rows: Mapping[str, EntryRow],
        prepared: Mapping[str, Prepared],
        corpus: Corpus,
    ) -> None:
        """Compute the missing facts of `rows`. Raises NotEmbedded, once all other facts are stored."""
        known = self._facts.known(key for row in rows.values() for key in row.keys)
        orders = self._orders(rows, known, prepared, corpus)
        wanted = sum(any(key not in known for key in row.keys) for row in rows.values())
        made = self.resources.helpers.map(orders, self._maker, WORTH_HELP, self.resources.pause)
        self._facts.put_all(with_progress(made, wanted, "entries read and analyzed"))
        if self._embedder is not None:
            lacking = [row for row in rows.values() if row.meaning and row.meaning not in known]
            self._embed(self._embedder, with_progress(lacking, len(lacking), "entries embedded"))

    def _orders(
        self,
        rows: Mapping[str, EntryRow],
        known: frozenset[bytes],
        prepared: Mapping[str, Prepared],
        corpus: Corpus,
    ) -> Iterator[MissingFacts]:
        for entry_id, row in rows.items():
            missing = frozenset(key for key in row.keys if key not in known)
            if missing - {row.meaning}:
                yield MissingFacts(
                    row=row,
                    missing=missing,
                    files=corpus.published[entry_id],
                    decisions=prepared[entry_id].decisions,
                    samples=tuple(corpus.samples.get(entry_id, ())),
                    editions={
                        lang: self._facts.get(key) or b""
                        for lang, key in row.editions.items()
                        if key not in missing
                    },
                )

    def _embed(self, embedder: Embedder, rows: Iterable[EntryRow]) -> None:
        # Only in this process: the embedder may be a network service, and may fail.
        for row in rows:
            self.resources.pause()
            meaning = to_json(meaning_of(read_entry(self._facts.get, row), embedder))
            self._facts.put(row.meaning, meaning)
