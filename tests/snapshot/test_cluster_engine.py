"""Generations whose index is in a cluster: loaded, followed, cleaned up, and missed when nobody answers."""

import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from jieda.cluster import indexes as loaded
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster
from jieda.cluster.engine import ClusterEngine
from jieda.cluster.indexes import GRACE, Indexes
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.support import shipped as shipped_content
from tests.support.cluster import Line
from tests.support.inside import serving
from tests.support.server import until
from tests.support.small_content import edition, write

URLS = tuple(os.environ.get("JIEDA_TEST_OPENSEARCH_URL", "").split())
pytestmark = pytest.mark.skipif(not URLS, reason="JIEDA_TEST_OPENSEARCH_URL names no cluster to test with")

ENTRIES = {
    "en/roll/memory.md": edition("Out of memory in rollout", "## Answer\n\nLower the batch size.\n"),
    "zh/roll/memory.md": edition("rollout 显存不足", "## 回答\n\n调小 batch size。\n"),
    **{
        f"en/roll/n{n}.md": edition(f"Question number {n}", f"## Answer\n\nWord{n} here.\n") for n in range(8)
    },
}


@pytest.fixture
def prefix() -> Iterator[str]:
    """A prefix of its own; what is under it is removed at the end."""
    chosen = f"test-{secrets.token_hex(4)}"
    yield chosen
    asked("DELETE", f"/{','.join(indexes(chosen))}")


def asked(method: str, path: str) -> dict[str, object]:
    """What the cluster answers to one request."""
    with closing(Cluster(Access(URLS, timeout=20.0))) as cluster:
        answer: dict[str, object] = cluster.ask(method, path)
    return answer


def indexes(prefix: str) -> list[str]:
    """The names of all indexes below a prefix."""
    return sorted(asked("GET", f"/{prefix}-*/_settings"))


def current(prefix: str) -> list[str]:
    """The names of the index that the alias leads to."""
    return list(asked("GET", f"/_alias/{prefix}-current"))


def engine_of(prefix: str, *urls: str, timeout: float = 20.0) -> ClusterEngine:
    return ClusterEngine(Access(urls or URLS, timeout=timeout), prefix, Shape(1, 0))


def with_cluster(analyzers: Analyzers, engine: ClusterEngine) -> Analyzers:
    """The same analyzers, and a cluster."""
    other = Analyzers(engine=engine)
    other.analyzer = analyzers.analyzer  # half a second each
    return other


def found(snapshot: Snapshot, text: str) -> list[str]:
    return [hit.entry.id for hit in snapshot.searcher.search(SearchRequest(text, Language.EN)).hits]


def test_the_cluster_finds_what_the_index_in_the_process_finds(
    prefix: str, shipped: Snapshot, analyzers: Analyzers, tmp_path: Path
) -> None:
    there = shipped_content.open_snapshot(tmp_path / "data", with_cluster(analyzers, engine_of(prefix)))
    assert there.searcher.waits
    for text in (
        "OOM",
        "node2pg",
        "显存不足怎么办",
        '"out of memory"',
        "--load",
        "kubernetes",
        "nothing-of-it-x",
    ):
        request = SearchRequest(text, Language.ZH)
        one, other = there.searcher.search(request), shipped.searcher.search(request)
        assert [(hit.entry.id, hit.score) for hit in one.hits] == [(h.entry.id, h.score) for h in other.hits]
        assert (one.total, one.facets, one.weak) == (other.total, other.facets, other.weak)
        assert [hit.reasons for hit in one.hits] == [hit.reasons for hit in other.hits]
    log = "Traceback (most recent call last):\nKeyError: 'node2pg'"
    assert there.diagnoser.diagnose(log, Language.EN, "") == shipped.diagnoser.diagnose(log, Language.EN, "")


