"""Behind a proxy: what the browser itself asks for. That it asks no other host is seen of each page of all tests."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.support.inside import Inside
from tests.support.proxy import proxied


@pytest.fixture(scope="module")
def below(inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[str]:
    """The address of a server that knows that it is under a path."""
    with inside(root_path="/kb") as running:
        yield running.base


@pytest.mark.parametrize("strips", [True, False])
def test_the_script_works_under_a_path(open_page: OpenPage, below: str, strips: bool) -> None:
    with proxied(below, "/kb", strips=strips) as base:
        failed: list[str] = []
        page = open_page(f"{base}/kb/")
        page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
        page.locator("#q").press_sequentially("node2pg", delay=20)
        expect(page.locator("#options [href='/kb/en/entries/roll/node2pg-keyerror']").first).to_be_visible()
        page.keyboard.press("Enter")
        page.wait_for_url("**/kb/en/search?q=node2pg")
        page.locator("#q").fill("garbled")
        first = page.locator("#results .card:first-child h2 a")
        expect(first).to_have_attribute("href", "/kb/en/entries/slime/garbled-output")
        page.wait_for_url(f"{base}/kb/en/search?q=garbled")
        page.locator(".language").click()
        page.wait_for_url("**/kb/zh/search?q=garbled")
        if strips:  # of the two it is the one whose addresses the server does not see
            page.goto(f"{base}/kb/docs")
            page.locator("#try").click()
            expect(page.locator(".opblock-tag, .opblock").first).to_be_visible()
        assert failed == []
