"""How uvicorn is run, in this process or in several that this one starts, replaces and ends, and how it keeps a
connection."""

import asyncio
import logging
import os
import re
import resource
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from socket import socket
from typing import Any, Self

import click
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jieda.bound_process import SECONDS_TO_END, BoundProcess
from jieda.cli.logs import log_config
from jieda.settings import Settings
from jieda.web.http.clients import client_key, is_among, parse

SECONDS_FOR_HEADERS = 10.0
"""From the start of a connection, or the end of the last answer, to the end of a request's headers; also what a body
may take before LEAST_RATE counts."""
LEAST_RATE = 1024.0
"""Bytes of a body that arrive in a second."""
SECONDS_WITHOUT_READING = 20.0
LEAST_READ = 1 << 16
"""Bytes: a client that takes fewer of what waits for it in SECONDS_WITHOUT_READING is given up."""
SECONDS_BETWEEN_LOOKS = 2.0
MOST_CONNECTIONS = 4000
"""In each worker, or half of the file descriptors where those are fewer."""
MOST_OF_ONE_CLIENT = 200
MOST_HEAD = 1 << 16
"""Bytes of a request line with headers."""
TOO_LONG = "The head of this request is too long."
BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
HOSTS = {"1.0": (0, 1), "1.1": (1,)}
"""How often a request names its host, by the versions that are spoken."""


class Malformed(Exception):
    """A request that two readers could read in two ways."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be. `trusted` proxies bring more than one client and count as nobody."""

    most: int
    of_one_client: int
    trusted: tuple[str, ...]
    user_header: bytes
    """Which header only those may send; empty where none is known."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Half of the files that this process may open are for connections."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(MOST_CONNECTIONS, files // 2)
        one = min(MOST_OF_ONE_CLIENT, most // 2) if settings.limits else most
        return cls(most, one, settings.trusted_proxies, settings.user_header.lower().encode())


class LimitedConnection(HttpToolsProtocol):
    """A connection that is looked after every two seconds, for as long as it is open."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._unsent, self._taken_at = 0, 0.0
        self._asking_since = 0.0
        self._line = b""
        """The beginning of a request line, whose end has not arrived yet."""
        self._head = 0
        """Bytes of the request whose headers are incomplete."""
        self._body = 0
        """Bytes of the body so far."""
        self._in_request = self._has_headers = self._from_proxy = False
        self.who = b""
        """The client, or empty where it may have as many connections as it likes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        """Begin to look after it; refuse it where there are enough."""
        super().connection_made(transport)
        self._asking_since = self._taken_at = self.loop.time()
        address = parse(self.client[0]) if self.client else None
        self._from_proxy = is_among(address, self._limits.trusted)
        if address and not self._from_proxy:
            self.who = client_key(address)
        same = sum(getattr(each, "who", b"") == self.who for each in self.connections) if self.who else 0
        if len(self.connections) > self._limits.most or same > self._limits.of_one_client:
            transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        if self._timer:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has arrived; of a request line not before all of it has."""
        if not self._in_request:
            self._line = (self._line + data).lstrip(b"\r\n")
            if b"\n" not in self._line and len(self._line) <= MOST_HEAD:
                return
            line, end, rest = self._line.partition(b"\n")
            data, self._line = escaped(line) + end + rest, b""
        self._head += len(data)
        super().data_received(data)
        if self._in_request and not self._has_headers and self._head > MOST_HEAD:
            self.send_400_response(TOO_LONG)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_request, self._has_headers = True, False
        self._head = self._body = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What comes behind a body is none: nothing that headers decided may change any more. Who
        somebody is, only a trusted proxy says."""
        names_user = self._limits.user_header and name.lower() == self._limits.user_header
        if not self._has_headers and not (names_user and not self._from_proxy):
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A body may follow. Raises Malformed, which the parser makes a refusal, for what it is more lenient about than
        anybody between us and the client may be."""
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts not in HOSTS.get(self.parser.get_http_version(), ()):
            raise Malformed
        self._has_headers = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next request may follow."""
        self._in_request = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The client may ask again."""
        self._asking_since, self._body = self.loop.time(), 0
        super().on_response_complete()

    @property
    def asks(self) -> bool:
        """Whether some of the request has yet to come."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _look(self) -> None:
        if self._has_stopped_reading() or self._takes_too_long_to_ask():
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _has_stopped_reading(self) -> bool:
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if not unsent or abs(unsent - self._unsent) >= LEAST_READ:
            self._unsent, self._taken_at = unsent, now
        return now - self._taken_at > SECONDS_WITHOUT_READING

    def _takes_too_long_to_ask(self) -> bool:
        if not self.asks or self.flow.read_paused or self.transport.get_write_buffer_size():
            return False
        return self.loop.time() - self._asking_since > SECONDS_FOR_HEADERS + self._body / LEAST_RATE


def escaped(line: bytes) -> bytes:
    """A request line in ASCII."""
    return line if line.isascii() else BEYOND_ASCII.sub(lambda found: b"%%%02X" % ord(found[0]), line)


log = logging.getLogger(__name__)

APPLICATION = "jieda.web.app:create_app_from_environ"
"""By name: whoever starts workers answers nothing, and needs neither the time nor the memory of what does."""
SECONDS_TO_FINISH = 8
"""For answers under way when the server is told to stop; containers are killed after ten."""
SECONDS_TO_START = 300.0
"""For a worker that still imports on a busy machine."""
SECONDS_TO_ANSWER = 60.0
"""A worker whose event loop has not turned for so long is replaced."""
SECONDS_BETWEEN_WORKERS = 0.5
SECONDS_BETWEEN_SIGNS = 2
LEAST_FILES = 256
"""File descriptors without which nothing is served."""


def check_files() -> None:
    """Take as many file descriptors as the system gives. Raises ClickException where those are too few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < LEAST_FILES:
        raise click.ClickException(
            f"a process may open {hard} files here, and a server needs {LEAST_FILES}: raise the limit (ulimit -n)"
        )


