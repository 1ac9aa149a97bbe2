"""Work that grows with the content stays off the event loop: the steps taken on it are counted."""

import asyncio
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from bench.content import write_content
from bench.loop import REQUESTS
from tests.support import inside
from tests.support.small_content import edition

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

WHOLE, FEW, MANY = 8, 60, 180
SLACK = 1.3
"""Digits of numbers and the like may differ. Work for each entry would multiply the steps by up to three."""
EXEMPT = re.compile(r"/metrics|page=|offset=")
"""What counts the requests before it, and parts of lists that only many entries have."""


class Steps:
    """How many functions, ours and built in, have been called on one thread."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.count += event in {"call", "c_call"}


@contextmanager
def counted() -> Iterator[Steps]:
    """Counts what this thread calls."""
    steps = Steps()
    sys.setprofile(steps)
    try:
        yield steps
    finally:
        sys.setprofile(None)


def application(folder: Path, count: int) -> FastAPI:
    """All but a few of the entries are short: what is counted is how many there are."""
    content = write_content(folder / "content", WHOLE)
    for number in range(WHOLE, count):
        (content / f"en/frame1/short-{number}.md").write_text(edition("Short", topics="[topic1]"))
    return inside.application(folder, content, semantic="0")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """An application with few entries, for tests that leave it well."""
    return application(tmp_path_factory.mktemp("small"), WHOLE)


async def steps_on_the_loop(app: FastAPI) -> dict[str, int]:
    """For each request, the steps on the event loop the first time, when whatever is made once is made."""
    found = {}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        await client.get("/healthz")
        for address in REQUESTS:
            if not EXEMPT.search(address):
                with counted() as steps:
                    answer = await client.get(address)
                assert answer.status_code == 200, address
                found[address] = steps.count
    return found


STEPS = 30_000
"""Some hundredths of a second. What is done away from the loop takes ten times as many, or more."""
LARGE = {
    "a long search": ("GET", "/api/v1/search?q={}", quote("训练显存不足 a.b.c "), 120),
    "a page of a long search": ("GET", "/en/search?q={}", "KeyError:+node2pg+", 100),
    "a large form": ("POST", "/en/diagnose", "%41", 900_000),
    "a form of what is escaped": ("POST", "/en/diagnose", "%3C", 900_000),
    "a large JSON body": ("POST", "/api/v1/diagnose", "\\u0041", 900_000),
}
"""Method, address, what is asked for and how often it is said."""


@pytest.mark.parametrize("name", LARGE)
async def test_what_is_large_takes_no_more_steps_than_what_is_small(small: FastAPI, name: str) -> None:
    method, address, unit, times = LARGE[name]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(small), base_url="http://localhost") as client:

        async def steps(text: str) -> int:
            body = f'{{"text": "{text}"}}' if "/api/" in address else f"text={text}"
            kind = "application/json" if "/api/" in address else "application/x-www-form-urlencoded"
            sent = {"content": body, "headers": {"Content-Type": kind}} if method == "POST" else {}
            request = client.build_request(method, address.format(text), **sent)  # type: ignore[arg-type]
            with counted() as taken:
                answer = await client.send(request)
            assert answer.status_code == 200
            return taken.count

        await steps(unit)
        little, much = await steps(unit * 3), await steps(unit * times)
    assert much < little + STEPS


class Called:
    """The functions that have been called on one thread."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.names.add(frame.f_code.co_qualname)


LIGATURE = "\ufdfa"
"""A character that is eighteen when it is written out."""
MESSAGE = '{{"jsonrpc": "2.0", "params": {{"text": "{}"}}}}'
"""No message of the protocol for want of a method, which is known when it has been read."""
AWAY = {
    "a search for ligatures": ("GET", f"/api/v1/search?q={LIGATURE * 2}", "", "Searcher.search", True),
    "a search for more of them": ("GET", f"/api/v1/search?q={LIGATURE * 6}", "", "Searcher.search", False),
    "a message of an agent": ("POST", "/mcp", MESSAGE.format("x"), "checked_message", True),
    "a large message of an agent": ("POST", "/mcp", MESSAGE.format("x" * 70_000), "checked_message", False),
}
"""Method, address, body, the function of ours that does the work, and whether on the loop: so it is where there is
little to do, which shows that this would be seen."""


@pytest.mark.parametrize("name", AWAY)
async def test_what_one_call_does_for_long_is_called_away_from_the_loop(small: FastAPI, name: str) -> None:
    method, address, body, work, is_on_the_loop = AWAY[name]
    called = Called()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(small), base_url="http://localhost") as client:
        headers = {"Content-Type": "application/json"} if body else {}
        sys.setprofile(called)
        try:
            answer = await client.request(method, address, content=body, headers=headers)
        finally:
            sys.setprofile(None)
    assert answer.status_code == (400 if body else 200)
    assert (work in called.names) == is_on_the_loop


async def test_no_request_but_a_search_takes_more_steps_where_there_are_more_entries(tmp_path: Path) -> None:
    assert threading.current_thread() is threading.main_thread()
    few = await steps_on_the_loop(application(tmp_path / "few", FEW))
    many = await steps_on_the_loop(application(tmp_path / "many", MANY))
    grown = {path: (few[path], many[path]) for path in few if many[path] > few[path] * SLACK}
    assert grown == {}


async def test_who_asks_for_little_is_answered_before_searches_that_came_all_at_once(small: FastAPI) -> None:
    answered: list[str] = []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(small), base_url="http://localhost") as client:

        async def ask(path: str) -> None:
            assert (await client.get(path)).status_code == 200
            answered.append(path)

        searches = [f"/api/v1/search?q=timeout+{number}" for number in range(20)]
        async with asyncio.TaskGroup() as together:
            for path in (*searches, "/healthz"):
                together.create_task(ask(path))
    assert answered.index("/healthz") <= 2
    assert [path for path in answered if path != "/healthz"] == searches
