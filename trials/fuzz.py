"""Nonsense for everything that reads what others write: nothing may fail in another way than it says, or take long.

    python -m trials.fuzz [--seconds 60] [--seed 1] [TARGET...]

Each target gets inputs made by hypothesis for its share of the time, and prints how many there were, the slowest (CPU
seconds) and what escaped. Input that takes over SLOW seconds counts as a failure, too.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from fastapi import FastAPI
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from jieda.cli.server import escape
from jieda.content.markdown.body import parse_body, render_body
from jieda.content.read.directory import SourceFile
from jieda.content.read.parse import parse_file
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.signature import SignatureSyntaxError, compile_signature_line
from jieda.snapshot.snapshot import Snapshot
from jieda.web.app import create_app
from starlette.types import Message

from trials.nonsense import FILES, LOGS, MARKDOWN, QUERIES, REQUESTS, SIGNATURES, RawRequest
from trials.site import Place

SLOW = 2.0
ROUND = 25
"""Inputs between two looks at the clock."""


@dataclass
class Figures:
    """Of one target. `escaped` has one line for each way in which something failed."""

    inputs: int = 0
    slowest: float = 0.0
    escaped: dict[str, str] = field(default_factory=dict)


class Targets:
    """What is tried, by name."""

    def __init__(self, app: FastAPI, loop: asyncio.AbstractEventLoop) -> None:
        self._app, self._loop = app, loop
        self._snapshot: Snapshot = app.state.site.knowledge.snapshot
        self.all: dict[str, tuple[st.SearchStrategy[object], Callable[..., None]]] = {
            "front matter": (FILES, self._file),
            "Markdown": (MARKDOWN, self._markdown),
            "signatures": (SIGNATURES, self._signature),
            "queries": (QUERIES, self._query),
            "logs": (LOGS, self._log),
            "HTTP": (REQUESTS, self._request),
        }

    def _file(self, content: bytes) -> None:
        parse_file(SourceFile("en/roll/a.md", Path("/nowhere/en/roll/a.md"), content, time.time()))

    def _markdown(self, text: str) -> None:
        render_body(parse_body(text, Language.ZH, "roll", 1), lambda _link: None)

    def _signature(self, case: tuple[str, str]) -> None:
        line, log = case
        try:
            compiled = compile_signature_line(line)
        except SignatureSyntaxError:
            return
        compiled.pattern.search(log)

    def _query(self, text: str) -> None:
        found = self._snapshot.searcher.search(SearchRequest(text=text, lang=Language.EN))
        if found.total < len(found.hits):
            raise AssertionError("fewer are found than shown")

    def _log(self, text: str) -> None:
        self._snapshot.diagnoser.diagnose(text, Language.ZH)

    def _request(self, request: RawRequest) -> None:
        status = self._loop.run_until_complete(ask(self._app, request))
        if status >= 500 and status != 503:
            raise AssertionError(
                f"{request.method} {quote_from_bytes(request.path)} is answered with {status}"
            )


async def ask(app: FastAPI, request: RawRequest) -> int:
    """The status that a request is answered with."""
    status = 0
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote_to_bytes(request.path).decode("utf-8", "replace"),
        "raw_path": request.path,
        # The server passes on ASCII alone.
        "query_string": escape(request.query),
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("trial", 80),
        "headers": [*request.headers, (b"content-length", str(len(request.body)).encode())],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    await app(scope, receive, send)
    return status


def try_out(
    make: st.SearchStrategy[object], target: Callable[..., None], seconds: float, first: int
) -> Figures:
    """Gives a target inputs for so long; `first` is the seed of the first round."""
    figures = Figures()

    def measured(value: object) -> None:
        start = time.process_time()
        try:
            target(value)
        except Exception as error:  # noqa: BLE001 - whatever escapes is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
            figures.escaped.setdefault(key, f"{error}: {value!r}"[:600])
        took = time.process_time() - start
        figures.inputs += 1
        figures.slowest = max(figures.slowest, took)
        if took > SLOW:
            figures.escaped.setdefault(f"took {took:.1f} s", repr(value)[:300])

    until, number = time.monotonic() + seconds, first
    while time.monotonic() < until:
        trial = given(make)(measured)
        usual = settings(
            max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        seed(number)(usual(trial))()
        number += 1
    return figures


@contextmanager
def site() -> Iterator[Targets]:
    """The targets, over a small site of made-up content."""
    with tempfile.TemporaryDirectory(prefix="jieda-fuzz-") as folder:
        place = Place.make(Path(folder), 12, 1)
        app = create_app(Settings.load(place.environment(limits="0")))
        app.state.site.knowledge.open()
        loop = asyncio.new_event_loop()
        try:
            yield Targets(app, loop)
        finally:
            loop.close()


def main() -> int:
    """0 where nothing escaped and nothing was slow."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    escaped = 0
    with site() as targets:
        wanted = {name: row for name, row in targets.all.items() if name in (chosen.targets or targets.all)}
        for name, (make, target) in wanted.items():
            figures = try_out(make, target, chosen.seconds / len(wanted), chosen.seed)
            print(
                f"{name}: {figures.inputs} inputs, slowest {figures.slowest:.3f} s, escaped {len(figures.escaped)}"
            )
            for what, example in figures.escaped.items():
                print(f"  {what}: {example}")
            escaped += len(figures.escaped)
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
