"""Unanswered questions are kept where that is wanted: redacted, outside the path of requests, and never in the way."""

import logging
import re
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from jieda.feedback import GAPS, FeedbackStore, GapOutcome, GapSource
from jieda.metrics import Metrics
from jieda.settings import Settings
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.recorder import MOST_NOTES, NOBODY, Recorder, Searched

from tests.support.inside import Inside
from tests.support.server import PATIENCE, Server, until
from tests.support.small_content import edition, write

MAIL, HOST, ADDRESS, FOLDER = "zq.hidden@corp.example", "gpu-7.zq.internal", "10.77.66.55", "/data/zqhidden"
TOKEN, NUMBER = "hf_zqzqzqzq12345678zq", "8675309"
SECRETS = (MAIL, HOST, ADDRESS, FOLDER, TOKEN, NUMBER, "zqhidden", "zq.hidden")
QUESTION = f"how do I quantize the policy for {MAIL} on {HOST} {ADDRESS} in {FOLDER} with {TOKEN} {NUMBER}"
LOG = (
    "Traceback (most recent call last):\n"
    f'  File "{FOLDER}/x.py", line 3, in zqhidden\n    g()\n'
    f"acme.WidgetError: widget {NUMBER} of {MAIL} at {ADDRESS} on {HOST} did not answer {TOKEN}\n"
    "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n"
)

Serving = Callable[..., AbstractContextManager[Inside]]


def asks(client: httpx.Client, query: str, who: int = 1, path: str = "/api/v1/search") -> None:
    answer = client.get(path, params={"q": query}, headers={"X-Forwarded-For": f"192.0.2.{who}"})
    assert answer.status_code == 200


def kept(data: Path) -> dict[str, int]:
    """What a server that was stopped has kept: texts with how often."""
    counts: dict[str, int] = {}
    for each in FeedbackStore(data).asked(1):
        counts[each.gap.text] = counts.get(each.gap.text, 0) + each.times
    return counts


