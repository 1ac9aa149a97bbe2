"""In-process search by kind of query, compared with other engines over the same terms in the same run.

    python -m bench.engines [--alone] [ENTRIES ...]

Corpora are generated as in `bench.search`. For Jieda it measures a whole search and the whole ranking: tiers, facets,
totals and the ten best. The others find the ten best for the literal words of the query: Whoosh with its BM25F over the
same zones, the rest with BM25 over all terms of an entry as one text. Engines that are not installed are skipped, and
all of them with `--alone`. All times are CPU milliseconds per query; the table is written to `bench/results/`, with a
plot of p50 by size in `engines.svg`.
"""

import argparse
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.evaluation.figures import read_judged
from jieda.search.answers import SearchRequest
from jieda.search.index.document import Document, build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.query.parser import QueryParser
from jieda.search.query.words import Query
from jieda.search.rank.ranker import rank
from jieda.search.searcher import Searcher
from jieda.taxonomy import Filters
from whoosh.filedb.filestore import FileStorage
from whoosh.scoring import BM25F

from bench.plots import plot_growth
from bench.search import ROOT, SHOWN, documents, library_of, whoosh_index, whoosh_query
from bench.tables import markdown, record

EACH = 20
"""Queries per kind."""
ROUNDS = 3
KINDS: dict[str, tuple[str, ...]] = {
    "short": ("checkpoint", "memory", "vllm", "timeout", "batch size", "loss nan", "resume training"),
    "Chinese": ("显存不足", "续训", "权重同步", "训练卡住", "怎么保存检查点", "训推一体", "奖励为零"),
    "mixed": ("vllm 显存不足", "NCCL timeout 怎么办", "megatron 检查点转换", "ray 卡住 GPU"),
    "identifier": (
        "node2pg",
        "max_tokens_per_gpu",
        "--use-dynamic-batch-size",
        "torch.cuda.OutOfMemoryError",
    ),
    "nothing found": tuple(f"zqx{number}vw qqz{number}" for number in range(EACH)),
}
"""Long queries, which are judged questions, are added."""

Ask = Callable[[Sequence[str]], object]
T = TypeVar("T")


def words_of(query: Query) -> list[str]:
    """Return the literal words of a query as index terms."""
    ways = (clause.alternatives[0] for clause in query.clauses)
    return sorted({variant for way in ways for term in way.terms for variant in term.variants})


def tokens_of(made: Sequence[Document]) -> list[list[str]]:
    """Return all terms of each document."""
    return [[term for counts in one.zones.values() for term in Counter(counts).elements()] for one in made]


