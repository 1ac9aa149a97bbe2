"""The index of the shipped content, built once for all tests and copied for each test that needs it."""

import fcntl
import hashlib
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers, Snapshot
from jieda.snapshot.store.facts import code_version
from jieda.snapshot.watch.follow import Follower

from tests.support import server as servers
from tests.support.server import COMMAND, ROOT, Server, environment

CONTENT = ROOT / "content"
ENTRIES = len(
    {path.relative_to(CONTENT / lang) for lang in ("en", "zh") for path in (CONTENT / lang).glob("*/*.md")}
)
"""Number of shipped entries."""
KEPT = ROOT / ".pytest_cache" / "shipped"
SECONDS_TO_KEEP = 3600
"""Age up to which builds of other code are kept: running tests may still copy them."""


def copy_data(target: Path) -> Path:
    """Make `target` a data directory with a fresh index of the shipped content; return it.

    Not for tests of building: another process built this index.
    """
    shutil.copytree(_built(), target, symlinks=True, dirs_exist_ok=True)
    return target


def start(folder: Path, **settings: str) -> Server:
    """Start a server with the shipped content, like `server.start`."""
    copy_data(folder / "data")
    return servers.start(folder, CONTENT, **settings)


def open_snapshot(data: Path, analyzers: Analyzers, content: Path | None = None) -> Snapshot:
    """Build `content`, by default the shipped content, into `data` and return its snapshot."""
    if content is None:
        copy_data(data)
    Builder([content or CONTENT], data, analyzers).build()
    follower = Follower(data, analyzers, lambda: None)
    follower.catch_up()
    return follower.snapshot


@cache
def _built() -> Path:
    """Return the directory to copy. The first test process that needs it builds it; it is reused until the content or
    the building code changes."""
    KEPT.mkdir(parents=True, exist_ok=True)
    folder = KEPT / _digest()
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for path in KEPT.iterdir():
                if path.is_dir() and path.stat().st_mtime < time.time() - SECONDS_TO_KEEP:
                    shutil.rmtree(path)
            aside = Path(tempfile.mkdtemp(dir=KEPT))
            settings = {"JIEDA_CONTENT": str(CONTENT), "JIEDA_DATA": str(aside)}
            run = subprocess.run(
                [*COMMAND, "index"], env=environment(settings), capture_output=True, text=True, check=False
            )
            assert run.returncode == 0, run.stdout + run.stderr
            aside.rename(folder)
    return folder


def _digest() -> str:
    total = hashlib.sha256(f"{code_version()} {ROOT}".encode())
    for path in sorted(path for path in CONTENT.rglob("*") if path.is_file()):
        total.update(f"\0{path}\0".encode() + path.read_bytes())
    return total.hexdigest()[:16]
