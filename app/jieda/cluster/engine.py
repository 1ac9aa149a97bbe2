"""The cluster as a search engine. Workers search it, the builder keeps it up to date.

Only one host loads at a time: it holds a lease, a document in the cluster with an expiry that the holder renews.
"""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster, Refused, Signer
from jieda.cluster.index import ClusterIndex, read_index_name, write_index_name
from jieda.cluster.indexes import Indexes
from jieda.errors import ClusterUnavailable, IndexUnreadable, SettingsError
from jieda.search.index.writer import update_index
from jieda.settings import Settings
from jieda.snapshot.snapshot import WantedIndex
from jieda.snapshot.store.generation import GENERATIONS

LEASE = 120.0
"""Seconds until a lease expires unless renewed: its holder then counts as dead. Clocks may differ by a part of that."""
LOOK_AGAIN = 0.5
NAME = "lock"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Variables with keys of AWS; only temporary ones have the last."""


class Lease:
    """A lease on loading, extended by `renew`."""

    def __init__(self, cluster: Cluster, index: str, length: float) -> None:
        self._cluster, self._index, self._length = cluster, index, length
        self._owner = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        self._version = ""
        self._until = 0.0

    def take(self) -> bool:
        """Take the lease if it is free or expired; return whether it was. Raises ClusterUnavailable."""
        try:
            self._write(f"/{self._index}/_create/{NAME}?refresh=true")
        except Refused as error:
            if error.code != 409:
                raise
            return self._take_over()
        return True

    def renew(self) -> None:
        """Extend the lease once half of it is over. Raises ClusterUnavailable if another host holds it by now."""
        if self._until - time.time() > self._length / 2:
            return
        try:
            self._write(f"/{self._index}/_doc/{NAME}?{self._version}")
        except Refused as error:
            raise ClusterUnavailable("another host loads in our place") from error

    def release(self) -> None:
        with suppress(ClusterUnavailable):
            self._cluster.ask("DELETE", f"/{self._index}/_doc/{NAME}?{self._version}")

    def _take_over(self) -> bool:
        try:
            lease = self._cluster.ask("GET", f"/{self._index}/_doc/{NAME}")
        except Refused:  # released meanwhile
            return False
        if lease["_source"]["until"] > time.time():
            return False
        self._version = _version(lease)
        try:
            self._write(f"/{self._index}/_doc/{NAME}?{self._version}")
        except Refused:  # somebody was faster
            return False
        return True

    def _write(self, path: str) -> None:
        until = time.time() + self._length
        answer = self._cluster.ask("PUT", path, {"owner": self._owner, "until": until})
        self._until, self._version = until, _version(answer)


def _version(answer: dict[str, object]) -> str:
    return f"if_seq_no={answer['_seq_no']}&if_primary_term={answer['_primary_term']}"


@contextmanager
def hold_lease(
    cluster: Cluster, index: str, pause: Callable[[], None], length: float = LEASE
) -> Iterator[Lease]:
    """Hold the lease in `index`. While another host holds it, call `pause` now and then, which may raise to end the
    wait. Raises ClusterUnavailable."""
    body = {
        "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"},
        "mappings": {"properties": {"owner": {"type": "keyword"}, "until": {"type": "double"}}},
    }
    try:
        cluster.ask("PUT", f"/{index}", body, length)
    except Refused as error:
        if error.kind != "resource_already_exists_exception":
            raise
    lease = Lease(cluster, index, length)
    while not lease.take():
        pause()
        time.sleep(LOOK_AGAIN)
    try:
        yield lease
    finally:
        lease.release()


class ClusterEngine:
    """The cluster that a process searches, and that the builder loads."""

    def __init__(self, access: Access, prefix: str, shape: Shape) -> None:
        """Raises OSError if the file of certificates cannot be read."""
        self._cluster = Cluster(access)
        self._indexes = Indexes(self._cluster, prefix, shape)
        self._lock = f"{prefix}-control"
        self.name = f"opensearch {prefix} {shape.shards} {shape.replicas}"
        """Part of the identity of a generation, so that a change triggers a build."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Create the engine of `settings`. Raises SettingsError for unreadable certificates and missing keys."""
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
        return self._cluster.failure

    def open(self, directory: Path) -> ClusterIndex:
        return ClusterIndex(directory, self._cluster)

    def is_whole(self, directory: Path) -> bool:
        try:
            return self._indexes.is_complete(read_index_name(directory))
        except IndexUnreadable:
            return False

    def update(
        self, data: Path, target: Path, previous: Path | None, wanted: WantedIndex, pause: Callable[[], None]
    ) -> None:
        update_index(target, previous, wanted.documents, wanted.changed, wanted.removed)
        index = self._indexes.name_of(wanted.digest)
        write_index_name(target, index)
        with hold_lease(self._cluster, self._lock, pause) as lease:

            def pause_and_renew() -> None:
                pause()
                lease.renew()

            generations = (data / GENERATIONS).glob("*/index")
            self._indexes.prune({index, *map(_index_of, generations)})
            if not self._indexes.is_complete(index):
                self._indexes.fill(index, wanted, _index_of(previous), pause_and_renew)
            pause_and_renew()
            self._indexes.make_current(index)


def _signer_of(settings: Settings, environ: Mapping[str, str]) -> Signer | None:
    """Return the signer of requests, if settings ask for one. Raises SettingsError if the keys are missing."""
    if not settings.opensearch_aws_region:
        return None
    key_id, secret, token = (environ.get(name, "").strip() for name in KEYS)
    for name, value in zip(KEYS, (key_id, secret), strict=False):
        if not value:
            raise SettingsError([f"JIEDA_OPENSEARCH_AWS_REGION: {name} is not set"])
    return Signer(key_id, secret, settings.opensearch_aws_region, settings.opensearch_aws_service, token)


def _index_of(directory: Path | None) -> str:
    """Return the name of an index in the cluster; empty if its directory has none."""
    with suppress(IndexUnreadable):
        return read_index_name(directory) if directory else ""
    return ""
