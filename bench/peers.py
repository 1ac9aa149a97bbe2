"""Other engines over the same texts: titles and bodies tokenized by Jieda's analysis.

A peer is created from documents (id, title words, other words) and returns ids for words, best first. `bench.relevance`
measures each with the best of `TITLE_WEIGHTS`; `bench.diagnosis` passes all words as one text.
"""

import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from whoosh.fields import ID, TEXT, Schema
from whoosh.filedb.filestore import RamStorage
from whoosh.query import Or, Term
from whoosh.scoring import BM25F

TITLE_WEIGHTS = (1.0, 2.0, 4.0, 8.0)
IN_FIVE, DEPTH = 5, 100
FIELDS = ("title", "body")

Words = Sequence[str]
Document = tuple[str, Words, Words]
Ask = Callable[[Words], list[str]]
MakePeer = Callable[[Sequence[Document], float], Ask]


def fts5(documents: Sequence[Document], weight: float) -> Ask:
    """SQLite's FTS5 with its bm25()."""
    base = sqlite3.connect(":memory:")
    base.execute(
        "CREATE VIRTUAL TABLE entries USING fts5(id UNINDEXED, title, body, tokenize = \"unicode61 tokenchars '_'\")"
    )
    rows = [(entry_id, " ".join(title), " ".join(body)) for entry_id, title, body in documents]
    base.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)

    def ask(words: Words) -> list[str]:
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        found = base.execute(
            "SELECT id FROM entries WHERE entries MATCH ? ORDER BY bm25(entries, 0, ?, 1) LIMIT ?",
            (query, weight, DEPTH),
        )
        return [row[0] for row in found]

    return ask


def whoosh(documents: Sequence[Document], weight: float) -> Ask:
    """Whoosh with its BM25F."""
    schema = Schema(
        id=ID(stored=True), title=TEXT(analyzer=None, field_boost=weight), body=TEXT(analyzer=None)
    )
    index = RamStorage().create_index(schema)
    with index.writer() as writer:
        for entry_id, title, body in documents:
            writer.add_document(id=entry_id, title=" ".join(title), body=" ".join(body))
    searcher = index.searcher(weighting=BM25F())

    def ask(words: Words) -> list[str]:
        terms = [Term(field, word) for word in dict.fromkeys(words) for field in ("title", "body")]
        return [hit["id"] for hit in searcher.search(Or(terms), limit=DEPTH)]

    return ask


def tantivy(documents: Sequence[Document], weight: float) -> Ask:
    """Lucene's counterpart in Rust, in memory; the score of a title is boosted."""
    library = import_module("tantivy")
    builder = library.SchemaBuilder()
    for field in FIELDS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("number", stored=True)
    schema = builder.build()
    index = library.Index(schema)
    writer = index.writer(128_000_000, 1)
    for number, (_, *texts) in enumerate(documents):
        joined = {field: " ".join(words) for field, words in zip(FIELDS, texts, strict=True)}
        writer.add_document(library.Document(**joined, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    boosts = dict(zip(FIELDS, (weight, 1.0), strict=True))

    def ask(words: Words) -> list[str]:
        parts = [
            (
                library.Occur.Should,
                library.Query.boost_query(library.Query.term_query(schema, field, word), boosts[field]),
            )
            for word in dict.fromkeys(words)
            for field in FIELDS
        ]
        found = searcher.search(library.Query.boolean_query(parts), DEPTH).hits if parts else []
        return [documents[searcher.doc(address)["number"][0]][0] for _, address in found]

    return ask


def bm25s(documents: Sequence[Document], weight: float) -> Ask:
    """Precomputed scores; it has one field, in which a title is repeated according to its weight."""
    library = import_module("bm25s")
    retriever = library.BM25()
    retriever.index([[*title] * int(weight) + [*rest] for _, title, rest in documents], show_progress=False)

    def ask(words: Words) -> list[str]:
        known = [word for word in dict.fromkeys(words) if word in retriever.vocab_dict]
        if not known:
            return []
        numbers, scores = retriever.retrieve([known], k=min(DEPTH, len(documents)), show_progress=False)
        return [
            documents[number][0] for number, score in zip(numbers[0], scores[0], strict=True) if score > 0
        ]

    return ask


PEERS: dict[str, MakePeer] = {
    "SQLite FTS5": fts5,
    "Whoosh": whoosh,
    **({"tantivy": tantivy} if find_spec("tantivy") else {}),
    **({"bm25s": bm25s} if find_spec("bm25s") else {}),
}
"""The last two only if installed: Jieda needs neither."""
