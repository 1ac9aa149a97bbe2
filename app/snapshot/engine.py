"""What keeps the index of a generation where that is not in the process: nothing, or a cluster that settings ask for.

The cluster's own modules are imported only where it is asked for: everybody else starts without them.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from app.diagnosis.telling import TellingWords
from app.search.index.document import Document
from app.search.index.protocol import Index
from app.settings import Settings
from app.snapshot.generation import read_generation
from app.snapshot.records import EntryRow
from app.snapshot.versions import code_version

OPENSEARCH = "opensearch"
DOOR = "app.cluster.engine"
DIGITS = 16
"""Of the digest that an index is named by."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an index is to hold, and the `digest` it is named by: `documents` by id, of which the `changed` are not as
    they were in the index before, and the `removed` are there only."""

    digest: str
    documents: Mapping[str, Document]
    changed: Collection[str]
    removed: Collection[str]


class RemoteIndex(Index, Protocol):
    """An index that others keep."""

    @property
    def failure_terms(self) -> TellingWords:
        """The words that a diagnosis counts."""

    def is_tagged(self, facet: str, document_id: str) -> bool:
        """Whether a document carries any value of a facet."""

    def is_there(self) -> bool:
        """Whether who keeps it answers from it; False where they have none of that name. Raises ClusterUnavailable."""


class Engine(Protocol):
    """What a process searches, and loads where it builds."""

    @property
    def name(self) -> str:
        """Part of a generation: with another one, another generation is built."""

    @property
    def failure(self) -> str:
        """Why it could not be asked last time, without an address; empty where it could."""

    def open(self, directory: Path) -> RemoteIndex:
        """The index of a generation; asks for nothing yet. Raises IndexUnreadable."""

    def is_whole(self, directory: Path) -> bool:
        """Whether it has all that a generation says. Raises ClusterUnavailable."""

    def update(
        self, data: Path, target: Path, previous: Path | None, wanted: Wanted, pause: Callable[[], None]
    ) -> None:
        """Has it hold an index of all documents, and writes into the empty `target` what processes know of it.
        `previous` is the directory of the index before. Raises OSError, ClusterUnavailable."""


def engine_of(settings: Settings) -> Engine | None:
    """The one that settings ask for, if they do. Raises SettingsError where its certificates cannot be read."""
    if settings.engine != OPENSEARCH:
        return None
    made: Engine = import_module(DOOR).ClusterEngine.of(settings)
    return made


def engine_name(engine: Engine | None) -> str:
    """What a generation says it is searched by: empty for the index that lies beside it."""
    return engine.name if engine else ""


def is_kept(engine: Engine | None, data: Path, name: str) -> bool:
    """Whether a generation is on disk and, where there is a cluster, its index there. Raises ClusterUnavailable."""
    generation = read_generation(data, name)
    return generation is not None and (engine is None or engine.is_whole(generation.index))


def index_digest(engine: str, rows: Mapping[str, EntryRow]) -> str:
    """What an index elsewhere is named by: its documents, and the code that made them. The same on every host."""
    total = hashlib.sha256(f"{code_version()} {engine}".encode())
    for entry_id, row in sorted(rows.items()):
        total.update(f"\n{entry_id} {row.document}".encode())
    return total.hexdigest()[:DIGITS]
