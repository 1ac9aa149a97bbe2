"""Another field than ours: whatever the pages say of it comes from its content."""

import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from tests.support import server

OPERATIONS = server.ROOT / "tests" / "fields" / "operations"
OURS = re.compile(
    r"[Tt]rain(?:s|ed|ing)?\b|[Rr]einforcement|\bRL\b|\bslime\b|\bROLL\b|[Cc]hat[Ll]earn|node2pg"
    r"|[Ll]arge (?:language )?model|训练|强化学习|大模型"
)
ADDRESS = re.compile(r"<loc>(?:https?://[^/<]+)?(/[^<]*)</loc>")
OTHERS = (
    "feed.xml",
    "opensearch.xml",
    "llms.txt",
    "llms-full.txt",
    "search?q=timeout",
    "search?q=qqqqq",
    "diagnose",
    "about",
    "entries",
    "agents",
    "agents/SKILL.md",
    "agents/AGENTS.md",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    running = server.start(tmp_path_factory.mktemp("operations"), OPERATIONS)
    with running.client() as client:
        yield client
    running.stop()


def addresses(client: httpx.Client) -> list[str]:
    pages = ADDRESS.findall(client.get("/sitemap.xml").text)
    assert len(pages) > 20
    others = [f"/{lang}/{other}" for lang in ("en", "zh") for other in OTHERS]
    return [*pages, *others, "/openapi.json", "/docs"]


def test_no_page_speaks_of_anything_but_its_field(client: httpx.Client) -> None:
    said = {}
    for address in addresses(client):
        answer = client.get(address)
        assert answer.status_code == 200, address
        if found := set(OURS.findall(answer.text)):
            said[address] = found
    assert not said


def test_the_commands_to_begin_with_ask_what_the_content_is_asked(client: httpx.Client) -> None:
    page = unescape(client.get("/docs", headers={"Accept-Language": "en"}).text)
    assert "curl -G --data-urlencode 'q=sorry, too many clients already'" in page
    assert "--data-urlencode 'q=sorry, t'" in page


@pytest.mark.parametrize(
    ("lang", "name", "lead", "example"),
    [
        ("en", "Ops answers", "answers for running PostgreSQL and Kubernetes", "roll back a deployment"),
        ("zh", "运维问答", "运维 PostgreSQL 和 Kubernetes 时会遇到的问题", "怎么回滚 Deployment"),
    ],
)
def test_home_page_says_what_the_content_says_of_itself(
    client: httpx.Client, lang: str, name: str, lead: str, example: str
) -> None:
    page = client.get(f"/{lang}/").text
    assert f"<title>{name} · " in page
    assert lead in page
    assert f">{example}</a>" in page
    assert client.get(f"/{lang}/llms.txt").text.startswith(f"# {name}\n")
