"""The Whoosh schema of an index: its fields under the names that people type, and our analyzer as Whoosh needs it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from whoosh import analysis, fields, formats

from jieda.analysis.pipeline import Analyzer
from jieda.search.index.document import EDITION, UPDATED, ZONES

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
