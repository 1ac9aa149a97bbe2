"""A node of a cluster of several is killed, while it is loaded and while it is searched: nobody notices."""

import os
import secrets
import signal
import threading
from pathlib import Path

import pytest
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster
from jieda.cluster.engine import ClusterEngine
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Analyzers

from tests.support import shipped as shipped_content
from tests.support.small_content import edition, write

URLS = tuple(os.environ.get("JIEDA_TEST_OPENSEARCH_URL", "").split())
VICTIM = os.environ.get("JIEDA_TEST_OPENSEARCH_PID", "")
pytestmark = pytest.mark.skipif(
    len(URLS) < 3 or not VICTIM,
    reason="JIEDA_TEST_OPENSEARCH_URL names no three nodes, or _PID none that may be killed",
)
ENTRIES = 300
KILLED_AFTER = 20
"""Searches."""
SEARCHES = 60


def test_a_node_that_is_killed_costs_no_search_and_no_load(analyzers: Analyzers, tmp_path: Path) -> None:
    prefix = f"test-{secrets.token_hex(4)}"
    engine = ClusterEngine(Access(URLS, timeout=5.0), prefix, Shape(3, 1))
    ours = Analyzers(engine=engine)
    ours.analyzer = analyzers.analyzer  # half a second each
    content = write(tmp_path / "content", {"en/roll/first.md": edition("Rollout memory")})
    served = shipped_content.open_snapshot(tmp_path / "data", ours, content)
    answers: list[tuple[int, list[str]]] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set() or len(answers) < SEARCHES:
            try:
                answer = served.searcher.search(SearchRequest("rollout", Language.EN))
                answers.append((answer.total, [hit.entry.id for hit in answer.hits]))
            except BaseException as error:  # noqa: BLE001 - told below
                failed.append(error)
                return
            if len(answers) == KILLED_AFTER:
                os.kill(int(VICTIM), signal.SIGKILL)

    many = {
        f"en/roll/n{n}.md": edition(f"Question {n}", f"## Answer\n\n{'Word ' * 200}\n")
        for n in range(ENTRIES)
    }
    write(content, many)
    reader = threading.Thread(target=search)
    reader.start()
    try:
        loaded = shipped_content.open_snapshot(tmp_path / "data", ours, content)
    finally:
        done.set()
        reader.join()
    assert failed == []
    assert set(map(str, answers)) == {str((1, ["roll/first"]))}
    assert loaded.searcher.search(SearchRequest("word", Language.EN)).total == ENTRIES
    cluster = Cluster(Access(URLS, timeout=20.0))
    cluster.ask("DELETE", f"/{','.join(cluster.ask('GET', f'/{prefix}-*/_settings'))}")
    cluster.close()
