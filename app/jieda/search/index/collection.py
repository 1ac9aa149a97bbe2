"""The live documents of several segments under one numbering: from 0, in the order of their ids.

Look-ups across the segments are here as well: phrases, tags, the vocabulary, and the words of texts about failures,
which a diagnosis counts.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from heapq import merge
from itertools import chain, compress, count, groupby

import numpy as np

from jieda.byte_cache import cache_short
from jieda.entry import Language
from jieda.errors import IndexUnreadable
from jieda.search.index.array_file import Array, firsts
from jieda.search.index.document import (
    EDITION,
    ELSEWHERE,
    JOINERS,
    REGIONS,
    ZONES,
    Spelled,
    between,
    left_edge,
    right_edge,
)
from jieda.search.index.protocol import SPELLED_BITS, Mask, Scores
from jieda.search.index.segment import IndexManifest, Segment
from jieda.search.meaning.word_vectors import WordVectors
from jieda.search.weights import occurrence_weights
from jieda.taxonomy import FACETS, HOLDS, Filters


class Collection:
    """The live documents of segments. `numbers[i][n]` is the number here of document n of segment i, or −1 if that is
    deleted; ascending within a segment."""

    def __init__(self, segments: Sequence[Segment], manifest: IndexManifest) -> None:
        """Raises IndexUnreadable if the deletions are not of these segments, or an id is live twice."""
        self.segments = tuple(segments)
        live = [one.live(manifest.deleted.get(one.name, ())) for one in segments]
        found = [*zip(chain.from_iterable(one.ids for one in segments), count(), strict=False)]
        ordered = sorted(compress(found, chain.from_iterable(mask.tolist() for mask in live)))
        self.ids = tuple(document_id for document_id, _ in ordered)
        if len(set(self.ids)) != len(self.ids):
            raise IndexUnreadable("a document is in two segments")
        numbers = np.full(len(found), -1, dtype=np.int32)
        numbers[[place for _, place in ordered]] = np.arange(len(ordered), dtype=np.int32)
        ends = np.cumsum([len(one) for one in segments], dtype=np.int64).tolist()
        self.numbers: tuple[Array, ...] = tuple(
            numbers[end - len(one) : end] for one, end in zip(segments, ends, strict=True)
        )
        self.places = np.zeros((2, len(self)), dtype=np.int32)
        """The segment of each document, and its number there, shape (2, documents)."""
        for segment, own in enumerate(self.numbers):
            here = np.flatnonzero(own >= 0)
            self.places[0, own[here]], self.places[1, own[here]] = segment, here

    def __len__(self) -> int:
        return len(self.ids)

    def renumbered(self, segment: int, documents: Array) -> Array:
        """Return the numbers here of documents of a segment, without the deleted ones."""
        numbers = self.numbers[segment][documents]
        return numbers[numbers >= 0]

    def live(self, segment: int) -> Array:
        return self.numbers[segment] >= 0

    def holders(self, table: str, key: str) -> Array:
        """Return the numbers here of the documents in the rows of `key` in one of `segment.TABLES`, in their order."""
        found = [np.zeros(0, dtype=np.int32)]
        for place, segment in enumerate(self.segments):
            if (rows := segment.tables[table].rows(key)) is not None:
                found.append(self.renumbered(place, segment.tables[table].columns[0][rows]))
        return np.concatenate(found)

    def placed(self, segment: int, numbers: Array) -> Array:
        """Return the numbers in a segment of those documents that are in it."""
        segments, places = self.places[:, numbers]
        here: Array = places[segments == segment]
        return here

    @cached_property
    def occurrence_weights(self) -> Scores:
        """The tf~ of one occurrence of a term in each zone of each document, shape (documents · zones,).

        Computed on first use: the largest array here, and a cluster needs it for its candidates alone."""
        lengths = np.zeros((len(ZONES), len(self)))
        for numbers, segment in zip(self.numbers, self.segments, strict=True):
            live = numbers >= 0
            lengths[:, numbers[live]] = segment.lengths[:, live]
        return occurrence_weights(lengths.T).reshape(-1)


NO_SLOTS = np.zeros(0, dtype=np.int64)


def phrase_starts(segment: Segment, atoms: Sequence[str]) -> Array:
    """Return the slots, ascending, at which a phrase starts. The rarest atom leads, so that common ones are cheap."""
    rows = [segment.atoms.rows(atom) for atom in atoms]
    if not rows or any(row is None for row in rows):
        return NO_SLOTS
    places = [(segment.atoms.columns[0][row], offset) for offset, row in enumerate(rows)]
    places.sort(key=lambda place: len(place[0]))
    rarest, first = places[0]
    # A slot near the beginning of a segment may be smaller than the offset: negative starts match nothing.
    starts = rarest.astype(np.int64) - first
    for slots, offset in places[1:]:
        wanted = starts + offset
        wanted, starts = wanted[wanted >= 0], starts[wanted >= 0]
        wanted = wanted.astype(slots.dtype)
        found = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
        starts = starts[slots[found] == wanted]
        if not len(starts):
            break
    return starts


def apart_starts(segment: Segment, first: str, second: str) -> Array:
    """Return the slots, ascending, at which `second` follows `first` with only a space or a hyphen between them."""
    starts = phrase_starts(segment, (first, second))
    separators = segment.slot_separators[starts + 1]
    joining = [
        separator
        for separator in np.unique(separators).tolist()
        if JOINERS.fullmatch(segment.separators.at(separator))
    ]
    return starts[np.isin(separators, joining)]


def documents_of(segment: Segment, starts: Array) -> Array:
    """Return the number of the document of each slot; `starts` is ascending."""
    return np.searchsorted(segment.slot_starts, starts.astype(segment.slot_starts.dtype), side="right") - 1


def spelled_at(segment: Segment, starts: Array, typed: Sequence[str]) -> Array:
    """Return how the phrase at each start matches its spelling `typed`: `document.Spelled`, shifted to its region."""
    separators = segment.slot_separators
    last = len(typed) - 1
    left = _judge_each(segment, separators[starts], partial(left_edge, typed[0]))
    right = _judge_each(segment, separators[starts + last], partial(right_edge, typed[last]))
    fits, is_free = left & right
    same, alike = np.ones((2, len(starts)), dtype=np.bool_)
    for number in range(1, last):
        here = _judge_each(segment, separators[starts + number], partial(between, typed[number]))
        same, alike = same & here[0], alike & here[1]
    ways = {Spelled.INSIDE: fits & same, Spelled.JOINED: is_free & alike, Spelled.ALONE: is_free & same}
    held = np.bitwise_or.reduce([mask * np.uint16(way) for way, mask in ways.items()])
    regions = segment.slot_places[starts] % REGIONS
    shifted = held << (SPELLED_BITS * regions).astype(np.uint16)
    return np.where(regions == ELSEWHERE, np.uint16(Spelled.NONE), shifted)


def _judge_each(segment: Segment, separators: Array, judge: Callable[[str], tuple[bool, bool]]) -> Array:
    """Return the two results of `judge` for each separator, shape (2, separators), computed once for each distinct
    one."""
    judged = np.zeros((2, len(segment.separators)), dtype=np.bool_)
    occurs = np.zeros(len(segment.separators), dtype=np.bool_)
    occurs[separators] = True
    for separator in np.flatnonzero(occurs).tolist():
        judged[:, separator] = judge(segment.separators.at(separator))
    return judged[:, separators]


class FacetColumns:
    """The sorted values of each facet, and rows of (document, number of the value), grouped by value."""

    def __init__(self, collection: Collection) -> None:
        self.size = len(collection)
        rows: dict[str, dict[str, list[Array]]] = {facet: {} for facet in (*FACETS, EDITION, HOLDS)}
        for place, segment in enumerate(collection.segments):
            table = segment.facets
            for number, tag in enumerate(table.strings.all()):
                facet, _, value = tag.partition(":")
                documents_of_tag = table.columns[0][int(table.starts[number]) : int(table.starts[number + 1])]
                documents = collection.renumbered(place, documents_of_tag)
                if len(documents):
                    rows.setdefault(facet, {}).setdefault(value, []).append(documents)
        self.values = {facet: tuple(sorted(values)) for facet, values in rows.items()}
        """The values of each facet that documents have."""
        self._documents: dict[str, Array] = {}
        self._numbers: dict[str, Array] = {}
        for facet, values in rows.items():
            held = [np.concatenate(values[value]) for value in self.values[facet]]
            counts = [len(documents) for documents in held]
            self._documents[facet] = np.concatenate([np.zeros(0, dtype=np.int32), *held])
            self._numbers[facet] = np.repeat(np.arange(len(counts)), counts)

    def passing(self, filters: Filters, without: str = "") -> Mask | None:
        """Return the mask of documents that pass all filters but the one on the facet `without`; None if all do."""
        chosen = {facet: filters.facet(facet) for facet in (*FACETS, EDITION) if facet != without}
        masks = [self._chosen(facet, values) for facet, values in chosen.items() if values]
        masks += [~self._chosen(HOLDS, filters.ruled_out)] if filters.ruled_out else []
        return np.logical_and.reduce(masks) if masks else None

    def lacking(self, lang: Language) -> Mask:
        """Return the mask of documents that have no edition in a language."""
        return ~self._chosen(EDITION, (lang,))

    def all_counts(self, answering: Mask, filters: Filters) -> Mapping[str, Mapping[str, int]]:
        """Count for each value of each facet the answers if that value alone were chosen in that facet."""
        counted = {}
        for facet in FACETS:
            passing, values = self.passing(filters, without=facet), self.values[facet]
            among = (answering if passing is None else answering & passing)[self._documents[facet]]
            counts = np.bincount(self._numbers[facet][among], minlength=len(values))
            counted[facet] = dict(zip(values, counts.tolist(), strict=True))
        return counted

    def documents(self, facet: str, value: str) -> Array:
        """Return the documents that have a value, ascending."""
        return np.flatnonzero(self._chosen(facet, (value,)))

    def _chosen(self, facet: str, values: tuple[str, ...]) -> Mask:
        mask = np.zeros(self.size, dtype=np.bool_)
        wanted = [number for number, value in enumerate(self.values[facet]) if value in values]
        mask[self._documents[facet][np.isin(self._numbers[facet], wanted)]] = True
        return mask


KNOWN_TERMS = 50_000
"""Entries of the cache of term frequencies."""


class EmbeddedLexicon:
    """The vocabulary of live documents. Implements `protocol.Lexicon`."""

    def __init__(self, collection: Collection, vectors: WordVectors | None) -> None:
        self._collection = collection
        self.vectors = vectors
        self.doc_frequency = cache_short(KNOWN_TERMS, self._count_documents)
        self._held = lru_cache(len(collection.segments))(self._terms_held)

    def vocabulary(self, prefix: str) -> Sequence[str]:
        segments = enumerate(self._collection.segments)
        found = merge(*(segment.prefixed(prefix, self._held(place)) for place, segment in segments))
        return [term for term, _ in groupby(found)]

    def has_key(self, key: str) -> bool:
        return len(self._collection.holders("keys", key)) > 0

    def are_neighbors(self, first: str, second: str) -> bool:
        for place, segment in enumerate(self._collection.segments):
            starts = apart_starts(segment, first, second)
            if len(self._collection.renumbered(place, documents_of(segment, starts))):
                return True
        return False

    def _count_documents(self, term: str) -> int:
        return int(np.count_nonzero(firsts(self._collection.holders("terms", term))))

    def _terms_held(self, place: int) -> Array | None:
        """Return the mask of the terms of a segment that some live document holds; None if all are held."""
        live = self._collection.live(place)
        return None if live.all() else self._collection.segments[place].terms_held(live)


class DiagnosisTerms:
    """The `diagnosis_terms` of live documents. Documents are numbered in the order of `ids`."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.ids: Sequence[str] = collection.ids

    def postings(self, word: str) -> tuple[Array, Array]:
        numbers, counts = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
        for renumber, segment in zip(self._collection.numbers, self._collection.segments, strict=True):
            if (rows := segment.diagnosis_terms.rows(word)) is not None:
                documents, frequencies = (column[rows] for column in segment.diagnosis_terms.columns)
                live = renumber[documents] >= 0
                numbers.append(renumber[documents[live]])
                counts.append(frequencies[live])
        found, held = np.concatenate(numbers), np.concatenate(counts)
        order = np.argsort(found, kind="stable")
        return found[order], held[order]
