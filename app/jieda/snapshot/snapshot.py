"""The unit that is served and swapped, opened from a generation; and what a process analyzes and searches with, costly
to make, safe to share, and seldom another one.

The cluster's own modules are imported only where it is asked for: everybody else starts without them.
"""

import hashlib
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.library import Holdings, Library
from jieda.content.read.history import Change
from jieda.diagnosis.collect import background_words
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.signatures import SignatureIndex
from jieda.diagnosis.words import BackgroundFacts, CountedWords, Known, WordReader
from jieda.entry import Language, Sample
from jieda.log_knowledge import Background
from jieda.search.answers import SearchRequest
from jieda.search.completion import Completer
from jieda.search.index.array_file import Array, read_arrays
from jieda.search.index.document import Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder, embedder
from jieda.search.searcher import Searcher
from jieda.search.show.concordance import Places
from jieda.search.translation import Dictionary, open_dictionary
from jieda.search.weights import WEIGHTING
from jieda.search.whoosh.index import WhooshIndex
from jieda.search.whoosh.language import QueryLanguage
from jieda.settings import Settings
from jieda.snapshot.store.facts import FactStore, code_version
from jieda.snapshot.store.generation import IMAGES, Generation, GenerationUnreadable
from jieda.snapshot.store.records import (
    TELLING,
    EntryRow,
    Header,
    RecordUnreadable,
    SampleRow,
    from_json,
    read_entry,
)
from jieda.taxonomy import GlossaryGroup

ENGINES: Mapping[str, str | None] = {"whoosh": None, "opensearch": "jieda.cluster.engine"}
"""What can be searched by: nothing to be asked where the index lies in each process, or the module of who keeps it."""


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """What an index is to hold, and the `digest` it is named by: `documents` by id, of which the `changed` are not as
    they were in the index before, and the `removed` are there only."""

    digest: str
    documents: Mapping[str, Document]
    changed: Collection[str]
    removed: Collection[str]


class Engine(Protocol):
    """What a process searches, and loads where it builds."""

    @property
    def name(self) -> str:
        """Part of a generation: with another one, another generation is built."""

    @property
    def failure(self) -> str:
        """Why it could not be asked last time, without an address; empty where it could."""

    def open(self, directory: Path) -> EmbeddedIndex:
        """The index of a generation; asks for nothing yet. Raises IndexUnreadable."""

    def is_whole(self, directory: Path) -> bool:
        """Whether it has all that a generation says. Raises ClusterUnavailable."""

    def update(
        self, data: Path, target: Path, previous: Path | None, wanted: WantedIndex, pause: Callable[[], None]
    ) -> None:
        """Has it hold an index of all documents, and writes into the empty `target` what processes know of it.
        `previous` is the directory of the index before. Raises OSError, ClusterUnavailable."""


def engine_of(settings: Settings) -> Engine | None:
    """The one that settings ask for, if they do. Raises SettingsError where its certificates cannot be read."""
    if (door := ENGINES[settings.engine]) is None:
        return None
    made: Engine = import_module(door).ClusterEngine.of(settings)
    return made


def engine_name(engine: Engine | None) -> str:
    """What a generation says it is searched by: empty for the index that lies beside it."""
    return engine.name if engine else ""


