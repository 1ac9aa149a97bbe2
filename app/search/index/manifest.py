"""Which segments an index consists of, and which of their documents are deleted."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import IndexUnreadable

MANIFEST = "index.json"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """`segments` by name; `deleted`: numbers of documents by segment, ascending, for those that have any."""

    segments: tuple[str, ...]
    deleted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def write_manifest(directory: Path, manifest: IndexManifest) -> None:
    """Written last: an index without it is unfinished. Raises OSError."""
    content = {"segments": manifest.segments, "deleted": manifest.deleted}
    signed = content | {"checksum": _checksum(content)}
    (directory / MANIFEST).write_text(json.dumps(signed, sort_keys=True), encoding="utf-8")


def read_manifest(directory: Path) -> IndexManifest:
    """Raises IndexUnreadable where it is missing or not as it was written."""
    try:
        if not (directory / MANIFEST).is_file():  # to open a pipe would take for ever
            raise IndexUnreadable(f"{directory}: there is no {MANIFEST}")
        content = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        if content.pop("checksum") != _checksum(content):
            raise IndexUnreadable(f"{directory / MANIFEST}: checksum differs")
        deleted = {name: tuple(numbers) for name, numbers in content["deleted"].items()}
        return IndexManifest(tuple(content["segments"]), deleted)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error


def _checksum(content: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
