"""Communication between the processes that share a data directory, through small files and locks.

    leader          locked by the server that owns the directory, and names it
    build.lock      held during a build
    builder.json    status of the builder
    wanted          number of the last build that a worker requested; `answer` has its result
    workers/        the generation that each worker serves

A lock is released when its process ends, however it ends.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jieda.disk import make_room, read_plain, write_aside
from jieda.errors import ClusterUnavailable, ContentError, JiedaError
from jieda.snapshot.store.facts import FactsUnreadable
from jieda.snapshot.store.generation import RecordUnreadable, from_json, read_record, to_json

LEADER, LOCK = "leader", "build.lock"
STATUS, WANTED, ANSWER = "builder.json", "wanted", "answer"
WORKERS = "workers"
MIN_SIZE = 512
"""Minimum size of a file in bytes: a longer text can overwrite a shorter one even on a full disk."""
POLL_INTERVAL = 0.05
"""Seconds between two checks for what another process does."""


class BuildRefused(JiedaError):
    """The building process could not build; `str` says why."""


def become_leader(data: Path, address: str) -> int:
    """Make this process the owner of a data directory for its lifetime; return the descriptor of the lock.

    Raises JiedaError if another server owns it, OSError if the file cannot be locked.
    """
    data.mkdir(0o700, parents=True, exist_ok=True)
    descriptor = _open_lock_file(data / LEADER)
    if not _try_lock(descriptor):
        owner = os.pread(descriptor, MIN_SIZE, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise JiedaError(
            f"{data}: another server uses this data directory ({owner or 'unknown'}); "
            "stop that one, or give this one a directory of its own with --data or JIEDA_DATA"
        )
    os.pwrite(descriptor, f"process {os.getpid()}, {address}".ljust(MIN_SIZE).encode(), 0)
    return descriptor


def has_leader(data: Path) -> bool:
    """Whether some server owns the directory."""
    with contextlib.suppress(OSError):
        descriptor = os.open(data / LEADER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return not _try_lock(descriptor)
        finally:
            os.close(descriptor)
    return False


@contextmanager
def build_lock(data: Path, pause: Callable[[], None]) -> Iterator[None]:
    """Hold the build lock within this block. While another process holds it, wait and call `pause` now and then, which
    may raise to stop waiting. Raises OSError if the lock file cannot be opened."""
    descriptor = _open_lock_file(data / LOCK)
    try:
        while not _try_lock(descriptor):
            pause()
            time.sleep(POLL_INTERVAL)
        yield
    finally:
        os.close(descriptor)


def _open_lock_file(path: Path) -> int:
    make_room(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o660)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class BuilderStatus:
    """Status of a builder. `state`: `idle`, `building` or `failed`; `reason`: why it failed, without a path; `note`:
    what is degraded although builds succeed; `at`: time of this status, in seconds since the epoch; `builds`: new
    generations since the builder started, built in `seconds` in total; `died`: which thread died last, and when."""

    state: str = "idle"
    reason: str = ""
    note: str = ""
    at: float = 0.0
    builds: int = 0
    seconds: float = 0.0
    died: tuple[str, float] = ("", 0.0)


def reason_of(error: BaseException) -> str:
    """Return why a build failed, without a path, since anybody may read it."""
    if isinstance(error, ContentError):
        return f"{error.path.name}:{error.line}: {error.message}"
    if isinstance(error, OSError):
        return f"the data directory: {os.strerror(error.errno) if error.errno else error.strerror}"
    if isinstance(error, FactsUnreadable):
        return f"the fact store: {error}"
    if isinstance(error, ClusterUnavailable):
        return str(error)
    return "see the log" if isinstance(error, JiedaError) else f"unexpected error: {type(error).__name__}"


def write_record(path: Path, record: object) -> None:
    """Write a record for other processes if possible. On a full disk, overwrite the previous one in place."""
    content = to_json(record).ljust(MIN_SIZE)
    try:
        write_aside(path, content, lasting=False)
    except OSError:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.truncate()


@dataclass(frozen=True, slots=True)
class BuildAnswer:
    """Result of a build that began after request number `asked` and all earlier ones."""

    asked: int
    generation: str
    failure: str = ""


def last_request(data: Path) -> int:
    """Return the number of the last request; 0 if there was none."""
    try:
        return int(read_plain(data / WANTED))
    except (OSError, ValueError):
        return 0


def request_build(data: Path) -> str | None:
    """Request a build from the leader and return its generation; None if there is no leader or the request cannot be
    written. Raises BuildRefused."""
    try:
        request = _write_request(data)
    except OSError:
        return None
    while has_leader(data):
        answer = read_record(data / ANSWER, BuildAnswer)
        if answer and answer.asked >= request:
            if answer.failure:
                raise BuildRefused(answer.failure)
            return answer.generation
        time.sleep(POLL_INTERVAL)
    return None


def _write_request(data: Path) -> int:
    """Write a new request and return its number, larger than any earlier one. Raises OSError."""
    descriptor = _open_lock_file(data / WANTED)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        last = read_record(data / ANSWER, BuildAnswer)
        request = max(last_request(data), last.asked if last else 0) + 1
        os.pwrite(descriptor, f"{request:020}".encode(), 0)
    finally:
        os.close(descriptor)
    return request


@dataclass(frozen=True, slots=True)
class ServingWorker:
    """A worker's process id and the generation that it serves."""

    pid: int
    generation: str


class Announcement:
    """A file that announces which generation this process serves, locked as long as the process lives. If it cannot be
    written, nothing is announced."""

    def __init__(self, data: Path) -> None:
        self._path = data / WORKERS / f"{os.getpid()}-{time.time_ns():x}.json"
        self._descriptor = -1

    def start(self) -> None:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o660)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def update(self, generation: str) -> None:
        """Announce the generation that this process serves now. Does nothing before `start`."""
        content = to_json(ServingWorker(os.getpid(), generation))
        if self._descriptor >= 0 and not self._path.exists():  # the data directory was deleted
            self.withdraw()
            self.start()
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))

    def withdraw(self) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._descriptor)
        self._descriptor = -1


def serving_workers(data: Path) -> tuple[ServingWorker, ...]:
    """Return all living workers; remove the files of dead ones."""
    folder = data / WORKERS
    workers = []
    for path in () if folder.is_symlink() else sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, RecordUnreadable), path.open("r+b") as file:
            if _try_lock(file.fileno()):
                path.unlink()
                continue
            workers.append(from_json(file.read(), ServingWorker))
    return tuple(workers)
