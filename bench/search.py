"""Search in process: how long it takes beside Whoosh's own scoring of the same index, in one run.

    python -m bench.search [ENTRIES]

The corpus is made from the shipped entries: each made-up document mixes the terms of several. What is compared is the
ranking alone, of the same words: no parsing, snippets or reasons on either side.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from whoosh.filedb.filestore import FileStorage
from whoosh.query import Or, Term
from whoosh.scoring import BM25F

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.load import load_library
from app.evaluation.figures import read_judged
from app.search.answers import Filters
from app.search.document import build_documents
from app.search.embedded import EmbeddedEngine, build
from app.search.engine import Document, Query
from app.search.fields import ZONES
from app.search.query import QueryParser

ROOT = Path(__file__).resolve().parent.parent
MIXED = 3
QUERIES = 100


def documents(shipped: Sequence[Document], count: int) -> Iterator[Document]:
    """`count` documents, each of terms drawn from some of the shipped ones, zone by zone."""
    chance = random.Random(42)
    for number in range(count):
        drawn = chance.sample(shipped, MIXED)
        zones = {
            zone.name: [term for one in drawn for term in one.zones[zone.name] if chance.random() < 1 / MIXED]
            for zone in ZONES
        }
        yield Document(f"roll/made-{number}", zones, (), drawn[0].atoms[:200], drawn[0].facets)


def seconds(run: Callable[[], object], times: int = 3) -> float:
    """Median of `times` runs, after one that is not counted."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main(count: int) -> None:
    """Prints milliseconds a query, and the ratio."""
    library = load_library([ROOT / "content"])
    analyzer = Analyzer(library.dictionary)
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), documents(list(build_documents(library, analyzer)), count))
        engine = EmbeddedEngine(Path(folder))
        parser = QueryParser(analyzer, Glossary(library.glossary, analyzer), engine)
        judged = [one for one in read_judged(ROOT / "tests/judged.jsonl") if one.kind == "question"][:QUERIES]
        queries = [parser.parse(one.query, Filters()).query for one in judged]
        ours = seconds(lambda: [engine.search(query) for query in queries])
        with FileStorage(folder).open_index().searcher(weighting=BM25F()) as searcher:
            theirs = seconds(lambda: [searcher.search(whoosh_query(query), limit=10) for query in queries])
    print(f"{count} documents, {len(queries)} queries, milliseconds a query, median of three runs")
    print(f"ours   {1000 * ours / len(queries):8.3f}")
    print(f"Whoosh {1000 * theirs / len(queries):8.3f}")
    print(f"ratio  {theirs / ours:8.1f}")


def whoosh_query(query: Query) -> Or:
    """The literal words of a query, in every zone, as Whoosh would search them."""
    terms = {
        variant
        for clause in query.clauses
        for term in clause.alternatives[0].terms
        for variant in term.variants
    }
    return Or([Term(zone.name, term) for zone in ZONES for term in sorted(terms)])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
