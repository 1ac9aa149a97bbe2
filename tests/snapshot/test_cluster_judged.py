"""The judged queries, answered by a cluster and by the index in the process."""

import json
import os
import secrets
from collections.abc import Iterator

import pytest
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster
from jieda.cluster.engine import ClusterEngine
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.support import shipped as shipped_content
from tests.support.server import ROOT

URLS = tuple(os.environ.get("JIEDA_TEST_OPENSEARCH_URL", "").split())
pytestmark = pytest.mark.skipif(not URLS, reason="JIEDA_TEST_OPENSEARCH_URL names no cluster to test with")
SAME_FIRST = 0.99
LONGEST = 400
"""Characters of a judged query that is searched here; longer ones are logs."""


SLICES = 4
"""Each takes minutes on a busy machine."""


@pytest.fixture(scope="module")
def there(analyzers: Analyzers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """The shipped content, searched in the cluster."""
    prefix = f"test-{secrets.token_hex(4)}"
    shape = Shape(len(URLS), int(len(URLS) > 1))
    ours = Analyzers(engine=ClusterEngine(Access(URLS, timeout=20.0), prefix, shape))
    ours.analyzer = analyzers.analyzer  # half a second each
    yield shipped_content.open_snapshot(tmp_path_factory.mktemp("data"), ours)
    cluster = Cluster(Access(URLS, timeout=20.0))
    cluster.ask("DELETE", f"/{','.join(cluster.ask('GET', f'/{prefix}-*/_settings'))}")
    cluster.close()


@pytest.mark.parametrize("part", range(SLICES))
def test_judged_queries_have_the_answers_that_they_have_without_a_cluster(
    there: Snapshot, shipped: Snapshot, part: int
) -> None:
    """Same first hit, first five, totals and counts; what differs is listed."""
    lines = (ROOT / "tests/judged.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [one for one in map(json.loads, lines) if len(one["query"]) <= LONGEST][part::SLICES]
    first = five = right = rightly = counted = 0
    for one in judged:
        request = SearchRequest(one["query"], Language.ZH if one["lang"] == "zh" else Language.EN)
        answers = [each.searcher.search(request) for each in (there, shipped)]
        ids = [[hit.entry.id for hit in each.hits[:5]] for each in answers]
        counts = [(each.total, each.facets) for each in answers]
        first += ids[0][:1] == ids[1][:1]
        five += ids[0] == ids[1]
        counted += counts[0] == counts[1]
        right += bool(set(ids[0][:1]) & set(one["expected"]))
        rightly += bool(set(ids[1][:1]) & set(one["expected"]))
        if ids[0] != ids[1] or counts[0] != counts[1]:
            print(one["id"], ids, [each[0] for each in counts])
    print(f"{len(judged)} queries: same first {first}, same five {five}, same counts {counted}")
    print(f"right first: {right} in the cluster, {rightly} in the process")
    assert first >= SAME_FIRST * len(judged)
    assert right == rightly
    assert counted == len(judged)
