"""How long one request blocks the event loop: CPU time of the longest uninterrupted step, by kind of request.

    python -m bench.loop [ENTRIES]

During a step all other readers wait. Work in threads does not count, and neither does waiting. On a busy machine steps
take up to three times as long, so the best of the rounds is the most reliable.
"""

import asyncio
import logging
import sys
import tempfile
import time
from asyncio.events import Handle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from fastapi import FastAPI
from jieda.settings import Settings
from jieda.web.app import create_app
from starlette.types import Message

from bench.content import write_content

ROUNDS = 15
MOST = 5.0
"""Milliseconds that a request other than a search may block the event loop."""
ENTRY = "frame1/entry-1"
REQUESTS = (
    *("/healthz", "/en/", f"/en/entries/{ENTRY}", f"/zh/entries/{ENTRY}.md", "/en/frameworks/frame0"),
    *("/en/topics/topic1", "/en/search", "/en/search?topic=topic1&page=3", "/en/diagnose"),
    *("/sitemap.xml", "/robots.txt", "/en/feed.xml", "/llms.txt", "/en/llms.txt", "/en/llms-full.txt"),
    *("/openapi.json", "/docs", "/docs/swagger-ui-bundle.js", "/static/app.css", "/metrics"),
    *("/api/v1/suggest?q=mem", "/api/v1/entries?limit=50", "/api/v1/entries?topic=topic1&offset=100"),
    *(f"/api/v1/entries/{ENTRY}", "/api/v1/topics", "/api/v1/problems", "/api/v1/translations"),
)
SEARCHES = ("/api/v1/search?q=entry0+lost", "/en/search?q=training", "/zh/search?q=显存不足")


@contextmanager
def steps_measured(taken: list[float]) -> Iterator[None]:
    """Append to `taken` the milliseconds of CPU that each step of an event loop takes on its thread."""
    original = Handle._run  # noqa: SLF001 - the loop has no hook for this

    def measured(self: Handle) -> None:
        start = time.thread_time()
        original(self)
        taken.append((time.thread_time() - start) * 1000)

    Handle._run = measured  # type: ignore[method-assign] # noqa: SLF001 - likewise
    try:
        yield
    finally:
        Handle._run = original  # type: ignore[method-assign] # noqa: SLF001 - puts it back


async def measure(app: FastAPI) -> bool:
    """Print the longest step of the first request and of later ones; return whether the best stay below `MOST`."""
    taken: list[float] = []
    kept = True
    print(f"{'longest step, ms':50} {'first':>8} {'best':>8} {'median':>8}")
    await ask(app, "/api/v1/kinds")  # as after a start: threads are running, the generation is taken
    for address in (*REQUESTS, *SEARCHES):
        longest = []
        for _ in range(ROUNDS):
            taken.clear()
            with steps_measured(taken):
                # A separate task, so that its first step is measured as well.
                status = await asyncio.create_task(ask(app, address))
            if status != 200:
                raise RuntimeError(f"{address} answers {status}")
            longest.append(max(taken))
        first, later = longest[0], sorted(longest[1:])
        kept = kept and (address in SEARCHES or later[0] <= MOST)
        print(f"{address:50} {first:8.2f} {later[0]:8.2f} {later[len(later) // 2]:8.2f}")
    return kept


async def ask(app: FastAPI, address: str) -> int:
    """Send a request without a client on the loop, drop the body, and return the status."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": quote(query, "=&+").encode(),
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("bench", 80),
        "headers": [(b"host", b"bench"), (b"accept-encoding", b"gzip")],
    }
    status = 0

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    await app(scope, receive, send)
    return status


def main(count: int) -> int:
    """Measure with `count` entries; return 1 where a request other than a search blocks the loop too long."""
    logging.disable(logging.WARNING)  # made-up content has no samples, which is reported
    with tempfile.TemporaryDirectory() as folder:
        content = write_content(Path(folder) / "content", count)
        settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": f"{folder}/data"})
        app = create_app(settings)
        app.state.site.knowledge.open()
        kept = asyncio.run(measure(app))
    print(f"{count} entries; all but searches below {MOST} ms: {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000))
