"""What there is to complete to: titles, identifiers, tags in use and glossary words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.content.library import Library
from app.entry import Entry, Language, Summary
from app.search.answers import Completion, CompletionType
from app.taxonomy import FACETS, GlossaryGroup, Taxonomy, facet_values

IDENTIFIER = re.compile(
    r"-{0,2}[A-Za-z_][\w.\-]*(?:[_.\-]|[a-z][A-Z])[\w.\-]*\w|--[A-Za-z][\w\-]+|[A-Z][A-Z0-9_]{3,}"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to complete to. `lang`: shown to its readers first; None for what is in no language."""

    completion: Completion
    lang: Language | None


def candidates_of(library: Library) -> tuple[Candidate, ...]:
    """Everything that a library offers, each once."""
    entries = library.entries.values()
    found = (
        *(one for entry in entries for one in entry_candidates(entry)),
        *tag_candidates(library.listed(), library.taxonomy),
        *glossary_candidates(library.glossary),
    )
    return tuple(dict.fromkeys(found))


def entry_candidates(entry: Entry) -> Iterator[Candidate]:
    """Titles of an entry and the identifiers in its code."""
    for lang, edition in entry.editions.items():
        yield Candidate(Completion(edition.title, CompletionType.TITLE, entry.id), lang)
        for code in edition.code:
            for match in IDENTIFIER.finditer(code):
                yield Candidate(Completion(match.group(), CompletionType.IDENTIFIER), None)


def tag_candidates(entries: Iterable[Entry | Summary], taxonomy: Taxonomy) -> Iterator[Candidate]:
    """Names of the tags that any of some entries has."""
    used = {(facet, value) for entry in entries for facet in FACETS for value in facet_values(entry)[facet]}
    for facet in FACETS:
        for value, tag in taxonomy.facet(facet).items():
            if (facet, value) in used:
                for lang, name in tag.name.items():
                    yield Candidate(Completion(name, CompletionType.TAG, f"{facet}/{value}"), lang)


def glossary_candidates(glossary: Iterable[GlossaryGroup]) -> Iterator[Candidate]:
    """Words of the glossary."""
    for group in glossary:
        for lang, words in ((Language.EN, group.en), (Language.ZH, group.zh)):
            for word in words:
                yield Candidate(Completion(word, CompletionType.GLOSSARY), lang)
