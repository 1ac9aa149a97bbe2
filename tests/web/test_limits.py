"""What one client may ask, and all of them together: beyond it they are told when to come back."""

import asyncio
import itertools
import logging
import stat
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from jieda.feedback import VOTES, FeedbackStore
from jieda.usecases.service import MOST_VALUES, OncePerGeneration, at_once
from jieda.web.http.limits import MOST_AT_ONCE, Buckets, cost_of
from jieda.web.site import MAX_VOTES

from tests.support import inside
from tests.support.server import PATIENCE
from tests.support.small_content import edition, write

pytestmark = [pytest.mark.quick, pytest.mark.anyio]

CONTENT = {"en/roll/first.md": edition("Out of memory in node2pg")}
FEW = {"searches_per_minute": "5", "diagnoses_per_minute": "3", "pages_per_minute": "8"}
SEARCH = "/api/v1/search?q=oom"


def application(folder: Path, **settings: str) -> FastAPI:
    return inside.application(folder, write(folder / "content", CONTENT), **settings)


def client_at(app: FastAPI, address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=(address, 4321)), base_url="http://limits"
    )


async def statuses(client: httpx.AsyncClient, times: int, path: str = SEARCH) -> list[int]:
    return [(await client.get(path)).status_code for _ in range(times)]


