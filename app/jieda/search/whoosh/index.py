"""The index as a Whoosh index: our columns behind Whoosh's interfaces, so that any Whoosh query runs over them.

`WhooshIndex(index, analyzer).searcher()` is a `whoosh.searching.Searcher`. Its terms are the atoms of texts, as for
phrases and exact matches, its positions their slots; tags, languages and days are terms of their own fields. Whoosh's
file format is not used: segments are mapped arrays, and nothing is unpickled.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from whoosh import analysis, columns, fields, formats, index, matching, query, reading
from whoosh.util.numeric import byte_to_length

from jieda.analysis.pipeline import Analyzer
from jieda.search.index.array_file import Array, encoded
from jieda.search.index.collection import documents_of
from jieda.search.index.document import EDITION, REGIONS, UPDATED, ZONES
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.protocol import Mask

BREAK = "\x1e"
"""Separates the texts of one field of a document, so that no phrase matches across them."""
WHOLE = "text"
"""The field of all texts of an entry."""
TEXTS: Mapping[str, tuple[str, ...]] = {
    "title": ("title_en", "title_zh"),
    "alias": ("alias_en", "alias_zh"),
    "symptom": ("symptom_en", "symptom_zh"),
    "heading": ("heading_en", "heading_zh"),
    "body": ("body_en", "body_zh", "aside_en", "aside_zh"),
    "code": ("code",),
    "signature": ("signature",),
    "tag": ("tag",),
    WHOLE: ZONES,
}
"""Fields of text, and the zones that each joins."""
TAGS: Mapping[str, str] = {
    "framework": "framework",
    "kind": "kind",
    "topic": "topic",
    "error_type": "error_type",
    "lang": EDITION,
}
"""Fields whose values are tags, and the facet of each."""
ID = "id"


class AtomAnalyzer(analysis.Analyzer):  # type: ignore[misc] # it ships no types
    """Our analyzer as a Whoosh analyzer: yields a token for each atom of a text."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def __call__(
        self, value: str, *, start_pos: int = 0, start_char: int = 0, **options: Any
    ) -> Iterator[analysis.Token]:
        token = analysis.Token(**options)
        token.stopped, token.boost = False, 1.0
        position, at = start_pos, start_char
        for text in value.split(BREAK):
            found = self._analyzer.analyze(text)
            for word, (start, end) in zip(found.words, found.spans, strict=True):
                token.text = token.original = word
                token.pos, token.startchar, token.endchar = position, at + start, at + end
                position += 1
                yield token
            position, at = position + 1, at + len(text) + len(BREAK)


class AtomPositions(formats.Positions):  # type: ignore[misc] # it ships no types
    """Positions as an array of integers; Whoosh's own format is pickled."""

    def encode(self, positions: ArrayLike) -> bytes:
        return np.asarray(positions, "<u4").tobytes()

    def decode_positions(self, value: bytes) -> list[int]:
        found: list[int] = np.frombuffer(value, "<u4").tolist()
        return found

    def decode_frequency(self, value: bytes) -> int:
        return len(value) // 4


def schema_of(analyzer: Analyzer) -> fields.Schema:
    """Return the schema with the names that people type."""
    schema = fields.Schema()
    for name in TEXTS:
        field = fields.TEXT(analyzer=AtomAnalyzer(analyzer), phrase=True, multitoken_query="phrase")
        field.format = AtomPositions()
        schema.add(name, field)
    for name in TAGS:
        schema.add(name, fields.KEYWORD(commas=True, lowercase=True, sortable=True))
    schema.add(ID, fields.ID(stored=True, sortable=True))
    schema.add(UPDATED, fields.DATETIME(sortable=True))
    return schema


KEPT_TERMS = 256
"""Entries of the cache of occurrences: a query reads those of one term several times."""

_LENGTHS = np.array([byte_to_length(number) for number in range(256)])
"""The lengths that Whoosh distinguishes: it stores the length of a field in a byte."""
_ZONE_MASKS = {field: np.isin(ZONES, zones) for field, zones in TEXTS.items()}


