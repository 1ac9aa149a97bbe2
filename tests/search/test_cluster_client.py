"""The client of a cluster: what nodes that fail, hang, or answer half are worth to those who ask."""

import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jieda.cluster import client
from jieda.cluster.bodies import Shape
from jieda.cluster.client import Access, Cluster, Refused
from jieda.cluster.engine import Lease, hold_lease
from jieda.cluster.indexes import Indexes, send, write_item
from jieda.errors import ClusterUnavailable
from jieda.snapshot.snapshot import WantedIndex

from tests.support.cluster import ActionResult, node
from tests.support.server import until

NOBODY = "http://127.0.0.1:9"
WHOLE = {"_shards": {"total": 3, "successful": 3, "failed": 0}, "timed_out": False, "hits": {"hits": []}}
LOST = WHOLE | {"_shards": {"total": 3, "successful": 2, "failed": 0}}
FAILED = WHOLE | {"_shards": {"total": 3, "successful": 2, "failed": 1}}
LATE = WHOLE | {"timed_out": True}
REFUSED = {"error": {"type": "index_not_found_exception", "reason": "no such index [secret]"}, "status": 404}


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAUSE", 0.01)
    monkeypatch.setattr(client, "OPEN_FOR", 0.2)


def cluster(*urls: str, **options: object) -> Cluster:
    return Cluster(Access(urls, **{"timeout": 0.5, **options}))  # type: ignore[arg-type]


def test_a_node_that_is_not_there_costs_nobody_an_answer() -> None:
    with node(lambda *_: (200, {"responses": [WHOLE]})) as living:
        asked = cluster(NOBODY, living)
        for _ in range(4):
            assert asked.searches("some", [{}]) == [WHOLE]
        asked.close()
    assert asked.failure == ""


@pytest.mark.slow
def test_a_node_that_does_not_answer_in_time_is_left_for_another() -> None:
    waiting = threading.Event()

    def slow(*_: object) -> ActionResult:
        waiting.wait(5)
        return 200, {}

    with node(lambda *_: (200, {"responses": [WHOLE]})) as quick, node(slow) as hanging:
        asked = cluster(hanging, quick)
        assert asked.searches("some", [{}]) == [WHOLE]
        waiting.set()
        asked.close()


@pytest.mark.slow
@pytest.mark.parametrize("partial", [LOST, FAILED, LATE], ids=["lost", "failed", "late"])
def test_an_answer_without_some_of_its_shards_is_none(partial: dict[str, object]) -> None:
    answers = iter([partial, partial, WHOLE])
    with node(lambda *_: (200, {"responses": [next(answers)]})) as living:
        asked = cluster(living)
        assert asked.searches("some", [{}]) == [WHOLE]
        asked.close()
    with node(lambda *_: (200, {"responses": [partial]})) as living:
        asked = cluster(living)
        with pytest.raises(ClusterUnavailable):
            asked.searches("some", [{}])
        asked.close()


def test_every_search_refuses_partial_answers_beforehand() -> None:
    seen: list[bytes] = []

    def answer(_method: str, _path: str, body: bytes, _headers: dict[str, str]) -> ActionResult:
        seen.append(body)
        return 200, {"responses": [WHOLE, WHOLE]}

    with node(answer) as living:
        asked = cluster(living)
        asked.searches("some", [{"size": 1}, {"size": 2}])
        asked.close()
    heads = [json.loads(line) for line in seen[0].splitlines()[::2]]
    assert heads == [{"index": "some", "allow_partial_search_results": False}] * 2


