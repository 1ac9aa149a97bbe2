"""Documents into an index of the cluster, in bulk: what is refused for now is sent again, what is refused for good
is an error, and nothing is done before the count is right."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from app.errors import ClusterUnavailable
from app.search.cluster.door import PASSING, Cluster

BATCH = 2 << 20
"""Bytes that are sent at once."""
PATIENCE = 60.0
"""Seconds that a batch may take."""
AT_ONCE = 2
"""Batches under way while the next one is put together."""
TRIES = 8
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds until refused items are sent again."""

Item = tuple[str, bytes]
"""The id of a document and its lines: what to do, and the document where it is written."""


def written(document_id: str, source: str) -> Item:
    """A document to be written, given as JSON."""
    head = json.dumps({"index": {"_id": document_id}})
    return document_id, f"{head}\n{source}\n".encode()


def deleted(document_id: str) -> Item:
    """A document to be removed."""
    return document_id, (json.dumps({"delete": {"_id": document_id}}) + "\n").encode()


def send(cluster: Cluster, index: str, items: Iterable[Item], pause: Callable[[], None]) -> int:
    """Sends all items; how many. `pause` is called before each batch. Raises ClusterUnavailable, Refused."""
    sent = 0
    under_way: deque[Future[None]] = deque()
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="jieda-load") as senders:
        try:
            for batch in _batches(items):
                pause()
                if len(under_way) == AT_ONCE:
                    under_way.popleft().result()
                under_way.append(senders.submit(_send_batch, cluster, index, batch))
                sent += len(batch)
            for each in under_way:
                each.result()
        finally:  # what failed is told; what nobody has begun to send is not sent any more
            for each in under_way:
                each.cancel()
    return sent


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and size + len(item[1]) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item[1])
    if batch:
        yield batch


def _send_batch(cluster: Cluster, index: str, batch: Sequence[Item]) -> None:
    """An answer of 200 may hold items that were refused: those are sent again until none is left."""
    left, wait = list(batch), FIRST_PAUSE
    for _ in range(TRIES):
        answer = cluster.bulk(f"/{index}/_bulk?timeout=30s", b"".join(lines for _, lines in left), PATIENCE)
        if not answer["errors"]:
            return
        left = [item for item, one in zip(left, answer["items"], strict=True) if _is_to_be_sent_again(one)]
        if not left:
            return
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_PAUSE)
    raise ClusterUnavailable(f"{len(left)} documents are refused again and again")


def _is_to_be_sent_again(item: dict[str, dict[str, object]]) -> bool:
    """Raises ClusterUnavailable where the document can never be written."""
    (outcome,) = item.values()
    status = int(str(outcome["status"]))
    if status in PASSING:
        return True
    if status >= 400 and not (status == 404 and "delete" in item):
        kind = outcome.get("error")
        raise ClusterUnavailable(
            f"a document is refused ({kind.get('type') if isinstance(kind, dict) else status})"
        )
    return False
