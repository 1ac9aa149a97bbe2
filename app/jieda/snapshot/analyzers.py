"""What a process analyzes and searches with: costly to make, safe to share, and seldom another one.

The cluster's own modules are imported only where it is asked for: everybody else starts without them.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.search.index.document import Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder, embedder
from jieda.search.translation import Dictionary, open_dictionary
from jieda.settings import Settings
from jieda.snapshot.store.facts import code_version
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

    A new analyzer costs half a second, a new glossary most of what opening a generation costs without it.
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
