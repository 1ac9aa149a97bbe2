"""The sitemap of more entries than one file may name."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers
from jieda.web.app import create_app
from jieda.web.machine import reading

from tests.support.small_content import edition, write

BASE = "https://faq.example.com"
PLACES = re.compile(r"<loc>([^<]*)</loc>")


def test_a_sitemap_of_many_entries_comes_in_parts(
    tmp_path: Path, plain_analyzers: Analyzers, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = write(tmp_path / "content", {f"en/roll/{slug}.md": edition(slug) for slug in "abcde"})
    settings = Settings.load(
        {"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data"), "JIEDA_BASE_URL": BASE}
    )
    knowledge = Knowledge(settings, analyzers=plain_analyzers)
    knowledge.open()

    async def texts(*paths: str) -> list[str]:
        transport = httpx.ASGITransport(create_app(settings, knowledge))
        async with httpx.AsyncClient(transport=transport, base_url="http://faq.example.com") as client:
            answers = [await client.get(path) for path in paths]
        assert {answer.status_code for answer in answers} == {200}
        return [answer.text for answer in answers]

    whole = PLACES.findall(asyncio.run(texts("/sitemap.xml"))[0])
    monkeypatch.setattr(reading, "ENTRIES_A_FILE", 2)  # fifty thousand would take minutes
    index = asyncio.run(texts("/sitemap.xml"))[0]
    parts = PLACES.findall(index)
    assert "<sitemapindex" in index
    assert parts == [f"{BASE}/sitemap-{number}.xml" for number in (1, 2, 3)]
    found = [PLACES.findall(text) for text in asyncio.run(texts(*(part[len(BASE) :] for part in parts)))]
    assert [place for part in found for place in part] == whole
    assert [len([place for place in part if "/entries/" in place]) for part in found] == [2, 2, 1]

    async def missing() -> set[int]:
        transport = httpx.ASGITransport(create_app(settings, knowledge))
        async with httpx.AsyncClient(transport=transport, base_url="http://faq.example.com") as client:
            return {
                (await client.get(f"/sitemap-{number}.xml")).status_code for number in ("0", "4", "01", "x")
            }

    assert asyncio.run(missing()) == {404}
