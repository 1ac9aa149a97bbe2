"""What readers, programs and agents say of an entry that they tried, and what maintainers see of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import jieda
from tests.web.test_maintainers import visiting

pytestmark = [pytest.mark.quick, pytest.mark.anyio]

ADDRESS, API = "/en/entries/roll/first", "/api/v1/outcomes"
PLANTED = "at /home/planted-user/run with token sk-planted0123456789 the memory stays full"


def reports(folder: Path) -> list[dict[str, Any]]:
    """What lies in the data directory."""
    from jieda.feedback import FeedbackStore

    return [each._asdict() for each in FeedbackStore(folder / "data").reports()]


async def test_a_reader_whom_it_did_not_help_says_why_once(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH="1") as client:
        assert 'name="reason"' not in (await client.get(ADDRESS)).text
        # A reason without a vote before it is none.
        await client.post(ADDRESS, data={"reason": "outdated"})
        assert not reports(tmp_path)
        await client.post(ADDRESS, data={"solved": "no"})
        asked = (await client.get(ADDRESS)).text
        assert asked.count('name="reason"') == 4
        await client.post(ADDRESS, data={"reason": "did_not_work", "line": PLANTED})
        await client.post(ADDRESS, data={"reason": "unclear"})
        assert "Thanks" in (await client.get(ADDRESS)).text
        (kept,) = reports(tmp_path)
        page = (await client.get("/zh/maintain")).text
    assert (kept["entry"], kept["outcome"]) == ("roll/first", "did_not_work")
    assert "memory" in kept["text"]
    assert "planted" not in json.dumps(kept)
    assert "照做了，没有用：" in page
    assert "{" in kept["text"]
    assert kept["text"].partition("{")[0].strip() in page
    assert "{path}" not in page
    assert "{word}" not in page
    assert 'class="hole" lang="zh-CN"' in page, "in a question of any language"
    assert "1 no ·      0 yes  en  roll/first" in jieda("votes", JIEDA_DATA=str(tmp_path / "data")).stdout


async def test_a_program_says_it_in_one_request(tmp_path: Path) -> None:
    said = {"id": "roll/first", "outcome": "outdated", "text": PLANTED, "lang": "en"}
    async with visiting(tmp_path) as client:
        answer = await client.post(API, json=said)
        assert answer.json() == {"id": "roll/first", "outcome": "outdated", "kept": True}
        assert (await client.post(API, json=said | {"id": "roll/nosuch"})).status_code == 404
        assert (await client.post(API, json=said | {"outcome": "great"})).status_code == 422
        long = (await client.post(API, json=said | {"text": "x" * 301})).json()
        assert long["errors"] == [{"field": "text", "message": "has more than 300 characters"}]
        assert (await client.post(API, content=b"{")).status_code == 400
        unknown = (await client.post(API, json=said | {"query": "x"})).json()
        assert [each["field"] for each in unknown["errors"]] == ["query"]
        assert (await client.post(f"{API}?query=x", json=said)).status_code == 422
        foreign = await client.post(API, json=said, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        kept = [(await client.post(API, json=said)).json()["kept"] for _ in range(4)]
        # By another spelling and on the page, too: one address is counted three times at most.
        other = (await client.post(API, json=said | {"id": "ROLL/First"})).json()
        await client.post(ADDRESS, data={"solved": "no"})
    assert kept == [True, True, False, False]
    assert other == {"id": "roll/first", "outcome": "outdated", "kept": False}
    assert "3 no ·      0 yes  en  roll/first" in jieda("votes", JIEDA_DATA=str(tmp_path / "data")).stdout
    assert len(reports(tmp_path)) == 3
    assert "planted" not in json.dumps(reports(tmp_path))
