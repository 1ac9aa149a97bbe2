"""A JSON file with a checksum of what it says: read back as it was written, or not at all."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.errors import IndexUnreadable


def write_signed(path: Path, content: Mapping[str, object]) -> None:
    """Raises OSError."""
    signed = {**content, "checksum": _checksum(content)}
    path.write_text(json.dumps(signed, sort_keys=True), encoding="utf-8")


def read_signed(path: Path) -> dict[str, Any]:
    """What was written, without its checksum. Raises IndexUnreadable where it is missing or says something else."""
    try:
        if not path.is_file():  # to open a pipe would take for ever
            raise IndexUnreadable(f"{path.parent}: there is no {path.name}")
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("checksum") != _checksum(content):
            raise IndexUnreadable(f"{path}: checksum differs")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnreadable(f"{path.parent}: {error}") from error
    return content


def _checksum(content: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
