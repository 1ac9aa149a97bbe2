"""Which segments an index consists of, and which of their documents are deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import IndexUnreadable
from app.search.index.signed import read_signed, write_signed

MANIFEST = "index.json"


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """`segments` by name; `deleted`: numbers of documents by segment, ascending, for those that have any."""

    segments: tuple[str, ...]
    deleted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def write_manifest(directory: Path, manifest: IndexManifest) -> None:
    """Written last: an index without it is unfinished. Raises OSError."""
    write_signed(directory / MANIFEST, {"segments": manifest.segments, "deleted": manifest.deleted})


def read_manifest(directory: Path) -> IndexManifest:
    """Raises IndexUnreadable where it is missing or not as it was written."""
    content = read_signed(directory / MANIFEST)
    try:
        deleted = {name: tuple(numbers) for name, numbers in content["deleted"].items()}
        return IndexManifest(tuple(content["segments"]), deleted)
    except (KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{directory}: {error}") from error
