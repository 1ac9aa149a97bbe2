"""Looks after workers without waiting for any of them: one that starts, hangs or dies holds up nobody else."""

import logging
import os
import signal
import time
from socket import socket
from types import FrameType

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from app.bound_process import BoundProcess

log = logging.getLogger("uvicorn.error")

SECONDS_TO_END = 1.0
"""What a worker may take to end after its last answer."""


class _Server(uvicorn.Server):
    """Does not finish a start that nobody waits for any more."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ends, now where no request was answered yet. Only this process knows whether one was."""
        if not self.started:
            os._exit(0)
        super().handle_exit(sig, frame)


class Worker(Process):
    """A process that answers requests, for as long as the one that started it lives."""

    process: BoundProcess

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self.process = BoundProcess(self.process.run)

    @property
    def server(self) -> uvicorn.Server:
        """What serves, in the process itself."""
        if self._server is None:
            self._server = _Server(self.config)
        return self._server

    def target(self, sockets: list[socket] | None = None) -> None:
        """Serve."""
        self.process.before_leaving = self._finish
        super().target(sockets)

    def _finish(self) -> None:
        """Give the answers that are under way, if any can be: without a parent nobody else ends this process."""
        log.warning("the parent process is gone: stopping")
        if self.server.started:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep((self.config.timeout_graceful_shutdown or 0) + SECONDS_TO_END)


class Supervisor(Multiprocess):
    """uvicorn's own, which asks each worker in turn whether it lives and waits for the answer, for as long as a
    worker may take to start: meanwhile no signal is heard and no other worker replaced."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Opens the listening socket; ends the process, saying why, where it cannot."""
        super().__init__(config, [config.bind_socket()])
        self._answered: dict[Process, float] = {}
        """When each worker was last known to answer, in seconds of the monotonic clock."""
        self._asked: set[Process] = set()

    def init_processes(self) -> None:
        """Starts all workers."""
        for _ in range(self.processes_num):
            self.processes.append(self._started())

    def handle_ttin(self) -> None:
        """SIGTTIN: one worker more."""
        self.processes_num += 1
        self.processes.append(self._started())

    def restart_all(self) -> None:
        """SIGHUP: replaces the workers one after another, each when the new one answers."""
        for place, old in enumerate(self.processes):
            new = self._started()
            if not new.wait_until_ready(self.config.timeout_worker_healthcheck, self.should_exit):
                log.error("New child process [%s] does not answer: the others stay", new.pid)
                new.kill()
                new.join()
                return
            old.terminate()
            old.join()
            self.processes[place] = new

    def _started(self) -> Worker:
        worker = Worker(self.config, self.sockets)
        worker.start()
        return worker

    def keep_subprocess_alive(self) -> None:
        """Replaces workers that died or have not answered for too long; ends all where one cannot start."""
        for place, process in enumerate(self.processes):
            if self._is_well(process):
                continue
            process.kill()
            process.join()
            self._answered.pop(process, None)
            self._asked.discard(process)
            if process.exitcode == STARTUP_FAILURE:
                log.error("Child process [%s] failed to start, stopping the parent process.", process.pid)
                self.should_exit.set()
                return
            log.info("Child process [%s] died", process.pid)
            self.processes[place] = self._started()

    def _is_well(self, process: Process) -> bool:
        if not process.process.is_alive():
            return False
        now = time.monotonic()
        try:
            while process.parent_conn.poll():
                process.parent_conn.recv()
                self._answered[process] = now
                self._asked.discard(process)
            if process not in self._asked:
                process.parent_conn.send(b"ping")
                self._asked.add(process)
        except (OSError, EOFError):
            return False
        return now - self._answered.setdefault(process, now) < self.config.timeout_worker_healthcheck

    def terminate_all(self) -> None:
        """Tells workers to finish, and listens no more: as long as anybody does, the system takes connections, only to
        reset them at the end."""
        for each in self.sockets:
            each.close()
        super().terminate_all()

    def join_all(self) -> None:
        """Waits until all workers have ended, and ends those that do not when their time is up."""
        until = time.monotonic() + (self.config.timeout_graceful_shutdown or 0) + SECONDS_TO_END
        for process in self.processes:
            process.process.join(max(0.0, until - time.monotonic()))
            if process.process.is_alive():
                log.warning("Child process [%s] does not stop: it is killed", process.pid)
                process.process.kill()
            process.join()
