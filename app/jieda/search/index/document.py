"""Turns entries into documents: assigns texts to zones, analyzes them once, records their spelling, and splits them
into chunks to embed, each small enough to mean one thing.

Analysis reduces many spellings to one word, so that each finds the others. Beside the words, a document keeps the
separators between them: these distinguish `--load`, `load` and `load_dir` without the text.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Analysis, TokenKind
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language
from jieda.search.meaning.embedder import Embedder, EntryVectors
from jieda.signature import literal_text
from jieda.taxonomy import FACETS, Taxonomy, facet_values

ZONES = (
    "title_en",
    "title_zh",
    "alias_en",
    "alias_zh",
    "symptom_en",
    "symptom_zh",
    "heading_en",
    "heading_zh",
    "body_en",
    "body_zh",
    "aside_en",
    "aside_zh",
    "code",
    "signature",
    "tag",
)
"""The zones of a document. Asides are links to other entries, whose words are only half about this one."""

EDITION, UPDATED = "edition", "updated"
"""Further facets that documents are filtered by."""

TITLES, BODIES, FRONTS, ELSEWHERE = range(4)
"""Regions of text for exact matches: titles, the text of a page, text that only search sees (aliases, symptoms,
signatures), and text that is not the entry's own (names of tags, the scope it applies to)."""


REGIONS = 4

START = END = "\n"
"""Marks the start and the end of a text with a character that no name has."""

LONGEST_SEPARATOR = 16
"""A longer separator is reduced to its two ends; nobody types one."""

LEFT_OPEN = re.compile(r"(?<!\w)(?<!\w-)\Z")
RIGHT_OPEN = re.compile(r"(?![\w-])")
PLAIN = frozenset({"", " "})
"""The most common separators."""
JOINERS = re.compile(r"[-_ ]+")
WORD = "x"


class Spelled(IntFlag):
    """How a text spells a query that it contains."""

    NONE = 0
    INSIDE = 1
    """As typed, perhaps within a longer name."""
    JOINED = 2
    """By itself, with `-`, `_` and space exchanged: `batch-size` for `batch_size`."""
    ALONE = 4
    """As typed and by itself: leading dashes do not make a longer name."""


@dataclass(frozen=True, slots=True)
class IndexedText:
    """A text as atoms and separators: `separators[i]` precedes atom i, the last separator follows the last atom."""

    region: int
    """TITLES, BODIES, FRONTS or ELSEWHERE."""
    atoms: tuple[str, ...]
    separators: tuple[str, ...]
    zone: str = "body_en"
    """One of `ZONES`."""


def separators_of(text: str, analysis: Analysis, fold: Callable[[str], str]) -> tuple[str, ...]:
    """Return the text before each atom and after the last one; folded and cut to `LONGEST_SEPARATOR`."""
    found, last = [], 0
    for start, end in (*analysis.spans, (len(text), 0)):
        separator, last = text[last:start], end
        if separator not in PLAIN:
            separator = separator if separator.isascii() else fold(separator)
            if len(separator) > LONGEST_SEPARATOR:
                half = LONGEST_SEPARATOR // 2
                separator = separator[:half] + separator[-half:]
        found.append(separator)
    return tuple(found)