def everything_written(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Content with one entry, whose error is told by its line and by its name."""
    front = {"kind": "error", "signatures": "['self.node2pg[node_rank]']", "aliases": "[node2pg KeyError]"}
    body = "## Fix\n\nDo it.\n"
    return write(
        tmp_path / "known", {"en/roll/node2pg-keyerror.md": edition("KeyError in node2pg", body, **front)}
    )


def test_nothing_is_kept_unless_it_is_switched_on(inside: Serving, known: Path) -> None:
    with inside(known) as server, server.client() as client:
        asks(client, QUESTION)
    assert kept(server.data) == {}
    assert not (server.data / GAPS).exists()


def test_questions_are_kept_without_what_is_nobody_elses_business(
    start_server: Callable[..., Server],
) -> None:
    server = start_server(gaps="1")
    with server.client() as client:
        asks(client, QUESTION, 1)
        asks(client, QUESTION, 2, "/zh/search")
        asks(client, QUESTION, 3)  # answered from the cache, and taken down all the same
        client.post("/api/v1/diagnose", content=LOG)
        for lang in ("en", "zh", "en"):  # loaded again, and in the other language
            client.post(f"/{lang}/diagnose", data={"text": LOG}, headers={"X-Forwarded-For": "192.0.2.9"})
        metrics = client.get("/metrics").text
    assert server.stop() == 0
    assert kept(server.data) == {
        "how do I quantize the policy for {addr} on {word} {addr} in {path} with {word} {num}": 3,
        "{word} {num} of {addr} at {addr} on {word} did not answer {word}": 2,
    }
    logs = [each.gap for each in FeedbackStore(server.data).asked(1) if each.gap.source is GapSource.LOG]
    assert {each.kind for each in logs} == {"WidgetError"}
    for secret in SECRETS:
        assert secret not in metrics
        assert [
            path for path, content in everything_written(server.output.parent) if secret.encode() in content
        ] == []


@pytest.mark.slow
def test_what_was_refined_or_is_still_typed_or_filtered_is_no_gap(inside: Serving, known: Path) -> None:
    with inside(known, gaps="1") as server, server.client() as client:
        asks(client, "quantize the vision tower", 1)
        asks(client, "node2pg KeyError", 1)
        asks(client, "freeze the vision tower", 2)
        client.get("/en/entries/roll/node2pg-keyerror", headers={"X-Forwarded-For": "192.0.2.2"})
        for options in ({"unfinished": "1"}, {"framework": "roll"}, {"offset": "10"}):
            client.get("/api/v1/search", params={"q": "quantize the projector", **options})
        asks(client, "train the projector only", 3)
        asks(client, "train the projector only", 3)
        asks(client, "node2pg KeyError", 4)
    assert kept(server.data) == {"train the projector only": 1}
    assert FeedbackStore(server.data).reads(1) == {"roll/node2pg-keyerror": 1}


@pytest.mark.slow
def test_whoever_asks_what_others_asked_before_is_counted_as_well(inside: Serving, known: Path) -> None:
    with inside(known, gaps="1", cache="16") as server, server.client() as client:
        for who in (1, 2, 3):
            asks(client, "train the projector only", who)
            client.get("/en/entries/roll/node2pg-keyerror", headers={"X-Forwarded-For": f"192.0.3.{who}"})
    assert kept(server.data) == {"train the projector only": 3}
    assert FeedbackStore(server.data).reads(1) == {"roll/node2pg-keyerror": 3}


@pytest.mark.slow
def test_a_damaged_file_costs_what_it_had_and_one_line(
    inside: Serving, known: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with inside(known, gaps="1") as server, server.client() as client:
        (server.data / GAPS).write_bytes(b"this is no database " * 1000)
        asks(client, "train the projector only")
        until((server.data / f"{GAPS}.damaged").exists)
    assert kept(server.data) == {"train the projector only": 1}
    assert caplog.text.count("is damaged: it is set aside") == 1
    assert "cannot be recorded" not in caplog.text


@pytest.mark.slow
def test_where_the_disk_takes_nothing_that_is_said_once(
    inside: Serving, known: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with inside(known, gaps="1") as server, server.client() as client:
        (server.data / GAPS).mkdir()
        for number in range(30):
            asks(client, f"train the projector only {'again ' * number}", number)
        until(lambda: "cannot be recorded" in caplog.text)
        client.get("/en/entries/roll/node2pg-keyerror")
    assert caplog.text.count("cannot be recorded") == 1


def test_a_killed_server_leaves_a_file_that_can_be_read(
    start_server: Callable[..., Server], content: Path
) -> None:
    server = start_server(content, gaps="1")
    with server.client() as client:
        client.get("/en/entries/roll/good")
        until(lambda: FeedbackStore(server.data).reads(1) != {})
        for number in range(50):
            asks(client, f"train the projector only {'again ' * number}", number)
        server.stop(signal.SIGKILL)
    with closing(sqlite3.connect(server.data / GAPS)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert FeedbackStore(server.data).reads(1) == {"roll/good": 1}


def test_what_is_too_much_at_once_is_dropped_and_counted(shipped: Snapshot, tmp_path: Path) -> None:
    """Nobody waits for the thread that writes: here it waits for us."""
    metrics, done = Metrics(), threading.Event()

    class Late:
        data = tmp_path

        @property
        def snapshot(self) -> Snapshot:
            done.wait(PATIENCE)
            return shipped

    settings = Settings.load({"JIEDA_GAPS_DAYS": "1", "JIEDA_GAPS_MEGABYTES": "1"})
    recorder = Recorder(settings, Late(), metrics)  # type: ignore[arg-type] # all that it asks of one
    note = Searched(NOBODY, "train the projector only", GapOutcome.NOTHING)
    recorder.note(note)
    recorder.start()
    for _ in range(MOST_NOTES + 10):
        recorder.note(note)
    assert 9 <= dropped(metrics) <= 10
    done.set()
    recorder.stop()
    (kept_at_last,) = FeedbackStore(tmp_path).asked(1)
    assert kept_at_last.times == MOST_NOTES + 10 - dropped(metrics)


def dropped(metrics: Metrics) -> float:
    return metrics.registry.get_sample_value("jieda_gaps_total", {"outcome": "dropped"}) or 0.0


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """Five entries: one stale, one in one language, a draft, a problem."""
    return write(
        tmp_path,
        {
            "en/roll/good.md": edition("Good", synced_with="'000000000000'"),
            "zh/roll/good.md": edition("好", "## 回答\n\n是。\n", updated="2026-02-02"),
            "en/roll/alone.md": edition("Alone"),
            "en/roll/draft.md": edition("Draft", draft="true"),
            "en/roll/faulty.md": edition("Faulty", topics="[nosuch]"),
        },
    )


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def sections(html: str) -> dict[str, str]:
    """What stands below each H2, by its anchor."""
    parts = re.split(r'<h2 id="(\w+)">', html)[1:]
    return dict(zip(parts[::2], map(text_of, parts[1::2]), strict=True))


def test_the_page_for_maintainers_says_what_to_do_next(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    client = serve(content, gaps="1", workbench="1")
    client.post("/en/entries/roll/good", data={"solved": "no"})
    client.get("/zh/entries/roll/alone")
    page = client.get("/en/maintain")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    found = sections(page.text)
    assert "No unanswered question" in found["gaps"]
    assert "reported" not in found
    assert "Nothing to do here: Reported as no help" in text_of(page.text)
    assert "Good" in found["voted"]
    assert "English · 1 no · 0 yes" in found["voted"]
    assert "jieda sync" in found["stale"]
    assert "Good" in found["stale"]
    assert "+ 中文" in found["missing"]
    assert "nosuch" in found["problems"]
    assert "en/roll/draft.md" in found["drafts"]
    assert "/en/workbench?entry=roll%2Fgood" in page.text
    until(
        lambda: (
            "Faulty" in (unread := sections(client.get("/en/maintain").text)["unread"])
            and "Alone" not in unread
        )
    )
    assert "维护" in client.get("/zh/maintain").text
    assert 'href="/zh/maintain"' in client.get("/zh/").text


def test_what_nobody_counted_has_no_number(content: Path, serve: Callable[..., httpx.Client]) -> None:
    page = serve(content, workbench="1").get("/en/maintain").text
    assert sections(page)["unread"].strip().startswith("Never read No reads have been counted")
    assert ">Never read</a>" in page
    assert "Nothing to do here: Found, but did not help; Reported as no help" in text_of(page)


def test_gaps_are_shown_with_their_counts_languages_and_a_way_to_the_workbench(
    content: Path, serve: Callable[..., httpx.Client], inside: Serving
) -> None:
    with inside(content, gaps="1") as before, before.client() as client:
        for who in (1, 2):
            client.post("/api/v1/diagnose", content=LOG, headers={"X-Forwarded-For": f"192.0.2.{who}"})
    client = serve(content, gaps="1", workbench="1", data=str(before.data))
    page = client.get("/en/maintain?days=7").text
    assert 'name="do" value="gap"' in page
    assert 'action="/en/workbench"' in page
    assert not [secret for secret in SECRETS if secret in page]
    assert "log unexplained English 2" in sections(page)["gaps"]


def test_without_the_workbench_the_page_does_not_exist(client: httpx.Client) -> None:
    assert client.get("/en/maintain").status_code == 404


def test_a_token_guards_the_page(content: Path, serve: Callable[..., httpx.Client]) -> None:
    client = serve(content, workbench="1", workbench_token="sesame")
    assert client.get("/en/maintain").status_code == 401
    page = client.get("/en/maintain", headers={"Authorization": "Bearer sesame"})
    assert "are not recorded here" in page.text


def test_what_is_promised_to_visitors_is_what_is_done(
    content: Path, serve: Callable[..., httpx.Client]
) -> None:
    off, on = serve(content), serve(content, gaps="1")
    assert "neither stored nor logged" in off.get("/en/diagnose").text
    for path in ("/en/", "/en/diagnose", "/en/about", "/en/agents"):
        assert "neither stored nor logged" not in on.get(path).text, path
        assert "does not record the terms" not in on.get(path).text, path
    assert "按天计数" in on.get("/zh/about").text


def test_what_is_asked_for_is_kept_redacted_under_a_link_that_only_its_asker_has(
    inside: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with inside(gaps="1") as server, server.client() as client:
        form = client.post("/en/diagnose", data={"text": LOG}).text
        assert 'formaction="/en/asked"' in form
        asked = client.post("/en/asked", data={"text": LOG})
        address = asked.headers["location"]
        key = address.removeprefix("/en/asked?key=")
        assert asked.status_code == 303
        assert len(key) >= 20
        page = client.get(address)
        assert "WidgetError" in page.text
        assert page.headers["cache-control"] == "no-store"
        assert not [secret for secret in SECRETS if secret in page.text]
        assert client.get(f"{address[:-1]}~").status_code == 404
        known = client.post("/en/asked", data={"text": "KeyError: 0 at self.node2pg[node_rank]"})
        assert known.headers["location"] == "/en/diagnose"
        held = FeedbackStore(server.data).awaited()
        assert [each.kind for each in held] == ["WidgetError"]
        client.post("/en/asked", data={"key": key})
        assert "Nothing is kept under this link" in client.get(address).text
        assert FeedbackStore(server.data).awaited() == ()
    assert "POST /en/asked" in caplog.text
    ours = [each.getMessage() for each in caplog.records if each.name.startswith("jieda")]
    assert not [message for message in ours if key in message]
    assert not [path for path, content in everything_written(server.data) if key.encode() in content]


ODD = "acme.WidgetError: frobnicator lost its gizmo while waiting for tray 4"
SIGNED = {
    "'WidgetError: frobnicator lost its gizmo while waiting for tray {int}'": "There may be an answer",
    # What a draft suggests, where only the redacted words are known: it is the error as it was kept.
    "'WidgetError: {any} lost its {any} while waiting for {any} {num}'": "There is an answer",
    "'WidgetError: frobnicator lost its gizmo while waiting for the tray'": "No answer yet",
    "'WidgetError: frobnicator and its gizmo lost while waiting for tray {int}'": "No answer yet",
    "'WidgetError: frobnicator of the gizmo broke'": "No answer yet",
    "'frobnicator lost its gizmo'": "No answer yet",
}


@pytest.mark.slow
def test_an_answer_is_found_by_words_that_were_not_kept_and_called_no_more_than_possible(
    tmp_path: Path, inside: Serving
) -> None:
    content = write(tmp_path / "content", {"en/roll/a.md": edition("How much memory is lost while waiting")})
    with inside(content, gaps="1") as before, before.client() as client:
        address = client.post("/en/asked", data={"text": ODD}).headers["location"]
        assert "frobnicator" not in client.get(address).text
    store = FeedbackStore(before.data)
    of_old = store.awaited()[0]._replace(framework="since-renamed")
    store.add_awaited(sha256(b"other").digest(), of_old)
    told = {}
    for number, signature in enumerate(SIGNED):
        entry = edition("WidgetError", kind="error", signatures=f"[{signature}]")
        write(content, {f"en/roll/{'a' * number}b.md": entry})
        with inside(content, data=str(before.data), gaps="1") as after, after.client() as client:
            pages = (client.get(address).text, client.get("/en/asked?key=other").text)
        (content / f"en/roll/{'a' * number}b.md").unlink()
        (told[signature],) = {title for page in pages for title in re.findall("<h1[^>]*>(.*?)</h1>", page)}
    assert told == SIGNED


def test_without_gaps_nobody_is_asked_for_an_answer(client: httpx.Client) -> None:
    assert "/en/asked" not in client.post("/en/diagnose", data={"text": LOG}).text
    assert client.post("/en/asked", data={"text": LOG}).status_code == 404
