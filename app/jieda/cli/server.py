"""Runs uvicorn, with limits on its connections, in this process or in workers that it starts, replaces and stops."""

import asyncio
import gc
import logging
import os
import re
import resource
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from socket import socket
from typing import Any, Self

import click
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jieda.bound_process import SECONDS_TO_END, BoundProcess
from jieda.cli.logs import log_config
from jieda.disk import remove
from jieda.metrics import DIRECTORY_VARIABLE
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.web.http.clients import client_key, is_among, parse_address

SECONDS_FOR_HEADERS = 10.0
"""Time for headers, and for a body before LEAST_RATE applies, since the connection or the end of the last response."""
LEAST_RATE = 1024.0
"""Least bytes per second at which a body must arrive."""
SECONDS_WITHOUT_READING = 20.0
LEAST_READ = 1 << 16
"""Bytes of a pending response that a client must read within SECONDS_WITHOUT_READING to stay connected."""
SECONDS_BETWEEN_CHECKS = 2.0
MOST_CONNECTIONS = 4000
"""Per worker, or half of its file descriptors if that is less."""
MOST_OF_ONE_CLIENT = 200
MOST_HEAD = 1 << 16
"""Bytes of a request line with headers."""
TOO_LONG = "The head of this request is too long."
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
HOSTS = {"1.0": (0, 1), "1.1": (1,)}
"""Allowed number of Host headers by HTTP version."""


class Malformed(Exception):
    """A request that two parsers could interpret differently."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on connections. `trusted` proxies serve many clients and are exempt from the limit per client."""

    most: int
    of_one_client: int
    trusted: tuple[str, ...]
    user_header: bytes
    """The header that only trusted proxies may send; empty if none is configured."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Create the limits; connections may use half of the process's file descriptors."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(MOST_CONNECTIONS, files // 2)
        per_client = min(MOST_OF_ONE_CLIENT, most // 2) if settings.limits else most
        return cls(most, per_client, settings.trusted_proxies, settings.user_header.lower().encode())


class LimitedConnection(HttpToolsProtocol):
    """A connection that is checked every two seconds while it is open."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._unsent, self._read_at = 0, 0.0
        self._request_since = 0.0
        self._line = b""
        """The part of a request line that has arrived, until it is complete."""
        self._head = 0
        """Bytes of the request until its headers are complete."""
        self._body = 0
        """Bytes of the body so far."""
        self._in_request = self._has_headers = self._from_proxy = False
        self.client_id = b""
        """The client; empty if the number of its connections is not limited."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        """Start the checks, or refuse the connection if there are too many."""
        super().connection_made(transport)
        self._request_since = self._read_at = self.loop.time()
        address = parse_address(self.client[0]) if self.client else None
        self._from_proxy = is_among(address, self._limits.trusted)
        if address and not self._from_proxy:
            self.client_id = client_key(address)
        if len(self.connections) > self._limits.most or self._exceeds_client_limit():
            transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_CHECKS, self._check)

    def _exceeds_client_limit(self) -> bool:
        same = sum(getattr(each, "client_id", b"") == self.client_id for each in self.connections)
        return bool(self.client_id) and same > self._limits.of_one_client

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data; buffer the request line until it is complete."""
        if not self._in_request:
            self._line = (self._line + data).lstrip(b"\r\n")
            if b"\n" not in self._line and len(self._line) <= MOST_HEAD:
                return
            line, end, rest = self._line.partition(b"\n")
            data, self._line = escape(line) + end + rest, b""
        self._head += len(data)
        super().data_received(data)
        if self._in_request and not self._has_headers and self._head > MOST_HEAD:
            self.send_400_response(TOO_LONG)

    def on_message_begin(self) -> None:
        self._in_request, self._has_headers = True, False
        self._head = self._body = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Handle a header. Ignores trailers, and the name of a user unless it comes from a trusted proxy."""
        names_user = self._limits.user_header and name.lower() == self._limits.user_header
        if not self._has_headers and not (names_user and not self._from_proxy):
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the body. Raises Malformed, which the parser turns into a refusal, if a proxy in front of us might read
        the request differently, and for a head over the limit that arrived in one piece."""
        hosts = sum(name == b"host" for name, _ in self.headers)
        size = sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)
        if hosts not in HOSTS.get(self.parser.get_http_version(), ()) or size > MOST_HEAD:
            raise Malformed
        self._has_headers = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_request = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._request_since, self._body = self.loop.time(), 0
        super().on_response_complete()

    def _check(self) -> None:
        if self._has_stopped_reading() or self._sends_too_slowly():
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_CHECKS, self._check)

    def _has_stopped_reading(self) -> bool:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or abs(unsent - self._unsent) >= LEAST_READ:
            self._unsent, self._read_at = unsent, now
        return now - self._read_at > SECONDS_WITHOUT_READING

    def _sends_too_slowly(self) -> bool:
        awaits_request = self.cycle is None or self.cycle.response_complete or self.cycle.more_body
        if not awaits_request or self.flow.read_paused or self.transport.get_write_buffer_size():
            return False
        return self.loop.time() - self._request_since > SECONDS_FOR_HEADERS + self._body / LEAST_RATE


