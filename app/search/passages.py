"""The lines of an edition with the index terms that stand in them: what snippets and reasons are cut from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.entry import Edition

CACHED_EDITIONS = 1024
"""Analyzing an edition takes some milliseconds, so that of those shown lately is kept."""

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A block of text in section `section`; `terms` are index terms with their spans in `text`."""

    section: str
    text: str
    terms: Mapping[str, Spans]


class Passages:
    """Analyzed lines of editions, made when first asked for."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._cached = lru_cache(CACHED_EDITIONS)(self._analyzed)
        self._cached_title = lru_cache(CACHED_EDITIONS)(self.line)

    def lines(self, edition: Edition) -> tuple[Line, ...]:
        """The lines of the body, in order."""
        return self._cached(tuple((section.key, section.text) for section in edition.sections))

    def surface(self, edition: Edition, term: str) -> str:
        """How an index term first reads in the edition, title included; empty where it doesn't stand there."""
        for line in (self._cached_title("title", edition.title), *self.lines(edition)):
            if term in line.terms:
                start, end = line.terms[term][0]
                return line.text[start:end]
        return ""

    def line(self, section: str, text: str) -> Line:
        """`text`, analyzed."""
        analysis = self._analyzer.analyze(text)
        terms: dict[str, Spans] = {}
        for token in (*analysis.tokens, *self._glossary.tokens(analysis)):
            terms[token.term] = (*terms.get(token.term, ()), (token.start, token.end))
        return Line(section, text, terms)

    def _analyzed(self, sections: tuple[tuple[str, str], ...]) -> tuple[Line, ...]:
        return tuple(
            self.line(section, text)
            for section, block in sections
            for text in block.splitlines()
            if text.strip()
        )
