"""The cluster as one: another node is asked where one fails, and nobody where all have failed a moment ago."""

import itertools
import json
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from jieda.cluster.node import Access, Node, NodeAnswer, NodeFailed, context_of
from jieda.errors import ClusterUnavailable

log = logging.getLogger(__name__)

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
MSEARCH = "/_msearch?max_concurrent_searches=8"
PASSING = frozenset({429, 502, 503, 504})
"""What a node answers that cannot do now what it, or another one, can do soon."""
SET_ASIDE = 5.0
"""Seconds for which a node that failed is asked last."""
OPEN_FOR = 2.0
"""Seconds for which nobody is asked after all have failed: callers are told at once."""
PAUSE = 0.15
"""Seconds until a node is asked again that was busy, or was missing shards: a copy takes over in about that time."""


class Refused(Exception):
    """The cluster understood and refused; `status`, and the `kind` of its reason."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(f"{status} {kind}".strip())
        self.status = status
        self.kind = kind


class Incomplete(Exception):
    """An answer without some of its shards."""


class Cluster:
    """Asks the nodes of a cluster in turn. Safe to share between threads."""

    def __init__(self, access: Access) -> None:
        """Raises OSError where the file of certificates cannot be read."""
        context = context_of(access)
        self._nodes = [Node(url, access, context) for url in access.urls]
        self._failed = [0.0] * len(self._nodes)
        self._turn = itertools.count()
        self._timeout = access.timeout
        self._closed_until = 0.0
        self._failure = ""
        self._lock = threading.Lock()

    @property
    def failure(self) -> str:
        """Why the cluster could not be asked last time; empty where it could."""
        return self._failure

    def ask(self, method: str, path: str, body: object = None, patience: float = 0.0) -> Any:
        """The answer to one request, decoded, for which a loader waits `patience` seconds. Raises Refused,
        ClusterUnavailable."""
        data = None if body is None else json.dumps(body).encode()
        return self._decoded(self._send(method, path, data, JSON, patience))

    def bulk(self, path: str, lines: bytes, patience: float) -> Any:
        """The answer to lines of JSON that change something. Raises Refused, ClusterUnavailable."""
        return self._decoded(self._send("POST", path, lines, LINES, patience))

    def searches(self, index: str, bodies: Sequence[object], patience: float = 0.0) -> list[dict[str, Any]]:
        """The answers to some searches of one index, asked in one request, all of them from every shard.

        Raises Refused where there is no such index, ClusterUnavailable.
        """
        head = json.dumps({"index": index, "allow_partial_search_results": False})
        lines = "".join(f"{head}\n{json.dumps(body)}\n" for body in bodies).encode()
        deadline = time.monotonic() + (patience or 2 * self._timeout)
        while True:
            try:
                answer = self._decoded(self._send("POST", MSEARCH, lines, LINES, patience))
                return [_whole(one) for one in answer["responses"]]
            except Incomplete as error:
                if time.monotonic() > deadline:
                    raise self._unavailable(str(error)) from error
                time.sleep(PAUSE)

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        for node in self._nodes:
            node.close()

    def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], patience: float
    ) -> NodeAnswer:
        """Asks until a node answers: each twice, at most; who has `patience` goes on for that many seconds."""
        if not patience and time.monotonic() < self._closed_until:
            raise ClusterUnavailable(self._failure)
        deadline = time.monotonic() + (patience or 2 * self._timeout)
        timeout = patience / 2 or self._timeout
        reason = ""
        for number in itertools.cycle(self._order()) if patience else self._order() * 2:
            if time.monotonic() > deadline:
                break
            try:
                answer = self._nodes[number].ask(method, path, body, headers, timeout)
            except NodeFailed as error:
                reason = str(error)
                self._failed[number] = time.monotonic()
                if patience:
                    time.sleep(PAUSE)
                continue
            if answer.status not in PASSING:
                self._failed[number] = 0.0
                self._answered()
                return answer
            reason = f"busy, or without a manager ({answer.status})"
            time.sleep(PAUSE)
        raise self._unavailable(reason)

    def _order(self) -> list[int]:
        """Nodes in turn, those that failed a moment ago last."""
        count = len(self._nodes)
        first = next(self._turn) % count
        now = time.monotonic()
        turn = [(first + step) % count for step in range(count)]
        return sorted(turn, key=lambda number: now - self._failed[number] < SET_ASIDE)

    def _answered(self) -> None:
        if self._failure:
            with self._lock:
                self._failure = ""
            log.info("the search cluster answers again")

    def _unavailable(self, reason: str) -> ClusterUnavailable:
        with self._lock:
            first = not self._failure
            self._failure, self._closed_until = reason, time.monotonic() + OPEN_FOR
        if first:
            log.warning("the search cluster: %s", reason)
        return ClusterUnavailable(reason)

    def _decoded(self, answer: NodeAnswer) -> Any:
        try:
            content = json.loads(answer.body) if answer.body else {}
        except ValueError as error:
            raise self._unavailable("an answer that is no JSON") from error
        if answer.status >= 400:
            raise Refused(answer.status, _kind(content))
        return content


def _kind(content: object) -> str:
    """The kind of a failure, without what it quotes."""
    error = content.get("error") if isinstance(content, dict) else None
    return str(error.get("type", "")) if isinstance(error, dict) else ""


def _whole(answer: dict[str, Any]) -> dict[str, Any]:
    """Raises Incomplete where some shard or some time was missing, Refused where the search was."""
    if "error" in answer:
        status = int(answer.get("status", 500))
        if status in {400, 404}:
            raise Refused(status, _kind(answer))
        raise Incomplete(f"a search failed: {_kind(answer)}")
    shards = answer["_shards"]
    if answer.get("timed_out") or shards["failed"] or shards["successful"] < shards["total"]:
        raise Incomplete("some shards are missing")
    return answer
