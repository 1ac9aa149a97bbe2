"""Facts of entries: their editions rendered, their search documents, what diagnosis needs. Each is made once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.markdown.links import Link, LinkKind
from app.content.read.assemble import Decisions
from app.content.read.corpus import Corpus, SampleFile
from app.content.read.gather import ReadFile, Vocabulary
from app.content.read.outline import Outline
from app.content.read.parse import ParsedFile, SourceFile, parse_file
from app.diagnosis.collect import FactReader
from app.entry import Entry, Language
from app.log_knowledge import Background
from app.search.meaning.embedder import Embedder
from app.snapshot.facts import FactStore, fact_key
from app.snapshot.files import KnownFile
from app.snapshot.index import candidates_of, document_of, meaning_of, places_of
from app.snapshot.records import EntryRow, FileFact, edition_from_json, edition_to_json, from_json, to_json
from app.snapshot.state import Prepared
from app.snapshot.stored import keys_of
from app.snapshot.versions import code_version
from app.taxonomy import FACETS, facet_values

BATCH = 100
"""Facts that are written at once."""

ReadSource = Callable[[Outline], SourceFile]
"""The file of an outline, as it was when it was outlined."""


class FactWriter:
    """Facts that wait to be written in larger numbers than one."""

    def __init__(self, facts: FactStore) -> None:
        self._facts = facts
        self._waiting: dict[bytes, bytes] = {}

    def put(self, key: bytes, value: bytes) -> None:
        """Keeps a fact, now or soon."""
        self._waiting[key] = value
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        if self._waiting:
            self._facts.put(self._waiting)
        self._waiting = {}


def file_key(where: str, content: str) -> bytes:
    """The key of what an edition's file says."""
    return fact_key("file", code_version(), where, content)


def learn_edition(writer: FactWriter, source: SourceFile, content: str) -> None:
    """Keeps what an edition's file says, and its HTML in the form that it has if no link of its is broken."""
    parsed, problems = parse_file(source)
    writer.put(
        file_key(source.where, content), to_json(FileFact(parsed.outline if parsed else None, problems))
    )
    if parsed is None or parsed.outline.front.draft:
        return
    file = Outline.of(parsed.outline, source.path, source.modified, content)
    inner = [link for link in parsed.outline.links if link.kind in {LinkKind.ENTRY, LinkKind.ANCHOR}]
    if any(link.kind is LinkKind.IMAGE for link in parsed.outline.links):
        return
    kept = {
        link: None if link.kind is LinkKind.ANCHOR and link.anchor not in file.anchors else link
        for link in inner
    }
    decisions = tuple(kept.items())
    writer.put(edition_key(file, decisions), _rendered(parsed, file, decisions))


def read_files(facts: FactStore, files: Iterable[KnownFile]) -> dict[KnownFile, ReadFile]:
    """What files say, from the facts; those whose facts are lost are left out."""
    keys = {file_key(file.where, file.content): file for file in files}
    found: dict[KnownFile, ReadFile] = {}
    for key, value in facts.get_all(keys):
        file, fact = keys[key], from_json(value, FileFact)
        said = fact.outline
        outline = Outline.of(said, file.path, file.modified, file.content) if said else None
        found[file] = ReadFile(file.where, outline, fact.problems)
    return found


def edition_key(file: Outline, decisions: Decisions) -> bytes:
    """The key of an edition's text."""
    return fact_key("edition", code_version(), file.where, file.content, to_json(decisions).decode())


def _rendered(parsed: ParsedFile, file: Outline, decisions: Decisions) -> bytes:
    kept: dict[Link, Link | None] = dict(decisions)
    return edition_to_json(parsed.edition(kept.__getitem__, file.path, file.updated))


@dataclass(frozen=True, slots=True)
class Tools:
    """What entries are analyzed with."""

    analyzer: Analyzer
    glossary: Glossary
    reader: FactReader


