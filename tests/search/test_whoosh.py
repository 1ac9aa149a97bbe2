"""The index as a Whoosh index: a query of Whoosh finds the same over our columns as in Whoosh's own index in memory."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.entry import Entry, Language
from jieda.search.index.document import UPDATED, Document, document_of, zone_texts
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.whoosh.index import TITLE, WHOLE, WhooshReader
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, facet_values
from whoosh import analysis, fields, query
from whoosh.filedb.filestore import RamStorage
from whoosh.searching import Searcher

OCTOBER, LATER = datetime(2025, 10, 1), datetime(2030, 1, 1)
QUERIES = {
    "term": query.Term("text", "memory"),
    "term of a tag": query.Term("framework", "slime"),
    "phrase": query.Phrase("text", ["out", "of", "memory"]),
    "phrase in Chinese": query.Phrase("title", ["显", "存"]),
    "phrase that no text holds": query.Phrase("text", ["memory", "of", "out"]),
    "prefix": query.Prefix("title", "tra"),
    "variations": query.Variations("text", "train"),
    "range of days": query.DateRange(UPDATED, OCTOBER, LATER),
    "open range of days": query.DateRange(UPDATED, None, LATER),
    "and": query.And([query.Term("text", "cuda"), query.Term("text", "memory")]),
    "or": query.Or(
        [query.Term("title", "memory"), query.Term("text", "nccl"), query.Term("kind", "concept")]
    ),
    "not": query.And([query.Term("text", "memory"), query.Not(query.Term("framework", "roll"))]),
    "without": query.Not(query.Phrase("text", ["out", "of", "memory"])),
    "no document": query.Term("text", "zzzzzz"),
}


def some_of(shipped: Snapshot) -> list[Entry]:
    """The shipped entries on memory, and a third of the others: to write all into Whoosh's own index takes seconds."""
    entries = sorted(shipped.library.entries.items())
    return [entry for number, (name, entry) in enumerate(entries) if number % 3 == 0 or "oom" in name]


@pytest.fixture(scope="module")
def ours(
    shipped: Snapshot, analyzer: Analyzer, tmp_path_factory: pytest.TempPathFactory
) -> list[WhooshReader]:
    """Entries in one segment, and in several of which some documents are deleted."""
    glossary = shipped.searcher.glossary
    made = {
        entry.id: document_of(entry, analyzer, glossary, shipped.library.taxonomy)
        for entry in some_of(shipped)
    }
    names = sorted(made)
    gone = {f"gone/{name}": made[name] for name in names[:3]}
    once = tmp_path_factory.mktemp("once")
    update_index(once, None, made, (), ())
    steps: list[tuple[Mapping[str, Document], list[str]]] = [
        ({name: _called(name, one) for name, one in gone.items()}, []),
        ({name: made[name] for name in names[::2]}, ["gone/" + names[0]]),
        ({name: made[name] for name in (*names[1::2], *names[:2])}, ["gone/" + names[1], "gone/" + names[2]]),
    ]
    place: Path | None = None
    for changed, removed in steps:
        following = tmp_path_factory.mktemp("step")
        update_index(following, place, changed, changed, removed)
        place = following
    assert place
    several = EmbeddedIndex(place)
    assert len(several.collection.segments) > 1
    assert any(
        not several.collection.live(number).all() for number in range(len(several.collection.segments))
    )
    return [WhooshReader(one, analyzer) for one in (EmbeddedIndex(once), several)]


def _called(name: str, document: Document) -> Document:
    return Document(name, document.zones, document.keys, document.texts, document.facets)


BREAK = "\x1e"


class Atoms(analysis.Analyzer):  # type: ignore[misc] # it ships no types
    """The atoms of several texts, between which no phrase matches."""

    analyzer: Analyzer

    def __call__(self, value: str, **options: Any) -> Iterator[analysis.Token]:
        token = analysis.Token(**options)
        token.stopped, token.boost, token.pos = False, 1.0, 0
        for text in value.split(BREAK):
            for word in Atoms.analyzer.analyze(text).words:
                token.text, token.pos = word, token.pos + 1
                yield token
            token.pos += 1


@pytest.fixture(scope="module")
def theirs(shipped: Snapshot, analyzer: Analyzer) -> Searcher:
    """The same entries in Whoosh's own index in memory."""
    Atoms.analyzer = analyzer
    tags = dict.fromkeys(FACETS, fields.KEYWORD(commas=True))
    texts = {name: fields.TEXT(analyzer=Atoms()) for name in (WHOLE, TITLE)}
    schema = fields.Schema(id=fields.ID(stored=True), **{UPDATED: fields.DATETIME}, **tags, **texts)
    writer = RamStorage().create_index(schema).writer()
    for entry in some_of(shipped):
        zones = [*zone_texts(entry, shipped.library.taxonomy, tuple(Language))]
        values: dict[str, Any] = {facet: ",".join(facet_values(entry)[facet]) or None for facet in FACETS}
        values[WHOLE] = BREAK.join(text for _, _, text in zones)
        values[TITLE] = BREAK.join(text for zone, _, text in zones if zone.startswith("title_"))
        day = datetime.combine(entry.updated, datetime.min.time())
        writer.add_document(id=entry.id, **{UPDATED: day}, **values)
    writer.commit()
    return writer.storage.open_index().searcher()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_the_same(name: str, ours: list[WhooshReader], theirs: Searcher) -> None:
    ids = sorted(stored["id"] for _, stored in theirs.reader().iter_docs())
    expected = {hit["id"] for hit in theirs.search(QUERIES[name], limit=None)}
    assert bool(expected) == ("no" not in name.split())
    for index in ours:
        found = index.found_by(QUERIES[name])
        assert {each for each, matches in zip(ids, found, strict=True) if matches} == expected
