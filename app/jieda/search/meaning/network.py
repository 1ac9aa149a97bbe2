"""The arithmetic of Google's multilingual universal sentence encoder, for many texts that repeat one another.

A token's features depend on the four tokens on either side of it and on nothing else, and the sayings of an entry are
the same tokens over and over: its title in front of each, a sentence within its line, a clause within its sentence. So
each step is worked out once for each context that differs, and looked up for the rest:

    token       x  = norm(embedding · projection)
    2 to 5 of   h  = relu(Σ x[t+k] · first[k])  + x          n-grams of 2, 3 and 5, by three branches
    up to 9 of  c  = relu(Σ h[t+k] · second[k]) + h
    text        Σ norm(embedding, c …) over its tokens, then four small layers

For the shipped entries that is a sixth of the multiplications. The first layer of each branch is applied to tokens
before they are summed, not to n-grams put side by side, which gives the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from jieda.search.index.array_file import Array
from jieda.search.meaning.embedder import Vectors

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
Tokens = Sequence[int]
"""The numbers of the tokens of a text."""

WIDTH, BRANCH = 512, 256
"""Numbers of an embedding, as of a vector, and of a branch."""
BRANCHES = ((2, 0), (3, 1), (5, 2))
"""Tokens of an n-gram, and how many of them stand before the one that it is of."""
CHUNKS = 17
"""Token i was quantized with the scale of chunk i modulo this."""
BATCH = 4096
"""Tokens that are worked on at once: with more, next to nothing is saved, and memory grows."""
MOST_CONTEXTS = 1 << 62
"""Contexts are told apart by one number each, which must not run over."""
TINY = 1e-12


class Network:
    """The layers, over weights that are mapped into memory. Keeps nothing between calls."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """`weights` by name, each flat; numbers with a fraction as whole ones of as many bytes."""
        self._table: NDArray[np.uint8] = weights["table"].reshape(-1, WIDTH)
        self._w = {name: each.view(np.float32) for name, each in weights.items() if each.dtype == np.uint32}

    def vectors(self, texts: Sequence[Tokens]) -> Vectors:
        """A vector of length 1 for each text, none of which is without a token."""
        out = np.empty((len(texts), WIDTH), np.float32)
        for start, end in _batches(texts):
            out[start:end] = self._of(texts[start:end])
        return out

    def _of(self, texts: Sequence[Tokens]) -> Vectors:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        tokens = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
        starts = np.cumsum(lengths) - lengths
        distinct, token = np.unique(tokens, return_inverse=True)
        embedded, projected = self._embedded(distinct)
        around = _around(starts, lengths)
        branches, contexts = [], token
        for number, (size, before) in enumerate(BRANCHES):
            x = projected[:, number * BRANCH : (number + 1) * BRANCH]
            first, grams = self._layer(f"first{number}", x, token, around(token, len(x), size, before))
            branches.append((number, first, grams, around(grams, len(first), size, before)))
            contexts = grams
        # The widest n-grams of n-grams tell the contexts of all branches.
        _, where, context = _distinct(around(contexts, len(branches[-1][1]), *BRANCHES[-1]))
        features = np.empty((len(where), WIDTH + len(BRANCHES) * BRANCH), np.float32)
        features[:, :WIDTH] = embedded[token[where]]
        for number, first, grams, windows in branches:
            column = WIDTH + number * BRANCH
            features[:, column : column + BRANCH] = self._summed(
                f"second{number}", first, grams[where], windows[where]
            )
        _normalize(features, self._w["norm.scale"], self._w["norm.shift"])
        # A product of matrices: to add up the rows themselves takes twice as long.
        text = np.repeat(np.arange(len(texts)), lengths)
        counts = np.bincount(text * len(where) + context, minlength=len(texts) * len(where))
        return self._pooled(counts.astype(np.float32).reshape(len(texts), -1) @ features, lengths)

    def _embedded(self, tokens: Numbers) -> tuple[Floats, Floats]:
        """Of distinct tokens, their embeddings and what all branches begin with."""
        chunk = tokens % CHUNKS
        embedded = self._table[tokens].astype(np.float32)
        embedded *= self._w["chunk.scale"][chunk, None]
        embedded += self._w["chunk.shift"][chunk, None]
        projected = embedded @ self._shaped("projection", WIDTH) + self._w["projection.bias"]
        _normalize(projected, self._w["projection.scale"], self._w["projection.shift"])
        return embedded, projected

    def _layer(self, name: str, rows: Floats, row: Numbers, windows: Numbers) -> tuple[Floats, Numbers]:
        """A layer over each distinct window, and which of these each token has."""
        _, where, which = _distinct(windows)
        return self._summed(name, rows, row[where], windows[where]), which

    def _summed(self, name: str, rows: Floats, row: Numbers, windows: Numbers) -> Floats:
        """relu(Σ rows[window[k]] · weights[k] + bias) + rows[row]; a window reaches beyond its text where it names a
        row after the last."""
        size = windows.shape[1]
        parts = np.zeros((len(rows) + 1, size * BRANCH), np.float32)
        np.matmul(rows, self._shaped(name, BRANCH), out=parts[:-1])
        total = parts[windows[:, 0], :BRANCH]
        for place in range(1, size):
            total += parts[windows[:, place], place * BRANCH : (place + 1) * BRANCH]
        total += self._w[f"{name}.bias"]
        np.maximum(total, 0, out=total)
        total += rows[row]
        return total

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


def layer_of(weights: Array, size: int) -> Array:
    """The weights of n-grams of `size` tokens put side by side, (size · BRANCH, BRANCH), for one token after another:
    (BRANCH, size · BRANCH)."""
    return weights.reshape(size, BRANCH, BRANCH).transpose(1, 0, 2).reshape(BRANCH, size * BRANCH)


def _batches(texts: Sequence[Tokens]) -> Iterator[tuple[int, int]]:
    """Neighboring texts of BATCH tokens together, and longer ones alone."""
    start = size = 0
    for number, text in enumerate(texts):
        if size and size + len(text) > BATCH:
            yield start, number
            start, size = number, 0
        size += len(text)
    if size:
        yield start, len(texts)


class _Around:
    """What stands around each token of some texts."""

    def __init__(self, starts: Numbers, lengths: Numbers) -> None:
        self._here = np.arange(int(lengths.sum()))
        self._first = np.repeat(starts, lengths)
        self._end = np.repeat(starts + lengths, lengths)

    def __call__(self, row: Numbers, rows: int, size: int, before: int) -> Numbers:
        """The rows of `size` tokens from `before` ahead of each; `rows` where there is none in its text."""
        places = self._here[:, None] + np.arange(-before, size - before)
        inside = (places >= self._first[:, None]) & (places < self._end[:, None])
        return np.where(inside, row[places % len(row)], rows)


def _around(starts: Numbers, lengths: Numbers) -> _Around:
    return _Around(starts, lengths)


def _distinct(windows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The distinct windows by one number each, where each first stands, and which each one is."""
    base = int(windows.max()) + 1
    if base ** windows.shape[1] > MOST_CONTEXTS:
        all_of_them = np.arange(len(windows))
        return all_of_them, all_of_them, all_of_them
    keys = windows @ (base ** np.arange(windows.shape[1]))
    return np.unique(keys, return_index=True, return_inverse=True)


def _normalize(rows: Floats, scale: Floats, shift: Floats) -> None:
    """Each row to mean 0 and variance 1, then scaled and shifted; in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + TINY)[:, None]
    rows *= scale
    rows += shift
