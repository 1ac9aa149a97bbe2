"""Server fixtures for tests over HTTP; a failed test shows the output of its servers."""

import gc
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import httpx
import pytest
from hypothesis import settings
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.directory import list_directory, read_file
from jieda.content.read.gather import make_vocabulary
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.support import server as servers
from tests.support import shipped as shipped_content
from tests.support.inside import PLAIN, Inside, serving
from tests.support.server import Server

SLOW = {"agents", "cli", "importing", "snapshot"}
"""Directories in which every test builds something or starts processes."""
WHOLLY_SLOW = "\npytestmark = pytest.mark.slow\n"
SERVER_FIXTURES = {"server", "client", "start_server", "serve", "field"}
"""A test that uses one of these, directly or indirectly, needs a server."""

# A slow machine must not fail a test.
settings.register_profile("default", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=10)

TAIL = 3000
"""Characters of server output shown for a failed test."""


@pytest.fixture(scope="session")
def analyzers() -> Analyzers:
    """Return one analyzer for all builders and snapshots: creating it takes longer than most of its uses."""
    return Analyzers()


@pytest.fixture(scope="session")
def shipped(analyzers: Analyzers, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Return a snapshot of the shipped content."""
    return shipped_content.open_snapshot(tmp_path_factory.mktemp("shipped"), analyzers)


@pytest.fixture(scope="session")
def analyzer(analyzers: Analyzers) -> Analyzer:
    """Return the analyzer of the shipped content, which need not be built for it."""
    listing = list_directory(shipped_content.CONTENT, frozenset())
    vocabulary = make_vocabulary(listing.root, [read_file(file) for file in listing.shared])
    return analyzers.analyzer(vocabulary.dictionary)


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the server runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server with the shipped content, shared by all tests that change nothing."""
    running = shipped_content.start(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture
def start_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Server]]:
    """Return a function that starts servers for one test: `start_server(content, **settings)`; they stop after the
    test.

    Without `content` they serve the shipped content.
    """
    started: list[Server] = []

    def start(content: str | Path = "", **settings: str) -> Server:
        folder = tmp_path_factory.mktemp("own-server")
        running = (
            servers.start(folder, content, **settings)
            if content
            else shipped_content.start(folder, **settings)
        )
        started.append(running)
        return running

    request.node.stash[OWN_SERVERS] = started
    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="session")
def plain_analyzers() -> Analyzers:
    """Return the analyzer of content without a dictionary."""
    return PLAIN


@pytest.fixture(scope="session")
def inside(
    tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers, plain_analyzers: Analyzers
) -> Callable[..., AbstractContextManager[Inside]]:
    """Return a context manager that serves content in this process, `inside(content, **settings)`, by default the
    shipped one. A quarter of the cost of a new process: for tests that need neither its log, nor its exit, nor several
    workers."""

    def served(content: str | Path = "", **settings: str) -> AbstractContextManager[Inside]:
        folder = tmp_path_factory.mktemp("served")
        if content:
            return serving(folder, content, plain_analyzers, **settings)
        shipped_content.copy_data(folder / "data")
        return serving(folder, shipped_content.CONTENT, analyzers, **settings)

    return served


@pytest.fixture(scope="session")
def client(inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[httpx.Client]:
    """Return an HTTP client of a server over the shipped content, shared by all tests that change nothing."""
    with inside() as server, server.client() as connected:
        yield connected


@pytest.fixture
def serve(
    inside: Callable[..., AbstractContextManager[Inside]],
) -> Iterator[Callable[..., httpx.Client]]:
    """Serve like `inside` until the test is over: `serve(content, **settings)` returns a client."""
    with ExitStack() as stack:

        def start(content: str | Path = "", **settings: str) -> httpx.Client:
            client = stack.enter_context(inside(content, **settings)).client()
            stack.callback(client.close)
            return client

        yield start


def pytest_configure() -> None:
    """Collect no garbage while modules and tests are loaded: there is hardly any, and looking for it takes a quarter
    of that time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but never look again at what stays until the end."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files in which `make quick` runs no test: their imports take seconds."""
    if "not slow" not in config.option.markexpr or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    left_out = SLOW.union({"e2e"}).intersection(collection_path.parts) or WHOLLY_SLOW in text
    return (
        True if left_out and "mark.quick" not in text and collection_path.name.startswith("test_") else None
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that `make quick` excludes: those that start servers or builds, and those that drive a browser.

    Tests marked `quick` stay included, so that `make quick` covers every package. Modules of quick tests come last: of
    several processes none is left with a long one when the others have ended.
    """
    for item in items:
        quick = item.get_closest_marker("quick")
        if SLOW.intersection(item.path.parts) and not quick:
            item.add_marker(pytest.mark.slow)
        if "e2e" in item.path.parts:
            item.add_marker(pytest.mark.browser)
            # A busy machine may delay a browser beyond Playwright's timeouts; the summary reports reruns.
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun="^TimeoutError"))
        elif SERVER_FIXTURES.intersection(getattr(item, "fixturenames", ())) and not quick:
            item.add_marker(pytest.mark.server)
    long = {item.path for item in items if any(map(item.get_closest_marker, ("browser", "server", "slow")))}
    count = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in long, -count[item.path]))


OWN_SERVERS: pytest.StashKey[list[Server]] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the output of its servers to the report of a failed test."""
    report = yield
    if report.failed:
        fixtures = getattr(item, "funcargs", {}).values()
        shared = [each for each in fixtures if isinstance(each, Server)]
        for each in shared + item.stash.get(OWN_SERVERS, []):
            report.sections.append((f"output of the server at {each.base}", each.log()[-TAIL:]))
    return report
