"""The client of the whole cluster: tries another node if one fails, and fails fast if all have just failed."""

import itertools
import json
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from jieda.cluster.node import Access, Node, NodeAnswer, NodeFailed, NodeRequest, context_of
from jieda.errors import ClusterUnavailable

log = logging.getLogger(__name__)

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
MSEARCH = "/_msearch?max_concurrent_searches=8"
PASSING = frozenset({429, 502, 503, 504})
"""Statuses of temporary failures: the same or another node may succeed soon."""
SET_ASIDE = 5.0
"""Seconds for which a failed node is tried last."""
OPEN_FOR = 2.0
"""Seconds for which no node is tried after all have failed: calls fail at once."""
PAUSE = 0.15
"""Seconds before a retry after a busy node or missing shards: a replica takes over in about that time."""


class Refused(ClusterUnavailable):
    """The cluster refused a request, with the HTTP status `code` and the `kind` of its reason."""

    def __init__(self, code: int, kind: str) -> None:
        super().__init__(f"it refuses a request: {code} {kind}".rstrip())
        self.code = code
        self.kind = kind


class Incomplete(Exception):
    """An answer lacks some shards."""


class Cluster:
    """Sends requests to the nodes of a cluster in turn. Safe to share between threads."""

    def __init__(self, access: Access) -> None:
        """Raises OSError if the file of certificates cannot be read."""
        context = context_of(access)
        self._nodes = [Node(url, access, context) for url in access.urls]
        self._turn = itertools.count()
        self._timeout = access.timeout
        self._closed_until = 0.0
        self._failure = ""
        self._lock = threading.Lock()

    @property
    def failure(self) -> str:
        """Why the last request failed; empty if it did not."""
        return self._failure

    def ask(self, method: str, path: str, body: object = None, patience: float = 0.0) -> Any:
        """Return the decoded answer to one request; a loader waits `patience` seconds. Raises ClusterUnavailable."""
        data = None if body is None else json.dumps(body).encode()
        return self._decode(self._send(NodeRequest(method, path, data, JSON), patience))

    def bulk(self, path: str, lines: bytes, patience: float) -> Any:
        """Send lines of JSON that change something; return the answer. Raises ClusterUnavailable."""
        return self._decode(self._send(NodeRequest("POST", path, lines, LINES), patience))

    def searches(self, index: str, bodies: Sequence[object], patience: float = 0.0) -> list[dict[str, Any]]:
        """Run several searches of one index in one request; each answer includes every shard.

        Raises ClusterUnavailable, which is Refused if there is no such index.
        """
        head = json.dumps({"index": index, "allow_partial_search_results": False})
        lines = "".join(f"{head}\n{json.dumps(body)}\n" for body in bodies).encode()
        request = NodeRequest("POST", MSEARCH, lines, LINES)
        deadline = time.monotonic() + (patience or 2 * self._timeout)
        while True:
            try:
                answer = self._decode(self._send(request, patience))
                return [_check_whole(one) for one in answer["responses"]]
            except Incomplete as error:
                if time.monotonic() > deadline:
                    raise self._note_failure(str(error)) from error
                time.sleep(PAUSE)

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _send(self, request: NodeRequest, patience: float) -> NodeAnswer:
        """Try nodes until one answers: each at most twice, or with `patience` for that many seconds."""
        failure = self._failure  # empty if another thread had an answer meanwhile
        if failure and not patience and time.monotonic() < self._closed_until:
            raise ClusterUnavailable(failure)
        deadline = time.monotonic() + (patience or 2 * self._timeout)
        timeout = patience / 2 or self._timeout
        reason = ""
        for node in itertools.cycle(self._nodes_in_turn()) if patience else self._nodes_in_turn() * 2:
            if time.monotonic() > deadline:
                break
            try:
                answer = node.ask(request, timeout)
            except NodeFailed as error:
                reason = str(error)
                node.failed = time.monotonic()
                if patience:
                    time.sleep(PAUSE)
                continue
            if answer.status not in PASSING:
                node.failed = 0.0
                self._note_success()
                return answer
            reason = f"busy, or without a manager ({answer.status})"
            time.sleep(PAUSE)
        raise self._note_failure(reason)

    def _nodes_in_turn(self) -> list[Node]:
        """Return the nodes in turn, recently failed ones last."""
        first, now = next(self._turn) % len(self._nodes), time.monotonic()
        turn = self._nodes[first:] + self._nodes[:first]
        return sorted(turn, key=lambda node: now - node.failed < SET_ASIDE)

    def _note_success(self) -> None:
        if self._failure:
            with self._lock:
                self._failure = ""
            log.info("the search cluster answers again")

    def _note_failure(self, reason: str) -> ClusterUnavailable:
        with self._lock:
            first = not self._failure
            self._failure, self._closed_until = reason, time.monotonic() + OPEN_FOR
        if first:
            log.warning("the search cluster: %s", reason)
        return ClusterUnavailable(reason)

    def _decode(self, answer: NodeAnswer) -> Any:
        try:
            content = json.loads(answer.body) if answer.body else {}
        except ValueError as error:
            raise self._note_failure("an answer is not JSON") from error
        if answer.status >= 400:
            raise Refused(answer.status, _kind(content))
        return content


def _kind(content: object) -> str:
    """Return the kind of a failure, without quoted text."""
    error = content.get("error") if isinstance(content, dict) else None
    return str(error.get("type", "")) if isinstance(error, dict) else ""


def _check_whole(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer. Raises Incomplete if a shard is missing or the search timed out, Refused."""
    if "error" in answer:
        status = int(answer.get("status", 500))
        if status in {400, 404}:
            raise Refused(status, _kind(answer))
        raise Incomplete(f"a search failed: {_kind(answer)}")
    shards = answer["_shards"]
    if answer.get("timed_out") or shards["failed"] or shards["successful"] < shards["total"]:
        raise Incomplete("some shards are missing")
    return answer
