"""Which code made a fact: facts of other code are not used."""

import hashlib
from functools import cache
from importlib.metadata import version

from app.options import ROOT

_PACKAGES = ("signature", "content", "analysis", "search", "log", "diagnosis", "snapshot", "cluster")
"""Folders of `app` whose code decides what a fact or a generation looks like."""
_MODULES = (
    "entry.py",
    "filters.py",
    "taxonomy.py",
    "han.py",
    "anchors.py",
    "log_knowledge.py",
    "site_texts.py",
)
_LIBRARIES = ("jieba", "markdown-it-py", "msgspec", "numpy", "pygments", "snowballstemmer")
"""Libraries whose other release may make something else of the same text."""


@cache
def code_version() -> str:
    """A digest of the sources and library releases that facts are made by.

    Nobody has to remember to raise a number when the code changes; the first build after an upgrade makes
    everything anew.
    """
    folder = ROOT / "app"
    paths = [folder / name for name in _MODULES]
    paths += sorted(
        path
        for name in _PACKAGES
        for path in (folder / name).rglob("*")
        if path.suffix in {".py", ".txt", ".toml"}
    )
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    total.update("".join(f"{name} {version(name)}\n" for name in _LIBRARIES).encode())
    return total.hexdigest()[:16]
