"""Writes an index: all of it, or the changes beside the segments of the previous index.

An edit lists the old document as deleted and writes a segment with the new one. Several small segments are merged into
one, larger ones by size: in thousands of edits a document is rewritten a handful of times, and a search reads a dozen
segments at most.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from jieda.errors import IndexUnreadable
from jieda.search.index.array_file import SUFFIX, Array, link_arrays, write_arrays
from jieda.search.index.document import Document
from jieda.search.index.segment import (
    IndexManifest,
    Segment,
    document_arrays,
    merged_arrays,
    read_manifest,
    write_manifest,
)
from jieda.search.meaning.embedder import Embedder, NotEmbedded
from jieda.search.meaning.word_vectors import WordVectors, open_words, word_arrays, words_to_embed

log = logging.getLogger(__name__)

SMALL = 256
"""A segment with fewer live documents is small; all small ones are merged at once."""
MERGED_AT = 4
"""Number of small segments, or of larger ones of one size (within a factor of `MERGED_AT`), that triggers a merge."""
MOST_DELETED = 0.5
"""A segment is rewritten if more than this share of it is deleted."""
LARGEST_WRITTEN = 10_000
"""Most documents whose occurrences are in memory before they are written; the documents are read one by one."""


def plan_merge(live: Mapping[str, Array]) -> Sequence[str]:
    """Return the names of the segments to merge into one: none if no merge is due, some if any is half deleted. `live`:
    for each segment, the mask of its live documents."""
    tiers: dict[int, list[str]] = {}
    for name, mask in live.items():
        tiers.setdefault(_tier(int(mask.sum())), []).append(name)
    for _, names in sorted(tiers.items()):
        if len(names) >= MERGED_AT:
            return names
    return [name for name, mask in live.items() if mask.sum() < (1 - MOST_DELETED) * len(mask)]


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
    """Write an index of `documents`, by id, into the empty directory `target`: the index in `previous` with the
    `changed` documents rewritten and the `removed` ones dropped, or all documents if `previous` is None or unreadable.

    Reads each document once. Unchanged segments become hard links where the file system supports them. Raises OSError.
    """
    manifest = _update(target, previous, documents, changed, removed) if previous else None
    if manifest is None:
        manifest = IndexManifest(tuple(_write(target, documents, documents)))
    write_manifest(target, manifest)
    return manifest


def _update(
    target: Path,
    previous: Path,
    documents: Mapping[str, Document],
    changed: Collection[str],
    removed: Collection[str],
) -> IndexManifest | None:
    try:
        before = read_manifest(previous)
        # Opening verifies them: a damaged segment would be passed on, and merged into others that seem intact.
        segments = {name: Segment(previous, name) for name in before.segments}
        live = {name: one.live(before.deleted.get(name, ())) for name, one in segments.items()}
    except IndexUnreadable:
        return None
    for name, one in segments.items():
        gone = map(one.number, {*changed, *removed})
        live[name][[number for number in gone if number is not None]] = False
    # Documents that were reverted produce a segment that may still exist, all of it deleted.
    for name in _write(target, documents, changed):
        segments[name] = Segment(target, name, verified=False)
        live[name] = np.ones(len(segments[name]), dtype=np.bool_)
    live = {name: mask for name, mask in live.items() if mask.any()}
    while merging := plan_merge(live):
        masks = [live.pop(name) for name in merging]
        name = write_arrays(target, merged_arrays([segments[part] for part in merging], masks))
        segments[name] = Segment(target, name, verified=False)
        live[name] = np.ones(len(segments[name]), dtype=np.bool_)
    _sync_files(target, previous, live)
    deleted = {name: tuple(np.flatnonzero(~mask).tolist()) for name, mask in live.items() if not mask.all()}
    return IndexManifest(tuple(live), deleted)


def embed_words(target: Path, previous: Path | None, embedder: Embedder, pause: Callable[[], None]) -> None:
    """Add vectors to an index that was just written: of the words of documents that lack an edition in a language.

    Those that the `previous` index has are taken over. Adds nothing if the embedder fails, or if it is not the one that
    SIMILAR_FROM was chosen with. Calls `pause` between batches. Raises OSError, and what `pause` raises."""
    if not embedder.is_reference:
        return
    manifest = read_manifest(target)
    segments = [Segment(target, name, verified=False) for name in manifest.segments]
    words = words_to_embed(partial(_vocabulary, segments, manifest))
    if not words:
        return
    known = _words_of(previous, embedder)
    try:
        if previous and known and known.words.all() == words:
            link_arrays(previous, name := known.name, target)
        else:
            name = write_arrays(target, word_arrays(words, embedder, known, pause))
    except NotEmbedded:  # it has been logged, and entries are found by the words themselves
        return
    write_manifest(target, replace(manifest, words=name))


def _words_of(index: Path | None, embedder: Embedder) -> WordVectors | None:
    """Return the vectors of words in an index if this embedder made them."""
    try:
        name = read_manifest(index).words if index else ""
        known = open_words(index, name) if index else None
    except IndexUnreadable as error:
        log.warning("the vectors of words are made again: %s", error)
        return None
    return known if known and known.made_by == embedder.name else None


def _vocabulary(segments: Sequence[Segment], manifest: IndexManifest, prefix: str) -> Sequence[str]:
    """Return the terms that start with `prefix` of live documents that lack an edition in a language, sorted."""
    found: set[str] = set()
    for one in segments:
        chosen = one.live(manifest.deleted.get(one.name, ())) & one.lacks_a_language()
        found.update(one.prefixed(prefix, one.terms_held(chosen)))
    return sorted(found)


def _write(target: Path, documents: Mapping[str, Document], ids: Collection[str]) -> Iterator[str]:
    """Write the documents with these ids; yield the names of the new segments."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), LARGEST_WRITTEN):
        part = ordered[start : start + LARGEST_WRITTEN]
        yield write_arrays(target, document_arrays(documents[document_id] for document_id in part))


def _sync_files(target: Path, previous: Path, names: Collection[str]) -> None:
    for path in target.glob(f"*{SUFFIX}"):
        if path.name.removesuffix(SUFFIX) not in names:
            path.unlink()
    for name in names:
        if not (target / f"{name}{SUFFIX}").exists():
            link_arrays(previous, name, target)
