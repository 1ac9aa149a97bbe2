"""Completion while typing: titles, identifiers, tags and glossary words, from lists in memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.entry import FACETS, Language, facet_values
from app.search.answers import Completion, CompletionType

LONGEST = 120
"""Characters of what is typed that are looked at."""

IDENTIFIER = re.compile(
    r"-{0,2}[A-Za-z_][\w.\-]*(?:[_.\-]|[a-z][A-Z])[\w.\-]*\w|--[A-Za-z][\w\-]+|[A-Z][A-Z0-9_]{3,}"
)
WORD_START = re.compile(r"[\s_\-./:(\[\"'“（《：，、]")
SEPARATORS = re.compile(r"[_\-\s]+")

# Where the typed text stands, best first.
WHOLE, PREFIX, WORD_PREFIX, INNER = range(4)

TYPE_ORDER = {kind: number for number, kind in enumerate(CompletionType)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to complete to; `folded` is what typed text is compared with. `lang`: shown to its readers first."""

    completion: Completion
    folded: str
    lang: Language | None


class Completer:
    """Completes against everything a library offers. A look-up is one scan of short strings."""

    def __init__(self, library: Library, analyzer: Analyzer) -> None:
        self._fold = analyzer.fold
        found = dict.fromkeys(
            (completion, lang)
            for completion, lang in [
                *_titles(library),
                *_identifiers(library),
                *_tags(library),
                *_words(library),
            ]
        )
        self._candidates = [Candidate(one, analyzer.fold(one.text), lang) for one, lang in found]

    def complete(self, text: str, lang: Language, limit: int) -> tuple[Completion, ...]:
        """At most `limit`, best first: what starts with `text` before what has it at the start of a word, before
        what has it inside; `-`, `_` and space alike; titles in `lang` before titles in the other language."""
        typed = self._fold(text.strip()[:LONGEST])
        if not typed:
            return ()
        loose = SEPARATORS.sub("_", typed).strip("_")
        ranked = []
        for candidate in self._candidates:
            place = _place(typed, candidate.folded)
            if place is None and loose:
                place = _place(loose, SEPARATORS.sub("_", candidate.folded).strip("_"))
            if place is not None:
                foreign = candidate.lang not in {None, lang}
                order = (place, foreign, TYPE_ORDER[candidate.completion.type], len(candidate.folded))
                ranked.append((order, candidate.completion))
        ranked.sort(key=lambda one: (one[0], one[1].text))
        return tuple(dict.fromkeys(completion for _, completion in ranked))[:limit]


def _place(typed: str, text: str) -> int | None:
    at = text.find(typed)
    if at < 0:
        return None
    if at == 0:
        return WHOLE if len(typed) == len(text) else PREFIX
    return WORD_PREFIX if WORD_START.match(text[at - 1]) or not text[at].isascii() else INNER


def _titles(library: Library) -> Iterator[tuple[Completion, Language | None]]:
    for entry in library.entries.values():
        for lang, edition in entry.editions.items():
            yield Completion(edition.title, CompletionType.TITLE, entry.id), lang


def _identifiers(library: Library) -> Iterator[tuple[Completion, Language | None]]:
    for entry in library.entries.values():
        for edition in entry.editions.values():
            for code in edition.code:
                for match in IDENTIFIER.finditer(code):
                    yield Completion(match.group(), CompletionType.IDENTIFIER), None


def _tags(library: Library) -> Iterator[tuple[Completion, Language | None]]:
    used = {
        (facet, value)
        for e in library.entries.values()
        for facet in FACETS
        for value in facet_values(e)[facet]
    }
    for facet in FACETS:
        for value, tag in library.taxonomy.facet(facet).items():
            if (facet, value) in used:
                for lang, name in tag.name.items():
                    yield Completion(name, CompletionType.TAG, f"{facet}/{value}"), lang


def _words(library: Library) -> Iterator[tuple[Completion, Language | None]]:
    for group in library.glossary:
        for lang, words in ((Language.EN, group.en), (Language.ZH, group.zh)):
            for word in words:
                yield Completion(word, CompletionType.GLOSSARY), lang
