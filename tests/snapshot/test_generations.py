"""What a reader has seen, and a worker that has not come so far."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.settings import Settings
from app.snapshot.analyzers import Analyzers
from app.snapshot.build import Builder
from app.snapshot.knowledge import Knowledge
from app.web.app import create_app
from app.web.http import generations
from app.web.http.generations import MOST_WAITING
from tests.support.server import PATIENCE
from tests.support.small_content import edition

PATH = "/api/v1/entries/roll/a.md"
SPARE = 5
Behind = tuple[Knowledge, Callable[[], str], FastAPI]


@pytest.fixture
def behind(content: Path, data: Path, plain_analyzers: Analyzers) -> Iterator[Behind]:
    """A worker that has not followed yet, and what makes something newer."""
    settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data), "JIEDA_LIMITS": "0"})
    builder = Builder([content], data, plain_analyzers)
    builder.build()
    worker = Knowledge(settings, follow_only=True, analyzers=plain_analyzers)
    worker.open()

    def newer() -> str:
        (content / "en/roll/a.md").write_text(edition("Zebra"), encoding="utf-8")
        return builder.build().generation[:12]

    yield worker, newer, create_app(settings, worker)
    worker.stop()


def client_of(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x")


def test_a_worker_answers_from_what_a_reader_has_seen_as_soon_as_it_can(behind: Behind) -> None:
    worker, newer, app = behind

    async def asked() -> list[httpx.Response]:
        async with client_of(app) as client:
            old = await client.get(PATH)
            seen = newer()
            tag = old.headers["ETag"].replace(old.headers["Jieda-Generation"], seen)
            said = ({"Jieda-Generation": seen}, {"If-None-Match": tag})
            waiting = [asyncio.create_task(client.get(PATH, headers=each)) for each in said]
            # Whoever has seen nothing does not wait, and sees that this worker has not followed yet.
            unaware = await client.get(PATH)
            worker.start()
            return [old, unaware, *[await each for each in waiting]]

    old, unaware, *aware = asyncio.run(asked())
    assert unaware.text == old.text
    assert ["Zebra" in each.text for each in aware] == [True, True]


def test_no_more_requests_wait_than_may(behind: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    # For ever, as far as this test is concerned: that so many are asked at all takes a while.
    monkeypatch.setattr(generations, "LONGEST_WAIT", 10 * PATIENCE)
    worker, newer, app = behind

    async def asked() -> tuple[set[int], list[bool]]:
        async with client_of(app) as client:
            seen = {"Jieda-Generation": newer()}
            tasks = [asyncio.create_task(client.get(PATH, headers=seen)) for _ in range(MOST_WAITING + SPARE)]
            at_once: set[int] = set()
            for done in asyncio.as_completed(tasks, timeout=PATIENCE):
                await done
                at_once = {number for number, task in enumerate(tasks) if task.done()}
                if len(at_once) >= SPARE:
                    break
            worker.start()
            return at_once, ["Zebra" in (await task).text for task in tasks]

    at_once, is_new = asyncio.run(asked())
    assert len(at_once) == SPARE
    assert {number for number, new in enumerate(is_new) if not new} == at_once


def test_a_worker_that_never_follows_answers_all_the_same(behind: Behind) -> None:
    _, newer, app = behind

    async def asked() -> tuple[httpx.Response, httpx.Response]:
        async with client_of(app) as client:
            old = await client.get(PATH)
            seen = {"Jieda-Generation": newer()}
            return old, await asyncio.wait_for(client.get(PATH, headers=seen), PATIENCE)

    old, answer = asyncio.run(asked())
    assert (answer.status_code, answer.text) == (200, old.text)
