"""Writes an index: all of it, or what has changed beside the segments of the index before it.

An edit lists the old document as deleted and writes a segment of the new one. Small segments are merged into one when
there are several, larger ones by size: in thousands of edits a document is written anew a handful of times, and a
search looks into a dozen segments at most.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jieda.errors import IndexUnreadable
from jieda.search.index.array_file import SUFFIX, Array, link_arrays
from jieda.search.index.document import Document
from jieda.search.index.segment import (
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
