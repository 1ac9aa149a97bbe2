"""Indexes on disk: each under the digest of what it was built from, built aside and swapped in by rename."""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.disk import BUILDING, DAMAGED, clear_the_way, remove, set_aside
from app.errors import IndexUnreadable, JiedaError
from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.index.fields import Weighting
from app.search.index.writer import update_index

KEPT = 2
"""The index in use, and the one before it, which another worker may still have to open."""

ABANDONED_AFTER = 3600.0
"""Seconds after which a half-built index belongs to a process that died."""


class IndexStore:
    """The index directories below a data directory, shared by all processes that use it."""

    def __init__(self, data: Path, weighting: Weighting) -> None:
        self._root = data / "index"
        self._weighting = weighting

    def open(self, digest: str, documents: Callable[[], Iterable[Document]]) -> EmbeddedIndex:
        """The index under `digest`: opened where it is whole, otherwise built from `documents()`.

        One process builds; others that ask at the same time wait for it and open what it built. Raises
        JiedaError where the data directory can't be written.
        """
        target = self._root / digest
        try:
            return EmbeddedIndex(target, self._weighting)
        except IndexUnreadable:
            return self._build(target, documents)

    def _build(self, target: Path, documents: Callable[[], Iterable[Document]]) -> EmbeddedIndex:
        try:
            # What is not in use is removed below, so it must be ours, and no link to another's.
            clear_the_way(self._root.parent, self._root.name)
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                try:
                    return EmbeddedIndex(target, self._weighting)
                except IndexUnreadable:
                    self._swap_in(target, documents())
                self._prune(target)
        except OSError as error:
            raise JiedaError(f"{self._root}: the index cannot be written: {error}") from error
        return EmbeddedIndex(target, self._weighting)

    def _swap_in(self, target: Path, documents: Iterable[Document]) -> None:
        aside = Path(tempfile.mkdtemp(prefix=BUILDING, dir=self._root))
        try:
            update_index(aside, None, {document.id: document for document in documents}, (), ())
            if os.path.lexists(target):
                set_aside(target)
            aside.rename(target)
        finally:
            remove(aside)

    def _prune(self, current: Path) -> None:
        """Removes indexes that nobody opens any more and what dead processes left behind."""
        finished = [path for path in self._root.iterdir() if path.is_dir() and not path.name.startswith(".")]
        newest_first = sorted(finished, key=lambda path: (path != current, -path.stat().st_mtime))
        left_behind = [
            path
            for path in self._root.glob(".*-*")
            if path.name.startswith(DAMAGED) or time.time() - path.stat().st_mtime > ABANDONED_AFTER
        ]
        for path in newest_first[KEPT:] + left_behind:
            remove(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds the store's lock; the system releases it when the process ends, however it ends."""
        descriptor = os.open(self._root / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
