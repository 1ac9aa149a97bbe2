"""The workbench in a real browser: from a log that nobody explains to a served entry, and no text lost on the way."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.conftest import OpenPage, until
from tests.e2e.test_accessibility import faults
from tests.support.git import git
from tests.support.inside import Inside
from tests.support.small_content import edition, write

TOKEN = "bench-token"
LOG = (
    "step 41\nTraceback (most recent call last):\n"
    '  File "/opt/ours/trainer/data.py", line 88, in load\n'
    "trainer.ShardMismatchError: shard 17 of 64 has 4093 rows, manifest says 4096\n"
)
OPENED = "/en/workbench?entry=roll/memory"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(
        tmp_path_factory.mktemp("content"),
        {
            "en/roll/memory.md": edition("Out of memory in node2pg", aliases="[the card is full]"),
            "zh/roll/memory.md": edition("node2pg 显存不足", body="## 回答\n\n是。\n"),
        },
    )
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "start"]):
        git(folder, *arguments)
    return folder


@pytest.fixture(scope="module")
def bench_server(content: Path, inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[Inside]:
    """A server whose workbench may write."""
    with inside(content, workbench="1", workbench_token=TOKEN, workbench_write="1", gaps="1") as running:
        yield running


@pytest.fixture
def open_bench(open_page: OpenPage, bench_server: Inside) -> Callable[..., Page]:
    """Opens an address of that server, with the token."""

    def opened(address: str, **options: object) -> Page:
        credentials = {"username": "anybody", "password": TOKEN}
        return open_page(bench_server.base + address, http_credentials=credentials, **options)

    return opened


SEEN = """(element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height / 2) === element;
}"""


def status(page: Page) -> Locator:
    return page.locator("#bench-status")


def test_whoever_asks_finds_the_answer_behind_their_link(
    open_bench: Callable[..., Page], content: Path
) -> None:
    asker = open_bench("/en/diagnose")
    asker.locator("#log").fill(LOG)
    asker.locator("form.paste button[type=submit]").click()
    asker.get_by_role("button", name="Ask for an answer").click()
    expect(asker.locator("h1")).to_have_text("No answer yet")
    link = asker.url
    assert len(link.rpartition("=")[2]) >= 20
    kept = asker.locator(".redacted").inner_text()
    assert "ShardMismatchError" in kept
    assert "4093" not in kept

    page = open_bench("/en/maintain")
    gap = page.locator(".gap", has_text="ShardMismatchError")
    expect(gap).to_contain_text("1 person is waiting for the answer")
    expect(gap.locator("svg")).to_have_attribute("aria-label", re.compile(r"By week, oldest first: (0, )+1$"))
    gap.get_by_role("button", name="Write the answer").click()
    front = page.locator("#en").input_value().split("---\n")[1]
    assert "title: 'ShardMismatchError: " in front
    assert "'ShardMismatchError: shard {num} of {num} has {num} rows, manifest{any}{num}'" in front
    assert re.search(r"```text\nShardMismatchError: shard … of … has", page.locator("#en").input_value())
    assert (
        "ShardMismatchError: shard 0 of 0 has 0 rows, manifest name 0" in page.locator("#log").input_value()
    )

    for lang, title, heads, body in (
        ("en", "The shards do not match", ("Cause", "Fix"), ("A copy broke off.", "Run `resync` again.")),
        ("zh", "分片不一致", ("原因", "解决办法"), ("复制中断了。", "重新运行 `resync`。")),
    ):
        front = page.locator(f"#{lang}").input_value().split("---\n")[1]
        kept = "".join(
            line for line in front.splitlines(keepends=True) if not line.startswith(("title:", "draft:"))
        ).replace("'TODO'", "MIT")
        said = "".join(f"## {head}\n\n{text}\n\n" for head, text in zip(heads, body, strict=True))
        page.locator(f"#{lang}").fill(f"---\ntitle: {title}\n{kept}---\n\n{said}")
    page.get_by_role("button", name="The two editions agree").click()
    expect(page.locator("#tried .own .confidence")).to_be_visible()
    expect(page.frame_locator("#preview-zh iframe").locator("h1")).to_have_text("分片不一致")
    # From one text to the next without a stop at each link of the page between them.
    past = page.get_by_role("link", name="Skip the preview").first
    past.scroll_into_view_if_needed()
    assert not past.evaluate(SEEN), "it does not lie over the text"
    past.focus()
    assert past.evaluate(SEEN)
    past.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#zh")).to_be_focused()
    expect(page.locator("#open-problems")).to_contain_text("needs at least 2")
    page.get_by_label("Your name").fill("王小明")
    page.get_by_label("Your e-mail address").fill("wang@example.com")
    page.get_by_role("button", name="Write and commit").click()
    expect(page.locator("#said")).to_contain_text("needs at least 2")
    assert "王小明 <wang@example.com>" in git(content, "log", "-1", "--format=%an <%ae>")

    asker.goto(link)
    expect(asker.locator("h1")).to_have_text("There is an answer")
    expect(asker.locator(".answer")).to_contain_text("Run resync again.")
    asker.locator(".language").click()
    expect(asker.locator("#best")).to_have_text("分片不一致")
    expect(page.locator("#said")).to_be_visible()
    page.goto(page.url.partition("/workbench")[0] + "/maintain")
    expect(page.locator(".gap", has_text="ShardMismatchError")).to_contain_text("The shards do not match")


def test_a_broken_signature_is_reported_while_it_is_typed(open_bench: Callable[..., Page]) -> None:
    page = open_bench(OPENED)
    area = page.locator("#en")
    area.evaluate(
        "area => { area.focus(); const at = area.value.indexOf('topics:'); area.setSelectionRange(at, at); }"
    )
    page.keyboard.type("signatures: ['shard {integer} is torn']\n")
    expect(page.locator("#findings-en")).to_contain_text("{integer} is not one of {int}")
    page.locator("#findings-en li", has_text="{integer}").locator("a").click()
    chosen = area.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == "signatures: ['shard {integer} is torn']"
    assert area.evaluate("area => document.activeElement === area")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") != "en"


def test_a_composition_loses_no_character_and_nothing_is_sent_meanwhile(
    open_bench: Callable[..., Page],
) -> None:
    page = open_bench(OPENED)
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None
    )
    area = page.locator("#zh")
    area.evaluate("area => { area.focus(); area.setSelectionRange(area.value.length, area.value.length); }")
    before = area.input_value()
    client = page.context.new_cdp_session(page)
    for typed in ("x", "xian", "xiancun"):
        client.send(
            "Input.imeSetComposition",
            {"selectionStart": len(typed), "selectionEnd": len(typed), "text": typed},
        )
        page.wait_for_timeout(900)
    assert sent == []
    client.send("Input.insertText", {"text": "显存不足"})
    expect(status(page)).not_to_be_empty()
    until(page, lambda: len(sent) > 0)
    assert area.input_value() == f"{before}显存不足"
    until(page, lambda: "%E6%98%BE%E5%AD%98%E4%B8%8D%E8%B6%B3" in sent[-1])
    expect(page.frame_locator("#preview-zh iframe").locator(".article")).to_contain_text("显存不足")


def test_a_lost_connection_loses_no_text(open_bench: Callable[..., Page]) -> None:
    page = open_bench(OPENED)
    area = page.locator("#en")

    def away(route: Route) -> None:
        route.abort()

    page.route("**/workbench", away)
    area.evaluate("area => { area.focus(); area.setSelectionRange(area.value.length, area.value.length); }")
    page.keyboard.type("Written in a tunnel.")
    expect(status(page)).to_contain_text("The server cannot be reached. Your text is still here")
    assert area.input_value().endswith("Written in a tunnel.")
    # It is read out once, not with every attempt.
    expect(page.get_by_role("status").filter(has_text="The server cannot be reached")).to_have_count(1)
    page.evaluate(
        "told = 0; new MutationObserver(() => told++).observe(document, { subtree: true, childList: true })"
    )
    with page.expect_event("requestfailed"):
        page.evaluate("dispatchEvent(new Event('online'))")
    page.wait_for_timeout(100)
    assert page.evaluate("told") == 0
    page.unroute("**/workbench", away)
    expect(page.frame_locator("#preview-en iframe").locator(".article")).to_contain_text(
        "Written in a tunnel."
    )
    expect(status(page)).to_contain_text("problem")


def test_a_draft_outlives_the_page_until_it_is_discarded(open_bench: Callable[..., Page]) -> None:
    page = open_bench(OPENED)
    original = page.locator("#en").input_value()
    page.locator("#en").fill(f"{original}Half a thought")
    page.locator("#keep").check()
    expect(page.locator("#bench-kept")).to_contain_text("Draft saved in this browser")
    page.reload()
    expect(page.locator("#en")).to_have_value(f"{original}Half a thought")
    expect(page.locator("#keep")).to_be_checked()
    expect(page.locator("#bench-kept")).to_contain_text("was restored")
    base = page.url.partition("/en/")[0]
    page.close()
    again = page.context.new_page()
    again.goto(f"{base}/zh/workbench")
    again.locator("#drafts button", has_text="roll/memory").first.click()
    expect(again.locator("#en")).to_have_value(re.compile(re.escape("Half a thought")))
    expect(again.locator("#keep")).to_be_checked()
    again.goto(f"{base}{OPENED}")
    expect(again.locator("#en")).to_have_value(re.compile(re.escape("Half a thought")))
    # Also where the server has sent the draft back.
    again.locator("button[value=check]").click()
    again.locator("#discard").click()
    expect(again.locator("#en")).to_have_value(original)
    expect(again.locator("#keep")).not_to_be_checked()
    expect(again.locator("#bench-kept")).to_contain_text("The draft was discarded")
    again.goto(f"{base}/en/workbench")
    expect(again.locator("#drafts")).to_be_hidden()
    again.locator("#slug").fill("begun")
    again.locator("button[value=new]").click()
    again.locator("#en").fill("Begun in English")
    again.locator("#language button").click()
    expect(again.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(again.locator("#en")).to_have_value(re.compile("Begun in English"))


def test_two_tabs_at_one_draft_warn_and_keep_both_texts(open_bench: Callable[..., Page]) -> None:
    """Whatever language each of them is in."""
    first = open_bench(OPENED)
    original = first.locator("#en").input_value()
    second = first.context.new_page()
    second.goto(first.url.replace("/en/", "/zh/"))
    warned = [tab.locator("#bench-elsewhere") for tab in (first, second)]
    first.locator("#en").fill(f"{original}Said here")
    expect(warned[1]).to_be_visible()
    expect(warned[0]).to_be_hidden()
    second.locator("#en").fill(f"{original}Said there")
    expect(warned[0]).to_be_visible()
    for tab, said in ((first, "here"), (second, "there"), (first, "here")):
        tab.reload()
        expect(tab.locator("#en")).to_have_value(f"{original}Said {said}")
    first.goto(first.url.partition("?")[0])
    listed = first.locator("#drafts li button:first-child", has_text="roll/memory")
    expect(listed).to_have_count(2)
    texts = set()
    for place in range(2):
        listed.nth(place).click()
        texts.add(first.locator("#en").input_value().removeprefix(original).strip())
        first.goto(first.url.partition("?")[0])
    assert texts == {"Said here", "Said there"}
    discards = first.locator("#drafts li button:last-child")
    discards.first.press("Enter")
    expect(discards).to_be_focused()
    expect(first.get_by_role("status").filter(has_text="The draft was discarded")).to_have_count(1)
    discards.press("Enter")
    expect(first.locator("h1")).to_be_focused()


def test_of_two_who_write_one_entry_the_later_sees_word_by_word_what_differs(
    open_bench: Callable[..., Page], content: Path
) -> None:
    page = open_bench("/zh/workbench")
    page.locator("#open").fill("显存不足")
    chosen = page.locator("#entries option", has_text="node2pg 显存不足")
    expect(chosen).to_have_count(1)
    page.locator("#open").fill(chosen.get_attribute("value") or "")
    page.get_by_role("button", name="打开").click()
    file = content / "zh/roll/memory.md"
    before = file.read_text(encoding="utf-8")
    area = page.locator("#zh")
    expect(area).to_have_value(re.compile("是。"))
    file.write_text(before.replace("是。", "是他们的。"), encoding="utf-8")
    area.fill(area.input_value().replace("是。", "是我的。"))
    page.locator("#author").fill("王小明")
    page.locator("#email").fill("wang@example.com")
    page.locator("button[value=commit]").click()
    theirs = page.locator(".theirs")
    page.get_by_role("link", name="查看不同之处：中文").click()
    expect(theirs.locator("h3")).to_be_in_viewport()
    expect(theirs.locator("del")).to_have_text("我")
    expect(theirs.locator("ins")).to_have_text("他们")
    expect(area).to_have_value(re.compile("是我的。"))
    assert "他们" in file.read_text(encoding="utf-8")
    file.write_text(before, encoding="utf-8")
    page.locator("button[value=commit]").click()
    expect(page.locator("#said")).to_contain_text("已写入并提交")
    expect(page.locator("#said")).to_be_in_viewport()  # the button is far below
    expect(page).to_have_url(re.compile(r"\?entry=roll%2Fmemory$"))
    page.reload()  # which neither commits again nor has a draft
    expect(page.locator("#said")).to_have_count(0)
    expect(area).to_have_value(re.compile("是我的。"))
    expect(page.locator("#discard")).to_be_hidden()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(open_bench: Callable[..., Page], lang: str) -> None:
    page = open_bench(f"/{lang}/workbench", locale=lang)
    found = {}
    for name in ("start", "entry", "log"):
        if name == "entry":
            page.goto(page.url + "?entry=roll/memory")
            page.locator("#log").fill(LOG)
            page.wait_for_selector("#tried-after")
        if name == "log":
            page.goto(page.url.partition("?")[0])
            page.locator("#text").fill(LOG)
            page.locator("button[value=log]").click()
            page.wait_for_selector("#tried-after")
        page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
        found[name] = faults(page, lang)
    assert {name: each for name, each in found.items() if each} == {}


def test_no_preview_lies_over_a_text_or_another_preview(open_bench: Callable[..., Page]) -> None:
    page = open_bench(OPENED, viewport={"width": 360, "height": 740})
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        page.locator("#zh").evaluate("area => area.scrollIntoView({ block: 'center', behavior: 'instant' })")
        assert page.locator("#zh").evaluate(SEEN), width
        first, second = [box for each in page.locator(".preview").all() if (box := each.bounding_box())]
        assert first["y"] + first["height"] <= second["y"], width


def test_every_control_is_reached_by_tab_and_enter_adds_what_was_typed(
    open_bench: Callable[..., Page],
) -> None:
    page = open_bench(OPENED)
    wanted = set(
        page.evaluate(
            """[...document.querySelectorAll("#bench :is(button, select, textarea, input:not([type=hidden]))")]
              .filter((each) => each.offsetParent && (each.type !== "radio" || each.checked))
              .map((each) => each.id || each.value)"""
        )
    )
    seen = set()
    page.locator("h1").focus()
    for _ in range(250):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.value"))
        if wanted <= seen:
            break
    assert wanted - seen == set()
    page.locator("#related").fill("roll/another")
    page.locator("#related").press("Enter")
    expect(page.locator("#en")).to_have_value(re.compile(r"related:\s+- 'roll/another'"))
    expect(page.locator("button[value=related]")).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="related: roll/another")).to_have_count(2)
    page.locator("button[value=commit]").press("Enter")  # without a name
    expect(page.locator("#said")).to_be_focused()