async def test_each_kind_of_request_has_its_limit(tmp_path: Path) -> None:
    app = application(tmp_path, **FEW)
    async with client_at(app, "203.0.113.5") as client:
        left = [(await client.get(SEARCH)).headers["ratelimit-remaining"] for _ in range(5)]
        assert left == ["4", "3", "2", "1", "0"]
        refused = await client.get(SEARCH)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (refused.headers["ratelimit-limit"], refused.headers["ratelimit-remaining"]) == ("5", "0")
        assert 50 <= int(refused.headers["ratelimit-reset"]) <= 60
        assert refused.headers["cache-control"] == "no-store"
        assert refused.headers["connection"] == "close"
        assert refused.json()["type"] == "urn:jieda:problem:too-many"
        assert refused.headers["retry-after"] in refused.json()["detail"]
        assert await statuses(client, 1, "/en/search?q=oom") == [429]
        assert await statuses(client, 1, "/api/v1/suggest?q=oom") == [429]

        answers = [await client.post("/api/v1/diagnose", content=b"KeyError: 1") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert (await client.post("/en/diagnose", data={"text": "KeyError: 1"})).status_code == 429

        assert await statuses(client, 9, "/en/about") == [200] * 8 + [429]
        page = await client.get("/zh/about", headers={"Accept": "text/html"})
        assert page.status_code == 429
        assert "请求过于频繁" in page.text
        assert "刷新本页" in page.text
        assert "上方搜索" not in page.text, "a search would be refused as well"
        for free in ("/healthz", "/readyz", "/static/app.css"):
            assert await statuses(client, 12, free) == [200] * 12
    async with client_at(app, "203.0.113.7") as client:
        nothing = ["/static/nosuch.js", "/docs/nosuch", "/static/app.css/x"] * 4
        codes = [(await client.get(path)).status_code for path in nothing]
        assert codes == [404] * 8 + [429] * 4, "a page that says so costs what every page costs"
        assert (await client.post("/healthz")).status_code == 429
    async with client_at(app, "127.0.0.1") as here:
        assert await statuses(here, 12) == [200] * 12
        counted = (await here.get("/metrics")).text
    assert 'jieda_refused_total{limit="search"} 3.0' in counted
    assert 'jieda_refused_total{limit="diagnosis"} 2.0' in counted


async def test_a_client_is_an_address_or_a_prefix(tmp_path: Path) -> None:
    app = application(tmp_path, **FEW)
    for address, expected in {
        "203.0.113.5": 200,
        "::ffff:203.0.113.5": 429,
        "203.0.113.6": 200,
        "2001:db8:1:2::1": 200,
        "2001:db8:1:2:ffff:ffff:ffff:ffff": 429,
        "2001:db8:1:3::1": 200,
        "no address \x1b[31m": 200,
        "another one": 429,
        "fe80::1%eth0\x1b[31m": 200,
        "fe80::2%eth1": 429,
    }.items():
        async with client_at(app, address) as client:
            asked = await statuses(client, 5 if expected == 200 else 1)
            assert set(asked) == {expected}, address


async def test_limits_are_switched_off_by_one_setting(tmp_path: Path) -> None:
    app = application(tmp_path, limits="0", **FEW)
    async with client_at(app, "203.0.113.5") as client:
        assert await statuses(client, 12) == [200] * 12


async def test_a_proxy_that_nobody_trusts_is_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = application(tmp_path, **FEW)
    with caplog.at_level(logging.WARNING, "jieda.web.http.limits"):
        async with client_at(app, "203.0.113.5") as client:
            client.headers["X-Forwarded-For"] = "198.51.100.7"
            await statuses(client, 9)
    assert [record.message for record in caplog.records if "JIEDA_TRUSTED_PROXIES" in record.message] == [
        record.message for record in caplog.records
    ]
    assert len(caplog.records) == 1
    assert "203.0.113.5" in caplog.text


async def test_refusals_at_the_same_moment_leave_one_after_another_however_many_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    really_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            slept.append(seconds)
        else:  # a server of another test, whose loop would never rest
            await really_sleep(seconds)

    app = application(tmp_path, **FEW)
    async with client_at(app, "203.0.113.5") as client:
        await statuses(client, 5)
        monkeypatch.setattr("jieda.web.http.limits.asyncio.sleep", sleep)
        assert await statuses(client, 200) == [429] * 200
    assert 0.25 <= min(slept) < max(slept) < 0.5
    assert min(abs(later - sooner) for sooner, later in itertools.pairwise(slept)) > 0.004
    assert all(len(set(slept[start : start + 20])) == 20 for start in range(180))


def test_a_bucket_fills_up_again_and_remembers_no_more_clients_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jieda.web.http.limits.MOST_CLIENTS", 100)
    buckets = Buckets(60)
    assert [buckets.wait(b"a", 0.0) for _ in range(60)] == [0.0] * 60
    assert buckets.wait(b"a", 0.0) == 1.0
    assert buckets.wait(b"a", 0.5) == 0.5
    assert buckets.wait(b"a", 1.0) == 0.0
    assert buckets.wait(b"a", 1.0) == 1.0
    assert [buckets.wait(b"a", 100.0) for _ in range(61)] == [0.0] * 60 + [1.0]
    for number in range(1000):
        assert buckets.wait(b"%d" % number, 100.0) == 0.0
    # Who asked last is remembered.
    assert [buckets.left(b"%d" % number, 100.0)[0] for number in (0, 899, 900, 999)] == [60, 60, 59, 59]


async def test_of_what_is_made_once_no_more_is_kept_than_clients_may_name() -> None:
    made: list[int] = []
    once = OncePerGeneration[None](at_once)
    for number in (*range(MOST_VALUES + 100), MOST_VALUES + 99, 0):
        await once.get("a generation", number, partial(made.append, number))
    assert made == [*range(MOST_VALUES + 100), 0]


async def test_more_logs_than_can_be_worked_on_are_refused_at_once(tmp_path: Path) -> None:
    app = application(tmp_path)
    log = b"RuntimeError: CUDA error at 0x7f00, rank 3 of 8\n" * 3000
    async with client_at(app, "127.0.0.1") as client:
        answers = await asyncio.gather(*(client.post("/api/v1/diagnose", content=log) for _ in range(40)))
        counted = (await client.get("/metrics")).text
    refused = [answer for answer in answers if answer.status_code == 503]
    assert refused
    assert {answer.status_code for answer in answers} == {200, 503}
    assert 40 - len(refused) >= 18
    assert {answer.headers["retry-after"] for answer in refused} == {"5"}
    assert refused[0].json()["type"] == "urn:jieda:problem:busy"
    assert f'jieda_refused_total{{limit="busy"}} {len(refused)}.0' in counted
    async with client_at(app, "127.0.0.1") as client:
        assert (await client.post("/api/v1/diagnose", content=b"KeyError: 1")).status_code == 200


async def test_a_log_larger_than_all_together_may_be_is_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jieda.usecases.service.MOST_CHARACTERS", 100)
    async with client_at(application(tmp_path), "127.0.0.1") as client:
        for _ in range(2):
            answer = await client.post("/api/v1/diagnose", content=b"KeyError: 1\n" * 20)
            assert answer.status_code == 200


async def test_one_client_has_one_log_worked_on_and_two_waiting(tmp_path: Path) -> None:
    app = application(tmp_path)
    log = b"RuntimeError: CUDA error at 0x7f00, rank 3 of 8\n" * 8000
    async with client_at(app, "203.0.113.5") as greedy, client_at(app, "203.0.113.6") as other:
        large = [asyncio.create_task(greedy.post("/api/v1/diagnose", content=log)) for _ in range(20)]
        await asyncio.sleep(0.01)
        assert (await other.post("/api/v1/diagnose", content=b"KeyError: 1")).status_code == 200
        assert not all(each.done() for each in large)
        codes = sorted([(await each).status_code for each in large])
        assert codes == [200] * 3 + [429] * 17
        assert (await greedy.post("/api/v1/diagnose", content=b"KeyError: 1")).status_code == 200


@pytest.mark.parametrize(("length", "kind"), [("900", "search"), ("70000", "diagnosis"), ("", "diagnosis")])
async def test_what_an_agent_sends_is_a_log_where_it_is_as_large_as_one(length: str, kind: str) -> None:
    headers = [(b"content-length", length.encode())]
    assert cost_of({"type": "http", "method": "POST", "path": "/mcp", "headers": headers}) == kind


async def test_one_client_has_no_more_than_its_share_of_half_sent_bodies(tmp_path: Path) -> None:
    app = application(tmp_path)
    ended = asyncio.Event()

    async def half() -> AsyncIterator[bytes]:
        yield b"x"
        await ended.wait()

    async with client_at(app, "203.0.113.5") as greedy, client_at(app, "203.0.113.6") as other:
        sent = [
            asyncio.create_task(greedy.post("/preferences", content=half(), headers={"Content-Length": "9"}))
            for _ in range(MOST_AT_ONCE + 10)
        ]
        assert (await other.get(SEARCH)).status_code == 200
        answered = asyncio.as_completed(sent, timeout=PATIENCE)
        assert [(await next(answered)).status_code for _ in range(10)] == [429] * 10
        ended.set()
        assert 429 not in {(await each).status_code for each in answered}


async def test_one_address_votes_on_an_entry_a_few_times_and_nobody_else_reads_the_votes(
    tmp_path: Path,
) -> None:
    app = application(tmp_path)
    for address in ("203.0.113.5", "203.0.113.6"):
        for _ in range(20):
            async with client_at(app, address) as client:
                said = await client.post("/en/entries/roll/first", data={"solved": "no"})
                assert said.status_code == 303
    store = FeedbackStore(tmp_path / "data")
    assert [each.unsolved for each in store.votes({})] == [2 * MAX_VOTES]
    assert stat.S_IMODE((tmp_path / "data" / VOTES).stat().st_mode) == 0o600


@pytest.mark.parametrize("forwarded", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.0.0.1, 10.1.2.3"])
def test_nobody_is_this_machine_because_a_header_says_so(
    serve: Callable[..., httpx.Client], tmp_path: Path, forwarded: str
) -> None:
    trusted = "127.0.0.1 10.0.0.0/8"
    with serve(write(tmp_path, CONTENT), searches_per_minute="3", trusted_proxies=trusted) as client:
        assert client.get("/metrics").status_code == 200
        assert [client.get(SEARCH).status_code for _ in range(5)] == [200] * 5
        client.headers["X-Forwarded-For"] = forwarded
        assert client.get("/metrics").status_code == 403
        assert [client.get(SEARCH).status_code for _ in range(5)] == [200] * 3 + [429] * 2


def test_the_clients_of_a_trusted_proxy_are_told_apart(
    serve: Callable[..., httpx.Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with serve(write(tmp_path, CONTENT), searches_per_minute="3") as client:

        def asked_for(address: str, times: int) -> list[int]:
            headers = {"X-Forwarded-For": address}
            return [client.get(SEARCH, headers=headers).status_code for _ in range(times)]

        assert asked_for("198.51.100.7", 4) == [200] * 3 + [429]
        assert asked_for("198.51.100.8", 3) == [200] * 3
        assert asked_for("1.1.1.1, 198.51.100.7", 1) == [429]
        forged = client.get("/healthz", headers={"X-Forwarded-For": "\x1b[31mevil " + "x" * 9000})
        assert forged.status_code == 400
    assert "evil" not in caplog.text
