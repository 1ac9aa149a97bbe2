"""Compares the OpenSearch engine with the in-process index: the same documents and queries, in one run.

    JIEDA_OPENSEARCH_URL=http://localhost:9200 python -m bench.cluster [ENTRIES ...]

Uses the corpora of `bench.search`. A whole search parses the query, ranks, counts, and makes reasons and snippets of
ten hits. After warming up with other queries, each query is sent to either engine twice: the first time the worker must
fetch unknown documents, the second time it has most of them. Times are wall-clock; client and cluster share the
machine, so ratios say more.
"""

import os
import random
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster
from jieda.cluster.index import ClusterIndex, write_index_name
from jieda.cluster.indexes import Indexes
from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.evaluation.figures import read_judged
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.search.index.document import build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.searcher import Searcher
from jieda.snapshot.snapshot import WantedIndex

from bench.search import ROOT, SHOWN, documents, library_of

LONGEST = 200
"""Longest judged query that is used, in characters; longer ones are logs."""
WARMED, ASKED = 60, 200
"""Queries for warming up, and measured queries."""
PATIENCE = 30.0

Asked = tuple[list[float], list[SearchAnswer]]
"""Milliseconds and answers per query."""


def main(counts: Sequence[int]) -> None:
    """Print two lines for each corpus size."""
    urls = tuple(os.environ.get("JIEDA_OPENSEARCH_URL", "").split())
    if not urls:
        print("skipped: name a cluster, JIEDA_OPENSEARCH_URL")
        return
    shards = int(os.environ.get("JIEDA_OPENSEARCH_SHARDS", "1"))
    shipped = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(shipped.dictionary)
    head = [
        f"{ASKED} queries, {len(urls)} addresses, {shards} shards; ms a search, here and there",
        "entries  queries      ours p50     p95   cluster p50     p95   ratio   first    ten  counts",
    ]
    print(*head, sep="\n")
    for count in counts:
        cluster = Cluster(Access(urls, timeout=PATIENCE))
        indexes = Indexes(cluster, "bench", Shape(shards, 0))
        for line in measured(shipped, analyzer, count, cluster, indexes):
            print(line, flush=True)


def measured(
    shipped: Library, analyzer: Analyzer, count: int, cluster: Cluster, indexes: Indexes
) -> Sequence[str]:
    """Return the lines of one corpus size."""
    glossary = Glossary(shipped.glossary, analyzer)
    made = {one.id: one for one in documents(list(build_documents(shipped, analyzer, glossary)), count)}
    library = library_of(shipped, count)
    name = indexes.name_of(secrets.token_hex(8))
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        built = seconds(lambda: update_index(directory, None, made, (), ()))
        here = EmbeddedIndex(directory)
        write_index_name(directory, name)
        wanted = WantedIndex("", made, (), ())
        try:
            loaded = seconds(lambda: indexes.fill(name, wanted, "", lambda: None))
            size = cluster.ask("GET", f"/{name}/_stats/store")["indices"][name]["primaries"]["store"]
            there = ClusterIndex(directory, cluster)
            ours, theirs = (Searcher(library, each, analyzer, glossary) for each in (here, there))
            warming, asked = drawn()
            ask(ours, warming)
            ask(theirs, warming)
            lines = [line(count, when, ask(ours, asked), ask(theirs, asked)) for when in ("new", "repeated")]
        finally:
            cluster.ask("DELETE", f"/{name}")
    lines.append(
        f"{count:>7}  written per second: {count / built:.0f} in the process, {count / loaded:.0f} in the cluster, "
        f"where each takes {size['size_in_bytes'] / count / 1000:.1f} kB"
    )
    return lines


def drawn() -> tuple[list[str], list[str]]:
    """Return queries for warming up, and others to measure."""
    judged = [one.query for one in read_judged(ROOT / "tests/judged.jsonl") if len(one.query) <= LONGEST]
    distinct = sorted(set(judged))
    random.Random(11).shuffle(distinct)
    return distinct[:WARMED], distinct[WARMED : WARMED + ASKED]


def ask(searcher: Searcher, queries: Sequence[str]) -> Asked:
    """Run queries one after the other."""
    taken, answers = [], []
    for text in queries:
        began = time.perf_counter()
        answers.append(searcher.search(SearchRequest(text, limit=SHOWN)))
        taken.append(1000 * (time.perf_counter() - began))
    return taken, answers


def line(count: int, when: str, ours: Asked, theirs: Asked) -> str:
    """Format the result of one pass."""
    first = ten = counts = 0
    for one, other in zip(ours[1], theirs[1], strict=True):
        ids = [[hit.entry.id for hit in each.hits] for each in (one, other)]
        first += ids[0][:1] == ids[1][:1]
        ten += ids[0] == ids[1]
        counts += (one.total, one.facets) == (other.total, other.facets)
    median, slow = (statistics.median(each[0]) for each in (ours, theirs)), [p95(ours[0]), p95(theirs[0])]
    here, there = median
    asked = len(ours[0])
    return (
        f"{count:>7}  {when:<10} {here:10.1f} {slow[0]:7.1f} {there:13.1f} {slow[1]:7.1f} {there / here:7.1f} "
        f"{first / asked:7.3f} {ten / asked:6.3f} {counts / asked:7.3f}"
    )


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(0.95 * len(values))]


def seconds(run: Callable[[], object]) -> float:
    """Return the duration of a call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [1000, 10_000])