class Analyzers:
    """The analyzer and the glossary of last time where their words are still the same.

    A new analyzer costs a tenth of a second, a new glossary most of what opening a generation costs without it.
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        engine: Engine | None = None,
        dictionary: Dictionary | None = None,
    ) -> None:
        """`embedder` is what builders and searches embed with, if they do; `engine` the cluster that they load and ask,
        where the index is not in the process; `dictionary` what queries are translated by."""
        self.embedder = GuardedEmbedder.of(embedder)
        self.engine = engine
        self.dictionary = dictionary
        self._analyzer: tuple[tuple[str, ...], Analyzer] | None = None
        self._glossary: tuple[Analyzer, Glossary] | None = None
        self._lock = threading.Lock()

    def of(self, dictionary: tuple[str, ...]) -> Analyzer:
        """The analyzer that knows these words."""
        with self._lock:
            if self._analyzer is None or self._analyzer[0] != dictionary:
                self._analyzer = (dictionary, Analyzer(dictionary))
            return self._analyzer[1]

    def glossary(self, dictionary: tuple[str, ...], groups: tuple[GlossaryGroup, ...]) -> Glossary:
        """These groups, to be found in what the analyzer of `dictionary` makes of a text."""
        analyzer = self.of(dictionary)
        with self._lock:
            last = self._glossary
            if last is None or last[0] is not analyzer or last[1].groups != groups:
                last = self._glossary = (analyzer, Glossary(groups, analyzer))
            return last[1]


def analyzers_of(settings: Settings) -> Analyzers:
    """What settings ask for. Raises SettingsError where the certificates of a cluster or a dictionary cannot be read,
    JiedaError where the latter cannot be kept."""
    engine = engine_of(settings)
    if engine is not None:
        # A cluster finds by words alone, those of the query: nothing is embedded for it, and nothing translated.
        return Analyzers(engine=engine)
    dictionary = dictionary_of(settings, settings.data)
    return Analyzers(embedder_of(settings), dictionary=dictionary)


def embedder_of(settings: Settings) -> Embedder | None:
    """What settings embed with: a server's model, the installed encoder, or nothing."""
    if not (settings.semantic and settings.embeddings_url):
        return embedder(settings.data, wanted=settings.semantic)
    door = import_module("jieda.search.meaning.endpoint")
    endpoint = door.ModelEndpoint(
        settings.embeddings_url,
        settings.embeddings_model,
        settings.embeddings_key,
        settings.embeddings_query,
        settings.embeddings_passage,
        settings.embeddings_batch,
        settings.embeddings_timeout,
    )
    made: Embedder = door.EndpointEmbedder(endpoint)
    return made


def dictionary_of(settings: Settings, data: Path) -> Dictionary | None:
    """The one that settings name, if they do, kept below `data`. Raises SettingsError, JiedaError."""
    if not settings.dictionary:
        return None
    return open_dictionary(Path(settings.dictionary), data, code_version())


SHOWN = 12
"""Characters of a generation's name that readers are shown."""


def language_of(index: EmbeddedIndex, analyzer: Analyzer, library: Library) -> QueryLanguage:
    """The query language over an index."""
    return QueryLanguage(WhooshIndex(index, analyzer), analyzer, library.taxonomy)


def completer_of(arrays: Mapping[str, Array], searcher: Searcher) -> Completer:
    """Completion to these candidates, and to words of the glossary where a search for them finds what fits."""

    def leads_on(word: str) -> bool:
        # Nobody waits for a cluster at every key: what it has is known here, how well that fits is not.
        if searcher.waits:
            return searcher.has_words(word)
        answer = searcher.search(SearchRequest(word, limit=1))
        return bool(answer.total) and not answer.weak

    return Completer(arrays, searcher.analyzer.fold, leads_on)


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

    generation: Generation
    facts: FactStore
    index: EmbeddedIndex
    completions: Mapping[str, Array]
    background: CountedWords
    signatures: SignatureIndex


def open_snapshot(
    generation: Generation,
    data: Path,
    facts: FactStore,
    analyzers: Analyzers,
    before: Opened | None = None,
) -> Snapshot:
    """What a generation holds, ready to be served: read, not analyzed, and not read again where `before` has it.

    Raises GenerationUnreadable, IndexUnreadable, FactsUnreadable, RecordUnreadable.
    """
    if before is None or before.facts is not facts:
        # Later ones are written by a builder that has their texts in the same store.
        _check_texts(generation, facts)
    library, name = _library(generation, data, facts), generation.header.completions
    analyzer = analyzers.of(library.dictionary)
    glossary = analyzers.glossary(library.dictionary, library.glossary)
    index = _index(generation, analyzers, before)
    same = before and before.generation.header.completions == name
    completions = before.completions if before and same else read_arrays(generation.index, name)
    diagnoser, background = _diagnoser(
        library, generation, facts, index, WordReader(analyzer, glossary), before
    )
    searcher = Searcher(
        library,
        index,
        analyzer,
        glossary,
        # Vectors stay at home: only the index in the process knows what lies near a query.
        None if index.waits else analyzers.embedder,
        dictionary=analyzers.dictionary,
        read_places=lambda entry_id, lang: _places(facts, generation.row(entry_id), lang),
        language=language_of(index, analyzer, library),
    )
    opened = Opened(generation, facts, index, completions, background, diagnoser.signatures)
    return Snapshot(
        library, searcher, completer_of(completions, searcher), diagnoser, generation.name[:SHOWN], opened
    )


