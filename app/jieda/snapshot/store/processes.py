"""Communication between the processes that share a data directory, by small files and locks.

    leader          locked by the server that owns the directory; names that server
    build.lock      held during a build
    builder.json    status of the builder
    wanted          number of the last build request of a worker; `answer` has the result
    workers/        the generation that each worker serves

Locks end with their process, however it ends.
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
ROOM = 512
"""Minimum size of a file in bytes, so that on a full disk a longer text can overwrite a shorter one."""
LOOK_AGAIN = 0.05
"""Seconds between two checks of another process."""


class BuildRefused(JiedaError):
    """The building process could not build; `str` says why."""


# ---- locks


def lead(data: Path, address: str) -> int:
    """Make this process the owner of a data directory for its lifetime; return the descriptor of the lock.

    Raises JiedaError if another server owns it, OSError if the file cannot be locked.
    """
    data.mkdir(0o700, parents=True, exist_ok=True)
    descriptor = _open_to_lock(data / LEADER)
    if not _try_lock(descriptor):
        owner = os.pread(descriptor, ROOM, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise JiedaError(
            f"{data}: another server uses this data directory ({owner or 'unknown'}). "
            "Stop that one, or give this one a directory of its own with --data or JIEDA_DATA."
        )
    os.pwrite(descriptor, f"process {os.getpid()}, {address}".ljust(ROOM).encode(), 0)
    return descriptor


def is_led(data: Path) -> bool:
    """Whether some server owns the directory."""
    with contextlib.suppress(OSError):
        descriptor = os.open(data / LEADER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return not _try_lock(descriptor)
        finally:
            os.close(descriptor)
    return False


@contextmanager
def building_alone(data: Path, pause: Callable[[], None]) -> Iterator[None]:
    """Hold the build lock within this block. While another process holds it, wait and call `pause` now and then, which
    may raise to end the waiting. Raises OSError if the lock file cannot be opened."""
    descriptor = _open_to_lock(data / LOCK)
    try:
        while not _try_lock(descriptor):
            pause()
            time.sleep(LOOK_AGAIN)
        yield
    finally:
        os.close(descriptor)


def _open_to_lock(path: Path) -> int:
    make_room(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o660)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# ---- status of the builder


@dataclass(frozen=True, slots=True)
class BuilderStatus:
    """Status of a builder. `state`: `idle`, `building` or `failed`; `reason`: why it failed, without a path; `note`:
    what is degraded although builds succeed; `at`: seconds since the epoch; `builds`: number of new generations since
    the builder started, which took `seconds` in total; `died`: the thread that died last, and when."""

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
    """Write a record for other processes, if possible; on a full disk, in place over the previous one."""
    content = to_json(record).ljust(ROOM)
    try:
        write_aside(path, content, lasting=False)
    except OSError:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)


# ---- builds that workers request


@dataclass(frozen=True, slots=True)
class BuildAnswer:
    """Result of a build that started after request number `asked` and all earlier ones."""

    asked: int
    generation: str
    failure: str = ""


def wanted(data: Path) -> int:
    """Return the number of the last request; 0 if there was none."""
    try:
        return int(read_plain(data / WANTED))
    except (OSError, ValueError):
        return 0


def ask(data: Path) -> str | None:
    """Request a build from the leader and return its generation; None if there is no leader or the request cannot be
    written. Raises BuildRefused."""
    try:
        asked = _write_request(data)
    except OSError:
        return None
    while is_led(data):
        found = read_record(data / ANSWER, BuildAnswer)
        if found and found.asked >= asked:
            if found.failure:
                raise BuildRefused(found.failure)
            return found.generation
        time.sleep(LOOK_AGAIN)
    return None


def _write_request(data: Path) -> int:
    """Write a new request and return its number, larger than any earlier one. Raises OSError."""
    descriptor = _open_to_lock(data / WANTED)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        last = read_record(data / ANSWER, BuildAnswer)
        asked = max(wanted(data), last.asked if last else 0) + 1
        os.pwrite(descriptor, f"{asked:020}".encode(), 0)
    finally:
        os.close(descriptor)
    return asked


# ---- the generation that each worker serves


@dataclass(frozen=True, slots=True)
class ServingWorker:
    """A worker: its process id, and the generation that it serves."""

    pid: int
    generation: str


class Announcement:
    """A file that announces which generation this process serves, locked while the process lives. If it cannot be
    written, nothing is announced."""

    def __init__(self, data: Path) -> None:
        self._path = data / WORKERS / f"{os.getpid()}-{time.time_ns():x}.json"
        self._descriptor = -1

    def start(self) -> None:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o660)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def say(self, generation: str) -> None:
        """Announce that this process serves a generation from now on; nothing happens before `start`."""
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
    found = []
    for path in () if folder.is_symlink() else sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, RecordUnreadable), path.open("r+b") as file:
            if _try_lock(file.fileno()):
                path.unlink()
                continue
            found.append(from_json(file.read(), ServingWorker))
    return tuple(found)
