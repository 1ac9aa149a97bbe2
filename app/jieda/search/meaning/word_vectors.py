"""Vectors of the words of an index: by them, a word of a query finds the words of entries that mean nearly the same, in
either language.

    words       words, sorted: English ones, then Chinese ones
    words.rows, words.width   a quantized vector of each, and how long one is
    words.signs               its signs, eight to a byte
    words.by    the name of the encoder
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from jieda.analysis.token import TokenKind, text_of
from jieda.analysis.words import english_words, is_function_word
from jieda.entry import Language
from jieda.errors import IndexUnreadable
from jieda.han import is_han
from jieda.search.index.array_file import Array, Strings, read_arrays, string_arrays
from jieda.search.meaning.embedder import (
    STEPS,
    Embedder,
    Quantized,
    Vector,
    cosines,
    count_differing,
    quantize,
    sign_words,
    signs_of,
    smallest,
)

BATCH = 256
"""Words embedded at once."""
COMPARED = 64
"""Words whose vectors are compared in full: those with the fewest differing signs."""


@lru_cache(1 << 17)
def _is_english(word: str) -> bool:
    # Cached because a builder asks about every word of the index after each edit.
    return word in english_words()


def words_to_embed(vocabulary: Callable[[str], Sequence[str]]) -> list[str]:
    """Return the words of an index that a general dictionary has, sorted; `vocabulary` is that of its lexicon. A name
    means only itself, and a function word says nothing."""
    exact = map(text_of, vocabulary(TokenKind.EXACT.term("")))
    english = filter(_is_english, filter(str.isalpha, exact))
    terms = map(text_of, vocabulary(TokenKind.TERM.term("")))
    chinese = (word for word in terms if len(word) > 1 and is_han(word))
    return sorted(word for word in chain(english, chinese) if not is_function_word(word))


def word_arrays(
    words: Sequence[str], embedder: Embedder, known: "WordVectors | None", pause: Callable[[], None]
) -> dict[str, Array]:
    """Return the arrays that `WordVectors` reads, of sorted words, at least one; only those are embedded that are not
    `known`. Calls `pause` before each batch, which may raise. Raises what the embedder raises."""
    old = known.words.all() if known else []
    places = {word: number for number, word in enumerate(old)}
    new = [word for word in words if word not in places]
    parts = [known.rows] if known else []
    for start in range(0, len(new), BATCH):
        pause()
        parts.append(quantize(embedder.embed(new[start : start + BATCH])))
    places |= {word: len(old) + number for number, word in enumerate(new)}
    vectors: Quantized = np.concatenate(parts)[[places[word] for word in words]]
    return {
        **string_arrays("words", words),
        "words.rows": vectors.reshape(-1),
        "words.signs": signs_of(vectors).view(np.uint8).reshape(-1),
        "words.width": np.array([vectors.shape[1]], "<u4"),
        "words.by": np.frombuffer(embedder.name.encode(), np.uint8),
    }


class WordVectors:
    """The vectors of words, mapped into memory. Safe to share between threads."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        """`name` of the file."""
        self.name = name
        self.made_by = arrays["words.by"].tobytes().decode()
        self.words = Strings(arrays, "words")
        width = int(arrays["words.width"][0])
        self.rows: Quantized = arrays["words.rows"].reshape(-1, width)
        """The vectors, shape (words, width)."""
        self._signs = arrays["words.signs"].view(np.uint64).reshape(-1, sign_words(width))
        first_han = next((n for n in range(len(self.words)) if is_han(self.words.at(n))), len(self.words))
        self._places = {Language.EN: slice(0, first_han), Language.ZH: slice(first_han, None)}

    def vector(self, word: str) -> Vector | None:
        """Return the vector of a word as an encoder returns it; None if the index lacks the word."""
        number = self.words.find(word)
        return None if number is None else np.divide(self.rows[number], STEPS, dtype=np.float32)

    def near(self, vector: Vector, lang: Language, least: float) -> list[str]:
        """Return the words of a language with a cosine of at least `least`, nearest first, among the COMPARED ones with
        the fewest differing signs."""
        place = self._places[lang]
        rows, signs = self.rows[place], self._signs[place]
        if not len(rows) or len(vector) != rows.shape[1]:
            return []
        chosen = smallest(count_differing(signs, signs_of(vector[np.newaxis])), COMPARED)
        alike = cosines(rows[chosen], vector)
        first = place.start or 0
        order = np.argsort(-alike, kind="stable")
        return [self.words.at(first + int(chosen[n])) for n in order if alike[n] >= least]


def open_words(directory: Path, name: str) -> WordVectors | None:
    """Open the file of a name in the directory of an index; None without a name. Raises IndexUnreadable."""
    try:
        return WordVectors(read_arrays(directory, name), name) if name else None
    except (KeyError, ValueError) as error:
        raise IndexUnreadable(f"{directory / name}: {error}") from error
