"""Another field than ours: whatever the pages say of it comes from its content."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from html import unescape
from pathlib import Path

import httpx
import pytest
from jieda.usecases.check import check_content

from tests.support import small_content
from tests.support.inside import Inside
from tests.support.server import ROOT

OPERATIONS = ROOT / "tests" / "fields" / "operations"
OURS = re.compile(
    r"[Tt]rain(?:s|ed|ing)?\b|[Rr]einforcement|\bRL\b|\bslime\b|\bROLL\b|[Cc]hat[Ll]earn|node2pg"
    r"|[Ll]arge (?:language )?model|训练|强化学习|大模型"
)
ADDRESS = re.compile(r"<loc>(?:https?://[^/<]+)?(/[^<]*)</loc>")
TOKEN = "s3cret-s3cret-s3cret"
OUR_NAME = re.compile(r"\bJieda\b(?!-Confidence)")  # a header that scripts read, whatever the site is called
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
def client(inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[httpx.Client]:
    with inside(OPERATIONS, workbench="1", workbench_token=TOKEN) as running, running.client() as client:
        yield client


@pytest.fixture(scope="module")
def everything(client: httpx.Client) -> list[httpx.Response]:
    """All that everybody may read."""
    pages = ADDRESS.findall(client.get("/sitemap.xml").text)
    assert len(pages) > 20
    others = [f"/{lang}/{other}" for lang in ("en", "zh") for other in OTHERS]
    return [client.get(each) for each in (*pages, *others, "/openapi.json", "/docs")]


def test_no_page_speaks_of_anything_but_its_field(everything: list[httpx.Response]) -> None:
    assert {answer.status_code for answer in everything} == {200}
    said = {answer.url.path: set(OURS.findall(answer.text)) for answer in everything}
    assert {path: found for path, found in said.items() if found} == {}


def test_every_page_has_the_name_of_its_team_and_ours_in_one_line_at_most(
    client: httpx.Client, everything: list[httpx.Response]
) -> None:
    behind = [f"/{lang}/{page}" for lang in ("en", "zh") for page in ("workbench", "maintain")]
    pages = [*everything, *(client.get(each) for each in ("/en/nowhere", "/zh/workbench"))]
    pages += [client.get(each, auth=("anybody", TOKEN)) for each in behind]
    assert {page.status_code for page in pages} == {200, 401, 404}
    assert "Jieda" not in "".join(page.headers.get("www-authenticate", "") for page in pages)
    named = {}
    for page in pages:
        said = OUR_NAME.findall(re.sub(r'<p class="colophon">.*?</p>', "", page.text))
        if said or len(OUR_NAME.findall(page.text)) > 1:
            named[page.url.path] = OUR_NAME.findall(page.text)
    assert not named
    home = client.get("/en/").text
    assert '<a href="https://ops.example.com/rota">Rota</a>' in home
    assert "<span>Ops</span>" in home
    assert "claude mcp add --transport http ops " in client.get("/en/agents").text


def test_logo_icon_and_colours_are_those_of_the_content(client: httpx.Client) -> None:
    home = client.get("/en/").text
    for pattern, kind in (
        (r'<img class="logo" src="([^"]+)"', "image/svg+xml"),
        (r'<link rel="icon" href="([^"]+)"', "image/svg+xml"),
        (r'<link rel="stylesheet" href="([^"]*/brand/[^"]+)"', "text/css; charset=utf-8"),
    ):
        (address,) = re.findall(pattern, home)
        answer = client.get(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert "--jade: var(--light, #7a2ea0) " in answer.text
    assert client.get("/brand/taxonomy.yaml").status_code == 404


def test_agents_are_told_the_name_of_the_team(client: httpx.Client) -> None:
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"Accept": "application/json, text/event-stream"}
    said = client.post("/mcp", json=message, headers=headers).json()["result"]
    assert (said["serverInfo"]["name"], said["serverInfo"]["title"]) == ("ops", "Ops answers")
    assert said["instructions"].startswith("Ops is a knowledge base")


def test_the_line_in_the_footer_can_be_switched_off(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    (tmp_path / "taxonomy.yaml").write_text("site:\n  credit: false\n", encoding="utf-8")
    assert "Jieda" not in serve(f"{OPERATIONS}{os.pathsep}{tmp_path}").get("/en/").text


def test_the_introduction_of_many_frameworks_names_the_first_five(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    tag = "  f{0}: {{name: {{en: Unit {0}, zh: 部件{0}号}}, description: {{en: x, zh: x}}}}\n"
    more = "frameworks:\n" + "".join(map(tag.format, range(8)))
    taxonomy = small_content.TAXONOMY.replace("frameworks:\n", more)
    files = {"taxonomy.yaml": taxonomy, "en/f1/a.md": small_content.edition("A")}
    client = serve(small_content.write(tmp_path, files))
    named = "1 answer about Unit 0, Unit 1, Unit 2, Unit 3, Unit 4 and 4 more. Ask"
    assert named in client.get("/en/").text
    assert (
        "解答部件0号、部件1号、部件2号、部件3号、部件4号以及另外 4 项的报错与问题" in client.get("/zh/").text
    )


def test_colours_that_are_hard_to_read_are_reported(tmp_path: Path) -> None:
    site = "site:\n  accent: '#a0d8c0'\n  logo: gone.png\n"
    content = small_content.write(tmp_path, {"taxonomy.yaml": site + small_content.TAXONOMY})
    found = check_content([content]).problems
    assert [(each.line, each.rule) for each in found] == [(2, "contrast"), (3, "link")]


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


def test_where_all_entries_are_in_one_language_results_do_not_repeat_it(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    files = {"zh/roll/a.md": small_content.edition("显存不足怎么办", "## 回答\n\n减小 batch。\n")}
    client = serve(small_content.write(tmp_path, files))
    assert 'class="edition"' not in client.get("/zh/search?q=显存不足").text
    in_english = client.get("/en/search?q=显存不足").text
    assert '<span class="edition" lang="zh-CN">中文</span>' in in_english, "who reads English is warned"
    assert "1 answer so far" in client.get("/en/").text


def test_lists_are_in_the_order_of_titles_whatever_their_case(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    titles = ("NCCL hangs", "import fails", "Zombies remain", "vLLM is slow")
    files = {f"en/roll/{number}.md": small_content.edition(title) for number, title in enumerate(titles)}
    page = serve(small_content.write(tmp_path, files)).get("/en/entries").text
    assert re.findall(r'<h3 class="row-title"><a [^>]*>([^<]+)', page) == sorted(titles, key=str.lower)
