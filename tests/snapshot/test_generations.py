"""What a reader has seen, and a worker that has not come so far."""

import asyncio
from pathlib import Path

import httpx

from app.settings import Settings
from app.snapshot.analyzers import Analyzers
from app.snapshot.build import Builder
from app.snapshot.knowledge import Knowledge
from app.web.app import create_app
from tests.support.small_content import edition

PATH = "/api/v1/entries/roll/a.md"


def test_a_worker_answers_from_what_a_reader_has_seen_as_soon_as_it_can(
    content: Path, data: Path, plain_analyzers: Analyzers
) -> None:
    settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data)})
    builder = Builder([content], data, plain_analyzers)
    builder.build()
    worker = Knowledge(settings, follow_only=True, analyzers=plain_analyzers)
    worker.open()
    app = create_app(settings, worker)

    async def asked() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
            old = await client.get(PATH)
            (content / "en/roll/a.md").write_text(edition("Zebra"), encoding="utf-8")
            seen = builder.build().generation[:12]
            tag = old.headers["ETag"].replace(old.headers["Jieda-Generation"], seen)
            said = ({"Jieda-Generation": seen}, {"If-None-Match": tag})
            waiting = [asyncio.create_task(client.get(PATH, headers=each)) for each in said]
            # Whoever has seen nothing does not wait, and sees that this worker has not followed yet.
            unaware = await client.get(PATH)
            worker.start()
            return [old, unaware, *[await each for each in waiting]]

    old, unaware, *aware = asyncio.run(asked())
    worker.stop()
    assert unaware.text == old.text
    assert ["Zebra" in each.text for each in aware] == [True, True]