def options(settings: Settings) -> dict[str, Any]:
    """What uvicorn is told, whichever way it runs."""
    return {
        "host": settings.host,
        "port": settings.port,
        "http": partial(LimitedConnection, limits=ConnectionLimits.of(settings)),
        "log_config": log_config(settings.log_format),
        # Its access log has queries in it; ours has not.
        "access_log": False,
        "server_header": False,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "timeout_graceful_shutdown": SECONDS_TO_FINISH,
        "ws": "none",
    }


class Worker:
    """A process that answers requests, for as long as the one that started it lives."""

    def __init__(self, listening: socket) -> None:
        self._well_until = get_context("spawn").RawValue("d", time.monotonic() + SECONDS_TO_START)
        self.process = BoundProcess(partial(answer, listening, self._well_until))
        self.process.start()

    @property
    def is_well(self) -> bool:
        """Whether it lives and its event loop turns."""
        return self.process.is_alive() and time.monotonic() < self._well_until.value


def answer(listening: socket, well_until: Any) -> None:
    """Serve, as a worker whose settings stand in its environment; `well_until` is shared with its parent."""

    async def give_sign() -> None:
        well_until.value = time.monotonic() + SECONDS_TO_ANSWER

    settings = Settings.load(os.environ)
    signs: dict[str, Any] = {"callback_notify": give_sign, "timeout_notify": SECONDS_BETWEEN_SIGNS}
    config = uvicorn.Config(APPLICATION, factory=True, **signs, **options(settings))
    uvicorn.Server(config).run([listening])


class Workers:
    """The workers of a server, all of which listen on one socket."""

    def __init__(self, settings: Settings) -> None:
        """Open the socket. Ends the process, saying why, where that cannot be done."""
        self._listening = uvicorn.Config("", **options(settings)).bind_socket()
        self._stopping = False
        self._workers: list[Worker] = [Worker(self._listening) for _ in range(settings.workers)]

    def run(self) -> None:
        """Replace workers that die or hang, until a signal says to stop or one of them cannot start."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        while not self._stopping:
            wait([each.process.sentinel for each in self._workers], SECONDS_BETWEEN_WORKERS)
            failed = [each for each in self._workers if not self._stopping and not each.is_well]
            for each in failed:
                each.process.kill()
                each.process.join()
            if any(each.process.exitcode == STARTUP_FAILURE for each in failed):
                log.error("a worker could not start: stopping")
                self.end()
                sys.exit(STARTUP_FAILURE)
            for dead in failed:
                log.warning("worker %s died or hung (exit code %s)", dead.process.pid, dead.process.exitcode)
                self._workers[self._workers.index(dead)] = Worker(self._listening)
        self.end()

    def end(self) -> None:
        """Tell all workers to finish, and end those that do not in time. Nobody listens any more: as long as anybody
        does, the system takes connections, only to reset them at the end."""
        self._listening.close()
        until = time.monotonic() + SECONDS_TO_END
        for each in self._workers:
            each.process.terminate()
        for each in self._workers:
            each.process.join(max(0.0, until - time.monotonic()))
            if each.process.is_alive():
                log.warning("worker %s does not stop: it is killed", each.process.pid)
                each.process.kill()
                each.process.join()

    def _stop(self, *_signal: object) -> None:
        self._stopping = True
