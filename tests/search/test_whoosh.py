"""The index as a Whoosh index: a query of Whoosh finds the same over our columns as in Whoosh's own index in memory."""

import copyreg
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.entry import Entry, Language
from jieda.search.index.document import UPDATED, Document, document_of, zone_texts
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.whoosh.index import BREAK, ID, TEXTS, AtomAnalyzer, WhooshIndex, schema_of
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, facet_values
from whoosh import highlight, query, sorting
from whoosh.filedb.filestore import RamStorage
from whoosh.qparser import MultifieldParser
from whoosh.searching import Searcher

OCTOBER, LATER = datetime(2025, 10, 1), datetime(2030, 1, 1)
QUERIES = {
    "term": query.Term("text", "memory"),
    "term of a tag": query.Term("framework", "slime"),
    "id": query.Prefix("id", "roll/"),
    "phrase": query.Phrase("text", ["out", "of", "memory"]),
    "loose phrase": query.Phrase("body", ["gpu", "memory"], slop=3),
    "phrase in Chinese": query.Phrase("title", ["显", "存"]),
    "phrase that no text holds": query.Phrase("text", ["memory", "of", "out"]),
    "prefix": query.Prefix("title", "tra"),
    "wildcard": query.Wildcard("text", "*ing"),
    "wildcard inside": query.Wildcard("code", "m?x*"),
    "regular expression": query.Regex("text", "nccl|cu[a-z]+"),
    "fuzzy": query.FuzzyTerm("text", "memry", maxdist=1, prefixlength=1),
    "variations": query.Variations("text", "train"),
    "range of words": query.TermRange("title", "m", "n"),
    "range of days": query.DateRange(UPDATED, OCTOBER, LATER),
    "open range of days": query.DateRange(UPDATED, None, LATER),
    "and": query.And([query.Term("text", "cuda"), query.Term("text", "memory")]),
    "or": query.Or(
        [query.Term("title", "memory"), query.Term("body", "nccl"), query.Term("kind", "concept")]
    ),
    "not": query.And([query.Term("text", "memory"), query.Not(query.Term("framework", "roll"))]),
    "and not": query.AndNot(query.Term("kind", "error"), query.Term("text", "memory")),
    "and maybe": query.AndMaybe(query.Term("kind", "error"), query.Term("title", "memory")),
    "require": query.Require(query.Term("text", "memory"), query.Term("kind", "error")),
    "otherwise": query.Otherwise(query.Term("title", "zzz"), query.Term("title", "memory")),
    "best of": query.DisjunctionMax([query.Term("title", "memory"), query.Term("body", "memory")]),
    "every": query.Every(),
    "every with a field": query.Every("error_type"),
    "near": query.SpanNear2([query.Term("text", "gpu"), query.Term("text", "memory")], slop=2),
    "constant": query.ConstantScoreQuery(query.Term("title", "memory"), 2.0),
    "no document": query.Term("text", "zzzzzz"),
}
TYPED = [
    "CUDA out of memory framework:slime",
    "显存不足 framework:chatlearn",
    "title:(memory OR 内存) kind:error",
    'title:"out of memory" OR alias:oom',
    "memory NOT framework:roll",
    "mem* updated:[20251001 TO]",
]


KEPT: list[Analyzer] = []


def kept_analyzer() -> AtomAnalyzer:
    """The one analyzer of these tests."""
    return AtomAnalyzer(KEPT[0])


def some_of(shipped: Snapshot) -> list[Entry]:
    """The shipped entries on memory, and a third of the others: to write all into Whoosh's own index takes seconds."""
    entries = sorted(shipped.library.entries.items())
    return [entry for number, (name, entry) in enumerate(entries) if number % 3 == 0 or "oom" in name]


@pytest.fixture(scope="module")
def ours(
    shipped: Snapshot, analyzer: Analyzer, tmp_path_factory: pytest.TempPathFactory
) -> list[WhooshIndex]:
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
    return [WhooshIndex(one, analyzer) for one in (EmbeddedIndex(once), several)]


def _called(name: str, document: Document) -> Document:
    return Document(name, document.zones, document.keys, document.texts, document.facets)


@pytest.fixture(scope="module")
def theirs(shipped: Snapshot, analyzer: Analyzer) -> Searcher:
    """The same entries in Whoosh's own index in memory."""
    KEPT.append(analyzer)
    # Its files begin with a pickle of the schema, in which an analyzer with locks has no place.
    copyreg.pickle(AtomAnalyzer, lambda _: (kept_analyzer, ()))
    writer = RamStorage().create_index(schema_of(analyzer)).writer()
    for entry in some_of(shipped):
        writer.add_document(**_fields(entry, shipped))
    writer.commit()
    return writer.storage.open_index().searcher()