def escape(line: bytes) -> bytes:
    """Percent-encode a request line into ASCII."""
    return line if line.isascii() else BEYOND_ASCII.sub(lambda found: b"%%%02X" % ord(found[0]), line)


log = logging.getLogger(__name__)

APPLICATION = "jieda.web.app"
"""Imported only by processes that handle requests, not by one that only starts workers."""
SECONDS_TO_FINISH = 8
"""For pending responses at shutdown; containers are killed after ten."""
SECONDS_TO_START = 300.0
"""For a worker that is still importing on a busy machine."""
SECONDS_TO_ANSWER = 60.0
"""A worker whose event loop has been blocked this long is replaced."""
SECONDS_BETWEEN_WORKERS = 0.5
SECONDS_BETWEEN_REPORTS = 2
LEAST_FILES = 256
"""Least file descriptors that a server needs."""


def check_files() -> None:
    """Raise the limit of file descriptors to the hard limit. Raises ClickException if that is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < LEAST_FILES:
        raise click.ClickException(
            f"a process may open only {hard} files, but a server needs {LEAST_FILES}: raise the limit (ulimit -n)"
        )


def uvicorn_options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn, for one process or several."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": partial(LimitedConnection, limits=ConnectionLimits.of(settings)),
        "log_config": log_config(settings.log_format),
        # Its access log contains queries; ours does not.
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
        "ws": "none",
    }


class Worker:
    """A process that handles requests and ends with its parent."""

    def __init__(self, settings: Settings, listening: socket) -> None:
        self._alive_until = get_context("spawn").RawValue("d", time.monotonic() + SECONDS_TO_START)
        self.process = BoundProcess(partial(run_worker, settings, listening, self._alive_until))
        self.process.start()

    @property
    def is_healthy(self) -> bool:
        return self.process.is_alive() and time.monotonic() < self._alive_until.value


def run_worker(settings: Settings, listening: socket, alive_until: Any) -> None:
    """Serve as a worker what the parent builds. `alive_until` is shared with the parent. A worker that outlives the
    parent removes the shared figures."""

    async def report_alive() -> None:
        alive_until.value = time.monotonic() + SECONDS_TO_ANSWER

    gc.disable()
    create_app = import_module(APPLICATION).create_app
    gc.freeze()  # modules are not garbage
    gc.enable()
    application = create_app(settings, Knowledge(settings, follow_only=True), alone=True)
    reports: dict[str, Any] = {"callback_notify": report_alive, "timeout_notify": SECONDS_BETWEEN_REPORTS}
    config = uvicorn.Config(application, **reports, **uvicorn_options(settings))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # passed on by the server after its work
    try:
        uvicorn.Server(config).run([listening])
    finally:
        if not (parent := parent_process()) or not parent.is_alive():
            remove(Path(os.environ[DIRECTORY_VARIABLE]))


class Workers:
    """The workers of a server, listening on one socket."""

    def __init__(self, settings: Settings) -> None:
        """Open the socket, or exit with a message if that fails."""
        self._listening = uvicorn.Config("", **uvicorn_options(settings)).bind_socket()
        self._stopping = False
        self._start_worker = partial(Worker, settings, self._listening)
        self._workers = [self._start_worker() for _ in range(settings.workers)]

    def run(self) -> None:
        """Replace dead or hung workers until a signal stops the server or a worker fails to start."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        while not self._stopping:
            wait([each.process.sentinel for each in self._workers], SECONDS_BETWEEN_WORKERS)
            failed = [each for each in self._workers if not self._stopping and not each.is_healthy]
            for each in failed:
                each.process.kill()
                each.process.join()
            if any(each.process.exitcode == STARTUP_FAILURE for each in failed):
                log.error("a worker could not start: stopping the server")
                self.end()
                sys.exit(STARTUP_FAILURE)
            for dead in failed:
                log.warning(
                    "replacing worker %s, which died or hung (exit code %s)",
                    dead.process.pid,
                    dead.process.exitcode,
                )
                self._workers[self._workers.index(dead)] = self._start_worker()
        self.end()

    def end(self) -> None:
        """Stop all workers, killing those that exceed the timeout. The socket is closed first: while it is open, the
        system accepts connections only to reset them at the end."""
        self._listening.close()
        until = time.monotonic() + SECONDS_TO_END
        for each in self._workers:
            each.process.terminate()
        for each in self._workers:
            each.process.join(max(0.0, until - time.monotonic()))
            if each.process.is_alive():
                log.warning("killing worker %s, which does not stop", each.process.pid)
                each.process.kill()
                each.process.join()

    def _stop(self, *_signal: object) -> None:
        self._stopping = True
