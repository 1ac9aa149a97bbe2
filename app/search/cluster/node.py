"""One node of the cluster: its address, and connections to it that are used again. The one door to HTTP here."""

import base64
import ssl
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

from app.search.cluster.signing import Signer

KEPT_CONNECTIONS = 16
"""Idle connections to one node."""
IDLE = 50.0
"""Seconds after which a connection is not used again: nodes and proxies close them after a minute or more."""


class NodeFailed(Exception):
    """A node did not answer; `str` says why, without its address."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where a cluster is, and who asks. `ca` is a file of certificates to trust in place of the system's; a `signer`
    signs each request."""

    urls: tuple[str, ...]
    user: str = ""
    password: str = ""
    ca: Path | None = None
    timeout: float = 2.0
    signer: Signer | None = None

    def __repr__(self) -> str:
        return f"Access of {len(self.urls)} nodes"

    def headers(self) -> dict[str, str]:
        """What every request carries."""
        if not self.user:
            return {}
        token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {token}"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and body of an answer."""

    status: int
    body: bytes


class Node:
    """Asks one node. Safe to share between threads."""

    def __init__(self, url: str, access: Access, context: ssl.SSLContext | None) -> None:
        """`context` for https."""
        parts = urlsplit(url)
        self._host, self._port = (
            parts.hostname or "",
            parts.port or (443 if parts.scheme == "https" else 9200),
        )
        self._path = parts.path.rstrip("/")
        self._context = context if parts.scheme == "https" else None
        self._headers = access.headers()
        self._sign = access.signer
        self._called = _host_header(self._host, self._port, secure=self._context is not None)
        self._idle: list[tuple[HTTPConnection, float]] = []
        self._lock = threading.Lock()

    def ask(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout: float
    ) -> Answer:
        """Raises NodeFailed. A connection that the node closed while it was idle is replaced by a new one."""
        while (connection := self._taken()) is not None:
            try:
                return self._asked(connection, method, path, body, headers, timeout)
            except TimeoutError as error:
                raise NodeFailed("no answer in time") from error
            except (OSError, HTTPException):
                continue
        try:
            return self._asked(self._new(timeout), method, path, body, headers, timeout)
        except TimeoutError as error:
            raise NodeFailed("no answer in time") from error
        except ssl.SSLError as error:
            raise NodeFailed(f"no secure connection: {error.reason}") from error
        except (OSError, HTTPException) as error:
            raise NodeFailed(f"no connection: {type(error).__name__}") from error

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _asked(  # noqa: PLR0913, PLR0917 - a request
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        timeout: float,
    ) -> Answer:
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            connection.request(method, self._path + path, body, self._told(method, path, body) | headers)
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            response = connection.getresponse()
            answer = Answer(response.status, response.read())
        except BaseException:  # also where this thread is stopped: half an answer may still come
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return answer

    def _told(self, method: str, path: str, body: bytes | None) -> dict[str, str]:
        """What a request carries besides what it is about: a signature holds for some minutes only."""
        if self._sign is None:
            return self._headers
        return self._sign.headers(method, self._called, self._path + path, body)

    def _new(self, timeout: float) -> HTTPConnection:
        if self._context is not None:
            return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return HTTPConnection(self._host, self._port, timeout=timeout)

    def _taken(self) -> HTTPConnection | None:
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


def _host_header(host: str, port: int, *, secure: bool) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port == (443 if secure else 80) else f"{name}:{port}"


def context_of(access: Access) -> ssl.SSLContext | None:
    """What secure connections are checked by. Raises OSError where the file of certificates cannot be read."""
    if not any(url.startswith("https://") for url in access.urls):
        return None
    return ssl.create_default_context(cafile=access.ca)
