"""Other wordings of a title: what it would be with a word of the glossary in place of one that means the same."""

from collections.abc import Iterator

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.entry import Edition, Language

MOST = 20
"""Wordings that are offered for an edition."""


def wordings(edition: Edition, glossary: Glossary, analyzer: Analyzer) -> tuple[str, ...]:
    """Wordings of an edition's title in its language that it does not have yet as an alias."""
    had = {analyzer.key(text) for text in (edition.title, *edition.aliases)}
    found = dict.fromkeys(_swapped(edition.title, edition.lang, glossary, analyzer))
    return tuple(each for each in found if analyzer.key(each) not in had)[:MOST]


def _swapped(title: str, lang: Language, glossary: Glossary, analyzer: Analyzer) -> Iterator[str]:
    analysis = analyzer.analyze(title)
    atoms = analysis.atoms
    for mention in glossary.mentions(analysis):
        group = glossary.groups[mention.group]
        start, end = atoms[mention.first].start, atoms[mention.last].end
        for word in group.en if lang is Language.EN else group.zh:
            yield f"{title[:start]}{word}{title[end:]}"
