"""Entries to documents: which text goes into which zone, analyzed once, and how it is written.

Analysis makes one word of many writings, so that each finds the others. A document keeps, beside the words, the
separators between them: from these it is read, without the text, whether `--load`, `load` or `load_dir` stands there.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import Analysis, TokenKind
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language
from jieda.search.meaning.embedder import Meaning
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
"""What terms are kept by. Asides are links to other entries, whose words are only half about this one."""

EDITION, UPDATED = "edition", "updated"
"""What documents are filtered by beside their tags."""

TITLES, BODIES, FRONTS, ELSEWHERE = range(4)
"""Where an exact writing may stand: in a title, in the text of a page, in what only search sees (aliases, symptoms,
signatures), or in what is not the entry's own writing (names of tags, the scope it applies to)."""


REGIONS = 4


@dataclass(frozen=True, slots=True)
class ZoneWeight:
    """`weight` multiplies term frequencies, `b` says how far length discounts them. A zone of `pivot` terms is neither
    discounted nor raised."""

    weight: float
    b: float
    pivot: float


@dataclass(frozen=True, slots=True)
class Weighting:
    """What an index needs to weigh occurrences: each zone of `ZONES`, each kind of term by its prefix, and `k1`,
    the weighted frequency at which a term has brought half of what it can bring. `gist` is what the mean of a
    document's vectors counts by beside the closest of them."""

    zones: Mapping[str, ZoneWeight]
    kinds: Mapping[str, float]
    k1: float
    gist: float = 0.0

    def norms(self, lengths: ArrayLike) -> NDArray[np.float64]:
        """1 − b + b · length/pivot of zones `lengths` terms long, both of shape (…, zones)."""
        b, pivots = np.array([(self.zones[zone].b, self.zones[zone].pivot) for zone in ZONES]).T
        norms: NDArray[np.float64] = 1 - b + b * np.asarray(lengths) / pivots
        return norms


START = END = "\n"
"""Stands for the start and the end of a text: something that is part of no name."""

LONGEST_SEPARATOR = 16
"""Of a longer separator both ends are kept; nobody types one."""

LEFT_OPEN = re.compile(r"(?<!\w)(?<!\w-)\Z")
RIGHT_OPEN = re.compile(r"(?![\w-])")
PLAIN = frozenset({"", " "})
"""What most separators are."""
JOINERS = re.compile(r"[-_ ]+")
WORD = "x"


class Held(IntFlag):
    """How a text holds a writing, beyond its words."""

    NONE = 0
    INSIDE = 1
    """As written, perhaps as a part of a longer name."""
    ALIKE = 2
    """By itself, with `-`, `_` and space exchanged."""
    ALONE = 4
    """As written and by itself: leading dashes are not part of a longer name."""


@dataclass(frozen=True, slots=True)
class IndexedText:
    """A text as atoms and separators: `separators[i]` stands before atom i, the last separator behind the last atom."""

    region: int
    """TITLES, BODIES, FRONTS or ELSEWHERE of `fields`."""
    atoms: tuple[str, ...]
    separators: tuple[str, ...]
    zone: str = "body_en"
    """One of `fields.ZONES`."""


def separators_of(text: str, analysis: Analysis, fold: Callable[[str], str]) -> tuple[str, ...]:
    """What stands before each atom of an analyzed text, and behind the last; folded and cut to `LONGEST_SEPARATOR`."""
    found, last = [], 0
    for start, end in analysis.spans:
        found.append(text[last:start])
        last = end
    found.append(text[last:])
    return tuple(
        [
            separator if separator in PLAIN else _cut(separator if separator.isascii() else fold(separator))
            for separator in found
        ]
    )


def indexed_text(
    zone: str, region: int, text: str, analysis: Analysis, fold: Callable[[str], str]
) -> IndexedText:
    """An analyzed text that has an atom, as a document keeps it."""
    first, *inner, last = separators_of(text, analysis, fold)
    return IndexedText(region, tuple(analysis.words), (START + first, *inner, last + END), zone)


def _cut(separator: str) -> str:
    half = LONGEST_SEPARATOR // 2
    return separator if len(separator) <= LONGEST_SEPARATOR else separator[:half] + separator[-half:]


