"""Snapshots, opened from generations, are what is served and swapped. Analyzers and engine of a process are expensive
to create, safe to share and seldom replaced.

The modules of a cluster are imported only if one is configured.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

from jieda.analysis.pipeline import Analyzer, Glossary, GlossaryMember
from jieda.content.library import Library
from jieda.content.read.corpus import SampleFile
from jieda.content.read.directory import content_hash
from jieda.content.read.gather import Vocabulary
from jieda.content.read.history import Change
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.scoring import DiagnosisData
from jieda.diagnosis.words import CountedWords, WordReader
from jieda.entry import Language, Sample
from jieda.search.answers import SearchRequest
from jieda.search.completion import Completer
from jieda.search.index.array_file import Array, read_arrays
from jieda.search.index.document import Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder, embedder
from jieda.search.query.translation import Dictionary, open_dictionary
from jieda.search.searcher import Searcher
from jieda.search.snippet import TermPlaces
from jieda.search.whoosh.language import QueryLanguage
from jieda.settings import Settings
from jieda.snapshot.store.facts import FactStore, code_version
from jieda.snapshot.store.generation import (
    IMAGES,
    EntryRow,
    Generation,
    GenerationUnreadable,
    Header,
    RecordUnreadable,
    from_json,
    read_entry,
)

ENGINES: Mapping[str, str | None] = {"whoosh": None, "opensearch": "jieda.cluster.engine"}
"""Search engines by name, with the module of an external one; None for the index inside each process."""


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """The intended content of the index named `digest`: all `documents` by id, and the ids of those that have `changed`
    since the previous index or were `removed` from it."""

    digest: str
    documents: Mapping[str, Document]
    changed: Collection[str]
    removed: Collection[str]


class Engine(Protocol):
    """An external search engine, which every process searches and the builder loads."""

    name: str
    """It is part of a generation's digest: each engine needs a generation of its own."""

    @property
    def failure(self) -> str:
        """Why the last request to the engine failed, without an address; empty if it succeeded."""

    def open(self, directory: Path) -> EmbeddedIndex:
        """Open the index of a generation without sending a request. Raises IndexUnreadable."""

    def is_whole(self, directory: Path) -> bool:
        """Whether the engine holds the whole index of a generation. Raises ClusterUnavailable."""

    def update(
        self, data: Path, target: Path, previous: Path | None, wanted: WantedIndex, pause: Callable[[], None]
    ) -> None:
        """Load all documents into the engine, and write the local part of the index into `target`, which is empty.
        `previous` is the directory of the previous index. Raises OSError, ClusterUnavailable."""


class Analyzers:
    """Embedder, engine and dictionary of a process, and its last analyzer and glossary, until their words change."""

    def __init__(
        self,
        embedder: Embedder | None = None,
        engine: Engine | None = None,
        dictionary: Dictionary | None = None,
    ) -> None:
        """`embedder`: for entries and queries; `engine`: an external one that holds the index; `dictionary`: for the
        translation of queries."""
        self.embedder = GuardedEmbedder(embedder) if embedder else None
        self.engine = engine
        self.dictionary = dictionary
        self.analyzer: Callable[[tuple[str, ...]], Analyzer] = lru_cache(1)(Analyzer)
        """Returns the analyzer for the words of a dictionary."""
        self._glossary = lru_cache(1)(Glossary)

    @property
    def engine_name(self) -> str:
        """Name of the engine in a generation, empty for the index inside each process."""
        return self.engine.name if self.engine else ""

    def glossary(self, vocabulary: Vocabulary, members: tuple[GlossaryMember, ...]) -> Glossary:
        """Return the glossary with these `members`, for tokens of the analyzer of the vocabulary's dictionary."""
        return self._glossary(vocabulary.glossary, self.analyzer(vocabulary.dictionary), members)


def analyzers_of(settings: Settings) -> Analyzers:
    """Return the configured analyzers. Raises SettingsError if the certificates of a cluster or a dictionary cannot be
    read, JiedaError if the dictionary cannot be stored."""
    if module := ENGINES[settings.engine]:
        # A cluster only matches the words of a query: nothing is embedded or translated for it.
        return Analyzers(engine=import_module(module).ClusterEngine.of(settings))
    if settings.semantic and settings.embeddings_url:
        model: Embedder | None = import_module("jieda.search.meaning.endpoint").EndpointEmbedder(settings)
    else:
        model = embedder(settings.data, wanted=settings.semantic)
    path = settings.dictionary
    dictionary = open_dictionary(Path(path), settings.data, code_version()) if path else None
    return Analyzers(model, dictionary=dictionary)


SHORT_NAME = 12
"""Characters of a generation's name that people see."""


def completer_of(arrays: Mapping[str, Array], searcher: Searcher) -> Completer:
    """Return a completer of these candidates, and of glossary words whose search has a good hit."""

    def has_good_hit(word: str) -> bool:
        # A request to the cluster for each key press is too slow: only whether it has the words is checked.
        if searcher.waits:
            return searcher.has_words(word)
        answer = searcher.search(SearchRequest(word, limit=1))
        return bool(answer.total) and not answer.weak

    return Completer(arrays, searcher.analyzer.fold, has_good_hit)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot:
    """A library and everything built from it, under one digest. A request uses one snapshot, taken at its start."""

    library: Library
    index: EmbeddedIndex
    searcher: Searcher
    completer: Completer
    diagnoser: Diagnoser
    generation: str
    opened: Generation | None = None
    facts: FactStore | None = None
    """What it was opened from. The next snapshot reuses what has not changed since."""