class Occurrence(NamedTuple):
    """Occurrences of a term of a field: `documents`, ascending, the count in each, and for texts the positions, grouped
    by document."""

    documents: Array
    counts: Array
    positions: Array | None


class ColumnReader(columns.ColumnReader):  # type: ignore[misc] # it ships no types
    """The values of a field by document, for sorting and grouping."""

    def __init__(self, values: Sequence[Any]) -> None:
        super().__init__(None, 0, 0, len(values))
        self._values = values

    def __getitem__(self, document: int) -> Any:
        return self._values[document]


class IndexColumns(reading.IndexReader):  # type: ignore[misc] # it ships no types
    """Implements Whoosh's reader over the live documents of an index. Safe to share between threads."""

    def __init__(self, embedded: EmbeddedIndex, schema: fields.Schema) -> None:
        self.schema = schema
        self._collection, self._facets = embedded.collection, embedded.facets
        self._find_cached = lru_cache(KEPT_TERMS)(self._find)
        self._lengths = lru_cache(len(schema.names()))(self._count_lengths)
        self._tag_documents = lru_cache(len(schema.names()))(self._documents_by_term)
        self._held = lru_cache(len(TEXTS) * max(1, len(self._collection.segments)))(self._held_atoms)

    def indexed_field_names(self) -> list[str]:
        return sorted(self.schema.names())

    def has_deletions(self) -> bool:
        """False: deleted documents have no number here."""
        return False

    def is_deleted(self, _: int) -> bool:
        return False

    def doc_count_all(self) -> int:
        return len(self._collection)

    doc_count = doc_count_all

    def stored_fields(self, document: int) -> dict[str, str]:
        """Return the id of a document; the entry itself is stored elsewhere."""
        return {ID: self._collection.ids[document]}

    # ---- terms

    def __contains__(self, term: tuple[str, Any]) -> bool:
        return term[0] in self.schema and bool(len(self._occurrences(*term).documents))

    def lexicon(self, fieldname: str) -> list[bytes]:
        return self.expand_prefix(fieldname, b"")

    def expand_prefix(self, fieldname: str, prefix: str | bytes) -> list[bytes]:
        """Return the terms of a field that start with a prefix, sorted."""
        if fieldname not in self.schema:
            raise reading.TermNotFound(fieldname)
        start = prefix if isinstance(prefix, bytes) else encoded(prefix)
        if fieldname in TEXTS:
            return self._atoms_from(fieldname, start)
        return [term for term in self._tag_documents(fieldname) if term.startswith(start)]

    def all_terms(self) -> Iterator[tuple[str, bytes]]:
        """Yield each term with its field, sorted."""
        return ((name, term) for name in self.indexed_field_names() for term in self.lexicon(name))

    def terms_from(self, fieldname: str, prefix: bytes) -> Iterator[tuple[str, bytes]]:
        names = (name for name in self.indexed_field_names() if name >= fieldname)
        return (
            (name, term)
            for name in names
            for term in self.lexicon(name)
            if name > fieldname or term >= prefix
        )

    def frequency(self, fieldname: str, text: str | bytes) -> float:
        return float(self._occurrences(fieldname, text).counts.sum())

    def doc_frequency(self, fieldname: str, text: str | bytes) -> int:
        return len(self._occurrences(fieldname, text).documents)

    def term_info(self, fieldname: str, text: str | bytes) -> reading.TermInfo:
        """Return the statistics of a term that Whoosh scores by. Raises TermNotFound."""
        found = self._occurrences(fieldname, text)
        if not len(found.documents):
            raise reading.TermNotFound(f"{fieldname}:{text!r}")
        lengths = _rounded(self._lengths(fieldname)[found.documents])
        return reading.TermInfo(
            weight=float(found.counts.sum()),
            df=len(found.documents),
            minlength=int(lengths.min()),
            maxlength=int(lengths.max()),
            maxweight=float(found.counts.max()),
            minid=int(found.documents[0]),
            maxid=int(found.documents[-1]),
        )

    def postings(self, fieldname: str, text: str | bytes, scorer: Any = None) -> matching.Matcher:
        """Raises TermNotFound."""
        found, info = self._occurrences(fieldname, text), self.term_info(fieldname, text)
        format_, values = self.schema[fieldname].format, None
        if found.positions is not None:
            ends = np.cumsum(found.counts)
            values = [format_.encode(each) for each in np.split(found.positions, ends[:-1])]
        weights = found.counts.astype(float).tolist()
        term = fieldname, self._text_to_bytes(fieldname, text)
        return matching.ListMatcher(
            found.documents.tolist(), weights, values, format_, scorer=scorer, term=term, terminfo=info
        )

    # ---- lengths

    def field_length(self, fieldname: str) -> int:
        """0 for fields without lengths."""
        return int(self._lengths(fieldname).sum())

    def min_field_length(self, fieldname: str) -> int:
        """Return the length of the field in the shortest document that has it."""
        lengths = self._lengths(fieldname)
        return int(_rounded(lengths[lengths > 0].min(initial=self.max_field_length(fieldname))))

    def max_field_length(self, fieldname: str) -> int:
        return int(_rounded(self._lengths(fieldname).max(initial=0)))

    def doc_field_length(self, docnum: int, fieldname: str, default: int = 0) -> int:
        return int(_rounded(self._lengths(fieldname)[docnum])) or default

    # ---- columns

    def has_vector(self, *_: object) -> bool:
        """False: there are no term vectors by document."""
        return False

    def has_column(self, fieldname: str) -> bool:
        return fieldname in {*TAGS, ID, UPDATED}

    def column_reader(
        self, fieldname: str, *, reverse: bool = False, translate: bool = False, **_: object
    ) -> ColumnReader:
        """Return the values of a field by document; several tags are joined by commas."""
        values = self.values(fieldname)
        if fieldname != UPDATED:
            return ColumnReader(values if translate else [value.encode() for value in values])
        field = self.schema[UPDATED]
        days = [datetime.fromisoformat(day) if day else None for day in values]
        if translate:
            return ColumnReader(days)
        default, sign = field.column_type.default_value(reverse), -1 if reverse else 1
        return ColumnReader([sign * field.to_column_value(day) if day else default for day in days])

    # ---- parts

    def _occurrences(self, fieldname: str, text: str | bytes) -> Occurrence:
        return self._find_cached(fieldname, self._text_to_bytes(fieldname, text))

    def _find(self, fieldname: str, term: bytes) -> Occurrence:
        if fieldname in TEXTS:
            return self._find_in_texts(fieldname, term.decode("utf-8", "surrogatepass"))
        documents = self._tag_documents(fieldname).get(term, np.zeros(0, np.int32))
        return Occurrence(documents, np.ones(len(documents), np.int64), None)

    def _find_in_texts(self, field: str, atom: str) -> Occurrence:
        numbers, places = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for segment, here in zip(self._collection.segments, self._collection.numbers, strict=True):
            if (rows := segment.atoms.rows(atom)) is None:
                continue
            slots = segment.atoms.columns[0][rows].astype(np.int64)
            slots = slots[_ZONE_MASKS[field][segment.slot_places[slots] // REGIONS]]
            owners = documents_of(segment, slots)
            live = here[owners] >= 0
            numbers.append(here[owners[live]])
            places.append(slots[live] - segment.slot_starts[owners[live]])
        documents, positions = np.concatenate(numbers), np.concatenate(places)
        order = np.argsort(documents, kind="stable")
        held, counts = np.unique(documents, return_counts=True)
        return Occurrence(held, counts, positions[order])

    def _atoms_from(self, field: str, prefix: bytes) -> list[bytes]:
        found: set[bytes] = set()
        for place, segment in enumerate(self._collection.segments):
            strings = segment.atoms.strings
            some = strings.prefixed(prefix.decode("utf-8", "surrogatepass"))
            held = self._held(field, place)[some.start : some.stop]
            found.update(strings.bytes_at(some.start + int(number)) for number in np.flatnonzero(held))
        return sorted(found)

    def _held_atoms(self, field: str, place: int) -> Mask:
        """Return the mask of the atoms of a segment that occur in a field of a live document."""
        segment = self._collection.segments[place]
        live = self._collection.live(place)[self._owners(place)]
        counted = live & _ZONE_MASKS[field][segment.slot_places // REGIONS]
        starts = segment.atoms.starts[:-1].astype(np.int64)
        if not len(starts):
            return np.zeros(0, np.bool_)
        return np.logical_or.reduceat(counted[segment.atoms.columns[0]], starts)

    def _count_lengths(self, field: str) -> Array:
        lengths = np.zeros(len(self._collection), np.int64)
        for place, segment in enumerate(self._collection.segments if field in TEXTS else ()):
            slots = segment.atoms.columns[0]
            slots = slots[_ZONE_MASKS[field][segment.slot_places[slots] // REGIONS]]
            counts = np.bincount(self._owners(place)[slots], minlength=len(segment))
            live = self._collection.live(place)
            lengths[self._collection.numbers[place][live]] = counts[live]
        return lengths

    def _owners(self, place: int) -> Array:
        """Return the document of each slot of a segment."""
        starts = self._collection.segments[place].slot_starts.astype(np.int64)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def _documents_by_term(self, field: str) -> Mapping[bytes, Array]:
        """Return the sorted terms of a field other than text, and the documents of each."""
        if field == ID:
            return {encoded(name): np.array([place]) for place, name in enumerate(self._collection.ids)}
        facet = TAGS.get(field, UPDATED)
        values = (
            (value, self._facets.documents(facet, value)) for value in self._facets.values.get(facet, ())
        )
        if field != UPDATED:
            return {encoded(value): documents for value, documents in values}
        found: dict[bytes, list[Array]] = {}
        for value, documents in values:
            for term, *_ in self.schema[UPDATED].index(datetime.fromisoformat(value)):
                found.setdefault(term, []).append(documents)
        return {term: np.unique(np.concatenate(each)) for term, each in sorted(found.items())}

    def values(self, field: str) -> list[str]:
        """Return the values of a field other than text by document; several are joined by commas."""
        if field == ID:
            return list(self._collection.ids)
        held: list[list[str]] = [[] for _ in self._collection.ids]
        facet = TAGS.get(field, UPDATED)
        for value in self._facets.values.get(facet, ()):
            for document in self._facets.documents(facet, value).tolist():
                held[document].append(value)
        return [",".join(each) for each in held]


def _rounded(lengths: Array) -> Array:
    """Round lengths as Whoosh does, so that scores are equal to its own."""
    return _LENGTHS[np.minimum(np.searchsorted(_LENGTHS, lengths), len(_LENGTHS) - 1)]


class WhooshIndex(index.Index):  # type: ignore[misc] # it ships no types
    """An open index directory as a Whoosh index. Only `writer.update_index` writes it."""

    def __init__(self, embedded: EmbeddedIndex, analyzer: Analyzer) -> None:
        self.schema = schema_of(analyzer)
        self._reader = IndexColumns(embedded, self.schema)

    def reader(self, **_: object) -> IndexColumns:
        return self._reader

    def is_empty(self) -> bool:
        return self._reader.doc_count() == 0

    def days(self) -> list[str]:
        """Return the day of each document's last change in ISO 8601."""
        return self._reader.values(UPDATED)

    def matching(self, asked: query.Query) -> Mask:
        found = np.zeros(self._reader.doc_count(), np.bool_)
        found[np.fromiter(asked.docs(self.searcher()), np.intp)] = True
        return found
