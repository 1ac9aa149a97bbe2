"""The snapshot that is served, and its swap: build the new one whole, then point one name at it."""

import hashlib
import logging
import threading
from dataclasses import dataclass

from app.analysis import pipeline
from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.content.load import load_library
from app.diagnosis.diagnose import Diagnoser
from app.errors import JiedaError
from app.search import document
from app.search.document import build_documents
from app.search.searcher import Searcher
from app.search.store import IndexStore
from app.search.suggest import Completer
from app.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A library and everything built from it, under one digest. A request takes it once, at its start."""

    library: Library
    searcher: Searcher
    completer: Completer
    diagnoser: Diagnoser
    generation: str


def index_digest(library: Library) -> str:
    """What an index of `library` is kept under: content, analysis and schema."""
    versions = f"{library.digest} {pipeline.VERSION} {document.SCHEMA_VERSION}"
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


class Knowledge:
    """Holds the current snapshot of one process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = IndexStore(settings.data)
        self._analyzers: tuple[tuple[str, ...], Analyzer] | None = None
        self._swap = threading.Lock()
        self._snapshot: Snapshot | None = None
        self.failure = ""
        """Why the last reload kept the old snapshot; empty after a good one."""

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot to serve. Raises RuntimeError before `open`."""
        if self._snapshot is None:
            raise RuntimeError("no snapshot yet: open() has not finished")
        return self._snapshot

    @property
    def ready(self) -> bool:
        """Whether there is a snapshot."""
        return self._snapshot is not None

    def open(self) -> None:
        """Loads the content and opens or builds its index.

        Raises ContentError where taxonomy, glossary or dictionary are broken, JiedaError where the index
        can't be kept.
        """
        with self._swap:
            self._snapshot = self._take()
        _log_problems(self._snapshot)

    def reload(self) -> bool:
        """Swaps in the content as it is now; True where that is another generation.

        On any JiedaError the last good snapshot goes on being served and `failure` says why.
        """
        with self._swap:
            try:
                taken = self._take()
            except JiedaError as error:
                self.failure = str(error)
                log.warning("the content is served as it was before: %s", error)
                return False
            changed = self._snapshot is None or taken.generation != self._snapshot.generation
            self._snapshot, self.failure = taken, ""
        if changed:
            log.info("serving generation %s: %d entries", taken.generation, len(taken.library.entries))
            _log_problems(taken)
        return changed

    def _take(self) -> Snapshot:
        library = load_library(self._settings.content)
        return build_snapshot(library, self._analyzer(library), self._store)

    def _analyzer(self, library: Library) -> Analyzer:
        """The analyzer of last time where the dictionary is still the same: a new one costs half a second."""
        if self._analyzers is None or self._analyzers[0] != library.dictionary:
            self._analyzers = (library.dictionary, Analyzer(library.dictionary))
        return self._analyzers[1]


def _log_problems(snapshot: Snapshot) -> None:
    for problem in snapshot.library.problems:
        log.warning("%s%s", problem, "" if problem.served else " (not served)")


def build_snapshot(library: Library, analyzer: Analyzer, store: IndexStore) -> Snapshot:
    """Everything that is served from `library`, its index opened from `store` or built there."""
    digest = index_digest(library)
    engine = store.open(digest, lambda: build_documents(library, analyzer))
    searcher = Searcher(library, engine, analyzer)
    return Snapshot(
        library, searcher, Completer(library, analyzer), Diagnoser(library, searcher), digest[:12]
    )