def open_snapshot(
    generation: Generation, data: Path, facts: FactStore, analyzers: Analyzers, before: Snapshot | None = None
) -> Snapshot:
    """Open a generation to serve it. Nothing is analyzed, and unchanged parts of `before` are reused.

    Raises GenerationUnreadable, IndexUnreadable, FactsUnreadable, RecordUnreadable.
    """
    if before is None or before.facts is not facts:
        # The builder of later generations has put their texts into the same store.
        _check_texts(generation, facts)
    header, old_header = generation.header, before.opened.header if before and before.opened else None
    library = _library(generation, data, facts)
    analyzer = analyzers.analyzer(library.dictionary)
    glossary = analyzers.glossary(header.vocabulary, header.members)
    index = _index(generation, analyzers, before)
    same = before and old_header and old_header.completions == header.completions
    arrays = before.completer.arrays if before and same else read_arrays(generation.index, header.completions)
    known = _known(header, index, facts, before)
    # Compiling thousands of signatures takes longer than everything else here.
    unchanged = before and before.diagnoser.known.signatures == known.signatures
    signatures = before.diagnoser.signatures if before and unchanged else None
    diagnoser = Diagnoser(library, known, WordReader(analyzer, glossary), signatures)
    searcher = Searcher(
        library,
        index,
        analyzer,
        glossary,
        # Only the in-process index has vectors to search by.
        None if index.is_remote else analyzers.embedder,
        dictionary=analyzers.dictionary,
        read_places=lambda entry_id, lang: _places(facts, generation.row(entry_id), lang),
        language=QueryLanguage(index, analyzer, library.taxonomy),
    )
    completer, name = completer_of(arrays, searcher), generation.name[:SHORT_NAME]
    return Snapshot(library, index, searcher, completer, diagnoser, name, generation, facts)


def _index(generation: Generation, analyzers: Analyzers, before: Snapshot | None) -> EmbeddedIndex:
    """Open the index of a generation, reusing segments of `before`. Raises GenerationUnreadable, IndexUnreadable."""
    engine, embedder = analyzers.engine, analyzers.embedder
    if generation.header.engine != analyzers.engine_name:
        raise GenerationUnreadable("it was made for another engine")
    if engine is not None:
        return engine.open(generation.index)
    to_scale = embedder is not None and not embedder.is_reference
    return EmbeddedIndex(generation.index, before.index if before else None, calibrated=to_scale)


def _known(header: Header, index: EmbeddedIndex, facts: FactStore, before: Snapshot | None) -> DiagnosisData:
    """Return what a diagnosis needs, reusing unchanged words of `before`. Raises FactsUnreadable, RecordUnreadable."""
    old_header = before.opened.header if before and before.opened else None
    same = before and old_header and old_header.background_words == header.background_words
    return DiagnosisData(
        knowledge=header.vocabulary.logs,
        signatures=header.signatures,
        samples=Counter(row.entry_id for row in header.samples if row.entry_id),
        words=index.diagnosis_terms,
        background=before.diagnoser.known.background if before and same else _background_words(facts, header),
        counts=header.counts,
        anywhere=frozenset(header.anywhere),
    )


def _check_texts(generation: Generation, facts: FactStore) -> None:
    keys = generation.texts()
    if missing := len(keys) - len(facts.known(keys)):
        raise GenerationUnreadable(f"the texts of {missing} editions are missing")


def _library(generation: Generation, data: Path, facts: FactStore) -> Library:
    header, samples = generation.header, defaultdict[str, list[SampleFile]](list)
    for row in header.samples:
        samples[row.entry_id].append(row)
    return Library(
        fetch_rows=generation.ask,
        summary=lambda entry_id: generation.row(entry_id).summary,
        read_entry=lambda entry_id: read_entry(facts.get, generation.row(entry_id)),
        changes=lambda entry_id, lang: _changes(facts, generation.row(entry_id), lang),
        vocabulary=header.vocabulary,
        problems=header.problems,
        current_ids=header.old_ids,
        images={where: data / IMAGES / name for where, name in header.images.items()},
        sampled=frozenset(samples) - {""},
        read_samples=lambda entry_id: tuple(
            Sample(entry_id, row.path, text) for row, text in _texts(samples[entry_id])
        ),
        drafts=header.drafts,
    )


def _changes(facts: FactStore, row: EntryRow, lang: Language) -> tuple[Change, ...]:
    """Return the changes of an edition; none if that fact is missing. Raises FactsUnreadable, RecordUnreadable."""
    value = facts.get(row.history[lang]) if lang in row.history else None
    return from_json(value, tuple[Change, ...]) if value else ()


def _places(facts: FactStore, row: EntryRow, lang: Language) -> TermPlaces | None:
    """Return the places of terms in an edition; None if that fact is missing. Raises FactsUnreadable,
    RecordUnreadable."""
    value = facts.get(row.places[lang])
    try:
        return None if value is None else TermPlaces(value)
    except ValueError as error:
        raise RecordUnreadable(str(error)) from error


def _texts(logs: Iterable[SampleFile]) -> Iterator[tuple[SampleFile, str]]:
    """Yield the logs with their texts, except those whose files have changed since."""
    for row in logs:
        content = row.path.read_bytes() if row.path.is_file() else b""
        if content_hash(content) == row.content:
            yield row, content.decode()


def _background_words(facts: FactStore, header: Header) -> CountedWords:
    values = dict(facts.get_all(header.background_words))
    if values.keys() != set(header.background_words):
        raise GenerationUnreadable("facts about the background logs are missing")
    logs = (row.where for row in header.samples if not row.entry_id)
    words = (from_json(values[key], tuple[str, ...]) for key in header.background_words)
    return CountedWords({log: dict.fromkeys(of_log, 1) for log, of_log in zip(logs, words, strict=True)})
