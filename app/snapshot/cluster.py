"""Generations whose index is in a cluster: what lies beside them, and how the cluster is kept in step."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

from app.errors import ClusterUnavailable, IndexUnreadable, SettingsError
from app.search.cluster.door import Cluster, Refused
from app.search.cluster.index import ClusterIndex
from app.search.cluster.indexes import Indexes, Load
from app.search.cluster.lease import loading_alone
from app.search.cluster.lexicon import read_cluster_manifest, write_lexicon
from app.search.cluster.mapping import Shape
from app.search.cluster.node import Access
from app.search.cluster.signing import Credentials, Signer
from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.index.writer import update_index
from app.search.weights import WEIGHTING
from app.settings import Settings
from app.snapshot.engine import OPENSEARCH, Wanted
from app.snapshot.generation import GENERATIONS
from app.snapshot.records import TELLING

Result = TypeVar("Result")


class ClusterEngine:
    """The cluster that a process searches, and loads where it builds."""

    def __init__(self, access: Access, prefix: str, shape: Shape) -> None:
        """Raises OSError where the file of certificates cannot be read."""
        self._cluster = Cluster(access)
        self._indexes = Indexes(self._cluster, prefix, shape, WEIGHTING)
        self._lock = f"{prefix}-control"
        self.name = f"{OPENSEARCH} {prefix} {shape.shards} {shape.replicas}"
        """Part of a generation: with another one, another generation is built."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The one that settings ask for. Raises SettingsError where its certificates cannot be read, or keys are
        missing."""
        access = Access(
            settings.opensearch_url,
            settings.opensearch_user,
            settings.opensearch_password,
            Path(settings.opensearch_ca) if settings.opensearch_ca else None,
            settings.opensearch_timeout,
            _signer_of(settings, os.environ),
        )
        shape = Shape(settings.opensearch_shards, settings.opensearch_replicas)
        try:
            return cls(access, settings.opensearch_prefix, shape)
        except OSError as error:
            raise SettingsError([f"JIEDA_OPENSEARCH_CA: no certificates can be read: {error}"]) from error

    @property
    def failure(self) -> str:
        """Why the cluster could not be asked last time, without an address; empty where it could."""
        return self._cluster.failure

    def open(self, directory: Path) -> ClusterIndex:
        """The index of a generation; asks the cluster for nothing yet. Raises IndexUnreadable."""
        return ClusterIndex(directory, WEIGHTING, self._cluster)

    def is_whole(self, directory: Path) -> bool:
        """Whether the cluster has all that a generation says. Raises ClusterUnavailable."""
        try:
            return self._told(lambda: self._indexes.is_whole(read_cluster_manifest(directory).index))
        except IndexUnreadable:
            return False

    def update(
        self, data: Path, target: Path, previous: Path | None, wanted: Wanted, pause: Callable[[], None]
    ) -> None:
        """Has the cluster hold an index of all documents, and writes into the empty `target` what processes know of
        it. `previous` is the directory of the index before. Raises OSError, ClusterUnavailable."""
        update_index(target, previous, _Lean(wanted.documents), wanted.changed, wanted.removed)
        collection = EmbeddedIndex(target, WEIGHTING).collection
        index = self._indexes.named(wanted.digest)
        write_lexicon(target, collection, index, TELLING)
        load = Load(wanted.documents, _index_of(previous), wanted.changed, wanted.removed)
        self._told(lambda: self._load(data, index, load, pause))

    def _load(self, data: Path, index: str, load: Load, pause: Callable[[], None]) -> None:
        with loading_alone(self._cluster, self._lock, pause) as lease:

            def go_on() -> None:
                pause()
                lease.renew()

            self._indexes.prune({index, *_indexes_of(data)})
            if not self._indexes.is_whole(index):
                self._indexes.fill(index, load, go_on)
            go_on()
            self._indexes.make_current(index)

    def _told(self, work: Callable[[], Result]) -> Result:
        """What `work` gives; a refusal, too, is a failure of the cluster."""
        try:
            return work()
        except Refused as error:
            raise ClusterUnavailable(f"it refuses ({error})") from error


def _signer_of(settings: Settings, environ: Mapping[str, str]) -> Signer | None:
    """Who signs requests, where settings ask for it. Raises SettingsError where the keys are not there."""
    region = settings.opensearch_aws_region
    if not region:
        return None
    try:
        return Signer(Credentials.of(environ), region, settings.opensearch_aws_service)
    except KeyError as error:
        raise SettingsError([f"JIEDA_OPENSEARCH_AWS_REGION: {error.args[0]} is not set"]) from None


def _index_of(directory: Path | None) -> str:
    with suppress(IndexUnreadable):
        return read_cluster_manifest(directory).index if directory else ""
    return ""


def _indexes_of(data: Path) -> Iterator[str]:
    """The indexes of all generations of a data directory."""
    for folder in (data / GENERATIONS).glob("*/index"):
        if name := _index_of(folder):
            yield name


class _Lean(Mapping[str, Document]):
    """Documents without what only the cluster needs."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents

    def __getitem__(self, document_id: str) -> Document:
        return replace(self._documents[document_id], passages=(), meaning=None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)
