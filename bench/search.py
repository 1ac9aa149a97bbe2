"""In-process search: a whole `Searcher.search`, the ranking alone, and Whoosh's own scoring, in one run.

    python -m bench.search [ENTRIES ...]

Corpora are generated from the shipped entries: each entry is a shipped one with a new name, its document mixed from the
terms of several, with the vectors of one. A whole search parses the query, ranks, and makes reasons and snippets of ten
hits, by words alone and by meaning, which embeds the query; given is the time of the median query. Whoosh searches the
literal words only. Times are CPU times.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.catalog import in_memory
from jieda.content.library import Library
from jieda.content.read.gather import Vocabulary
from jieda.content.read.load import Loaded
from jieda.entry import Summary
from jieda.evaluation.figures import read_judged
from jieda.search.answers import SearchRequest
from jieda.search.index.document import ZONES, Document, build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.meaning.embedder import GuardedEmbedder
from jieda.search.meaning.embedder import embedder as installed
from jieda.search.query.parser import QueryParser
from jieda.search.query.words import Query
from jieda.search.rank.ranker import rank
from jieda.search.searcher import Searcher
from jieda.settings import Settings
from jieda.taxonomy import Filters
from whoosh.fields import KEYWORD, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.query import Or, Term
from whoosh.scoring import BM25F

ROOT = Path(__file__).resolve().parent.parent
MIXED = 3
QUERIES = 100
SHOWN = 10


def documents(shipped: Sequence[Document], count: int) -> Iterator[Document]:
    """Yield `count` documents, each with terms drawn from several shipped ones, zone by zone, and a unique name."""
    chance = random.Random(42)
    for number in range(count):
        drawn = chance.sample(shipped, MIXED)
        zones = {
            zone: Counter(
                term
                for one in drawn
                for term in Counter(one.zones[zone]).elements()
                if chance.random() < 1 / MIXED
            )
            for zone in ZONES
        }
        zones["body_en"].update((f"x:name{number}", f"t:name{number}"))
        passages = [one for each in drawn for one in each.texts if chance.random() < 1 / MIXED]
        yield Document(name(number), zones, (), passages, drawn[0].facets, meaning=drawn[0].meaning)


def name(number: int) -> str:
    """Return the id of a generated entry."""
    return f"roll/made-{number}"


def library_of(shipped: Library, count: int) -> Library:
    """Return a library with an entry for each generated document."""
    origin = {name(number): shipped.ids[number % len(shipped)] for number in range(count)}

    def summary(made: str) -> Summary:
        return replace(shipped.summary(origin[made]), id=made)

    return Library(
        fetch_rows=in_memory(map(summary, origin), shipped.taxonomy),
        summary=summary,
        read_entry=lambda made: replace(shipped.entries[origin[made]], id=made),
        vocabulary=Vocabulary(shipped.taxonomy, shipped.glossary, shipped.dictionary, shipped.log_knowledge),
        problems=(),
        current_ids={},
        images={},
        sampled=frozenset(),
        read_samples=lambda _: (),
    )


def seconds(run: Callable[[], object], times: int = 3) -> float:
    """Return CPU seconds, the median of `times` runs after an uncounted one."""
    run()
    taken = []
    for _ in range(times):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def median_ms(run: Callable[[str], object], asked: Sequence[str], times: int = 5) -> float:
    """Return CPU milliseconds of the median query, each the fastest of `times` runs after an uncounted one."""

    def taken(text: str) -> float:
        start = time.process_time()
        run(text)
        return time.process_time() - start

    for text in asked:
        run(text)
    return 1000 * statistics.median(min(taken(text) for _ in range(times)) for text in asked)


def measure(
    shipped: Library,
    analyzer: Analyzer,
    mixed: Sequence[Document],
    embedder: GuardedEmbedder | None,
    count: int,
) -> None:
    """Print a line for one corpus size, generated from the documents `mixed`."""
    glossary = Glossary(shipped.glossary, analyzer)
    made = list(documents(mixed, count))
    judged = [one.query for one in read_judged(ROOT / "tests/judged.jsonl") if one.kind == "question"][
        :QUERIES
    ]
    with tempfile.TemporaryDirectory() as folder:
        ours, edited, theirs = (Path(folder, name) for name in ("ours", "edited", "whoosh"))
        for place in (ours, edited, theirs):
            place.mkdir()
        start = time.process_time()
        held = {one.id: one for one in made}
        update_index(ours, None, held, (), ())
        built = time.process_time()
        index = EmbeddedIndex(ours)
        opened = time.process_time()
        update_index(edited, ours, held, [made[0].id], ())
        wrote = time.process_time()
        EmbeddedIndex(edited, reuse=index)
        followed = time.process_time()
        size = sum(path.stat().st_size for path in ours.iterdir())
        library = library_of(shipped, count)
        parser = QueryParser(analyzer, glossary, index.lexicon)
        queries = [parser.parse(text, Filters()).query for text in judged]
        words, meaning = (
            median_ms(partial(_searched, Searcher(library, index, analyzer, glossary, one)), judged)
            for one in (None, embedder)
        )
        parsed = seconds(lambda: [parser.parse(text, Filters()) for text in judged])
        ranked = seconds(lambda: [_ranked(index, query) for query in queries])
        whoosh_index(theirs, made)
        with FileStorage(str(theirs)).open_index().searcher(weighting=BM25F()) as searching:
            reference = seconds(lambda: [searching.search(whoosh_query(one), limit=SHOWN) for one in queries])
    each = 1000 / len(judged)
    print(
        f"{count:>7} {words:8.2f} {meaning:8.2f} {parsed * each:8.2f} {ranked * each:8.2f} {reference * each:8.2f} "
        f"{reference / ranked:7.1f} {built - start:8.2f} {size / 1e6:8.1f} {opened - built:7.3f} "
        f"{wrote - opened:7.3f} {followed - wrote:7.3f}"
    )


def _searched(searcher: Searcher, text: str) -> object:
    return searcher.search(SearchRequest(text, limit=SHOWN))


def _ranked(index: EmbeddedIndex, query: Query) -> object:
    """Compute what a search needs of the ranking: hits, total and facets."""
    ranking = rank(index, query, SHOWN)
    return ranking.totals([query.filters]), ranking.facets()


def whoosh_index(directory: Path, made: Sequence[Document]) -> None:
    """Index the same terms in Whoosh."""
    # A list of finished terms as a field's value bypasses whatever analyzer the field has.
    fields: dict[str, Any] = {zone: KEYWORD(scorable=True) for zone in ZONES}
    index = FileStorage(str(directory)).create_index(Schema(**fields))
    with index.writer(limitmb=256) as writer:
        for one in made:
            writer.add_document(
                **{zone: [*Counter(counts).elements()] for zone, counts in one.zones.items() if counts}
            )
    index.close()


def whoosh_query(query: Query) -> Or:
    """Return the literal words of a query, in every zone, as a Whoosh query."""
    terms = {
        variant
        for clause in query.clauses
        for term in clause.alternatives[0].terms
        for variant in term.variants
    }
    return Or([Term(zone, term) for zone in ZONES for term in sorted(terms)])


def main(counts: Sequence[int]) -> None:
    """Print milliseconds per query for each corpus size, and the costs of building."""
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    glossary = Glossary(library.glossary, analyzer)
    found = installed(Settings.load(os.environ).data, wanted=True)
    embedder = GuardedEmbedder(found) if found else None
    mixed = list(build_documents(library, analyzer, glossary, embedder=embedder))
    print(
        f"{QUERIES} queries; ms a query: a whole search by words, with meaning; parsing, ranking, Whoosh's scoring"
    )
    print(
        "seconds: build from analyzed documents, open, write one edit, open after it; all of processor time"
    )
    print(
        "entries    words  meaning  parsing  ranking   Whoosh   ratio    build  size/MB    open    edit  follow"
    )
    for count in counts:
        measure(library, analyzer, mixed, embedder, count)


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [42, 1000, 10_000])
