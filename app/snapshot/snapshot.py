"""The unit that is served and swapped, opened from a generation or built straight from a library."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.analysis import pipeline
from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.library import Holdings, Library
from app.diagnosis.collect import background_words, collect
from app.diagnosis.diagnose import Diagnoser
from app.diagnosis.facts import BackgroundFacts, Known
from app.diagnosis.signatures import SignatureIndex
from app.diagnosis.telling import CountedWords
from app.diagnosis.words import WordReader
from app.entry import Sample
from app.log_knowledge import Background
from app.search.completion import Completer, candidates_of, completion_arrays
from app.search.index import document
from app.search.index.document import build_documents
from app.search.index.writer import IndexStore
from app.search.meaning.embedder import Embedder
from app.search.meaning.sayings import with_meaning
from app.search.searcher import Searcher
from app.search.translation import Dictionary
from app.snapshot.analyzers import Analyzers
from app.snapshot.catalog import StoredCatalog
from app.snapshot.facts import FactStore
from app.snapshot.generation import IMAGES, Generation, GenerationUnreadable, OpenGeneration
from app.snapshot.index import OpenIndex, completer_of
from app.snapshot.records import SampleRow, from_json
from app.snapshot.stored import read_entry, read_places

CHECKED_AT_ONCE = 4096
"""Rows that are in memory while it is looked whether their texts are there."""
SHOWN = 12
"""Characters of a generation's name that readers are shown."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot:
    """A library and everything built from it, under one digest. A request takes it once, at its start."""

    library: Library
    searcher: Searcher
    completer: Completer
    diagnoser: Diagnoser
    generation: str
    opened: "Opened | None" = None
    """What the next one may have in common with it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A generation as it was read."""

    generation: OpenGeneration
    index: OpenIndex
    background: CountedWords
    signatures: SignatureIndex


def open_snapshot(
    generation: OpenGeneration,
    data: Path,
    facts: FactStore,
    analyzers: Analyzers,
    before: Opened | None = None,
) -> Snapshot:
    """What a generation holds, ready to be served: read, not analyzed, and not read again where `before` has it.

    Raises GenerationUnreadable, IndexUnreadable, FactsUnreadable, RecordUnreadable.
    """
    _check_texts(generation, facts, before)
    catalog = StoredCatalog(generation.arrays, generation.rows)
    library = _library(generation, catalog, data, facts)
    analyzer = analyzers.of(library.dictionary)
    glossary = analyzers.glossary(library.dictionary, library.glossary)
    engine, completions = analyzers.engine, generation.header.completions
    if generation.header.engine != (engine.name if engine else ""):
        raise GenerationUnreadable("it was made for another engine")
    index = OpenIndex.read(generation.index, completions, before.index if before else None, engine)
    searcher, completer = index.search(
        library,
        analyzer,
        glossary,
        analyzers,
        lambda entry_id, lang: read_places(facts, catalog.row(entry_id), lang),
    )
    background = _background_words(facts, generation, before)
    signatures = _signatures(generation, before)
    known, words = _known(generation, index, background), WordReader(analyzer, glossary)
    diagnoser = Diagnoser(library, known, words, signatures)
    opened = Opened(generation, index, background, diagnoser.signatures)
    return Snapshot(library, searcher, completer, diagnoser, generation.name[:SHOWN], opened)


def _check_texts(generation: OpenGeneration, facts: FactStore, before: Opened | None) -> None:
    """Raises GenerationUnreadable where the text of an edition is lost, which no row of `before` has as well."""
    rows = generation.rows
    known = before.generation.rows.digests if before else rows.digests[:0]
    fresh = np.flatnonzero(np.isin(rows.digests, known, invert=True)).tolist()
    lost = 0
    for start in range(0, len(fresh), CHECKED_AT_ONCE):
        some = rows.once(fresh[start : start + CHECKED_AT_ONCE])
        keys = {bytes.fromhex(key) for row in some for key in row.editions.values()}
        lost += len(keys) - len(facts.known(keys))
    if lost:
        raise GenerationUnreadable(f"the text of {lost} editions is lost")


