"""The client of the cluster: an HTTP client for each node, with a pool of connections. If a node fails, another one is
tried; right after all have failed, requests fail at once.

A managed OpenSearch may require signed requests: Signature Version 4, as in AWS's IAM User Guide, "Create a signed AWS
API request" (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). What is signed is a
digest of the request in a canonical form, with time and scope, by HMAC with a key derived for the day, the region and
the service.
"""

import base64
import hashlib
import hmac
import itertools
import json
import logging
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from jieda.errors import ClusterUnavailable

log = logging.getLogger(__name__)

ALGORITHM = "AWS4-HMAC-SHA256"
UNESCAPED = "-_.~"
"""Characters other than letters and digits that the canonical form does not escape."""


def canonical_form(method: str, target: str, headers: Mapping[str, str], content: str) -> str:
    """Return the canonical form of a request, of which both sides compute the digest. `target`: path and query as sent;
    `headers`: those that the signature covers; `content`: SHA-256 of the body in hexadecimal digits."""
    path, _, query = target.partition("?")
    parameters = sorted(
        (quote(name, UNESCAPED), quote(value, UNESCAPED))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    covered = sorted((name.lower(), " ".join(value.split())) for name, value in headers.items())
    return "\n".join(
        (
            method,
            quote(path or "/", f"/{UNESCAPED}"),
            "&".join(f"{name}={value}" for name, value in parameters),
            *(f"{name}:{value}" for name, value in covered),
            "",
            ";".join(name for name, _ in covered),
            content,
        )
    )


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Signs requests to one service. `service` is `es` for a domain, `aoss` for serverless collections; `token` belongs
    to temporary keys, otherwise it is empty."""

    key_id: str
    secret: str
    region: str
    service: str
    token: str = ""

    def headers(self, method: str, host: str, target: str, body: bytes | None) -> dict[str, str]:
        """Return the headers of a request. `host`: as sent, with the port unless it is the default one."""
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        content = hashlib.sha256(body or b"").hexdigest()
        headers = {"Host": host, "X-Amz-Date": moment, "X-Amz-Content-Sha256": content}
        if self.token:
            headers["X-Amz-Security-Token"] = self.token
        canonical = canonical_form(method, target, headers, content)
        return {**headers, "Authorization": self.authorization(moment, canonical)}

    def authorization(self, moment: str, canonical: str) -> str:
        """Return the header Authorization of a request in canonical form. `moment` has the form 20150830T123600Z."""
        scope = f"{moment[:8]}/{self.region}/{self.service}/aws4_request"
        text = "\n".join((ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
        key = f"AWS4{self.secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        names = canonical.split("\n")[-2]  # those of the headers, before the digest of the body
        return f"{ALGORITHM} Credential={self.key_id}/{scope}, SignedHeaders={names}, Signature={signature}"


KEPT_CONNECTIONS = 16
"""Most idle connections to one node."""
IDLE = 50.0
"""Seconds after which an idle connection is not reused: nodes and proxies close it after a minute or more."""


class NodeFailed(Exception):
    """A node did not answer; `str` says why, without its address."""


@dataclass(frozen=True, slots=True, repr=False)
class Access:
    """Addresses and credentials of a cluster. `ca`: a file of certificates to trust instead of the system's; `signer`
    signs each request."""

    urls: tuple[str, ...]
    user: str = ""
    password: str = ""
    ca: Path | None = None
    timeout: float = 2.0
    signer: Signer | None = None

    def headers(self) -> dict[str, str]:
        if not self.user:
            return {}
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {token}"}


Answer = tuple[int, bytes]
"""Status and body of an answer."""


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """A request to any node; `path` includes the query."""

    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]


class Node:
    """Client of one node. Safe to share between threads."""

    def __init__(self, url: str, access: Access, context: ssl.SSLContext | None) -> None:
        self.failed = 0.0
        """When it last failed, by time.monotonic(); 0 if it has answered since."""
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (443 if secure else 9200)
        self._path = parts.path.rstrip("/")
        self._context = context if secure else None
        self._headers = access.headers()
        self._signer = access.signer
        name = f"[{self._host}]" if ":" in self._host else self._host
        self._host_header = name if self._port == (443 if secure else 80) else f"{name}:{self._port}"
        self._idle: list[tuple[HTTPConnection, float]] = []
        self._lock = threading.Lock()

    def ask(self, request: NodeRequest, timeout: float) -> Answer:
        """Send a request, on a new connection if the node has closed the idle one. Raises NodeFailed."""
        while True:
            idle = self._take_idle()
            try:
                return self._exchange(idle or self._new(timeout), request, timeout)
            except TimeoutError as error:
                raise NodeFailed("no answer in time") from error
            except (OSError, HTTPException) as error:
                if idle is not None:
                    continue
                if isinstance(error, ssl.SSLError):
                    raise NodeFailed(f"no secure connection: {error.reason}") from error
                raise NodeFailed(f"no connection: {type(error).__name__}") from error

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _exchange(self, connection: HTTPConnection, request: NodeRequest, timeout: float) -> Answer:
        method, target, body = request.method, self._path + request.path, request.body
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            headers = self._headers
            if self._signer:  # a signature is valid for a few minutes
                headers = self._signer.headers(method, self._host_header, target, body)
            connection.request(method, target, body, {**headers, **request.headers})
            response = connection.getresponse()
            answer = response.status, response.read()
        except BaseException:  # also if this thread is stopped: part of the answer may still arrive
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return answer

    def _new(self, timeout: float) -> HTTPConnection:
        if self._context is not None:
            return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return HTTPConnection(self._host, self._port, timeout=timeout)

    def _take_idle(self) -> HTTPConnection | None:
        with self._lock:
            while self._idle:
                connection, since = self._idle.pop()
                if time.monotonic() - since < IDLE:
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < KEPT_CONNECTIONS:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()


JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
MSEARCH = "/_msearch?max_concurrent_searches=8"
TEMPORARY = frozenset({429, 502, 503, 504})
"""Statuses of temporary failures: the same or another node may succeed soon."""
SET_ASIDE = 5.0
"""Seconds during which a failed node is tried last."""
OPEN_FOR = 2.0
"""Seconds after all nodes have failed during which calls fail at once."""
PAUSE = 0.15
"""Seconds before a retry if a node is busy or shards are missing: a replica takes over in about that time."""


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
        secure = any(url.startswith("https://") for url in access.urls)
        context = ssl.create_default_context(cafile=access.ca) if secure else None
        self._nodes = [Node(url, access, context) for url in access.urls]
        self._turn = itertools.count()
        self._timeout = access.timeout
        self._closed_until = 0.0
        self.failure = ""
        """Why the last request failed; empty if it did not."""
        self._lock = threading.Lock()

    def ask(self, method: str, path: str, body: object = None, patience: float = 0.0) -> Any:
        """Return the decoded answer to a request, retried for `patience` seconds, if any. Raises ClusterUnavailable."""
        data = None if body is None else json.dumps(body).encode()
        return self._decode(self._send(NodeRequest(method, path, data, JSON), patience))

    def bulk(self, path: str, lines: bytes, patience: float) -> Any:
        """Send JSON lines that write or delete documents; return the answer. Raises ClusterUnavailable."""
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
                return [_check_complete(response) for response in answer["responses"]]
            except Incomplete as error:
                if time.monotonic() > deadline:
                    raise self._note_failure(str(error)) from error
                time.sleep(PAUSE)

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _send(self, request: NodeRequest, patience: float) -> Answer:
        """Try nodes until one answers, each at most twice or, with `patience`, for that many seconds."""
        failure = self.failure  # another thread may clear it meanwhile
        if failure and not patience and time.monotonic() < self._closed_until:
            raise ClusterUnavailable(failure)
        deadline = time.monotonic() + (patience or 2 * self._timeout)
        timeout = patience / 2 or self._timeout
        reason = ""
        for node in itertools.cycle(self._nodes_in_turn()) if patience else self._nodes_in_turn() * 2:
            if time.monotonic() > deadline:
                break
            try:
                status, body = node.ask(request, timeout)
            except NodeFailed as error:
                reason = str(error)
                node.failed = time.monotonic()
                if patience:
                    if all(each.failed for each in self._nodes):
                        self._note_failure(reason)  # the operator should not wait for the end to learn it
                    time.sleep(PAUSE)
                continue
            if status not in TEMPORARY:
                node.failed = 0.0
                self._note_success()
                return status, body
            reason = f"busy, or without a manager ({status})"
            time.sleep(PAUSE)
        raise self._note_failure(reason)

    def _nodes_in_turn(self) -> list[Node]:
        """Return the nodes in turn, recently failed ones last."""
        first, now = next(self._turn) % len(self._nodes), time.monotonic()
        rotated = self._nodes[first:] + self._nodes[:first]
        return sorted(rotated, key=lambda node: now - node.failed < SET_ASIDE)

    def _note_success(self) -> None:
        if self.failure:
            with self._lock:
                self.failure = ""
            log.info("the search cluster answers again")

    def _note_failure(self, reason: str) -> ClusterUnavailable:
        with self._lock:
            first = not self.failure
            self.failure, self._closed_until = reason, time.monotonic() + OPEN_FOR
        if first:
            log.warning("the search cluster: %s", reason)
        return ClusterUnavailable(reason)

    def _decode(self, answer: Answer) -> Any:
        status, body = answer
        try:
            content = json.loads(body) if body else {}
        except ValueError as error:
            raise self._note_failure("an answer is not JSON") from error
        if status >= 400:
            raise Refused(status, _kind(content))
        return content


def _kind(content: object) -> str:
    """Return the kind of a failure, without quoted text."""
    error = content.get("error") if isinstance(content, dict) else None
    return str(error.get("type", "")) if isinstance(error, dict) else ""


def _check_complete(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer. Raises Incomplete if it lacks a shard or the search timed out, and Refused."""
    if "error" in answer:
        status = int(answer.get("status", 500))
        if status in {400, 404}:
            raise Refused(status, _kind(answer))
        raise Incomplete(f"a search failed: {_kind(answer)}")
    shards = answer["_shards"]
    if answer.get("timed_out") or shards["failed"] or shards["successful"] < shards["total"]:
        raise Incomplete("some shards are missing")
    return answer
