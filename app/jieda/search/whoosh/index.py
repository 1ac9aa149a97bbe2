"""The index as Whoosh reads it: our columns behind the part of its reader that finds documents. Scoring is ours.

Terms are the atoms of texts, as for phrases and exact matches, positions their slots; tags, languages and days are
terms of fields of their own. Whoosh's file format is not used: segments are mapped arrays, and nothing is unpickled.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from whoosh import analysis, fields, formats, matching, query, reading, scoring
from whoosh.searching import Searcher

from jieda.analysis.pipeline import Analyzer
from jieda.search.index.array_file import Array, encoded
from jieda.search.index.collection import documents_of
from jieda.search.index.document import EDITION, REGIONS, UPDATED, ZONES
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.protocol import Mask

WHOLE, TITLE = "text", "title"
"""The fields of text: all texts of an entry, and its titles."""
TAGS: Mapping[str, str] = {
    "framework": "framework",
    "kind": "kind",
    "topic": "topic",
    "error_type": "error_type",
    "lang": EDITION,
}
"""Fields whose values are tags, and the facet of each."""


class AtomAnalyzer(analysis.Analyzer):  # type: ignore[misc] # it ships no types
    """Our analyzer as a Whoosh analyzer of what is asked: yields a token for each atom of a text."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def __call__(self, value: str, **options: Any) -> Iterator[analysis.Token]:
        token = analysis.Token(**options)
        found = self._analyzer.analyze(value)
        for token.text, (token.startchar, token.endchar) in zip(found.words, found.spans, strict=True):
            yield token


class AtomPositions(formats.Positions):  # type: ignore[misc] # it ships no types
    """Positions as an array of integers; Whoosh's own format is pickled."""

    def decode_positions(self, value: bytes) -> list[int]:
        found: list[int] = np.frombuffer(value, "<u4").tolist()
        return found


class Unscored(scoring.WeightingModel):  # type: ignore[misc] # it ships no types
    """Gives no term a score."""

    def scorer(self, *_: object, **__: object) -> None:
        return None


def schema_of(analyzer: Analyzer) -> fields.Schema:
    """Return the schema with the names that people type."""
    schema = fields.Schema()
    for name in (WHOLE, TITLE):
        field = fields.TEXT(analyzer=AtomAnalyzer(analyzer), phrase=True, multitoken_query="phrase")
        field.format = AtomPositions()
        schema.add(name, field)
    for name in TAGS:
        schema.add(name, fields.KEYWORD(commas=True, lowercase=True))
    schema.add(UPDATED, fields.DATETIME())
    return schema


KEPT_TERMS = 256
"""Entries of the cache of occurrences: a query reads those of one term several times."""

_ZONE_MASKS = {
    WHOLE: np.ones(len(ZONES), np.bool_),
    TITLE: np.array([zone.startswith("title_") for zone in ZONES]),
}
"""The zones of each field of text."""

Occurrences = tuple[Array, Sequence[Array] | None]
"""The documents that have a term of a field, ascending, and for texts its positions in each."""