def test_an_edit_sends_what_changed_and_moves_the_alias(
    prefix: str, analyzers: Analyzers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    ours = with_cluster(analyzers, engine_of(prefix))
    first = shipped_content.open_snapshot(tmp_path / "data", ours, content)
    before = current(prefix)
    write(content, {"en/roll/n3.md": edition("Question number 3", "## Answer\n\nMarmalade here.\n")})
    (content / "en/roll/n4.md").unlink()
    with caplog.at_level(logging.INFO):
        second = shipped_content.open_snapshot(tmp_path / "data", ours, content)
    assert "1 documents were sent to the cluster, the others were there" in caplog.text
    assert found(second, "marmalade") == ["roll/n3"]
    assert "roll/n4" not in found(second, "word4")
    assert current(prefix) != before
    # Who still serves the generation of before finds in it what was there.
    assert found(first, "marmalade") == []
    assert found(first, "word4") == ["roll/n4"]


def test_another_host_with_the_same_content_loads_nothing(
    prefix: str, analyzers: Analyzers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for host in ("one", "other"):
        content = write(tmp_path / host / "content", ENTRIES)
        caplog.clear()
        with caplog.at_level(logging.INFO):
            ours = with_cluster(analyzers, engine_of(prefix))
            snapshot = shipped_content.open_snapshot(tmp_path / host / "data", ours, content)
        assert found(snapshot, "rollout")[0] == "roll/memory"
    assert "were sent" not in caplog.text
    assert len(indexes(prefix)) == 2


def test_what_a_dead_builder_left_and_what_is_old_is_removed(
    prefix: str, analyzers: Analyzers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    cluster = Cluster(Access(URLS, timeout=20.0))
    cluster.ask("PUT", f"/{prefix}-0123456789abcdef")
    ours = with_cluster(analyzers, engine_of(prefix))
    shipped_content.open_snapshot(tmp_path / "data", ours, content)
    (first,) = current(prefix)
    assert indexes(prefix) == sorted([first, f"{prefix}-control"])
    write(content, {"en/roll/n3.md": edition("Another question")})
    shipped_content.open_snapshot(tmp_path / "data", ours, content)
    (second,) = current(prefix)
    for grace, left in ((GRACE, {first, second}), (0.0, {second})):
        monkeypatch.setattr(loaded, "GRACE", grace)
        Indexes(cluster, prefix, Shape(1, 0)).prune(())
        assert set(indexes(prefix)) == left | {f"{prefix}-control"}
    cluster.close()


def test_an_engine_of_another_kind_is_given_all_documents_anew(
    prefix: str, analyzers: Analyzers, tmp_path: Path
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    for ours in (analyzers, with_cluster(analyzers, engine_of(prefix)), analyzers):
        snapshot = shipped_content.open_snapshot(tmp_path / "data", ours, content)
        assert found(snapshot, '"out of memory"') == ["roll/memory"]


@pytest.fixture
def line() -> Iterator[Line]:
    opened = Line(URLS[0])
    yield opened
    opened.close()


def settings_of(prefix: str, url: str) -> dict[str, str]:
    return {
        "engine": "opensearch",
        "opensearch_url": url,
        "opensearch_prefix": prefix,
        "opensearch_replicas": "0",
        "opensearch_timeout": "1",
        # Or a worker would answer from what it kept.
        "cache": "0",
    }


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_while_the_cluster_is_away_only_search_is(
    prefix: str, analyzers: Analyzers, tmp_path: Path, line: Line, how: str
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    options = settings_of(prefix, line.url)
    engine = ClusterEngine.of(
        Settings.load({f"JIEDA_{name.upper()}": value for name, value in options.items()})
    )
    assert engine
    ours = with_cluster(analyzers, engine)
    with serving(tmp_path, content, ours, **options) as server, server.client() as client:
        until(lambda: found_by(client) == ["roll/memory"])
        if how == "hangs":
            line.hanging = True
        else:
            line.stop()
        for lang, words in (("en", "Search is not available"), ("zh", "暂时无法搜索")):
            answer = client.get("/api/v1/search", params={"q": "rollout", "lang": lang})
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert answer.headers["content-type"].startswith("application/problem+json")
            assert words in answer.json()["title"]
            page = client.get(f"/{lang}/search", params={"q": "rollout"}, headers={"Accept": "text/html"})
            assert page.status_code == 503
            assert words in page.text
        for path in ("/en/entries/roll/memory", "/en/entries", "/api/v1/entries", "/en/", "/openapi.json"):
            assert client.get(path).status_code == 200, path
        assert client.get("/api/v1/suggest", params={"q": "ques"}).json()
        assert client.post("/api/v1/diagnose", json={"text": "KeyError: 'x'"}).status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "the search cluster" in ready.json()["degraded"]
        assert "127.0.0.1" not in ready.text
        figures = client.get("/metrics").text
        assert "jieda_search_cluster_up 0.0" in figures
        assert 'jieda_searches_total{outcome="unavailable"}' in figures
        line.hanging = line.cut = False
        until(lambda: found_by(client) == ["roll/memory"])
        until(lambda: client.get("/readyz").json()["status"] == "ready")


def test_what_was_answered_before_is_answered_while_the_cluster_is_away(
    prefix: str, analyzers: Analyzers, tmp_path: Path, line: Line
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    ours = with_cluster(analyzers, engine_of(prefix, line.url, timeout=1.0))
    options = settings_of(prefix, line.url) | {"cache": "1"}
    with serving(tmp_path, content, ours, **options) as server, server.client() as client:
        until(lambda: found_by(client) == ["roll/memory"])
        line.stop()
        assert found_by(client) == ["roll/memory"]
        assert client.get("/api/v1/search", params={"q": "memory"}).status_code == 503


def found_by(client: httpx.Client) -> list[str]:
    answer = client.get("/api/v1/search", params={"q": "rollout"})
    return [hit["id"] for hit in answer.json()["hits"]] if answer.status_code == 200 else []


def test_an_index_that_the_cluster_lost_is_loaded_again(
    prefix: str, analyzers: Analyzers, tmp_path: Path
) -> None:
    content = write(tmp_path / "content", ENTRIES)
    options = settings_of(prefix, URLS[0])
    ours = with_cluster(analyzers, engine_of(prefix))
    with serving(tmp_path, content, ours, **options) as server, server.client() as client:
        until(lambda: found_by(client) == ["roll/memory"])
        asked("DELETE", f"/{current(prefix)[0]}")
        assert client.get("/api/v1/search", params={"q": "rollout"}).status_code == 503
        until(lambda: found_by(client) == ["roll/memory"])


def test_no_search_fails_while_generations_change(prefix: str, analyzers: Analyzers, tmp_path: Path) -> None:
    content = write(tmp_path / "content", ENTRIES)
    ours = with_cluster(analyzers, engine_of(prefix))
    stop, codes = threading.Event(), []
    with (
        serving(tmp_path, content, ours, reload_token="t", **settings_of(prefix, URLS[0])) as server,
        server.client() as client,
    ):
        until(lambda: found_by(client) == ["roll/memory"])

        def ask() -> None:
            with server.client() as other:
                while not stop.is_set():
                    codes.append(other.get("/api/v1/search", params={"q": "rollout memory"}).status_code)

        reader = threading.Thread(target=ask)
        reader.start()
        for number in range(3):
            write(content, {"en/roll/n1.md": edition(f"Changed {number}")})
            answer = client.post("/api/v1/reload", headers={"Authorization": "Bearer t"})
            assert answer.json()["changed"] is True
        stop.set()
        reader.join()
    assert set(codes) == {200}
