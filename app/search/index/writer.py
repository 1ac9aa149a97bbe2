"""Writes an index: all of it, or what has changed beside the segments of the index before it.

An edit lists the old document as deleted and writes a segment of the new one. Small segments are merged into one when
there are several, larger ones by size: in thousands of edits a document is written anew a handful of times, and a
search looks into a dozen segments at most.

`IndexStore` keeps indexes on disk for measurements and tests, each under the digest of what it was built from.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.disk import BUILDING, DAMAGED, clear_the_way, remove, set_aside
from app.errors import IndexUnreadable, JiedaError
from app.search.index.array_file import SUFFIX, Array, link_arrays
from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.index.fields import Weighting
from app.search.index.segment import (
    IndexManifest,
    Segment,
    of_documents,
    of_segments,
    read_manifest,
    write_contents,
    write_manifest,
)

SMALL = 256
"""Live documents below which a segment is small: all small ones are merged at once."""
MERGED_AT = 4
"""As many small segments, or larger ones of one size (within a factor of `MERGED_AT`), are merged into one."""
MOST_DELETED = 0.5
"""A segment of which more than this part is deleted is written anew."""
LARGEST_WRITTEN = 10_000
"""Documents whose occurrences are held in memory to be written; they themselves are read one after another."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many documents a segment holds, and how many of them are live."""

    name: str
    documents: int
    live: int


def plan_merge(sizes: Sequence[Size]) -> tuple[str, ...]:
    """Names of the segments to be merged into one; none where all is well. At least one where any is half deleted."""
    tiers: dict[int, list[str]] = {}
    for size in sizes:
        tiers.setdefault(_tier(size.live), []).append(size.name)
    for _, names in sorted(tiers.items()):
        if len(names) >= MERGED_AT:
            return tuple(names)
    return tuple(size.name for size in sizes if size.live < (1 - MOST_DELETED) * size.documents)


def _tier(live: int) -> int:
    tier = 0
    while live >= SMALL * MERGED_AT**tier:
        tier += 1
    return tier


def update_index(
    target: Path,
    previous: Path | None,
    documents: Mapping[str, Document],
    changed: Collection[str],
    removed: Collection[str],
) -> IndexManifest:
    """Writes an index of `documents`, by id, into the empty directory `target`: that of `previous` with the `changed`
    of them written anew and others removed, or all of them where there is none before it or none that can be read.

    Each document is read once. Segments that stay are hard links where the file system has them. Raises OSError.
    """
    manifest = _updated(target, previous, documents, changed, removed) if previous else None
    if manifest is None:
        manifest = IndexManifest(tuple(_written(target, documents, documents)))
    write_manifest(target, manifest)
    return manifest


def _updated(
    target: Path,
    previous: Path,
    documents: Mapping[str, Document],
    changed: Collection[str],
    removed: Collection[str],
) -> IndexManifest | None:
    try:
        before = read_manifest(previous)
        # A damaged one would be handed on, and merged into others that seem whole.
        segments = [Segment(previous, name) for name in before.segments]
    except IndexUnreadable:
        return None
    live = {one.name: _live(one, before, {*changed, *removed}) for one in segments}
    for name in _written(target, documents, changed):
        written = Segment(target, name, verified=False)
        # Documents that are as they once were make a segment that may still be there, all of it deleted.
        if name not in live:
            segments.append(written)
        live[name] = np.ones(len(written), dtype=np.bool_)
    segments = [one for one in segments if live[one.name].any()]
    while merging := plan_merge([Size(one.name, len(one), int(live[one.name].sum())) for one in segments]):
        parts = [one for one in segments if one.name in merging]
        name = write_contents(target, of_segments(parts, [live[one.name] for one in parts]))
        merged = Segment(target, name, verified=False)
        segments = [one for one in segments if one.name not in merging] + [merged]
        live[name] = np.ones(len(merged), dtype=np.bool_)
    _settle(target, previous, {one.name for one in segments})
    deleted = {one.name: tuple(np.flatnonzero(~live[one.name]).tolist()) for one in segments}
    names = tuple(one.name for one in segments)
    return IndexManifest(names, {name: numbers for name, numbers in deleted.items() if numbers})


def _live(segment: Segment, manifest: IndexManifest, gone: Collection[str]) -> Array:
    """Which documents of a segment stay."""
    live = np.ones(len(segment), dtype=np.bool_)
    live[list(manifest.deleted.get(segment.name, ()))] = False
    for document_id in gone:
        if (number := segment.number(document_id)) is not None:
            live[number] = False
    return live


def _written(target: Path, documents: Mapping[str, Document], ids: Collection[str]) -> Iterator[str]:
    """Names of new segments of the documents with these ids."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), LARGEST_WRITTEN):
        part = ordered[start : start + LARGEST_WRITTEN]
        yield write_contents(target, of_documents(documents[document_id] for document_id in part))


def _settle(target: Path, previous: Path, names: Collection[str]) -> None:
    """Has `target` hold the segments of these names and no others."""
    for path in target.glob(f"*{SUFFIX}"):
        if path.name.removesuffix(SUFFIX) not in names:
            path.unlink()
    for name in names:
        if not (target / f"{name}{SUFFIX}").exists():
            link_arrays(previous, name, target)


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
