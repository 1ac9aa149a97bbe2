"""The snapshot that is served, and its swap: build the new one whole, then point one name at it."""

from dataclasses import dataclass

from app.content.library import Library


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A library and everything built from it, under one digest. A request takes it once, at its start."""

    library: Library
    generation: str