def _index(generation: Generation, analyzers: Analyzers, before: Opened | None) -> EmbeddedIndex:
    """Open the index of a generation, reusing the segments that `before` has. Raises GenerationUnreadable,
    IndexUnreadable."""
    engine, embedder = analyzers.engine, analyzers.embedder
    if generation.header.engine != engine_name(engine):
        raise GenerationUnreadable("it was made for another engine")
    if engine is not None:
        return engine.open(generation.index)
    to_scale = embedder is not None and not embedder.measured
    return EmbeddedIndex(generation.index, WEIGHTING, before.index if before else None, to_scale=to_scale)


def _diagnoser(  # noqa: PLR0913, PLR0917 - what diagnosis is made of
    library: Library,
    generation: Generation,
    facts: FactStore,
    index: EmbeddedIndex,
    words: WordReader,
    before: Opened | None,
) -> tuple[Diagnoser, CountedWords]:
    header, old = generation.header, before.generation.header if before else None
    same_words = before and old and old.background_words == header.background_words
    background = before.background if before and same_words else _background_words(facts, header)
    # To compile thousands takes longer than all the rest.
    signatures = before.signatures if before and old and old.signatures == header.signatures else None
    return Diagnoser(library, _known(generation, index, background), words, signatures), background


def _known(generation: Generation, index: EmbeddedIndex, background: CountedWords) -> Known:
    header, samples = generation.header, generation.sample_counts()
    return Known(
        knowledge=header.vocabulary.logs,
        signatures=header.signatures,
        samples={each: count for each, count in samples.items() if index.is_tagged(TELLING, each)},
        words=index.failure_terms,
        background=background,
        counts=header.counts,
        anywhere=frozenset(header.anywhere),
    )


def _check_texts(generation: Generation, facts: FactStore) -> None:
    """Raises GenerationUnreadable where the text of an edition is lost."""
    keys = generation.texts()
    if lost := len(keys) - len(facts.known(keys)):
        raise GenerationUnreadable(f"the text of {lost} editions is lost")


def _library(generation: Generation, data: Path, facts: FactStore) -> Library:
    lists = generation.lists()
    return Library(
        Holdings(
            ask=generation.ask,
            summary=lambda entry_id: generation.row(entry_id).head.summary,
            read=lambda entry_id: read_entry(facts.get, generation.row(entry_id)),
            changes=lambda entry_id, lang: _changes(facts, generation.row(entry_id), lang),
            vocabulary=generation.header.vocabulary,
            problems=lists.problems,
            formerly=lists.old_ids,
            images={where: data / IMAGES / name for where, name in lists.images.items()},
            sampled=frozenset(generation.sample_counts()),
            samples_of=lambda entry_id: tuple(
                Sample(entry_id, Path(row.path), text)
                for row in generation.samples(entry_id)
                if (text := _text(row)) is not None
            ),
            background=lambda: tuple(
                Background(row.where, text)
                for row in generation.samples("")
                if (text := _text(row)) is not None
            ),
            digest=generation.name,
            drafts=lists.drafts,
        )
    )


def _changes(facts: FactStore, row: EntryRow, lang: Language) -> tuple[Change, ...]:
    """What became of an edition; nothing where that is lost. Raises FactsUnreadable, RecordUnreadable."""
    value = facts.get(bytes.fromhex(row.history[lang])) if lang in row.history else None
    return from_json(value, tuple[Change, ...]) if value else ()


def _places(facts: FactStore, row: EntryRow, lang: Language) -> Places | None:
    """Where terms stand in an edition; None where that is lost. Raises FactsUnreadable, RecordUnreadable."""
    value = facts.get(bytes.fromhex(row.places[lang]))
    try:
        return None if value is None else Places(value)
    except ValueError as error:
        raise RecordUnreadable(str(error)) from error


def _text(row: SampleRow) -> str | None:
    """The text of a log, None where it is another one by now."""
    path = Path(row.path)
    content = path.read_bytes() if path.is_file() else b""
    return content.decode() if hashlib.sha256(content).hexdigest() == row.content else None


def _background_words(facts: FactStore, header: Header) -> CountedWords:
    keys = [bytes.fromhex(key) for key in header.background_words]
    found = dict(facts.get_all(keys))
    if found.keys() != set(keys):
        raise GenerationUnreadable("facts about the background logs are missing")
    return background_words(from_json(found[key], BackgroundFacts) for key in keys)
