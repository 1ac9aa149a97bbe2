"""Who loads an index, over all hosts: a document that one of them holds until a time that it puts off as it works."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from app.errors import ClusterUnavailable
from app.search.cluster.door import Cluster, Refused

LEASE = 120.0
"""Seconds after which whoever has not put it off is taken for dead. Clocks of hosts may differ by a part of it."""
LOOK_AGAIN = 0.5
NAME = "lock"


class Lease:
    """Held; put off by `renew`."""

    def __init__(self, cluster: Cluster, index: str, length: float) -> None:
        self._cluster, self._index, self._length = cluster, index, length
        self._owner = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        self._mark = ""
        self._until = 0.0

    def take(self) -> bool:
        """Whether it is held from now on: it was free, or its holder is dead. Raises ClusterUnavailable."""
        try:
            self._write(f"/{self._index}/_create/{NAME}?refresh=true")
        except Refused as error:
            if error.status != 409:
                raise
            return self._taken_over()
        return True

    def renew(self) -> None:
        """Puts the end off, if it is time to. Raises ClusterUnavailable where somebody else holds it by now."""
        if self._until - time.time() > self._length / 2:
            return
        try:
            self._write(f"/{self._index}/_doc/{NAME}?{self._mark}")
        except Refused as error:
            raise ClusterUnavailable("another host loads in our place") from error

    def release(self) -> None:
        """Lets others have it at once."""
        with suppress(Refused, ClusterUnavailable):
            self._cluster.ask("DELETE", f"/{self._index}/_doc/{NAME}?{self._mark}")

    def _taken_over(self) -> bool:
        try:
            found = self._cluster.ask("GET", f"/{self._index}/_doc/{NAME}")
        except Refused:  # released meanwhile
            return False
        if found["_source"]["until"] > time.time():
            return False
        self._mark = _mark(found)
        try:
            self._write(f"/{self._index}/_doc/{NAME}?{self._mark}")
        except Refused:  # somebody was faster
            return False
        return True

    def _write(self, path: str) -> None:
        until = time.time() + self._length
        answer = self._cluster.ask("PUT", path, {"owner": self._owner, "until": until})
        self._until, self._mark = until, _mark(answer)


def _mark(answer: dict[str, object]) -> str:
    return f"if_seq_no={answer['_seq_no']}&if_primary_term={answer['_primary_term']}"


@contextmanager
def loading_alone(
    cluster: Cluster, index: str, pause: Callable[[], None], length: float = LEASE
) -> Iterator[Lease]:
    """Holds the lease that is kept in `index`; while another host holds it, `pause` is called now and then, and what it
    raises ends the waiting. Raises ClusterUnavailable."""
    body = {
        "settings": {"number_of_shards": 1, "auto_expand_replicas": "0-1"},
        "mappings": {"properties": {"owner": {"type": "keyword"}, "until": {"type": "double"}}},
    }
    try:
        cluster.ask("PUT", f"/{index}", body, length)
    except Refused as error:
        if error.kind != "resource_already_exists_exception":
            raise ClusterUnavailable(f"it refuses the lock ({error.kind})") from error
    lease = Lease(cluster, index, length)
    while not lease.take():
        pause()
        time.sleep(LOOK_AGAIN)
    try:
        yield lease
    finally:
        lease.release()
