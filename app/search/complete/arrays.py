"""Candidates as arrays, kept with a generation: strings, and where words start in them, sorted.

    text, target          what is shown and where it leads, by candidate
    kind, order, groups   type of completion; rank within the same place; first candidate of each group of languages
    folded, loose         what typed text is compared with; in `loose`, `-`, `_` and space are one
    folded.of, folded.at  every place at which a word starts in a folded string, sorted by what stands from there on:
                          the candidate, and the byte; likewise for `loose`

Candidates are grouped by language (none, English, Chinese); in a group they are in the order in which they are shown.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from app.entry import Language
from app.han import EAST_ASIAN
from app.search.answers import CompletionType
from app.search.complete.candidates import Candidate
from app.search.index.array_file import Array, link_arrays, narrow, read_arrays, write_arrays
from app.search.index.lexicon import string_arrays

GROUPS = (None, *Language)
TYPES = tuple(CompletionType)
# The first character, what stands behind one of these, and every Chinese one.
WORD_STARTS = re.compile(rf"\A(?!\Z)|(?<=[\s_\-./:(\[\"'“（《：，、])(?!\Z)|(?=[{EAST_ASIAN}])")
SEPARATORS = re.compile(r"[_\-\s]+")

Fold = Callable[[str], str]


def loosened(text: str) -> str:
    """Folded text with `-`, `_` and space made one."""
    return SEPARATORS.sub("_", text).strip("_")


def starts_word(text: str, at: int) -> bool:
    """Whether a word starts at a place of a string; every Chinese character starts one."""
    return WORD_STARTS.match(text, at) is not None


def completion_arrays(candidates: Sequence[Candidate], fold: Fold) -> dict[str, Array]:
    """What a `Completer` reads."""
    folded_by_text = {one.completion.text: fold(one.completion.text) for one in candidates}

    def key(one: Candidate) -> tuple[int, int, str]:
        text = one.completion.text
        return TYPES.index(one.completion.type), len(folded_by_text[text]), text

    ranks = {one: rank for rank, one in enumerate(sorted(candidates, key=key))}
    grouped = sorted(ranks, key=lambda one: (GROUPS.index(one.lang), ranks[one]))
    groups = [GROUPS.index(one.lang) for one in grouped]
    folded = [folded_by_text[one.completion.text] for one in grouped]
    loose = [loosened(text) for text in folded]
    return {
        **string_arrays("text", [one.completion.text for one in grouped]),
        **string_arrays("target", [one.completion.target for one in grouped]),
        **string_arrays("folded", folded),
        **string_arrays("loose", loose),
        **_word_starts("folded", folded),
        **_word_starts("loose", loose),
        "kind": np.array([TYPES.index(one.completion.type) for one in grouped], dtype=np.uint8),
        "order": np.array([ranks[one] for one in grouped], dtype=np.uint32),
        "groups": narrow(np.searchsorted(groups, np.arange(len(GROUPS) + 1))),
    }


def _word_starts(name: str, texts: Sequence[str]) -> dict[str, Array]:
    places = sorted((behind, number, at) for number, text in enumerate(texts) for behind, at in _starts(text))
    return {
        f"{name}.of": np.array([number for _, number, _ in places], dtype=np.uint32),
        f"{name}.at": narrow(np.array([at for _, _, at in places], dtype=np.int64)),
    }


def _starts(text: str) -> Iterator[tuple[bytes, int]]:
    """What stands from each start of a word on, and the byte of it."""
    encoded = text.encode("utf-8", "surrogatepass")
    byte = before = 0
    for start in WORD_STARTS.finditer(text):
        byte += len(text[before : start.start()].encode("utf-8", "surrogatepass"))
        before = start.start()
        yield encoded[byte:], byte


def write_completions(directory: Path, candidates: Sequence[Candidate], fold: Fold) -> str:
    """Writes candidates to a file of `directory`; its name. Raises OSError."""
    return write_arrays(directory, completion_arrays(candidates, fold))


def link_completions(target: Path, previous: Path, name: str) -> None:
    """Has `target` hold the file that `previous` has, by a hard link where that works. Raises OSError."""
    link_arrays(previous, name, target)


def read_completions(directory: Path, name: str) -> dict[str, Array]:
    """What was written. Raises IndexUnreadable where it is damaged."""
    return read_arrays(directory, name)