class EntryFacts:
    """Makes the facts of entries that are not there yet. `tools` is asked for when the first is missing."""

    def __init__(  # noqa: PLR0913, PLR0917 - what facts are made from, and with
        self,
        facts: FactStore,
        vocabulary: Vocabulary,
        read_source: ReadSource,
        read_sample: Callable[[SampleFile], str],
        tools: Callable[[], Tools],
        embedder: Embedder | None = None,
    ) -> None:
        self._facts = facts
        self._writer = FactWriter(facts)
        self._vocabulary = vocabulary
        self._read_source = read_source
        self._read_sample = read_sample
        self._tools = tools
        self._embedder = embedder
        words = to_json((vocabulary.glossary, vocabulary.dictionary)).decode()
        self._words = fact_key("words", code_version(), words).hex()
        logs = to_json((vocabulary.taxonomy.framework, vocabulary.logs)).decode()
        self._logs = fact_key("logs", self._words, logs).hex()
        formats = to_json(vocabulary.logs.failures).decode()
        self._formats = fact_key("formats", self._words, formats).hex()

    def background(self, logs: Sequence[SampleFile], pause: Callable[[], None]) -> tuple[str, ...]:
        """The keys of the facts about the words of `logs`, which are there afterwards. `pause` is called between
        logs."""
        keys = [fact_key("background", self._formats, log.where, log.content) for log in logs]
        known = self._facts.known(keys)
        for key, log in zip(keys, logs, strict=True):
            if key not in known:
                pause()
                found = self._tools().reader.background(Background(log.where, self._read_sample(log)))
                self._writer.put(key, to_json(found))
        self._writer.flush()
        return tuple(key.hex() for key in keys)

    def row(
        self, prepared: Prepared, files: Mapping[Language, Outline], samples: Sequence[SampleFile]
    ) -> EntryRow:
        """What a generation says of an entry, whether or not the facts that it names are there."""
        editions = {lang: edition_key(file, prepared.decisions[lang]).hex() for lang, file in files.items()}
        summary = prepared.head.summary
        taxonomy = self._vocabulary.taxonomy
        tags = [taxonomy.facet(facet)[value] for facet in FACETS for value in facet_values(summary)[facet]]
        said = to_json(
            (
                summary.id,
                summary.kind,
                prepared.head.signatures,
                [(tag.id, tag.name) for tag in tags],
                list(editions.items()),
            )
        ).decode()
        return EntryRow(
            head=prepared.head,
            editions=editions,
            places={lang: fact_key("places", self._words, key).hex() for lang, key in editions.items()},
            document=fact_key("document", self._words, said).hex(),
            completions=fact_key("completions", code_version(), said).hex(),
            diagnosis=fact_key("diagnosis", self._logs, said, *(sample.content for sample in samples)).hex(),
            meaning=self._meaning_key(editions),
        )

    def _meaning_key(self, editions: Mapping[Language, str]) -> str:
        if self._embedder is None:
            return ""
        texts = to_json(list(editions.items())).decode()
        return fact_key("meaning", code_version(), self._embedder.name, texts).hex()

    def ensure(
        self,
        rows: Mapping[str, EntryRow],
        prepared: Mapping[str, Prepared],
        corpus: Corpus,
        pause: Callable[[], None],
    ) -> None:
        """Makes the facts that `rows` name and that are not there. `pause` is called between entries."""
        known = self._facts.known(bytes.fromhex(key) for row in rows.values() for key in keys_of(row))
        for entry_id, row in rows.items():
            missing = {key for key in keys_of(row) if bytes.fromhex(key) not in known}
            if missing:
                pause()
                self._make(row, missing, prepared[entry_id], corpus)
        self._writer.flush()

    def _make(self, row: EntryRow, missing: set[str], prepared: Prepared, corpus: Corpus) -> None:
        entry_id = prepared.head.summary.id
        files = corpus.published[entry_id]
        editions = {}
        for lang, key in row.editions.items():
            if key in missing:
                parsed, _ = parse_file(self._read_source(files[lang]))
                if parsed is None:
                    raise RuntimeError(f"{files[lang].where} was an edition a moment ago")
                value = _rendered(parsed, files[lang], prepared.decisions[lang])
                self._writer.put(bytes.fromhex(key), value)
            else:
                value = self._facts.get(bytes.fromhex(key)) or b""
            editions[lang] = edition_from_json(value, str(files[lang].path), files[lang].updated)
        self._analyze(row.head.entry(editions), row, missing, corpus.samples.get(entry_id, ()))

    def _analyze(self, entry: Entry, row: EntryRow, missing: set[str], samples: Sequence[SampleFile]) -> None:
        if row.document in missing:
            tools = self._tools()
            taxonomy = self._vocabulary.taxonomy
            document = document_of(entry, tools.analyzer, tools.glossary, taxonomy)
            self._writer.put(bytes.fromhex(row.document), document)
        for lang, key in row.places.items():
            if key in missing:
                places = places_of(entry.editions[lang], self._tools().glossary)
                self._writer.put(bytes.fromhex(key), places)
        if row.completions in missing:
            self._writer.put(bytes.fromhex(row.completions), candidates_of(entry))
        if row.diagnosis in missing:
            found = self._tools().reader.entry(entry, [self._read_sample(sample) for sample in samples])
            self._writer.put(bytes.fromhex(row.diagnosis), to_json(found))
        if row.meaning in missing and self._embedder is not None:
            self._writer.put(bytes.fromhex(row.meaning), meaning_of(entry, self._embedder))