def left_edge(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether the start of a writing fits the separator that it stands behind, and whether a name can start there."""
    fits = separator.endswith(typed)
    return fits, fits and LEFT_OPEN.search(WORD + separator[: len(separator) - len(typed)]) is not None


def right_edge(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether the end of a writing fits the separator behind it, and whether a name can end there."""
    fits = separator.startswith(typed)
    return fits, fits and RIGHT_OPEN.match(separator[len(typed) :] + WORD) is not None


def between(typed: str, separator: str) -> tuple[bool, bool]:
    """Whether a separator inside a writing is as typed, and whether it is so apart from the separator used."""
    same = typed == separator
    return same, same or bool(JOINERS.fullmatch(typed) and JOINERS.fullmatch(separator))


def held(typed: Sequence[str], separators: Sequence[str]) -> Held:
    """How a place at which all words of a writing stand holds it; `typed` and `separators` are of the same length."""
    (left, starts), (right, ends) = left_edge(typed[0], separators[0]), right_edge(typed[-1], separators[-1])
    inner = [between(one, other) for one, other in zip(typed[1:-1], separators[1:-1], strict=True)]
    return flags(
        fits=left and right,
        alone=starts and ends,
        same=all(same for same, _ in inner),
        alike=all(alike for _, alike in inner),
    )


def flags(*, fits: bool, alone: bool, same: bool, alike: bool) -> Held:
    """Edges that fit, edges that stand free, and separators that are the same or alike, as one value."""
    found = Held.NONE
    if fits and same:
        found |= Held.INSIDE
    if alone and alike:
        found |= Held.ALIKE
    if alone and same:
        found |= Held.ALONE
    return found


ASIDES = frozenset({"see-also"})

ANYWHERE = "*"
"""Stands for all frameworks: an entry that applies anywhere is written for each."""

LONGEST_KEY = 96
"""Of a longer code span the digest is kept: what is compared is the whole."""


@dataclass(frozen=True, slots=True)
class Document:
    """An entry, analyzed. `zones` says how often each term stands in each zone of `fields.ZONES`."""

    id: str
    zones: Mapping[str, Mapping[str, int]]
    keys: tuple[str, ...]
    """`TokenKind.KEY` terms of its titles and aliases; `SPAN` and `FOLDED_SPAN` terms of its code spans; the
    `FRAMEWORK` term of what it is written for."""
    texts: Sequence[IndexedText]
    """Atoms and separators of all its texts: what phrases and exact writings are found in, none across two texts."""
    facets: Mapping[str, tuple[str, ...]]
    """Tags by facet, its languages under EDITION, and the day of its last change under UPDATED."""
    failure_terms: Mapping[str, int] = field(default_factory=dict)
    """In how many of the texts that tell its failure each word stands: what a diagnosis counts."""
    meaning: Meaning | None = None
    """What it says, embedded, where somebody embeds."""


def document_of(
    entry: Entry,
    analyzer: Analyzer,
    glossary: Glossary,
    taxonomy: Taxonomy,
    tag_languages: Iterable[Language] = tuple(Language),
) -> Document:
    """The document of an entry; its tags are indexed under their names in `tag_languages`."""
    held: dict[str, list[str]] = {zone: [] for zone in ZONES}
    texts: list[IndexedText] = []
    for zone, region, text in zone_texts(entry, taxonomy, tuple(tag_languages)):
        glossed = glossary.read(text)
        held[zone] += glossed.terms
        if glossed.analysis.words:
            texts.append(indexed_text(zone, region, text, glossed.analysis, analyzer.fold))
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
    tag_languages: Iterable[Language] = tuple(Language),
) -> Iterator[Document]:
    """A document for every entry of a library, in the order of ids."""
    languages = tuple(tag_languages)
    for _, entry in sorted(library.entries.items()):
        yield document_of(entry, analyzer, glossary, library.taxonomy, languages)


def span_keys(text: str, analyzer: Analyzer) -> tuple[str, str]:
    """What `text` is found under as a code span: as written, and folded."""
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
    """Titles and aliases: a query that is one of them puts the entry first."""
    for edition in entry.editions.values():
        yield edition.title
        yield from edition.aliases


def zone_texts(
    entry: Entry, taxonomy: Taxonomy, tag_languages: tuple[Language, ...]
) -> Iterator[tuple[str, int, str]]:
    """Each text of an entry with the zone and the region (`fields`) it belongs to."""
    for lang, edition in entry.editions.items():
        yield f"title_{lang}", TITLES, edition.title
        yield f"body_{lang}", ELSEWHERE, edition.applies_to
        for zone, region, texts in (
            ("alias", FRONTS, edition.aliases),
            ("symptom", FRONTS, edition.symptoms),
            ("heading", BODIES, tuple(heading.text for heading in edition.headings if heading.level > 2)),
            ("body", BODIES, tuple(body_lines(edition))),
            ("aside", BODIES, tuple(aside_lines(edition))),
        ):
            for text in texts:
                yield f"{zone}_{lang}", region, text
    for text in distinct(code for edition in entry.editions.values() for code in edition.code):
        yield "code", BODIES, text
    for line in entry.signature_lines:
        yield "signature", FRONTS, literal_text(line)
    for facet in FACETS:
        for value in facet_values(entry)[facet]:
            for name in distinct(taxonomy.facet(facet)[value].name[lang] for lang in tag_languages):
                yield "tag", ELSEWHERE, name


def body_lines(edition: Edition) -> Iterator[str]:
    """The text of an edition, a line for each block."""
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
