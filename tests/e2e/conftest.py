"""An installed browser, run against the shared server. A failed test leaves a screenshot."""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from tests.support.server import ROOT, Server

CANDIDATES = (
    "chromium-headless-shell",  # two thirds of the processor time of the others
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
FLAGS = (
    "--no-sandbox",  # the sandbox cannot be set up by root inside a container
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--in-process-gpu",
    "--no-first-run",
    "--renderer-process-limit=1",  # a process less for each page: a tenth of the processor time
)
RESULTS = ROOT / "test-results"
PATIENCE_MS = 60_000
"""Timeout after which an event is assumed never to happen, even on a busy machine."""

NOT_HERE = re.compile(r"https?://(?!127\.0\.0\.1[:/]|localhost[:/])")
MISSING = "/no-such-entry"
"""Suffix of addresses that are missing on purpose."""

OpenPage = Callable[..., Page]


def installed_browser() -> str:
    """Return the path of the headless shell, Chromium or Chrome, in this order; the variable CHROME overrides it."""
    named = os.environ.get("CHROME", "")
    return named or next((path for name in CANDIDATES if (path := shutil.which(name))), "")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Run one browser for all tests of the package. Without one they are skipped, except in CI.

    Not session-wide: Playwright keeps an event loop running, which excludes any other.
    """
    path = installed_browser()
    if not path:
        reason = "no Chromium: install one, or name it in the environment variable CHROME"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Return a function that opens an address of the shared server in a fresh profile; options are those of a browser
    context.

    Console errors fail the test, except for aborted requests, pages missing on purpose, and messages with `refused` in
    them. So does anything that a page asks of another host: it is read in closed networks.
    """
    contexts: list[BrowserContext] = []
    elsewhere: list[str] = []
    errors: list[str] = []
    expected: list[str] = []

    def note(message: ConsoleMessage) -> None:
        wanted = "net::ERR_FAILED" in message.text or message.location["url"].endswith(MISSING)
        wanted = wanted or any(each in message.text for each in expected)
        if message.type == "error" and not wanted:
            errors.append(message.text)

    def leaves(asked: Request) -> None:
        # What a link leads to is the reader's wish.
        if NOT_HERE.match(asked.url) and not asked.is_navigation_request():
            elsewhere.append(asked.url)

    def opened(address: str, refused: str = "", **options: object) -> Page:
        expected.extend([refused] if refused else [])
        settings = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(base_url=server.base, **settings)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        context.on("request", leaves)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        page.goto(address)
        return page

    request.node.stash[CONTEXTS] = contexts
    yield opened
    for context in contexts:
        context.close()
    assert (errors, elsewhere) == ([], [])


def served(serve: Callable[..., httpx.Client], content: Path, **settings: str) -> str:
    """Serve other content on a thread of this process until the test is over; return its address."""
    return str(serve(content, **settings).base_url).rstrip("/")


def paste(page: Page, text: str, into: str = "body") -> None:
    """Paste a text into the element of a selector, as the browser does."""
    page.locator(into).evaluate(
        """(element, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        text,
    )


def hold(page: Page, address: str) -> list[Route]:
    """Hold back what a page requests of an address, and return the list that it is held in."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(address, keep)
    return held


def until(page: Page, happened: Callable[[], bool]) -> None:
    """Wait for a condition that the page cannot observe."""
    for _ in range(PATIENCE_MS // 20):
        if happened():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it did not happen")


CONTEXTS: pytest.StashKey[list[BrowserContext]] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Save screenshots of a failed test's pages."""
    report = yield
    if report.failed and call.when == "call":
        for place, page in enumerate(page for each in item.stash.get(CONTEXTS, []) for page in each.pages):
            shot: Path = RESULTS / f"{re.sub(r'[^a-zA-Z0-9_-]+', '-', item.name)}-{place}.png"
            page.screenshot(path=shot, full_page=True)
            report.sections.append(("screenshot", f"{shot} of {page.url}"))
    return report