def _library(generation: Generation, catalog: StoredCatalog, data: Path, facts: FactStore) -> Library:
    header = generation.header
    samples: dict[str, list[SampleRow]] = {}
    for sample in header.samples:
        samples.setdefault(sample.entry_id, []).append(sample)
    return Library(
        Holdings(
            catalog=catalog,
            read=lambda entry_id: read_entry(facts, catalog.row(entry_id)),
            vocabulary=header.vocabulary,
            problems=header.problems,
            formerly=header.formerly,
            images={where: data / IMAGES / name for where, name in header.images.items()},
            sampled=frozenset(samples),
            samples_of=lambda entry_id: tuple(_samples(samples.get(entry_id, []))),
            background=lambda: tuple(_background(header.background)),
            digest=generation.name,
            drafts=header.drafts,
        )
    )


def _samples(rows: Iterable[SampleRow]) -> Iterator[Sample]:
    for row in rows:
        if (text := _text(row)) is not None:
            yield Sample(row.entry_id, Path(row.path), text)


def _background(rows: Iterable[SampleRow]) -> Iterator[Background]:
    for row in rows:
        if (text := _text(row)) is not None:
            yield Background(row.where, text)


def _text(row: SampleRow) -> str | None:
    """The text of a log, None where it is another one by now."""
    path = Path(row.path)
    content = path.read_bytes() if path.is_file() else b""
    return content.decode() if hashlib.sha256(content).hexdigest() == row.content else None


def _background_words(facts: FactStore, generation: Generation, before: Opened | None) -> CountedWords:
    header = generation.header
    if before and before.generation.header.background_words == header.background_words:
        return before.background
    keys = [bytes.fromhex(key) for key in header.background_words]
    found = dict(facts.get_all(keys))
    if found.keys() != set(keys):
        raise GenerationUnreadable("facts about the background logs are missing")
    return background_words(from_json(found[key], BackgroundFacts) for key in keys)


def _signatures(generation: Generation, before: Opened | None) -> SignatureIndex | None:
    """Those of `before`, where they are the same: to compile thousands takes longer than all the rest."""
    same = before and before.generation.header.signatures == generation.header.signatures
    return before.signatures if before and same else None


def _known(generation: Generation, index: OpenIndex, background: CountedWords) -> Known:
    header = generation.header
    samples = Counter(sample.entry_id for sample in header.samples)
    telling = index.telling(samples)
    return Known(
        knowledge=header.vocabulary.logs,
        signatures=header.signatures,
        samples={entry_id: samples[entry_id] for entry_id in telling},
        words=index.index.failure_terms,
        background=background,
        counts=header.counts,
    )


def index_digest(library: Library, embedder: Embedder | None = None) -> str:
    """What an index of `library` is kept under: content, analysis, schema and embedder."""
    versions = f"{library.digest} {pipeline.VERSION} {document.SCHEMA_VERSION}"
    versions += f" {embedder.name}" if embedder else ""
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


def build_snapshot(
    library: Library,
    analyzer: Analyzer,
    store: IndexStore,
    embedder: Embedder | None = None,
    dictionary: Dictionary | None = None,
) -> Snapshot:
    """Everything made from `library` here and now, its index opened from `store` or built there.

    For measurements and tests; what is served is opened from a generation.
    """
    digest = index_digest(library, embedder)
    glossary = Glossary(library.glossary, analyzer)
    index = store.open(
        digest, lambda: with_meaning(library, build_documents(library, analyzer, glossary), embedder)
    )
    words = WordReader(analyzer, glossary)
    known = collect(library, words, library.log_knowledge, library.background())
    searcher = Searcher(library, index, analyzer, glossary, embedder, dictionary=dictionary)
    return Snapshot(
        library,
        searcher,
        completer_of(completion_arrays(candidates_of(library), analyzer.fold), searcher),
        Diagnoser(library, known, words),
        digest[:SHOWN],
    )
