"""A team's own encoder: asked over HTTP, measured by the team's titles, and done without while it does not answer."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jieda.search.meaning.embedder import Embedder, NotEmbedded, embedder
from jieda.search.meaning.endpoint import EndpointEmbedder
from jieda.settings import Settings
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers, Snapshot
from jieda.snapshot.watch.follow import Follower

from tests.search.small import OTHER_WORDS, ask, concept, files_of, found
from tests.support import small_content
from tests.support.encoder_server import KEY, EncoderServer
from tests.support.server import PATIENCE, Server, free_port

pytestmark = pytest.mark.slow

QUERIES = ("保存模型时卡住", "my run stalls while writing weights", "怎样提高生成速度", "who looks after it")
STRANGERS = ("how do I bake bread at home", "今天天气怎么样")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The one that is installed."""
    made = embedder(tmp_path_factory.mktemp("encoder"), wanted=True)
    assert made is not None
    return made


@pytest.fixture
def model(encoder: Embedder) -> Iterator[EncoderServer]:
    """A server of another one."""
    server = EncoderServer(encoder)
    with server.running():
        yield server


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """The entries of OTHER_WORDS."""
    return small_content.write(tmp_path / "content", files_of(OTHER_WORDS))


def asking(server: EncoderServer, **given: object) -> EndpointEmbedder:
    options = {
        "url": server.url,
        "model": "ours",
        "key": KEY,
        "query": "query:",
        "passage": "passage:",
        **given,
    }
    return EndpointEmbedder(
        Settings.load({f"JIEDA_EMBEDDINGS_{name.upper()}": str(value) for name, value in options.items()})
    )


def built(content: Path, data: Path, made: Embedder) -> Snapshot:
    analyzers = Analyzers(made)
    Builder([content], data, analyzers).build()
    follower = Follower(data, analyzers, lambda: None)
    follower.catch_up()
    return follower.snapshot


def test_it_finds_what_the_installed_one_finds_and_calls_as_much_weak(
    tmp_path: Path, content: Path, encoder: Embedder, model: EncoderServer
) -> None:
    """Though any two of its vectors have a cosine of .8."""
    ours, theirs = built(content, tmp_path / "a", encoder), built(content, tmp_path / "b", asking(model))
    for query in QUERIES + STRANGERS:
        one, other = ask(ours, query), ask(theirs, query)
        assert one.weak == other.weak, query
        if query in QUERIES:
            assert one.hits[0].entry == other.hits[0].entry
            # Across languages, the installed one compares words as well.
            if query.isascii():
                assert other.hits[0].score == pytest.approx(one.hits[0].score, abs=0.1)
            else:
                assert one.hits[0].score > other.hits[0].score - 0.1


def test_entries_are_sent_once_and_of_searches_nothing_but_the_query(
    tmp_path: Path, content: Path, model: EncoderServer
) -> None:
    snapshot = built(content, tmp_path / "data", asking(model, batch=5))
    probe, *texts = model.texts
    assert probe == "query: ."
    assert all(text.startswith("passage: ") for text in texts)
    assert max(len(request["input"]) for request in model.asked) == 5
    assert {request["model"] for request in model.asked} == {"ours"}
    model.asked.clear()
    assert found(built(content, tmp_path / "data", asking(model)), QUERIES[0])[0] == "checkpoint"
    assert model.texts == [probe, f"query: {QUERIES[0]}"]
    model.asked.clear()
    assert found(snapshot, "Make generation faster")[0] == "speed"
    built(content, tmp_path / "data", asking(model, model="newer"))
    assert len(model.texts) > len(OTHER_WORDS), "of another model, vectors are made anew"


def test_another_model_under_the_name_has_its_own_vectors_made(
    content: Path, tmp_path: Path, model: EncoderServer
) -> None:
    built(content, tmp_path / "data", asking(model))
    model.wider = True
    snapshot = built(content, tmp_path / "data", asking(model))
    assert found(snapshot, QUERIES[0])[0] == "checkpoint"
    (content / "en/roll/speed.md").write_text(concept("Make generation faster", "Buy more."))
    assert found(built(content, tmp_path / "data", asking(model)), QUERIES[0])[0] == "checkpoint"


@pytest.mark.parametrize(("status", "told"), [(500, "status 500"), (302, "status 302")])
def test_what_it_refuses_is_told_without_its_address(model: EncoderServer, status: int, told: str) -> None:
    model.status = status
    with pytest.raises(NotEmbedded, match=told) as refused:
        asking(model).embed(["x"])
    assert str(model.port) not in str(refused.value)


def test_a_text_that_is_too_long_for_it_is_sent_shorter(model: EncoderServer) -> None:
    """A thousand Chinese characters have more than the 512 tokens that most models read."""
    model.longest = 1500
    vectors = asking(model).embed(["训练很慢" * 300, "short"])
    assert len(vectors) == 2
    model.longest = 9
    with pytest.raises(NotEmbedded, match="status 413"):
        asking(model).embed(["训练很慢" * 300])


def test_words_alone_are_searched_while_it_does_not_answer_and_nobody_waits_for_it(
    content: Path, start_server: Callable[..., Server], encoder: Embedder
) -> None:
    model = EncoderServer(encoder, port=free_port())
    server = start_server(content, embeddings_url=model.url, embeddings_key=KEY, embeddings_timeout="2")
    with server.client() as client:

        def first(query: str) -> str:
            answer = client.get("/api/v1/search", params={"q": query})
            assert answer.status_code == 200
            return next((hit["id"] for hit in answer.json()["hits"]), "")

        assert first("generation faster") == "roll/speed"
        assert first(QUERIES[0]) == ""
        ready = client.get("/readyz").json()
        assert (ready["status"], str(model.port) in ready["degraded"]) == ("degraded", False)
        with model.running():
            # The builder tries again by itself, and so does whoever searches.
            deadline = time.monotonic() + PATIENCE
            while first(QUERIES[0]) != "roll/checkpoint":
                assert time.monotonic() < deadline, client.get("/readyz").text
                time.sleep(0.2)
            while (ready := client.get("/readyz").json())["status"] != "ready":
                assert time.monotonic() < deadline, ready
                time.sleep(0.2)
            model.pause = 6.0
            started = time.monotonic()
            with ThreadPoolExecutor() as pool:
                waiting = pool.submit(first, QUERIES[2])
                time.sleep(0.2)
                assert client.get("/healthz").status_code == 200
                assert not waiting.done(), "others are answered meanwhile"
                assert waiting.result() == ""
            assert time.monotonic() - started < model.pause
            model.pause = 0.0
            while first(QUERIES[2]) != "roll/speed":
                assert time.monotonic() < deadline, "what was answered by words alone is answered again"
                time.sleep(0.2)
        assert first("who looks after it") == "roll/people"
        assert client.get("/readyz").json()["status"] == "degraded"