def left_edge(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether the start of a typed text fits the separator before it, and whether a name can start there."""
    fits = separator.endswith(typed)
    return fits, fits and LEFT_OPEN.search(WORD + separator[: len(separator) - len(typed)]) is not None


def right_edge(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether the end of a typed text fits the separator after it, and whether a name can end there."""
    fits = separator.startswith(typed)
    return fits, fits and RIGHT_OPEN.match(separator[len(typed) :] + WORD) is not None


def between(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether an inner separator is as typed, and whether it is at least an equivalent joiner (`-`, `_`, space)."""
    same = typed == separator
    return same, same or bool(JOINERS.fullmatch(typed) and JOINERS.fullmatch(separator))


ASIDES = frozenset({"see-also"})

ANYWHERE = "*"
"""The framework of entries that apply anywhere."""

LONGEST_KEY = 96
"""A longer code span is replaced by its digest, as only whole spans are compared."""


@dataclass(frozen=True, slots=True)
class Document:
    """An analyzed entry. `zones`: frequency of each term in each zone of `ZONES`."""

    id: str
    zones: Mapping[str, Mapping[str, int]]
    keys: tuple[str, ...]
    """`TokenKind.KEY` terms of its titles and aliases; `SPAN` and `FOLDED_SPAN` terms of its code spans; `FRAMEWORK`
    terms of the frameworks it is for."""
    texts: Sequence[IndexedText]
    """Atoms and separators of all its texts, for phrases and exact matches, which never span two texts."""
    facets: Mapping[str, tuple[str, ...]]
    """Tags by facet, its languages under EDITION, and the day of its last change under UPDATED."""
    diagnosis_terms: Mapping[str, int] = field(default_factory=dict)
    """For the diagnosis: how many of its titles, symptoms, signatures and passages of samples have each word."""
    meaning: EntryVectors | None = None
    """Its embedded texts, if there is an embedder."""


def document_of(
    entry: Entry,
    analyzer: Analyzer,
    glossary: Glossary,
    taxonomy: Taxonomy,
    tag_languages: Sequence[Language] = tuple(Language),
) -> Document:
    """Return the document of an entry; its tags are indexed under their names in `tag_languages`."""
    held: dict[str, list[str]] = {zone: [] for zone in ZONES}
    texts: list[IndexedText] = []
    for zone, region, text in zone_texts(entry, taxonomy, tag_languages):
        glossed = glossary.read(text)
        held[zone] += glossed.terms
        if atoms := glossed.analysis.words:
            first, *inner, last = separators_of(text, glossed.analysis, analyzer.fold)
            texts.append(IndexedText(region, atoms, (START + first, *inner, last + END), zone))
    return Document(
        id=entry.id,
        zones={zone: Counter(terms) for zone, terms in held.items()},
        keys=tuple(sorted(_keys(entry, analyzer))),
        texts=texts,
        facets={
            **facet_values(entry),
            EDITION: tuple(sorted(entry.editions)),
            UPDATED: (entry.updated.isoformat(),),
        },
    )


def build_documents(
    library: Library,
    analyzer: Analyzer,
    glossary: Glossary,
    tag_languages: Sequence[Language] = tuple(Language),
    embedder: Embedder | None = None,
) -> Iterator[Document]:
    """Yield a document for every entry of a library, in the order of ids; with vectors if there is an embedder."""
    for _, entry in sorted(library.entries.items()):
        made = document_of(entry, analyzer, glossary, library.taxonomy, tag_languages)
        yield replace(made, meaning=embed_entry(entry, embedder)) if embedder else made


def span_keys(text: str, analyzer: Analyzer) -> tuple[str, str]:
    """Return the keys of `text` as a code span: as written, and folded."""
    return _key(TokenKind.SPAN, text), _key(TokenKind.FOLDED_SPAN, analyzer.fold(text))


def _key(kind: TokenKind, text: str) -> str:
    return kind.term(
        text if len(text) <= LONGEST_KEY else hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    )


def _keys(entry: Entry, analyzer: Analyzer) -> set[str]:
    keys = {TokenKind.KEY.term(analyzer.key(text)) for text in keyed_texts(entry)}
    keys.add(TokenKind.FRAMEWORK.term(entry.framework))
    if entry.applies_anywhere:
        keys.add(TokenKind.FRAMEWORK.term(ANYWHERE))
    for edition in entry.editions.values():
        for text in edition.code:
            keys.update(span_keys(text, analyzer))
    return keys


def keyed_texts(entry: Entry) -> Iterator[str]:
    """Yield titles and aliases: a query equal to one of them puts the entry first."""
    for edition in entry.editions.values():
        yield edition.title
        yield from edition.aliases


def zone_texts(
    entry: Entry, taxonomy: Taxonomy, tag_languages: Sequence[Language]
) -> Iterator[tuple[str, int, str]]:
    """Yield zone, region and text of each text of an entry."""
    for lang, edition in entry.editions.items():
        yield f"title_{lang}", TITLES, edition.title
        yield f"body_{lang}", ELSEWHERE, edition.applies_to
        for zone, region, texts in (
            ("alias", FRONTS, edition.aliases),
            ("symptom", FRONTS, edition.symptoms),
            ("heading", BODIES, tuple(heading.text for heading in edition.headings if heading.level > 2)),
            ("body", BODIES, tuple(body_lines(edition))),
            ("aside", BODIES, tuple(body_lines(edition, asides=True))),
        ):
            for text in texts:
                yield f"{zone}_{lang}", region, text
    for text in dict.fromkeys(code for edition in entry.editions.values() for code in edition.code):
        yield "code", BODIES, text
    for line in entry.signature_lines:
        yield "signature", FRONTS, literal_text(line)
    for facet in FACETS:
        for value in facet_values(entry)[facet]:
            for name in dict.fromkeys(taxonomy.facet(facet)[value].name[lang] for lang in tag_languages):
                yield "tag", ELSEWHERE, name


def body_lines(edition: Edition, *, asides: bool = False) -> Iterator[str]:
    """Yield the text of an edition, a line for each block; if `asides`, the text about other entries instead."""
    for section in edition.sections:
        if (section.key in ASIDES) is asides:
            yield from section.text.splitlines()


SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*")
CLAUSE_END = re.compile(r"(?<=[,;:])\s+|(?<=[，、：])\s*")
BETWEEN = {Language.EN: " ", Language.ZH: ""}
LEAST = {Language.EN: 40, Language.ZH: 14}
"""Least characters of a clause: shorter ones say too little by themselves and are joined."""


def embed_entry(entry: Entry, embedder: Embedder) -> EntryVectors:
    """Embed the chunks of an entry, some 60 per edition; each takes a millisecond or less."""
    titles = dict.fromkeys(keyed_texts(entry))
    told = titles | dict.fromkeys(titled_chunks(entry))
    alone = [each for each in dict.fromkeys(untitled_chunks(entry)) if each not in told]
    return EntryVectors.of(embedder.embed([*told, *alone]), central=len(told), titles=len(titles))


def titled_chunks(entry: Entry) -> Iterator[str]:
    """Yield the symptoms, and the sentences and blocks of the text, each after the title: a sentence by itself seldom
    says what it is about."""
    for edition in entry.editions.values():
        yield from edition.symptoms
        for line in body_lines(edition):
            yield from (f"{edition.title}: {piece}" for piece in (*sentences_of(line), line))


def untitled_chunks(entry: Entry) -> Iterator[str]:
    """Yield the sentences without the title, and their clauses: a question is often about one of several facts in a
    sentence, and a title in front makes all sentences of an entry similar."""
    for edition in entry.editions.values():
        for line in body_lines(edition):
            for sentence in sentences_of(line):
                yield sentence
                yield from _clauses(sentence, edition)


def sentences_of(line: str) -> list[str]:
    """Return the sentences of a line."""
    return [each for each in SENTENCE_END.split(line) if each]


def longest_sentences(text: str, most: int) -> Sequence[str]:
    """Return the longest sentences and lines of a text that has several, at most `most`."""
    found = [each for line in text.splitlines() for each in sentences_of(line)]
    return sorted(found, key=len, reverse=True)[:most] if len(found) > 1 else ()


def _clauses(sentence: str, edition: Edition) -> list[str]:
    """Return clauses of at least LEAST characters; a shorter one is joined to the next, the last to the one before."""
    joined: list[str] = []
    open_ended = False
    for clause in filter(None, CLAUSE_END.split(sentence)):
        if open_ended:
            joined[-1] += BETWEEN[edition.lang] + clause
        else:
            joined.append(clause)
        open_ended = len(joined[-1]) < LEAST[edition.lang]
    if open_ended and len(joined) > 1:
        joined[-2:] = [BETWEEN[edition.lang].join(joined[-2:])]
    return joined
