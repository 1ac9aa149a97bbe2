"""Other engines over the same texts: titles and bodies cut into words by the analysis that Jieda uses.

A peer is made from documents (id, words of the title, words of the rest) and answers words with ids, best first. In
`bench.relevance` each is measured with the title weight of `TITLE_WEIGHTS` that suits it best; `bench.diagnosis` gives
them all words as one text.
"""

import sqlite3
from collections.abc import Callable, Sequence

from whoosh.fields import ID, TEXT, Schema
from whoosh.filedb.filestore import RamStorage
from whoosh.query import Or, Term
from whoosh.scoring import BM25F

TITLE_WEIGHTS = (1.0, 2.0, 4.0, 8.0)
IN_FIVE = 5

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
            (query, weight, IN_FIVE),
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
        return [hit["id"] for hit in searcher.search(Or(terms), limit=IN_FIVE)]

    return ask


PEERS: dict[str, MakePeer] = {"SQLite FTS5": fts5, "Whoosh": whoosh}