class WhooshReader(reading.IndexReader):  # type: ignore[misc] # it ships no types
    """Implements the methods of Whoosh's reader that find documents, over the live ones of an index. Safe to share
    between threads."""

    def __init__(self, embedded: EmbeddedIndex, analyzer: Analyzer) -> None:
        self.schema = schema_of(analyzer)
        self._collection, self._facets = embedded.collection, embedded.facets
        self._occurrences = lru_cache(KEPT_TERMS)(self._find)
        self._tag_documents = lru_cache(len(self.schema.names()))(self._documents_by_term)
        self._held = lru_cache(len(_ZONE_MASKS) * max(1, len(self._collection.segments)))(self._held_atoms)

    def found_by(self, asked: query.Query) -> Mask:
        found = np.zeros(len(self._collection), np.bool_)
        found[np.fromiter(asked.docs(Searcher(self, Unscored())), np.intp)] = True
        return found

    def days(self) -> list[str]:
        """Return the day of each document's last change in ISO 8601."""
        days = [""] * len(self._collection)
        for value in self._facets.values.get(UPDATED, ()):
            for document in self._facets.documents(UPDATED, value).tolist():
                days[document] = value
        return days

    def has_deletions(self) -> bool:
        """False: deleted documents have no number here."""
        return False

    def is_deleted(self, _: int) -> bool:
        return False

    def doc_count_all(self) -> int:
        return len(self._collection)

    doc_count = doc_count_all

    def __contains__(self, term: tuple[str, Any]) -> bool:
        return self.doc_frequency(*term) > 0

    def lexicon(self, fieldname: str) -> list[bytes]:
        """Return the sorted terms of a field other than text."""
        return list(self._tag_documents(fieldname))

    def expand_prefix(self, fieldname: str, prefix: str) -> list[bytes]:
        """Return the terms of a field of text that start with a prefix, sorted."""
        found: set[bytes] = set()
        for place, segment in enumerate(self._collection.segments):
            some = segment.atoms.strings.prefixed(prefix)
            held = self._held(fieldname, place)[some.start : some.stop]
            found.update(segment.atoms.strings.bytes_at(some.start + int(n)) for n in np.flatnonzero(held))
        return sorted(found)

    def terms_from(self, fieldname: str, prefix: bytes) -> Iterator[tuple[str, bytes]]:
        return ((fieldname, term) for term in self.lexicon(fieldname) if term >= prefix)

    def doc_frequency(self, fieldname: str, text: str | bytes) -> int:
        return len(self._occurrences(fieldname, self._text_to_bytes(fieldname, text))[0])

    def postings(self, fieldname: str, text: str | bytes, scorer: Any = None) -> matching.Matcher:
        term = fieldname, self._text_to_bytes(fieldname, text)
        documents, positions = self._occurrences(*term)
        values = None if positions is None else [each.astype("<u4").tobytes() for each in positions]
        format_ = self.schema[fieldname].format
        return matching.ListMatcher(documents.tolist(), None, values, format_, scorer=scorer, term=term)

    def _find(self, fieldname: str, term: bytes) -> Occurrences:
        if fieldname not in _ZONE_MASKS:
            return self._tag_documents(fieldname).get(term, np.zeros(0, np.int32)), None
        numbers, places = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
        for segment, here in zip(self._collection.segments, self._collection.numbers, strict=True):
            if (rows := segment.atoms.rows(term.decode("utf-8", "surrogatepass"))) is None:
                continue
            slots = segment.atoms.columns[0][rows].astype(np.int64)
            slots = slots[_ZONE_MASKS[fieldname][segment.slot_places[slots] // REGIONS]]
            owners = documents_of(segment, slots)
            live = here[owners] >= 0
            numbers.append(here[owners[live]])
            places.append(slots[live] - segment.slot_starts[owners[live]])
        documents, positions = np.concatenate(numbers), np.concatenate(places)
        order = np.argsort(documents, kind="stable")
        held, starts = np.unique(documents[order], return_index=True)
        return held, np.split(positions[order], starts[1:])

    def _held_atoms(self, field: str, place: int) -> Mask:
        """Return the mask of the atoms of a segment that occur in a field of a live document."""
        segment = self._collection.segments[place]
        sizes: Array = np.diff(segment.slot_starts.astype(np.int64))
        live = np.repeat(self._collection.live(place), sizes)
        counted = live & _ZONE_MASKS[field][segment.slot_places // REGIONS]
        starts = segment.atoms.starts[:-1].astype(np.int64)
        if not len(starts):
            return np.zeros(0, np.bool_)
        return np.logical_or.reduceat(counted[segment.atoms.columns[0]], starts)

    def _documents_by_term(self, field: str) -> Mapping[bytes, Array]:
        """Return the sorted terms of a field other than text, and the documents of each."""
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
