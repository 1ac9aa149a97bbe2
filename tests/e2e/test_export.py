"""`jieda export`: a site that any web server can send, and that is searched in the browser."""

import functools
import http.server
import json
import re
import threading
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.test_embedding import Quiet
from tests.e2e.test_search import PASTE
from tests.support.command import Done, process
from tests.support.server import ROOT
from tests.support.shipped import copy_data
from tests.support.small_content import edition, write

PREFIX = "/kb"
BASE = "https://faq.example.com"
LINK = re.compile(r'(?:href|src)="(/[^"#?]*)(\?page=\d+)?')
NOT_LOGGED = re.compile("(not|nor) logged")
"""What nobody knows of the host of the files."""
AGREE = 0.9
SHOWN = (
    """(links) => links.filter((each) => each.checkVisibility()).map((each) => each.getAttribute("href"))"""
)


def export(*arguments: str, data: Path) -> Done:
    """In a process of its own: Playwright keeps an event loop running in this one."""
    return process("export", *arguments, JIEDA_DATA=str(data))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exported shipped entries, to be read under `PREFIX`."""
    folder: Path = tmp_path_factory.mktemp("export") / "kb"
    folder.mkdir()
    link = folder.with_name("link")
    link.symlink_to(folder)
    (folder / ".export-killed" / "new").mkdir(parents=True)
    few = write(folder.with_name("few"), {"zh/roll/gone.md": edition("旧事", formerly="[roll/went]")})
    built = copy_data(folder.with_name("built"))
    # What was exported before is replaced, and what an export that was killed has left is no obstacle.
    for content, data in ((few, folder.with_name("data")), (ROOT / "content", built)):
        arguments = [str(link), "--content", str(content), "--root-path", PREFIX]
        arguments += ["--base-url", BASE] if content == few else []
        done = export(*arguments, data=data)
        assert done.returncode == 0, done.stderr
        assert (folder / "en/entries/roll/gone/index.html").is_file() == (content == few)
        assert not list(folder.glob(".export-*"))
        lang = "zh" if content == few else "en"
        assert f'url={PREFIX}/{lang}/"' in (folder / "index.html").read_text(encoding="utf-8")
        if content == few:
            old = (folder / "zh/entries/roll/went/index.html").read_text(encoding="utf-8")
            assert f'url={PREFIX}/zh/entries/roll/gone"' in old
            check_addresses(folder)
    return folder


def check_addresses(folder: Path) -> None:
    """The lists for programs name nothing that only a server has."""
    for name, least in (("sitemap.xml", 5), ("llms.txt", 3), ("zh/llms.txt", 3)):
        text = (folder / name).read_text(encoding="utf-8")
        named = re.findall(rf"{BASE}{PREFIX}/([^\s<>\")]*)", text)
        assert len(named) >= least, text
        for path in named:
            assert (folder / path).is_file() or (folder / path / "index.html").is_file(), path


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
        server.shutdown()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    page.on("pageerror", lambda error: failed.append(str(error)))
    yield page
    context.close()
    assert failed == []


def test_every_link_leads_to_a_file(site: Path) -> None:
    for file in site.rglob("*.html"):
        for path, part in LINK.findall(unescape(file.read_text(encoding="utf-8"))):
            assert not part, (file, path)
            target = site.parent / unquote(path).strip("/")
            assert target.is_file() or (target / "index.html").is_file(), (file, path)


def test_an_address_that_is_not_there_leads_home_in_either_language(site: Path) -> None:
    page = (site / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'<p lang="([^"]+)">.*<a href="(/[^"]*)".*(English|中文)', page)
    assert links == [("en", f"{PREFIX}/en/", "English"), ("zh-CN", f"{PREFIX}/zh/", "中文")]


def test_it_is_searched_read_and_switched_without_a_server(page: Page, address: str) -> None:
    page.goto(f"{address}/en/")
    expect(page.get_by_role("link", name="Diagnose")).to_be_hidden()
    page.locator("#q").fill("restart slime from the last checkpoint")
    page.locator(".ask button").first.click()
    first = page.locator("#results .card a").first
    expect(first).to_have_attribute("href", f"{PREFIX}/en/entries/slime/resume-training/")
    first.click()
    page.wait_for_url("**/en/entries/slime/resume-training/")
    page.locator("#preferences summary").click()
    page.locator("#preferences [value=dark]").click()
    page.locator("#language button").click()
    page.wait_for_url("**/zh/entries/slime/resume-training/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#preferences [aria-current=true]")).to_have_attribute("value", "dark")
    page.locator("#q").fill("显存不足")
    expect(page.locator("#options a").first).to_be_visible()
    page.goto(f"{address}/zh/search/?q=显存不足")
    expect(page.locator("#results .card").first).to_be_visible()
    expect(page.locator("#results .snippet code").first).to_be_visible()
    expect(page.locator("#results .status")).to_have_text(re.compile(r"^\d+ 条结果$"))
    expect(page.locator("#results .cards")).to_have_css("list-style-type", "none")
    page.goto(f"{address}/en/search/?q=qqqzzzxxx")
    expect(page.locator("#results .status")).to_have_text("Nothing found")
    page.goto(f"{address}/en/search/?q=training+constructor")
    expect(page.locator("#results .status")).to_have_text(re.compile(r"^\d+ results$"))
    expect(page).to_have_title(re.compile(r"^training constructor · Search · "))
    cards = page.locator("#results .card")
    expect(page.locator("#results .status")).to_have_text(f"{cards.count()} results")
    assert cards.count() > 20
    assert all((box := each.bounding_box()) and box["width"] > 700 for each in cards.all()[:2])
    page.locator("#q").focus()
    for _ in range(2):  # the button, then a result: there are no filters to skip
        page.keyboard.press("Tab")
    expect(page.locator("#results a:focus")).not_to_have_attribute("href", "#found")
    page.locator("#language button").click()
    page.wait_for_url("**/zh/search/?q=training+constructor")


def test_nothing_that_is_shown_needs_a_server(page: Page, address: str, site: Path) -> None:
    for kind in ("", "entries/", "about/", "search/", "topics/rollout/", "entries/slime/resume-training/"):
        page.goto(f"{address}/en/{kind}")
        expect(page.locator("#context")).to_be_hidden()
        expect(page.get_by_text(NOT_LOGGED)).to_have_count(0)
        expect(page.locator("a:visible", has_text=re.compile("API$"))).to_have_count(0)
        for link in page.locator(f"a[href^='{PREFIX}/']").evaluate_all(SHOWN):
            path, _, query = link.partition("#")[0].partition("?")
            target = site.parent / unquote(path).strip("/")
            assert target.is_file() or (target / "index.html").is_file(), (kind, path)
            assert not query or query.startswith("q="), (kind, query)


def test_search_data_that_did_not_arrive_is_asked_for_again(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/search.json", lambda route: route.abort(), times=1)
        page.goto(f"{address}/en/search/?q=checkpoint")
        expect(page.locator("#results .status")).to_contain_text("Press Enter to try again")
        expect(page.locator("#results .card")).to_have_count(0)
        page.locator("#q").press("Enter")
        expect(page.locator("#results .card").first).to_be_visible()


def test_the_last_line_of_a_log_is_searched(page: Page, address: str) -> None:
    log = "step 3\n    assert self.lr_decay_steps > 0\nAssertionError: chunks\n"
    for kind in ("", "entries/"):
        page.goto(f"{address}/en/{kind}")
        if kind:
            page.locator("#q").evaluate(PASTE, log)
        else:
            page.locator("#q").fill(log)
            page.locator("#q").press("Control+Enter")
        page.wait_for_url("**/en/search/?q=AssertionError%3A+chunks")
        expect(page.locator("#results .card").first).to_be_visible()


def test_most_first_hits_are_those_of_the_server(page: Page, address: str, shipped: Snapshot) -> None:
    lines = (ROOT / "tests/judged.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [each for each in map(json.loads, lines) if each["kind"] in {"question", "paraphrase"}]
    page.goto(f"{address}/en/about/")
    langs = [Language.ZH if each["lang"] == "zh" else Language.EN for each in asked]
    pairs = [[each["query"], lang.value] for each, lang in zip(asked, langs, strict=True)]
    theirs = page.evaluate(
        "pairs => Promise.all(pairs.map(async (pair) => (await jieda.found(...pair)).map(({ id }) => id)[0]))",
        pairs,
    )
    agreed = 0
    for (text, lang), first in zip(pairs, theirs, strict=True):
        hits = shipped.searcher.search(SearchRequest(text, Language(lang), limit=1)).hits
        agreed += [hit.entry.id for hit in hits] == [first]
    assert agreed / len(asked) >= AGREE
    within = [text for text, _ in pairs].index("how many optimizer steps are run on one rollout")
    assert theirs[within] == "slime/batch-size-calculation", "this does not name ROLL"


def test_other_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    (tmp_path / "search.json").write_text("{}")
    few = write(tmp_path / "few", {"en/roll/one.md": edition("One")})
    done = export(str(tmp_path), "--content", str(few), data=tmp_path / "data")
    assert done.returncode == 2
    assert "is neither empty nor an export" in done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "precious"
