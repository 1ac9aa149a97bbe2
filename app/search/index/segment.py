"""A segment: some documents, immutable, as columns in one file.

ids       ids of the documents, sorted; a document's number is its place here
terms     term → document, zone, frequency
keys      key → document
facets    `facet:value` → document
telling   word of the texts that tell a failure → document, number of these texts
lengths   terms by zone and document, shape (zones · documents,)
atoms     atom → slot: a place in all texts of all documents, end to end, with one more behind each text
gaps      distinct gaps between atoms, sorted
slots.gap, slots.region   of each slot: the gap before it, and the region it is in
slots.start   the first slot of each document, and the end of the last one
meaning.rows, meaning.width, meaning.start   vectors (`meaning.vectors`), how long one is, and the first of each
          document; no rows where nobody embeds
meaning.signs   the signs of each vector, eight to a byte
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from app.errors import IndexUnreadable
from app.search.index.array_file import Array, narrow, read_arrays, write_arrays
from app.search.index.fields import ZONES
from app.search.index.lexicon import Occurrences, Strings, Table, string_arrays, table_arrays
from app.search.meaning.vectors import Kept, Signs, signs_of, words_of

NO_VECTORS: Kept = np.zeros((0, 1), dtype=np.int8)


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into a segment; documents by number in the order of `ids`, which are sorted."""

    ids: tuple[str, ...]
    terms: Occurrences
    keys: Occurrences
    facets: Occurrences
    telling: Occurrences
    atoms: Occurrences
    lengths: Array
    """Shape (zones, documents)."""
    gaps: tuple[str, ...]
    """Sorted."""
    slot_gaps: Array
    slot_regions: Array
    slot_starts: Array
    meaning: Sequence[Kept]
    """The vectors of each document."""


def write_contents(directory: Path, contents: Contents) -> str:
    """Writes a segment; its name. Raises OSError."""
    return write_arrays(
        directory,
        {
            **string_arrays("ids", contents.ids),
            **table_arrays("terms", contents.terms),
            **table_arrays("keys", contents.keys),
            **table_arrays("facets", contents.facets),
            **table_arrays("telling", contents.telling),
            **table_arrays("atoms", contents.atoms),
            **string_arrays("gaps", contents.gaps),
            "lengths": narrow(contents.lengths.reshape(-1)),
            "slots.gap": narrow(contents.slot_gaps),
            "slots.region": narrow(contents.slot_regions),
            "slots.start": narrow(contents.slot_starts),
            **_vector_arrays(contents.meaning),
        },
    )


def _vector_arrays(vectors: Sequence[Kept]) -> dict[str, Array]:
    rows = np.concatenate([each for each in vectors if len(each)] or [NO_VECTORS])
    return {
        "meaning.rows": rows.reshape(-1),
        "meaning.signs": signs_of(rows).view(np.uint8).reshape(-1),
        "meaning.width": np.array([rows.shape[1]], dtype="<u4"),
        "meaning.start": narrow(np.cumsum([0, *map(len, vectors)], dtype=np.int64)),
    }


class Segment:
    """An open segment."""

    def __init__(self, directory: Path, name: str, *, verified: bool = True) -> None:
        """Raises IndexUnreadable where the file is missing or differs from what was written by a bit."""
        self.name = name
        try:
            arrays = read_arrays(directory, name, verified=verified)
            self.terms = Table(arrays, "terms", 3)
            self.keys = Table(arrays, "keys", 1)
            self.facets = Table(arrays, "facets", 1)
            self.telling = Table(arrays, "telling", 2)
            self.atoms = Table(arrays, "atoms", 1)
            self.gaps = Strings(arrays, "gaps")
            self.slot_gaps, self.slot_regions = arrays["slots.gap"], arrays["slots.region"]
            self.slot_starts = arrays["slots.start"]
            self.meaning: Kept = arrays["meaning.rows"].reshape(-1, int(arrays["meaning.width"][0]))
            self.signs: Signs = (
                arrays["meaning.signs"].view(np.uint64).reshape(-1, words_of(self.meaning.shape[1]))
            )
            self.meaning_starts = arrays["meaning.start"].astype(np.int64)
            self._ids = Strings(arrays, "ids")
            self.lengths = arrays["lengths"].reshape(len(ZONES), len(self._ids))
        except (KeyError, ValueError) as error:
            raise IndexUnreadable(f"{directory / name}: {error}") from error

    def __len__(self) -> int:
        return len(self._ids)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of the documents, by number."""
        return tuple(self._ids.all())

    def number(self, document_id: str) -> int | None:
        """The number of a document."""
        return self._ids.find(document_id)

    def vectors(self, document: int) -> Kept:
        """The vectors of a document: its mean, then its sayings; none where nobody embedded it."""
        first, end = self.meaning_starts[document : document + 2].tolist()
        return self.meaning[first:end]

    def term_frequencies(self, live: Array) -> Array:
        """How many live documents hold each term; `live` is true for each document that counts."""
        documents, starts = self.terms.columns[0], self.terms.starts[:-1].astype(np.int64)
        first = np.ones(len(documents), dtype=np.bool_)
        first[1:] = documents[1:] != documents[:-1]
        first[starts] = True
        return np.add.reduceat((first & live[documents]).astype(np.int64), starts) if len(starts) else starts
