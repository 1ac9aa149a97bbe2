"""Facts of one entry, worked out from its files alone: what the builder does itself, or has other processes do."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.markdown.links import Link, LinkKind
from app.content.read.assemble import Decisions
from app.content.read.corpus import SampleFile
from app.content.read.gather import Vocabulary
from app.content.read.outline import Outline
from app.content.read.parse import ParsedFile, SourceFile, parse_file
from app.diagnosis.collect import FactReader
from app.diagnosis.words import WordReader
from app.entry import Edition, Entry, Language
from app.log.formats import compile_formats
from app.snapshot.analyzers import Analyzers
from app.snapshot.facts import fact_key, packed
from app.snapshot.index import candidates_of, document_of, places_of
from app.snapshot.records import EntryRow, FileFact, edition_from_json, edition_to_json, to_json
from app.snapshot.sources import sample_text, source_of
from app.snapshot.versions import code_version
from app.taxonomy import Taxonomy

Facts = dict[bytes, bytes]
"""Values by their keys, `packed`: that takes as long as a tenth of the analysis, and is not left to one process."""


@dataclass(frozen=True, slots=True)
class Read:
    """An edition's file as it was read, and the hash of its content."""

    source: SourceFile
    content: str


@dataclass(frozen=True, slots=True)
class Order:
    """Facts of an entry that are to be made: of the keys that `row` has, those in `missing`. `editions` are the texts
    that are there."""

    row: EntryRow
    missing: frozenset[str]
    files: Mapping[Language, Outline]
    decisions: Mapping[Language, Decisions]
    samples: tuple[SampleFile, ...]
    editions: Mapping[Language, bytes]

    def entry(self, made: Mapping[bytes, bytes]) -> Entry:
        """The entry; what is not among `editions` is in `made`."""
        return self.row.head.entry({lang: self._edition(lang, made) for lang in self.row.editions})

    def _edition(self, lang: Language, made: Mapping[bytes, bytes]) -> Edition:
        value = self.editions[lang] if lang in self.editions else made[bytes.fromhex(self.row.editions[lang])]
        return edition_from_json(value, str(self.files[lang].path), self.files[lang].updated)


@dataclass(frozen=True, slots=True)
class Tools:
    """What entries are analyzed with."""

    analyzer: Analyzer
    glossary: Glossary
    reader: FactReader

    @classmethod
    def of(cls, vocabulary: Vocabulary, analyzers: Analyzers) -> "Tools":
        """For the words of a vocabulary."""
        analyzer = analyzers.of(vocabulary.dictionary)
        glossary = analyzers.glossary(vocabulary.dictionary, vocabulary.glossary)
        words = WordReader(analyzer, glossary)
        return cls(analyzer, glossary, FactReader(words, compile_formats(vocabulary.logs.failures)))


class Maker:
    """Makes what is ordered. `tools` is asked for when the first is needed."""

    def __init__(self, taxonomy: Taxonomy, tools: Callable[[], Tools]) -> None:
        self._taxonomy, self._tools = taxonomy, tools

    def __call__(self, order: Order) -> Facts:
        """The missing facts but for meanings. Raises ContentMoved, OSError."""
        made = {bytes.fromhex(order.row.editions[lang]): _edition(order, lang) for lang in _missing(order)}
        made.update(self._analyzed(order, order.entry(made)))
        return _all_packed(made)

    def _analyzed(self, order: Order, entry: Entry) -> Iterator[tuple[bytes, bytes]]:
        row, missing = order.row, order.missing
        if row.document in missing:
            tools = self._tools()
            document = document_of(entry, tools.analyzer, tools.glossary, self._taxonomy)
            yield bytes.fromhex(row.document), document
        for lang, key in row.places.items():
            if key in missing:
                yield bytes.fromhex(key), places_of(entry.editions[lang], self._tools().glossary)
        if row.completions in missing:
            yield bytes.fromhex(row.completions), candidates_of(entry)
        if row.diagnosis in missing:
            found = self._tools().reader.entry(entry, [sample_text(sample) for sample in order.samples])
            yield bytes.fromhex(row.diagnosis), to_json(found)


class MakerElsewhere:
    """The same for another process, which gets its own tools when it needs them."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __call__(self, order: Order) -> Facts:
        """As `Maker`."""
        return self._maker(order)

    @cached_property
    def _maker(self) -> Maker:
        tools = Tools.of(self._vocabulary, Analyzers())
        return Maker(self._vocabulary.taxonomy, lambda: tools)


def file_key(where: str, content: str) -> bytes:
    """The key of what an edition's file says."""
    return fact_key("file", code_version(), where, content)


def edition_key(file: Outline, decisions: Decisions) -> bytes:
    """The key of an edition's text."""
    return fact_key("edition", code_version(), file.where, file.content, to_json(decisions).decode())


def learned(read: Read) -> Facts:
    """What an edition's file says, and its HTML in the form that it has if no link of its is broken."""
    source = read.source
    parsed, problems = parse_file(source)
    said = to_json(FileFact(parsed.outline if parsed else None, problems))
    facts = {file_key(source.where, read.content): said}
    if parsed is None or parsed.outline.front.draft:
        return _all_packed(facts)
    links = parsed.outline.links
    if any(link.kind is LinkKind.IMAGE for link in links):
        return _all_packed(facts)
    file = Outline.of(parsed.outline, source.path, source.modified, read.content)
    inner = [link for link in links if link.kind in {LinkKind.ENTRY, LinkKind.ANCHOR}]
    kept = {
        link: None if link.kind is LinkKind.ANCHOR and link.anchor not in file.anchors else link
        for link in inner
    }
    decisions = tuple(kept.items())
    facts[edition_key(file, decisions)] = _rendered(parsed, file, decisions)
    return _all_packed(facts)


def _all_packed(facts: Mapping[bytes, bytes]) -> Facts:
    return {key: packed(value) for key, value in facts.items()}


def _missing(order: Order) -> Iterator[Language]:
    return (lang for lang, key in order.row.editions.items() if key in order.missing)


def _edition(order: Order, lang: Language) -> bytes:
    file = order.files[lang]
    parsed, _ = parse_file(source_of(file))
    if parsed is None:
        raise RuntimeError(f"{file.where} was an edition a moment ago")
    return _rendered(parsed, file, order.decisions[lang])


def _rendered(parsed: ParsedFile, file: Outline, decisions: Decisions) -> bytes:
    kept: dict[Link, Link | None] = dict(decisions)
    return edition_to_json(parsed.edition(kept.__getitem__, file.path, file.updated))
