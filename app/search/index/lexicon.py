"""Sorted strings as one text and offsets into it, and what belongs to each: looked up without decoding the rest."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np

from app.search.index.array_file import Array, narrow

# Of UTF-8: no text goes on behind it. Lone surrogates, which a query may hold, are kept as they are.
LAST = b"\xff"
ERRORS = "surrogatepass"


def encoded(text: str) -> bytes:
    """UTF-8, whose order is that of the characters."""
    return text.encode("utf-8", ERRORS)


class Strings(Sequence[str]):
    """Sorted strings, kept as bytes, each decoded when it is looked at. A slice is a tuple."""

    def __init__(self, arrays: Mapping[str, Array], name: str) -> None:
        self._text = arrays[f"{name}.text"].data
        self._offsets = arrays[f"{name}.offsets"].data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) is not None

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(map(self.at, range(len(self))[place]))
        return self.at(range(len(self))[place])

    def bytes_at(self, number: int) -> bytes:
        """String `number`, undecoded."""
        return bytes(self._text[self._offsets[number] : self._offsets[number + 1]])

    def at(self, number: int) -> str:
        """String `number`."""
        return self.bytes_at(number).decode("utf-8", ERRORS)

    def find(self, text: str) -> int | None:
        """The number of a string."""
        wanted = encoded(text)
        number = self._place(wanted)
        return number if number < len(self) and self.bytes_at(number) == wanted else None

    def prefixed(self, prefix: str) -> range:
        """The numbers of the strings that start with `prefix`."""
        wanted = encoded(prefix)
        return range(self._place(wanted), self._place(wanted + LAST))

    def slice(self, numbers: range) -> list[str]:
        """Strings of neighboring numbers."""
        if not numbers:
            return []
        offsets = self._offsets[numbers.start : numbers.stop + 1].tolist()
        text = bytes(self._text[offsets[0] : offsets[-1]])
        return [
            text[start - offsets[0] : end - offsets[0]].decode("utf-8", ERRORS)
            for start, end in pairwise(offsets)
        ]

    def all(self) -> list[str]:
        """Every string."""
        return self.slice(range(len(self)))

    def _place(self, wanted: bytes) -> int:
        return bisect_left(range(len(self)), wanted, key=self.bytes_at)


def string_arrays(name: str, strings: Sequence[str]) -> dict[str, Array]:
    """What `Strings` reads, of sorted strings."""
    pieces = list(map(encoded, strings))
    offsets = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return {
        f"{name}.text": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        f"{name}.offsets": narrow(offsets),
    }


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Strings, in any order, and where each occurs: row i says that `strings[numbers[i]]` occurs at
    `columns[0][i]`, `columns[1][i]` …; all arrays have one length."""

    strings: Sequence[str]
    numbers: Array
    columns: tuple[Array, ...]


class Table:
    """Sorted strings, and the rows of each."""

    def __init__(self, arrays: Mapping[str, Array], name: str, columns: int) -> None:
        self.strings = Strings(arrays, name)
        self.starts = arrays[f"{name}.starts"]
        self.columns = tuple(arrays[f"{name}.{number}"] for number in range(columns))

    def rows(self, text: str) -> slice | None:
        """Where the rows of a string are in each column."""
        number = self.strings.find(text)
        return None if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))

    def occurrences(self) -> Occurrences:
        """All of it, to be written anew."""
        starts = self.starts.astype(np.int64)
        counts = starts[1:] - starts[:-1]
        return Occurrences(self.strings.all(), np.repeat(np.arange(len(self.strings)), counts), self.columns)


def table_arrays(name: str, found: Occurrences) -> dict[str, Array]:
    """What `Table` reads: strings that occur, sorted; rows by string, then by their columns from the first on."""
    order = sorted(range(len(found.strings)), key=found.strings.__getitem__)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    counts = np.bincount(found.numbers, minlength=len(order)) if order else np.zeros(0, np.int64)
    present = [number for number in order if counts[number]]
    rows = np.lexsort((*reversed(found.columns), ranks[found.numbers]))
    starts = np.zeros(len(present) + 1, dtype=np.int64)
    np.cumsum(counts[present], out=starts[1:])
    columns = {f"{name}.{number}": narrow(column[rows]) for number, column in enumerate(found.columns)}
    return {
        **string_arrays(name, [found.strings[number] for number in present]),
        f"{name}.starts": narrow(starts),
        **columns,
    }
