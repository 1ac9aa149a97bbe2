"""Entries to documents: which text goes into which zone, analyzed once."""

from collections.abc import Iterable, Iterator

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.analysis.token import Token, TokenKind
from app.content.library import Library
from app.entry import FACETS, Edition, Entry, Language, Taxonomy, facet_values
from app.search.engine import BOUNDARY, Document
from app.search.fields import ZONES
from app.signature import literal_text

SCHEMA_VERSION = "3"
"""Part of the digest an index is kept under: raise it when the same entry makes another document."""

ASIDES = frozenset({"see-also"})


class DocumentBuilder:
    """Turns entries into documents with one analyzer and one glossary."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary, taxonomy: Taxonomy) -> None:
        self._analyzer = analyzer
        self._glossary = glossary
        self._taxonomy = taxonomy

    def build(self, entry: Entry, tag_languages: Iterable[Language] = tuple(Language)) -> Document:
        """The document of an entry; its tags are indexed under their names in `tag_languages`."""
        zones: dict[str, list[str]] = {zone.name: [] for zone in ZONES}
        atoms: list[str] = []
        for zone, text in zone_texts(entry, self._taxonomy, tuple(tag_languages)):
            analysis = self._analyzer.analyze(text)
            found: list[Token] = [*analysis.tokens, *self._glossary.tokens(analysis)]
            zones[zone] += [token.term for token in found]
            atoms += [atom.text for atom in analysis.atoms]
            atoms.append(BOUNDARY)
        return Document(
            id=entry.id,
            zones=zones,
            keys=tuple(sorted({self._key(text) for text in keyed_texts(entry)})),
            atoms=atoms,
            facets={**facet_values(entry), "edition": tuple(sorted(entry.editions))},
        )

    def _key(self, text: str) -> str:
        return TokenKind.KEY.term(self._analyzer.key(text))


def build_documents(
    library: Library, analyzer: Analyzer, tag_languages: Iterable[Language] = tuple(Language)
) -> Iterator[Document]:
    """A document for every entry of a library, in the order of ids."""
    languages = tuple(tag_languages)
    builder = DocumentBuilder(analyzer, Glossary(library.glossary, analyzer), library.taxonomy)
    for _, entry in sorted(library.entries.items()):
        yield builder.build(entry, languages)


def keyed_texts(entry: Entry) -> Iterator[str]:
    """Titles and aliases: a query that is one of them puts the entry first."""
    for edition in entry.editions.values():
        yield edition.title
        yield from edition.aliases


def zone_texts(
    entry: Entry, taxonomy: Taxonomy, tag_languages: tuple[Language, ...]
) -> Iterator[tuple[str, str]]:
    """Each text of an entry with the zone it belongs to."""
    for lang, edition in entry.editions.items():
        yield f"title_{lang}", edition.title
        for zone, texts in (
            ("alias", edition.aliases),
            ("symptom", edition.symptoms),
            ("heading", tuple(heading.text for heading in edition.headings if heading.level > 2)),
            ("body", tuple(body_lines(edition))),
            ("aside", tuple(aside_lines(edition))),
        ):
            for text in texts:
                yield f"{zone}_{lang}", text
    for text in distinct(code for edition in entry.editions.values() for code in edition.code):
        yield "code", text
    for line in entry.signature_lines:
        yield "signature", literal_text(line)
    for facet in FACETS:
        for value in facet_values(entry)[facet]:
            for name in distinct(taxonomy.facet(facet)[value].name[lang] for lang in tag_languages):
                yield "tag", name


def body_lines(edition: Edition) -> Iterator[str]:
    """The text of an edition, a line for each block, and what it says of its scope."""
    if edition.applies_to:
        yield edition.applies_to
    for section in edition.sections:
        if section.key not in ASIDES:
            yield from section.text.splitlines()


def aside_lines(edition: Edition) -> Iterator[str]:
    """The text that speaks of other entries."""
    for section in edition.sections:
        if section.key in ASIDES:
            yield from section.text.splitlines()


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """`texts` without repeats, in order."""
    return tuple(dict.fromkeys(texts))