def test_where_nobody_answers_the_next_are_told_at_once_and_it_recovers_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    working = threading.Event()
    asked_nodes: list[str] = []

    def answer(_method: str, path: str, *_: object) -> ActionResult:
        asked_nodes.append(path)
        return (200, {"responses": [WHOLE]}) if working.is_set() else (503, {})

    with caplog.at_level(logging.INFO), node(answer) as living:
        asked = cluster(living)
        with pytest.raises(ClusterUnavailable) as told:
            asked.searches("some", [{}])
        assert (told.value.status, told.value.retry_after > 0) == (503, True)
        count = len(asked_nodes)
        with pytest.raises(ClusterUnavailable):
            asked.searches("some", [{}])
        assert len(asked_nodes) == count
        assert asked.failure
        working.set()
        asked.ask("GET", "/", patience=1.0)
        assert asked.searches("some", [{}]) == [WHOLE], "at once after an answer to somebody else"
        assert asked.failure == ""
        working.clear()
        with pytest.raises(ClusterUnavailable):
            asked.searches("some", [{}])
        working.set()
        threading.Event().wait(0.3)
        assert asked.searches("some", [{}]) == [WHOLE]
        assert asked.failure == ""
        asked.close()
    assert "127.0.0.1" not in caplog.text


def test_whoever_waits_for_a_cluster_that_is_not_there_is_told_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(cluster(NOBODY).ask, "GET", "/", patience=3.0)
        until(lambda: "no connection" in caplog.text)
        assert not waiting.done()


def test_a_missing_index_is_no_failure_of_the_cluster() -> None:
    with node(lambda *_: (200, {"responses": [REFUSED]})) as living:
        asked = cluster(living)
        with pytest.raises(Refused, match="404") as told:
            asked.searches("some", [{}])
        asked.close()
    assert "secret" not in str(told.value)
    assert asked.failure == ""


