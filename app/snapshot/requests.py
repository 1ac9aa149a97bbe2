"""Builds asked for by processes that follow, made by the one that builds: it has everything at hand.

requests/builder     locked for as long as somebody builds on request, and who that is
requests/<id>.ask    a wish: the name of a generation that cannot be opened, or nothing
requests/<id>.done   what came of it
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.disk import BUILDING, clear_the_way, make_room, read_plain, remove, write_aside
from app.errors import JiedaError
from app.snapshot.built import Built
from app.snapshot.records import RecordUnreadable, from_json, to_json

REQUESTS = "requests"
BUILDER = "builder"
ASKED, DONE = ".ask", ".done"
LOOK_AGAIN = 0.05
"""Seconds between two looks at the folder."""

Request = Callable[[str], "Future[Built]"]
"""A build that begins after the call, with the name of a generation that somebody could not open, or nothing."""


class BuildRefused(JiedaError):
    """The process that builds could not; `str` says why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a build came to, as far as whoever asked for it needs to know."""

    generation: str
    changed: bool
    failure: str = ""


def build_on_request(data: Path, request: Request, stop: threading.Event) -> None:
    """Has `request` build for the other processes until stopped. For a thread of its own; raises OSError."""
    clear_the_way(data, REQUESTS)
    (data / REQUESTS).mkdir(parents=True, exist_ok=True)
    make_room(data / REQUESTS / BUILDER)
    descriptor = _opened(data)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.pwrite(descriptor, f"{os.getpid()} {time.time_ns()}".encode(), 0)
        _forget_wishes(data / REQUESTS)
        while not stop.wait(LOOK_AGAIN):
            for path in sorted((data / REQUESTS).glob(f"*{ASKED}")):
                # Whatever else is there and is no wish: the next one is looked at all the same.
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    suspect = _taken(path)
                    request(suspect).add_done_callback(partial(_answer, path.with_suffix(DONE)))
    finally:
        os.close(descriptor)


def clear_requests(data: Path) -> None:
    """Removes what was asked for and not taken back, for one that builds for itself alone; whoever asked was killed.
    Where somebody builds on request it is his."""
    if (data / REQUESTS).is_symlink():
        return
    with contextlib.suppress(OSError):
        descriptor = _opened(data)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _forget_wishes(data / REQUESTS)
        finally:
            os.close(descriptor)


def _opened(data: Path) -> int:
    """What is locked by whoever builds on request. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(data / REQUESTS / BUILDER, flags, 0o660)


def _forget_wishes(folder: Path) -> None:
    for pattern in (f"*{ASKED}", f"*{DONE}", f"{BUILDING}*"):
        for path in folder.glob(pattern):
            remove(path)


def _taken(path: Path) -> str:
    try:
        return read_plain(path).decode()
    finally:
        remove(path)


def ask(data: Path, suspect: str = "") -> Outcome | None:
    """The build that another process makes on request; None where there is no such process. Raises BuildRefused."""
    folder = data / REQUESTS
    asked = folder / f"{os.getpid()}-{threading.get_ident()}-{time.time_ns()}{ASKED}"
    answer = asked.with_suffix(DONE)
    try:
        builder = _builder(folder)
        if not _is_answered(folder):
            return None
        write_aside(asked, suspect.encode(), lasting=False)
        while not answer.exists():
            # Another one knows nothing of what the one before was asked.
            if not _is_answered(folder) or _builder(folder) != builder:
                return None
            time.sleep(LOOK_AGAIN)
        outcome = from_json(read_plain(answer), Outcome)
    except (OSError, RecordUnreadable):
        return None
    finally:
        for path in (asked, answer):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
    if outcome.failure:
        raise BuildRefused(outcome.failure)
    return outcome


def _builder(folder: Path) -> bytes:
    """Who builds on request, or did so last. Raises OSError."""
    return read_plain(folder / BUILDER)


def _is_answered(folder: Path) -> bool:
    """Whether somebody holds the lock."""
    try:
        with (folder / BUILDER).open("r+b") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _answer(place: Path, future: "Future[Built]") -> None:
    error = future.exception()
    if error is None:
        built = future.result()
        outcome = Outcome(built.generation, built.changed)
    else:
        outcome = Outcome("", changed=False, failure=str(error) or type(error).__name__)
    with contextlib.suppress(OSError):
        write_aside(place, to_json(outcome), lasting=False)
