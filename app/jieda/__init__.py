"""Jieda 解答: a bilingual FAQ knowledge base. Its Python API begins with `jieda.open(path)`; docs/architecture.md shows
where everything is."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jieda.api import (
        ApiDiagnosis,
        ApiEntry,
        JiedaError,
        KnowledgeBase,
        SearchResult,
        UnknownEntry,
        open,  # noqa: A004 - read as `jieda.open`
    )

__all__ = ("ApiDiagnosis", "ApiEntry", "JiedaError", "KnowledgeBase", "SearchResult", "UnknownEntry", "open")


def __getattr__(name: str) -> object:
    """Import the API on first use: every process imports this package, and most need no index."""
    if name in __all__:
        return getattr(import_module("jieda.api"), name)
    raise AttributeError(f"module 'jieda' has no attribute {name!r}")