def fts5(made: Sequence[Document]) -> Ask:
    """SQLite's FTS5, with every term mapped to a word that it cannot split."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE entries USING fts5(body, content='', tokenize='ascii')")
    numbers: dict[str, int] = {}
    rows = [" ".join(f"w{numbers.setdefault(term, len(numbers))}" for term in one) for one in tokens_of(made)]
    base.executemany("INSERT INTO entries(rowid, body) VALUES (?, ?)", enumerate(rows))

    def ask(words: Sequence[str]) -> object:
        known = [f"w{numbers[word]}" for word in words if word in numbers]
        order = "SELECT rowid FROM entries WHERE entries MATCH ? ORDER BY rank LIMIT ?"
        return base.execute(order, (" OR ".join(known), SHOWN)).fetchall() if known else []

    return ask


def tantivy(made: Sequence[Document]) -> Ask:
    """Lucene's counterpart in Rust, in memory; returns the ids of the best."""
    library = import_module("tantivy")
    builder = library.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("number", stored=True)
    schema = builder.build()
    index = library.Index(schema)
    numbers: dict[str, int] = {}
    writer = index.writer(128_000_000, 1)
    for number, one in enumerate(tokens_of(made)):
        text = " ".join(f"w{numbers.setdefault(term, len(numbers))}" for term in one)
        writer.add_document(library.Document(body=text, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(words: Sequence[str]) -> object:
        terms = [f"w{numbers[word]}" for word in words if word in numbers]
        parts = [(library.Occur.Should, library.Query.term_query(schema, "body", term)) for term in terms]
        return searcher.search(library.Query.boolean_query(parts), SHOWN).hits if parts else []

    return ask


def bm25s(made: Sequence[Document]) -> Ask:
    """Precomputed scores in sparse arrays."""
    library = import_module("bm25s")
    retriever = library.BM25()
    retriever.index(tokens_of(made), show_progress=False)

    def ask(words: Sequence[str]) -> object:
        known = [word for word in words if word in retriever.vocab_dict]
        return retriever.retrieve([known], k=SHOWN, show_progress=False) if known else []

    return ask


PEERS: dict[str, Callable[[Sequence[Document]], Ask]] = {
    "SQLite FTS5": fts5,
    **({"tantivy": tantivy} if find_spec("tantivy") else {}),
    **({"bm25s": bm25s} if find_spec("bm25s") else {}),
}


@dataclass(frozen=True, slots=True)
class Row:
    """An engine with its percentiles in milliseconds: p50, p95 and p99 per kind of query, and last for all."""

    engine: str
    cells: Sequence[tuple[float, float, float]]

    def shown(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        return self.engine, *(" / ".join(f"{each:.2f}" for each in cell) for cell in self.cells)


def percentiles(asked: Sequence[Callable[[], object]]) -> tuple[float, float, float]:
    """Return p50, p95 and p99 over all, each the best of several rounds after an uncounted one."""
    taken = []
    for ask in asked:
        ask()
        best = float("inf")
        for _ in range(ROUNDS):
            start = time.thread_time()
            ask()
            best = min(best, time.thread_time() - start)
        taken.append(1000 * best)
    taken.sort()
    return taken[len(taken) // 2], taken[int(0.95 * len(taken))], taken[int(0.99 * len(taken))]


def measure(shipped: Library, analyzer: Analyzer, count: int, folder: Path, *, alone: bool) -> Iterator[Row]:
    """Yield the rows for one size of corpus; only ours where `alone`."""
    glossary = Glossary(shipped.glossary, analyzer)
    made = list(documents(list(build_documents(shipped, analyzer, glossary)), count))
    judged = [one.query for one in read_judged(ROOT / "tests/judged.jsonl") if one.kind == "question"]
    kinds = KINDS | {"long": tuple(judged[:EACH])}
    start = time.process_time()
    update_index(folder / "ours", None, {one.id: one for one in made}, (), ())
    built = time.process_time() - start
    size = sum(path.stat().st_size for path in (folder / "ours").iterdir()) / 1e6
    print(f"{count} entries: index built in {built:.1f} s of analyzed documents, {size:.1f} MB", flush=True)
    index = EmbeddedIndex(folder / "ours")
    searcher = Searcher(library_of(shipped, count), index, analyzer, glossary)
    parser = QueryParser(analyzer, glossary, index.lexicon)
    parsed = {kind: [parser.parse(text, Filters()).query for text in texts] for kind, texts in kinds.items()}
    asked = {kind: [SearchRequest(text, limit=SHOWN) for text in texts] for kind, texts in kinds.items()}
    words = {kind: [words_of(query) for query in queries] for kind, queries in parsed.items()}
    yield row_of("Jieda, whole search", searcher.search, asked)
    yield row_of("Jieda, ranking", partial(ranked, index), parsed)
    if alone:
        return
    whoosh_index(folder / "whoosh", made)
    with FileStorage(str(folder / "whoosh")).open_index().searcher(weighting=BM25F()) as theirs:
        literal = {kind: [whoosh_query(query) for query in queries] for kind, queries in parsed.items()}
        yield row_of("Whoosh", partial(theirs.search, limit=SHOWN), literal)
    for name, make in PEERS.items():
        yield row_of(name, make(made), words)


def ranked(index: EmbeddedIndex, query: Query) -> object:
    """Compute what a search needs of the ranking: hits, total and facets."""
    ranking = rank(index, query, SHOWN)
    return ranking.totals([query.filters]), ranking.facets()


def row_of(name: str, ask: Callable[[T], object], queries: Mapping[str, Sequence[T]]) -> Row:
    """Measure an engine for each kind of query, and for all."""
    of_kinds = [[partial(ask, one) for one in of_kind] for of_kind in queries.values()]
    everything = [one for of_kind in of_kinds for one in of_kind]
    return Row(name, [percentiles(each) for each in (*of_kinds, everything)])


def main(counts: Sequence[int], *, alone: bool) -> None:
    """Print and write a table for each size."""
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    all_kinds: dict[str, dict[int, tuple[float, float, float]]] = {}
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("ours", "whoosh"):
                Path(folder, name).mkdir()
            rows = [*measure(library, analyzer, count, Path(folder), alone=alone)]
        columns = ("p50 / p95 / p99, ms", *KINDS, "long", "all")
        print(markdown(columns, [row.shown() for row in rows]), flush=True)
        for row in rows:
            all_kinds.setdefault(row.engine, {})[count] = row.cells[-1]
    shown = [Row(engine, [sizes[count] for count in counts]).shown() for engine, sizes in all_kinds.items()]
    record("engines", ("p50 / p95 / p99, ms", *(f"{count:,} entries" for count in counts)), shown)
    medians = {
        engine: {count: cells[0] for count, cells in sizes.items()} for engine, sizes in all_kinds.items()
    }
    plot_growth("engines.svg", "p50 of a query, ms", medians)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--alone", action="store_true")
    options.add_argument("entries", nargs="*", type=int, default=[84, 1000, 10_000])
    chosen = options.parse_args()
    main(chosen.entries, alone=chosen.alone)