def _fields(entry: Entry, shipped: Snapshot) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    for zone, _, text in zone_texts(entry, shipped.library.taxonomy, tuple(Language)):
        for field, zones in TEXTS.items():
            if zone in zones:
                texts.setdefault(field, []).append(text)
    tags = {facet: ",".join(sorted(facet_values(entry)[facet])) for facet in FACETS}
    tags["lang"] = ",".join(sorted(entry.editions))
    day = datetime.combine(entry.updated, datetime.min.time())
    joined = {field: BREAK.join(some) for field, some in texts.items()}
    return {ID: entry.id, UPDATED: day, **joined, **{name: tag for name, tag in tags.items() if tag}}


def scores(searcher: Searcher, asked: query.Query, **options: Any) -> dict[str, float]:
    """What each document scores, best first."""
    return {hit[ID]: hit.score for hit in searcher.search(asked, limit=None, **options)}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_and_scores_the_same(name: str, ours: list[WhooshIndex], theirs: Searcher) -> None:
    expected = scores(theirs, QUERIES[name])
    assert bool(expected) == ("no" not in name.split())
    for index in ours:
        found = scores(index.searcher(), QUERIES[name])
        assert found == pytest.approx(expected, abs=1e-6)
        assert sum(index.matching(QUERIES[name])) == len(expected)


@pytest.mark.parametrize("typed", TYPED)
def test_what_is_typed_is_parsed_and_found_the_same(
    typed: str, ours: list[WhooshIndex], theirs: Searcher
) -> None:
    for index in ours:
        asked = MultifieldParser(["title", "alias", "body"], index.schema).parse(typed)
        expected = scores(theirs, asked)
        assert expected
        assert scores(index.searcher(), asked) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("field", ["id", "kind", "framework", UPDATED])
@pytest.mark.parametrize("reverse", [False, True])
def test_documents_are_sorted_by_a_column(
    field: str, reverse: bool, ours: list[WhooshIndex], theirs: Searcher
) -> None:
    by = sorting.FieldFacet(field, reverse=reverse)
    for index in ours:
        expected = [hit[ID] for hit in theirs.search(QUERIES["or"], limit=None, sortedby=by)]
        assert [
            hit[ID] for hit in index.searcher().search(QUERIES["or"], limit=None, sortedby=by)
        ] == expected


@pytest.mark.parametrize("field", ["framework", "topic", "error_type", UPDATED])
@pytest.mark.parametrize("overlap", [False, True])
def test_documents_are_grouped_by_a_column(
    field: str, overlap: bool, ours: list[WhooshIndex], theirs: Searcher
) -> None:
    if overlap and field == UPDATED:
        pytest.skip("an entry has one day")
    by = {field: sorting.FieldFacet(field, allow_overlap=overlap)}
    expected = theirs.search(query.Every(), limit=None, groupedby=by).groups(field)
    for index in ours:
        assert index.searcher().search(query.Every(), limit=None, groupedby=by).groups(field) == expected


def test_what_matched_is_marked_in_a_text(
    ours: list[WhooshIndex], theirs: Searcher, shipped: Snapshot
) -> None:
    def marked(searcher: Searcher) -> Iterable[str]:
        found = searcher.search(
            query.Or([query.Term("title", "memory"), query.Term("title", "存")]), limit=None
        )
        found.formatter = highlight.UppercaseFormatter()
        for hit in found:
            for edition in shipped.library.entries[hit[ID]].editions.values():
                yield hit.highlights("title", text=edition.title)

    expected = list(marked(theirs))
    assert any("MEMORY" in text for text in expected)
    for index in ours:
        assert list(marked(index.searcher())) == expected


def test_terms_lengths_and_counts_are_the_same(ours: list[WhooshIndex], theirs: Searcher) -> None:
    reader = theirs.reader()
    for index in ours:
        mine = index.reader()
        assert list(mine.all_terms()) == sorted(reader.all_terms())
        assert mine.doc_count() == index.doc_count_all() == reader.doc_count()
        for field in TEXTS:
            assert mine.field_length(field) == reader.field_length(field)
            assert mine.max_field_length(field) == reader.max_field_length(field)
        assert list(mine.terms_within("title", "memry", 1)) == list(reader.terms_within("title", "memry", 1))
        assert ("title", "zzz") not in mine
        assert ("nothing", "memory") not in mine
