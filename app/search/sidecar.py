"""What lies beside the postings: ids, tags and lengths of the documents, and a checksum of every file.

Written last: an index without it is unfinished. Read first: an index that differs from it by a bit or a file is
damaged, and none of its files, some of which Whoosh unpickles, is looked into.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import IndexUnreadable
from app.search.engine import Document
from app.search.fields import ZONES

MANIFEST = "manifest.json"
LENGTHS = "lengths.npy"


@dataclass(frozen=True, slots=True)
class Sidecar:
    """`lengths` has shape (zones, documents), in terms; everything in the order of document numbers."""

    ids: tuple[str, ...]
    facets: tuple[Mapping[str, Sequence[str]], ...]
    lengths: NDArray[np.int64]


def write_sidecar(directory: Path, documents: Sequence[Document]) -> None:
    """Writes lengths, then the manifest."""
    lengths = np.array(
        [[len(document.zones[zone.name]) for document in documents] for zone in ZONES], dtype=np.int64
    )
    buffer = io.BytesIO()
    np.save(buffer, lengths, allow_pickle=False)
    (directory / LENGTHS).write_bytes(buffer.getvalue())
    manifest = {
        "ids": [document.id for document in documents],
        "facets": [
            {facet: list(values) for facet, values in document.facets.items()} for document in documents
        ],
        "files": _checksums(directory),
    }
    signed = manifest | {"checksum": _own_checksum(manifest)}
    (directory / MANIFEST).write_text(json.dumps(signed, sort_keys=True), encoding="utf-8")


def read_sidecar(directory: Path) -> Sidecar:
    """Raises IndexUnreadable where the manifest can't be read or any file is not what it says."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        if manifest.pop("checksum") != _own_checksum(manifest):
            raise IndexUnreadable(f"{directory / MANIFEST}: checksum differs")
        if _checksums(directory) != manifest["files"]:
            raise IndexUnreadable(f"{directory}: files differ from those that were written")
        lengths = np.load(directory / LENGTHS, allow_pickle=False)
        return Sidecar(tuple(manifest["ids"]), tuple(manifest["facets"]), lengths)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error


def _checksums(directory: Path) -> dict[str, str]:
    """By name, for everything in an index directory but the manifest."""
    return {path.name: _checksum(path) for path in sorted(directory.iterdir()) if path.name != MANIFEST}


def _own_checksum(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
