"""The indexes of one team in a cluster. Each is built beside the others, checked, and then made the current one.

PREFIX-DIGEST    an index, by the digest of its generation; searched under this name, never changed once complete
PREFIX-current   an alias of the index that was completed last
PREFIX-control   the lease of the host that loads, with its expiry

A complete index is marked by its own name in its mapping. What a dead builder left has no mark, or that of another.

Documents are sent in bulk. Items that are refused temporarily are sent again; a permanent refusal is an error.
"""

import json
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

from jieda.cluster.bodies import FORM, Shape, any_of, index_body, source_of
from jieda.cluster.client import TEMPORARY, Cluster, Refused
from jieda.errors import ClusterUnavailable
from jieda.snapshot.snapshot import WantedIndex

BATCH = 2 << 20
"""Bytes of a batch."""
PATIENCE = 60.0
"""Timeout in seconds of a batch, and of a request that creates or copies an index."""
AT_ONCE = 2
"""Batches in flight while the next one is assembled."""
TRIES = 8
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds until refused items are sent again."""


def write_item(document_id: str, source: str) -> bytes:
    """Return the lines that write a document, given as JSON."""
    return (json.dumps({"index": {"_id": document_id}}) + f"\n{source}\n").encode()


def delete_item(document_id: str) -> bytes:
    """Return the line that deletes a document."""
    return (json.dumps({"delete": {"_id": document_id}}) + "\n").encode()


def send(cluster: Cluster, index: str, items: Iterable[bytes], pause: Callable[[], None]) -> int:
    """Send all items and return their number. Calls `pause` before each batch. Raises ClusterUnavailable."""
    sent = 0
    pending: deque[Future[None]] = deque()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="jieda-load") as senders:
        try:
            for batch in _batches(items):
                pause()
                if len(pending) == AT_ONCE:
                    pending.popleft().result()
                pending.append(senders.submit(_send_batch, cluster, index, batch))
                sent += len(batch)
            for future in pending:
                future.result()
        finally:  # after a failure, do not begin to send further batches
            for future in pending:
                future.cancel()
    return sent


def _batches(items: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for item in items:
        if batch and size + len(item) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item)
    if batch:
        yield batch


def _send_batch(cluster: Cluster, index: str, batch: Sequence[bytes]) -> None:
    """Send a batch. An answer of 200 may contain refused items, which are sent again until none is left."""
    left, wait = list(batch), FIRST_PAUSE
    for _ in range(TRIES):
        answer = cluster.bulk(f"/{index}/_bulk?timeout=30s", b"".join(left), PATIENCE)
        if not answer["errors"]:
            return
        left = [item for item, result in zip(left, answer["items"], strict=True) if _must_retry(result)]
        if not left:
            return
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_PAUSE)
    raise ClusterUnavailable(f"{len(left)} documents are refused again and again")


def _must_retry(result: dict[str, dict[str, object]]) -> bool:
    """Whether an item was refused temporarily. Raises ClusterUnavailable if it can never be written."""
    (outcome,) = result.values()
    status = int(str(outcome["status"]))
    if status in TEMPORARY:
        return True
    if status >= 400 and not (status == 404 and "delete" in result):
        error = outcome.get("error")
        reason = error.get("type") if isinstance(error, dict) else status
        raise ClusterUnavailable(f"a document is refused ({reason})")
    return False


log = logging.getLogger(__name__)

GRACE = 600.0
"""Seconds for which an index stays after it was current: other hosts may still search it."""
MOST_CHANGED = 0.5
"""Share of changed documents above which all are sent."""
CHECKED = 5
"""Documents looked up to check an index before it becomes the current one."""


class Indexes:
    """The indexes below a prefix."""

    def __init__(self, cluster: Cluster, prefix: str, shape: Shape) -> None:
        self._cluster, self._prefix, self._shape = cluster, prefix, shape
        self._alias = f"{prefix}-current"

    def name_of(self, digest: str) -> str:
        return f"{self._prefix}-{digest}"

    def is_complete(self, index: str) -> bool:
        """Whether an index exists and is complete, and no shard is lost. Raises ClusterUnavailable."""
        meta = self._meta(index)
        return meta is not None and meta.get("whole") == index and self._count(index) == meta.get("documents")

    def fill(self, index: str, wanted: WantedIndex, previous: str, pause: Callable[[], None]) -> None:
        """Create the wanted index, replacing one of that name, check it and mark it complete. `previous`: the index
        before it; empty to send everything.

        Call only while holding the lease. Raises ClusterUnavailable.
        """
        self._delete(index)
        try:
            if not self._clone(index, wanted, previous, pause):
                self._create(index, wanted, pause)
            self._ask("POST", f"/{index}/_refresh")
            self._check(index, wanted)
            self._await_copies(index)
            self._ask("PUT", f"/{index}/_settings", {"index": {"blocks.write": True}})
            meta = {"form": FORM, "documents": len(wanted.documents), "whole": index}
            self._ask("PUT", f"/{index}/_mapping", {"_meta": meta})
        except BaseException:  # also if interrupted: leave nothing half built
            self._delete(index)
            raise

    def make_current(self, index: str) -> None:
        """Move the alias atomically, and record the time in the previous index. Raises ClusterUnavailable."""
        before = [name for name in self._current_indexes() if name != index]
        actions: list[object] = [{"remove": {"index": name, "alias": self._alias}} for name in before]
        actions.append({"add": {"index": index, "alias": self._alias}})
        for name in before:
            meta = self._meta(name) or {}
            self._ask("PUT", f"/{name}/_mapping", {"_meta": meta | {"left": time.time()}})
        self._ask("POST", "/_aliases", {"actions": actions})

    def prune(self, kept: Collection[str]) -> None:
        """Remove leftovers of dead builders, and indexes that have not been current for a while. Call only while
        holding the lease. Raises ClusterUnavailable."""
        current = {*kept, *self._current_indexes()}
        found = self._ask("GET", f"/{self._prefix}-*/_mapping")
        for index, content in found.items():
            is_ours = re.fullmatch(f"{re.escape(self._prefix)}-[0-9a-f]{{16}}", index)
            if index in current or not is_ours:
                continue
            meta = content["mappings"].get("_meta", {})
            if meta.get("whole") != index or time.time() - meta.get("left", 0.0) > GRACE:
                log.info("the index %s is not needed any more: it is removed", index)
                self._delete(index)

    def _clone(self, index: str, wanted: WantedIndex, previous: str, pause: Callable[[], None]) -> bool:
        """Clone the previous index inside the cluster and send the changes; return False if that does not pay."""
        meta = self._meta(previous) if previous else None
        if meta is None or meta.get("whole") != previous or meta.get("form") != FORM:
            return False
        if len(wanted.changed) > MOST_CHANGED * len(wanted.documents):
            return False
        settings = {"number_of_replicas": self._shape.replicas, "blocks.write": None}
        try:
            self._ask("PUT", f"/{previous}/_clone/{index}", {"settings": {"index": settings}})
        except Refused:
            return False
        self._await_shards(index)
        changes = (write_item(each, source_of(wanted.documents[each])) for each in wanted.changed)
        send(self._cluster, index, chain(changes, map(delete_item, wanted.removed)), pause)
        log.info("%d documents were sent to the cluster, the others were there", len(wanted.changed))
        return True

    def _create(self, index: str, wanted: WantedIndex, pause: Callable[[], None]) -> None:
        self._ask("PUT", f"/{index}", index_body(self._shape))
        self._await_shards(index)
        began = time.monotonic()
        items = (write_item(document.id, source_of(document)) for document in wanted.documents.values())
        count = send(self._cluster, index, items, pause)
        log.info("%d documents were sent to the cluster in %.1f s", count, time.monotonic() - began)

    def _check(self, index: str, wanted: WantedIndex) -> None:
        """Count the documents and look some up by their keys. Raises ClusterUnavailable if one is missing."""
        if (count := self._count(index)) != len(wanted.documents):
            raise ClusterUnavailable(f"{count} of {len(wanted.documents)} documents arrived")
        ids = list(wanted.documents)
        for document_id in ids[:: max(1, len(ids) // CHECKED)][:CHECKED]:
            keys = wanted.documents[document_id].keys
            if not keys:
                continue
            query = {"bool": {"must": any_of("keys", keys[:1]), "filter": {"ids": {"values": [document_id]}}}}
            body = {"query": query, "size": 1, "_source": False}
            (answer,) = self._cluster.searches(index, [body], PATIENCE)
            if not answer["hits"]["hits"]:
                raise ClusterUnavailable("a document that was loaded is not found")

    def _await_shards(self, index: str) -> None:
        health = self._ask("GET", f"/_cluster/health/{index}?wait_for_status=yellow&timeout=30s")
        if health["timed_out"]:
            raise ClusterUnavailable("an index has no place for its shards")

    def _await_copies(self, index: str) -> None:
        """Wait until there are as many replicas as nodes allow: from then on, three nodes survive the loss of one."""
        wanted = "wait_for_events=languid&wait_for_no_initializing_shards=true"
        health = self._ask("GET", f"/_cluster/health/{index}?{wanted}&timeout=20s")
        if health["timed_out"]:
            log.warning("the copies of the index %s are not made yet: a node that fails may be missed", index)

    def _count(self, index: str) -> int:
        (answer,) = self._cluster.searches(index, [{"size": 0, "track_total_hits": True}], PATIENCE)
        return int(answer["hits"]["total"]["value"])

    def _meta(self, index: str) -> dict[str, Any] | None:
        """Return the metadata in the mapping of an index; None if there is no such index."""
        found = self._find(f"/{index}/_mapping")
        return found[index]["mappings"].get("_meta", {}) if found else None

    def _find(self, path: str) -> dict[str, Any]:
        """Return the answer at a path; empty if nothing is there."""
        try:
            found: dict[str, Any] = self._ask("GET", path)
        except Refused as error:
            if error.code == 404:
                return {}
            raise
        return found

    def _current_indexes(self) -> list[str]:
        return list(self._find(f"/_alias/{self._alias}"))

    def _delete(self, index: str) -> None:
        self._ask("DELETE", f"/{index}?ignore_unavailable=true")

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        return self._cluster.ask(method, path, body, PATIENCE)
