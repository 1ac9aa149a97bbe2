"""How the builder fares, told to all processes by a small file, so that every worker can say why content is old."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from app.disk import read_plain, write_aside
from app.errors import ClusterUnavailable, ContentError, JiedaError
from app.snapshot.facts import FactsUnreadable
from app.snapshot.records import RecordUnreadable, from_json, to_json

STATUS = "builder.json"
ROOM = 512
"""Bytes that a status takes at least, so that a longer one fits into the place of a shorter one."""


@dataclass(frozen=True, slots=True)
class BuilderStatus:
    """`state` is `idle`, `building` or `failed`; `reason` says without a path why it failed; `note` what is unusual
    about where generations are kept; `at`: seconds since the epoch. `builds`: how many new generations were built
    since the builder started, which took `seconds` together."""

    state: str = "idle"
    reason: str = ""
    note: str = ""
    at: float = 0.0
    builds: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """What a process can say about what it serves. `degraded` is empty where all is well, and names no path."""

    builder: str
    degraded: str
    cluster: str | None = None
    """Why the cluster cannot be searched, empty where it can; None where there is none."""


def tell_status(data: Path, status: BuilderStatus) -> None:
    """Says how the builder fares, where there is a place to say it: on a full disk, in the file of before."""
    content = to_json(status).ljust(ROOM)
    try:
        write_aside(data / STATUS, content, lasting=False)
    except OSError:
        with contextlib.suppress(OSError):
            descriptor = os.open(data / STATUS, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)


def read_status(data: Path) -> BuilderStatus:
    """What the builder said last."""
    try:
        return from_json(read_plain(data / STATUS), BuilderStatus)
    except (OSError, RecordUnreadable):
        return BuilderStatus()


def reason_of(error: BaseException) -> str:
    """Why a build failed, in words that name no path: anybody may read them."""
    if isinstance(error, ContentError):
        return f"{error.path.name}:{error.line}: {error.message}"
    if isinstance(error, OSError):
        return f"the data directory: {os.strerror(error.errno) if error.errno else error.strerror}"
    if isinstance(error, FactsUnreadable):
        return f"the facts on disk: {error}"
    if isinstance(error, ClusterUnavailable):
        return str(error)
    return "it cannot be built" if isinstance(error, JiedaError) else f"unexpected: {type(error).__name__}"
