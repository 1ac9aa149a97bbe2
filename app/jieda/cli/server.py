"""How uvicorn is run: in this process, or in several that this one starts, replaces and ends."""

import logging
import os
import resource
import signal
import sys
import time
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from socket import socket
from typing import Any

import click
import uvicorn
from uvicorn.config import STARTUP_FAILURE

from jieda.bound_process import SECONDS_TO_END, BoundProcess
from jieda.cli.connection import ConnectionLimits, LimitedConnection
from jieda.cli.logs import log_config
from jieda.settings import Settings
from jieda.web.app import create_app_from_environ

log = logging.getLogger(__name__)

SECONDS_TO_FINISH = 8
"""For answers under way when the server is told to stop; containers are killed after ten."""
SECONDS_TO_START = 300.0
"""For a worker that still imports on a busy machine."""
SECONDS_TO_ANSWER = 60.0
"""A worker whose event loop has not turned for so long is replaced."""
SECONDS_BETWEEN_LOOKS = 0.5
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
    config = uvicorn.Config(create_app_from_environ, factory=True, **signs, **options(settings))
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
            wait([each.process.sentinel for each in self._workers], SECONDS_BETWEEN_LOOKS)
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