def test_user_and_password_are_sent_and_told_to_nobody(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[dict[str, str]] = []

    def answer(_method: str, _path: str, _body: bytes, headers: dict[str, str]) -> ActionResult:
        seen.append(headers)
        return 401, {"error": {"type": "security_exception", "reason": "no rights for jieda:s3cret"}}

    with caplog.at_level(logging.DEBUG), node(answer) as living:
        access = Access((living,), user="jieda", password="s3cret", timeout=0.5)
        asked = Cluster(access)
        with pytest.raises(Refused) as told:
            asked.ask("GET", "/")
        asked.close()
    assert seen[0]["Authorization"] == "Basic amllZGE6czNjcmV0"
    for text in (repr(access), str(told.value), caplog.text):
        assert "s3cret" not in text


def test_https_is_not_spoken_to_whom_nobody_vouches_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Cluster(Access(("https://127.0.0.1:9",), ca=tmp_path / "nowhere"))
    with node(lambda *_: (200, {})) as plain:
        asked = cluster(plain.replace("http:", "https:"))
        with pytest.raises(ClusterUnavailable):
            asked.ask("GET", "/")


# ---- loading


def test_items_that_are_refused_within_an_answer_of_200_are_sent_again() -> None:
    kept: list[str] = []
    busy = iter([True, True, False])

    def answer(_method: str, _path: str, body: bytes, _headers: dict[str, str]) -> ActionResult:
        ids = [json.loads(line)["index"]["_id"] for line in body.splitlines()[::2]]
        refused = set(ids[1:]) if next(busy) else set()
        kept.extend(one for one in ids if one not in refused)
        items = [{"index": {"_id": one, "status": 429 if one in refused else 201}} for one in ids]
        return 200, {"errors": bool(refused), "items": items}

    with node(answer) as living:
        asked = cluster(living)
        items = [write_item(one, "{}") for one in ("a", "b", "c")]
        assert send(asked, "some", items, lambda: None) == 3
        asked.close()
    assert kept == ["a", "b", "c"]


def test_a_document_that_is_refused_for_good_is_an_error() -> None:
    item = {"index": {"_id": "a", "status": 400, "error": {"type": "mapper_parsing_exception"}}}
    with node(lambda *_: (200, {"errors": True, "items": [item]})) as living:
        asked = cluster(living)
        with pytest.raises(ClusterUnavailable, match="mapper_parsing_exception"):
            send(asked, "some", [write_item("a", "{}")], lambda: None)
        asked.close()


def test_a_clone_whose_builder_died_is_not_taken_for_complete() -> None:
    """It has as many documents as the index that was to come of it, and the marks of the one before."""
    marks: dict[str, object] = {}

    def answer(method: str, path: str, body: bytes, _headers: dict[str, str]) -> ActionResult:
        index = path.split("/")[1]
        if path.endswith("_mapping") and method == "PUT":
            marks[index] = json.loads(body)["_meta"]
        elif path.endswith("_mapping"):
            return 200, {name: {"mappings": {"_meta": mark}} for name, mark in marks.items()}
        return 200, {"timed_out": False, "responses": [WHOLE | {"hits": {"total": {"value": 0}, "hits": []}}]}

    with node(answer) as living:
        asked = cluster(living)
        indexes = Indexes(asked, "faq", Shape(1, 0))
        indexes.fill("faq-a", WantedIndex("", {}, (), ()), "", lambda: None)
        marks["faq-b"] = marks["faq-a"]
        assert [indexes.is_complete(name) for name in ("faq-a", "faq-b")] == [True, False]
        asked.close()


# ---- the lease


class Store:
    """One document as a cluster keeps it: created once, changed by whoever saw it last."""

    def __init__(self) -> None:
        self.held: dict[str, object] | None = None
        self.number = 0

    def answer(self, method: str, path: str, body: bytes, _headers: dict[str, str]) -> ActionResult:
        mark = f"if_seq_no={self.number}&"
        if "/_create/" in path and self.held is not None:
            return 409, {"error": {"type": "version_conflict_engine_exception"}}
        if "if_seq_no" in path and (self.held is None or mark not in path):
            return 409, {"error": {"type": "version_conflict_engine_exception"}}
        if method == "GET":
            found = {"_source": self.held, "_seq_no": self.number, "_primary_term": 1}
            return (200, found) if self.held else (404, {})
        if method == "PUT" and "lock" in path:
            self.held, self.number = json.loads(body), self.number + 1
        if method == "DELETE":
            self.held = None
        return 200, {"_seq_no": self.number, "_primary_term": 1}


@pytest.fixture
def store() -> Iterator[tuple[Store, Cluster]]:
    kept = Store()
    with node(kept.answer) as living:
        asked = cluster(living)
        yield kept, asked
        asked.close()


def test_two_builders_do_not_load_at_once(store: tuple[Store, Cluster]) -> None:
    kept, asked = store
    with hold_lease(asked, "control", lambda: None):
        assert not Lease(asked, "control", 60).take()
    assert kept.held is None
    assert Lease(asked, "control", 60).take()


def test_the_lease_of_a_dead_builder_is_taken_over_and_it_finds_out(store: tuple[Store, Cluster]) -> None:
    _, asked = store
    dead, heir = Lease(asked, "control", 0.05), Lease(asked, "control", 60)
    assert dead.take()
    threading.Event().wait(0.1)
    assert heir.take()
    with pytest.raises(ClusterUnavailable):
        dead.renew()
    dead.release()
    assert not Lease(asked, "control", 60).take()


def test_a_lease_is_put_off_while_its_holder_works(store: tuple[Store, Cluster]) -> None:
    kept, asked = store
    lease = Lease(asked, "control", 0.2)
    assert lease.take()
    first = kept.held
    threading.Event().wait(0.15)
    lease.renew()
    assert kept.held is not None
    assert first is not None
    assert float(str(kept.held["until"])) > float(str(first["until"]))


def test_a_complete_index_that_never_became_the_current_one_is_removed() -> None:
    orphan, deleted = "some-0123456789abcdef", []

    def answer(method: str, path: str, _body: bytes, _headers: dict[str, str]) -> ActionResult:
        if method == "DELETE":
            deleted.append(path.partition("?")[0])
        return 200, {orphan: {"mappings": {"_meta": {"whole": True}}}} if path.endswith("/_mapping") else {}

    with node(answer) as living:
        asked = cluster(living)
        Indexes(asked, "some", Shape(1, 0)).prune(())
        asked.close()
    assert deleted == [f"/{orphan}"]
