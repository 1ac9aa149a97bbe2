"""The index in an OpenSearch cluster does what every index must, and finds there what the embedded one finds."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster
from jieda.cluster.index import ClusterIndex, write_index_name
from jieda.cluster.indexes import Indexes
from jieda.search.index.document import BODIES, Document
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.protocol import Index
from jieda.search.index.writer import update_index
from jieda.search.query.words import Query, Spelling
from jieda.search.rank.ranker import rank
from jieda.snapshot.snapshot import WantedIndex
from jieda.taxonomy import Filters

from tests.search.contract import TAGS, IndexContract, document, ids, passage, search, word
from tests.support.engines import DictionaryIndex

URLS = tuple(os.environ.get("JIEDA_TEST_OPENSEARCH_URL", "").split())
pytestmark = pytest.mark.skipif(not URLS, reason="JIEDA_TEST_OPENSEARCH_URL names no cluster to test with")


@contextmanager
def loaded(documents: Sequence[Document], folder: Path, **options: int) -> Iterator[ClusterIndex]:
    """An index of `documents` in the cluster, removed at the end."""
    cluster = Cluster(Access(URLS, timeout=20.0))
    indexes = Indexes(cluster, "test", Shape(1, 0))
    name = indexes.name_of(secrets.token_hex(8))
    by_id = {one.id: one for one in documents}
    update_index(folder, None, by_id, (), ())
    write_index_name(folder, name)
    indexes.fill(name, WantedIndex("", by_id, (), ()), "", lambda: None)
    try:
        yield ClusterIndex(folder, cluster, **options)
    finally:
        cluster.ask("DELETE", f"/{name}")
        cluster.close()


class TestClusterIndex(IndexContract):
    @contextmanager
    def index(self, documents: Sequence[Document]) -> Iterator[Index]:
        with TemporaryDirectory() as folder, loaded(documents, Path(folder)) as index:
            yield index


@pytest.mark.parametrize(
    "odd", ["x:torch.cuda.OutOfMemoryError", "x:a%2Eb", "x:" + "长" * 20_000, "x:\ud800"]
)
def test_a_term_is_found_whatever_the_cluster_thinks_of_it(odd: str, tmp_path: Path) -> None:
    """It loses dots in names of features without a word, and refuses documents with terms of more than 32,766 bytes."""
    held = document("f/odd", zones={"code": odd}, texts=[passage(BODIES, f"{odd} a")], keys=(f"s:{odd}",))
    other = document("f/other", zones={"code": "x:a"}, texts=["a"])
    with loaded([held, other], tmp_path) as index:
        assert ids(search(index, Query((word(odd),)))) == ["f/odd"]
        assert ids(search(index, Query((), keys=(f"s:{odd}",)))) == ["f/odd"]
        assert ids(search(index, Query((word("x:a"),), required=((odd, "a"),)))) == []


def test_a_query_of_more_words_than_the_cluster_takes_is_answered(tmp_path: Path) -> None:
    words = [f"t:w{number}" for number in range(2000)]
    with loaded(
        [document("f/all", zones={"body_en": " ".join(words)}), document("f/none")], tmp_path
    ) as index:
        assert ids(search(index, Query(tuple(map(word, words))))) == ["f/all"]


def test_what_the_window_has_not_is_counted_in_the_cluster_as_the_index_in_the_process_counts_it(
    tmp_path: Path,
) -> None:
    """Forty documents and a window of five: hits come from the window, totals and facets from everywhere."""
    held = [
        document(
            f"f/{number:02}",
            zones={
                "body_en": "t:all " * (1 + number % 3) + "t:some " * (number % 4 == 0),
                "tag": f"t:n{number}",
            },
            texts=["a b"] if number % 5 else ["b a"],
            facets={
                **dict.fromkeys(TAGS, ()),
                "framework": ("fg"[number % 2],),
                "topic": ("tuv"[number % 3],),
            },
        )
        for number in range(40)
    ]
    some = Query((word("t:all", "t:n3"), word("t:some")))
    queries = [
        some,
        replace(some, filters=Filters(framework=("f",))),
        replace(some, filters=Filters(framework=("f",), topic=("t", "u"))),
        replace(some, required=(("a", "b"),)),
        replace(some, required=(("a", "b"),), filters=Filters(topic=("v",))),
        replace(some, required=(("b", "b"),)),
        replace(some, phrase=("a",), exact_first=True, spelling=Spelling(separators=("", ""))),
    ]
    with loaded(held, tmp_path, window=5) as index:
        embedded = EmbeddedIndex(tmp_path)
        for query in queries:
            there, here = rank(index, query, 5), rank(embedded, query, 5)
            assert there.facets() == here.facets()
            wider = [query.filters, query.filters.without("framework"), Filters(), Filters(topic=("u",))]
            assert there.totals(wider) == here.totals(wider)
            assert [one.score for one in there.ranked] == pytest.approx([one.score for one in here.ranked])
        reference = DictionaryIndex(held)
        for query in queries:
            there, plain = rank(index, query, 5), rank(reference, query, 5)
            assert there.phrase_dropped == plain.phrase_dropped
            assert there.facets() == plain.facets()
            assert there.totals([query.filters]) == plain.totals([query.filters])
