"""Reading an entry: the fix in sight, code to copy, the twin at the same place, the page on paper."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage, hold, served, until
from tests.support.server import ROOT
from tests.support.small_content import TAXONOMY, edition, write

LAPTOP = {"width": 1366, "height": 650}
"""What a browser leaves of a laptop's 768 lines."""
CODE = "/en/entries/chatlearn/yaml-config"
ENTRY = "/en/entries/slime/oom-max-tokens-per-gpu"


def error_entries() -> list[str]:
    """The ids of the shipped error entries."""
    files = sorted((ROOT / "content" / "en").glob("*/*.md"))
    found = [
        path for path in files if re.search(r"^kind: error$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    return [f"{path.parent.name}/{path.stem}" for path in found]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_fix_is_on_the_first_screen_of_a_laptop(open_page: OpenPage, lang: str) -> None:
    """Of every entry, put into the page of the first one: opening each takes many times as long."""
    entries = error_entries()
    page = open_page(f"/{lang}/entries/{entries[0]}", viewport=LAPTOP)
    opened = page.locator("#fix").bounding_box()["y"]  # type: ignore[index]
    tops = page.evaluate(
        """async (addresses) => {
          const tops = {};
          for (const [entry, address] of Object.entries(addresses)) {
            const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
            document.body.replaceWith(document.adoptNode(page.body));
            tops[entry] = document.getElementById("fix").getBoundingClientRect().top;
          }
          return tops;
        }""",
        {entry: f"/{lang}/entries/{entry}" for entry in entries},
    )
    assert abs(tops[entries[0]] - opened) < 1, "scripts move it nowhere"
    assert tops.keys() == set(entries)
    late = {entry: top for entry, top in tops.items() if top > LAPTOP["height"] - 50}
    assert late == {}


def test_a_copy_button_copies_exactly_the_code(open_page: OpenPage) -> None:
    page = open_page(CODE, permissions=["clipboard-read", "clipboard-write"])
    for place in range(page.locator(".code").count()):
        block = page.locator(".code").nth(place)
        block.hover()
        block.locator(".copy").click()
        expect(block.locator(".copy")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        source = (ROOT / "content" / "en" / "chatlearn" / "yaml-config.md").read_text(encoding="utf-8")
        assert copied in source
        assert copied == block.locator("pre").text_content().removesuffix("\n")  # type: ignore[union-attr]
    zero = page.evaluate("getComputedStyle(document.querySelector('code')).fontFeatureSettings")
    assert '"zero"' in zero, "zero and the letter O look different"


def test_code_is_copied_where_there_is_no_clipboard_object(open_page: OpenPage) -> None:
    """Plain http in a company network: browsers hide the clipboard there."""
    page = open_page(CODE, permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(
        """() => {
          window.clipboard = navigator.clipboard;
          Object.defineProperty(navigator, "clipboard", { value: undefined });
        }"""
    )
    block = page.locator(".code").first
    block.hover()
    block.locator(".copy").click()
    expect(block.locator(".copy")).to_have_text("Copied")
    expect(block.locator(".copy")).to_be_focused()
    shown = block.locator("pre").text_content() or ""
    assert page.evaluate("window.clipboard.readText()") == shown.removesuffix("\n")


@pytest.mark.parametrize("section", ["verify", "notes"])
def test_the_language_is_switched_at_the_section_that_is_being_read(
    open_page: OpenPage, section: str
) -> None:
    # opened without an anchor: a browser that still has to go to one would undo the scrolling
    page = open_page("/en/entries/slime/oom-max-tokens-per-gpu", viewport={"width": 1000, "height": 500})
    page.evaluate("id => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", section)
    # The header stays in sight. A click by locator would first scroll to where it would be without that.
    switch = page.locator(".language").bounding_box()
    assert switch
    page.mouse.click(switch["x"] + 5, switch["y"] + 5)
    page.wait_for_url(f"**/zh/entries/slime/oom-max-tokens-per-gpu#{section}")
    until(page, lambda: bool(page.evaluate("scrollY > 0")))  # the browser goes to the anchor in its own time


def test_the_header_hides_nothing_that_is_gone_to(open_page: OpenPage) -> None:
    """On narrow screens its rows are two, or three once it shows what the reader works with."""
    narrow: dict[str, object] = {"viewport": {"width": 360, "height": 640}, "reduced_motion": "reduce"}
    page = open_page(ENTRY, **narrow)
    page.context.request.post("/preferences", form={"framework": "slime", "next": "/en/"})
    page.reload()
    header = page.locator(".top")
    below = """element => {
      const header = document.querySelector(".top").getBoundingClientRect();
      return element.getBoundingClientRect().top >= header.bottom;
    }"""
    # Downwards the header goes, upwards it comes back.
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    expect(header).to_have_class(re.compile("away"))
    page.evaluate("location.hash = 'fix'")
    expect(header).not_to_have_class(re.compile("away"))
    assert page.locator("#fix").evaluate(below)
    page.set_viewport_size({"width": 900, "height": 640})
    page.locator(".bottom a").first.focus()
    while page.evaluate(
        "document.activeElement.closest('main') || document.activeElement.closest('.bottom')"
    ):
        page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        focused = page.locator(":focus")
        assert focused.evaluate(below), focused.evaluate("element => element.outerHTML")
        page.keyboard.press("Shift+Tab")
    page = open_page(f"{ENTRY}#fix", java_script_enabled=False, **narrow)
    top, section = page.locator(".top").bounding_box(), page.locator("#fix").bounding_box()
    assert top
    assert section
    assert section["y"] >= max(0, top["y"] + top["height"])


@pytest.mark.parametrize("fragment", ["", "#100%"])
def test_from_the_top_the_language_is_switched_at_the_top(open_page: OpenPage, fragment: str) -> None:
    page = open_page(f"/en/entries/slime/oom-max-tokens-per-gpu{fragment}")
    page.locator(".language").click()
    page.wait_for_url("**/zh/entries/slime/oom-max-tokens-per-gpu")


def test_a_parameter_in_a_sentence_is_copied_by_a_click(open_page: OpenPage) -> None:
    page = open_page(ENTRY, permissions=["clipboard-read", "clipboard-write"])
    flag = page.locator(".prose :not(pre, a) > code").first
    flag.click()
    expect(flag).to_have_attribute("data-copied", "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == flag.text_content()
    expect(flag).not_to_have_attribute("data-copied", "Copied")


def test_a_long_line_of_code_is_wrapped_on_request_and_hangs_from_its_beginning(open_page: OpenPage) -> None:
    page = open_page("/en/entries/slime/stuck-on-ray-submission", viewport={"width": 900, "height": 800})
    block = page.locator(".code:has(.wrap:not([hidden]))").first
    block.get_by_role("button", name="Wrap").click()
    pre = block.locator("pre")
    assert pre.evaluate("each => each.scrollWidth <= each.clientWidth")
    starts = block.locator(".line").evaluate_all(
        """lines => lines.map((line) => {
          const range = document.createRange();
          range.selectNodeContents(line);
          return [...new Set([...range.getClientRects()].map((box) => Math.round(box.left)))];
        })"""
    )
    assert any(len(lefts) > 1 and min(lefts) < sorted(lefts)[1] for lefts in starts)
    block.get_by_role("button", name="Wrap").click()
    assert pre.evaluate("each => each.scrollWidth > each.clientWidth")


def test_on_a_phone_code_begins_at_once_and_shows_all_of_each_line(open_page: OpenPage) -> None:
    page = open_page(ENTRY, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    for block in page.locator(".code").all():
        assert block.locator("pre").evaluate("each => each.scrollWidth <= each.clientWidth")
        room, button = (block.locator(each).bounding_box() for each in (".line >> nth=0", ".copy"))
        assert room
        assert button
        assert button["y"] + button["height"] <= room["y"] + 4, "the button covers nothing"
        assert room["y"] - block.bounding_box()["y"] < 20, "no line is left empty for it"  # type: ignore[index]


def test_the_language_is_switched_mid_search_and_remembered(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=oom&framework=slime")
    page.locator("#q").fill("resume training")
    page.wait_for_url("**q=resume**")
    page.locator(".language").click()
    page.wait_for_url("**/zh/search?q=resume+training&framework=slime")
    expect(page.locator("#q")).to_have_value("resume training")
    expect(page.locator("#results .card h2 a").first).to_have_attribute(
        "href", "/zh/entries/slime/resume-training"
    )
    page.goto("/")
    page.wait_for_url("**/zh/")


def test_a_theme_is_chosen_and_kept_at_the_place(open_page: OpenPage) -> None:
    page = open_page("/en/entries/roll/node2pg-keyerror#cause", color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#preferences summary").click()
    page.locator(".menu button[value=dark]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.url.endswith("#cause")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_escape_closes_the_menu_and_gives_the_focus_back_and_leaving_it_closes_it(
    open_page: OpenPage,
) -> None:
    page = open_page("/en/")
    page.locator("#preferences summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#preferences .menu-items")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(page.locator("#preferences .menu-items")).not_to_be_visible()
    expect(page.locator("#preferences summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#preferences .menu-items")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#preferences .menu-items")).not_to_be_visible()
    expect(page.locator("#context summary")).to_be_focused()


def test_a_heading_can_be_linked_to(open_page: OpenPage) -> None:
    page = open_page("/en/entries/roll/node2pg-keyerror")
    page.locator("#cause").hover()
    page.locator("#cause .permalink").click()
    page.wait_for_url("**#cause")


@pytest.mark.parametrize(("lang", "title"), [("en", "Cause"), ("zh", "原因")])
def test_a_heading_is_named_by_its_words_alone(open_page: OpenPage, lang: str, title: str) -> None:
    """In a screen reader's list of headings and of regions."""
    page = open_page(f"/{lang}/entries/roll/node2pg-keyerror")
    for role in ("heading", "region", "link"):
        assert page.locator("main").get_by_role(role, name=title, exact=True).count() == 1 + (
            role == "link"
        ), role


@pytest.mark.parametrize(("lang", "line"), [("en", "{} sources Apache-2.0"), ("zh", "{} 个来源 Apache-2.0")])
def test_several_sources_are_folded_to_one_line(open_page: OpenPage, lang: str, line: str) -> None:
    page = open_page(f"/{lang}{ENTRY.removeprefix('/en')}")
    sources = page.locator(".sources a")
    assert sources.count() > 1
    expect(sources.first).to_be_hidden()
    summary = page.locator(".folded summary")
    expect(summary).to_have_text(line.format(sources.count()))
    summary.click()
    expect(sources.last).to_be_visible()


def test_on_paper_there_is_the_article_and_nothing_to_click(open_page: OpenPage) -> None:
    page = open_page(CODE)
    page.emulate_media(media="print")
    for hidden in (".top", ".bottom", ".copy", ".related", ".history"):
        assert not page.locator(hidden).first.is_visible(), hidden
    assert page.locator(".sources").is_visible()
    assert page.locator(".sources a").first.is_visible(), "folded on the screen only"
    assert page.evaluate("getComputedStyle(document.querySelector('pre')).whiteSpace") == "pre-wrap"


def test_narrow_paper_holds_all_of_a_page(open_page: OpenPage) -> None:
    page = open_page("about:blank", viewport={"width": 360, "height": 800})
    page.emulate_media(media="print")
    for path in ("/zh/entries/roll/node2pg-keyerror", "/en/search?q=cuda+out+of+memory"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_wide_paper_is_one_column(open_page: OpenPage) -> None:
    page = open_page(CODE)
    page.emulate_media(media="print")
    article, beside = (page.locator(name).bounding_box() for name in (".article", ".beside"))
    assert article
    assert beside
    assert beside["y"] >= article["y"] + article["height"]
    page = open_page("/en/diagnose")
    page.locator("#log").fill(
        "the trainer said at its last step: KeyError: 1 at self.node2pg[node_rank]\nexit"
    )
    page.locator("#log-form [type=submit]").click()
    page.wait_for_selector("#viewer")
    page.emulate_media(media="print")
    answer = page.locator("#answer").bounding_box()
    assert answer
    assert answer["width"] > 700
    before = page.locator(".line-text .lead").first
    expect(before).to_be_visible()
    size = "each => getComputedStyle(each).fontSize"
    assert before.evaluate(size) == page.locator(".line-text").first.evaluate(size), "one line, one size"
    page.goto("/en/frameworks/roll")
    listed = page.locator(".found").bounding_box()
    assert listed
    assert listed["width"] > 700
    expect(page.locator(".siblings h2")).to_be_hidden()


def test_paper_is_white_and_says_where_the_page_is_from(open_page: OpenPage) -> None:
    """In the dark, too."""
    page = open_page(f"{ENTRY}?theme#fix", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert max(map(int, re.findall(r"\d+", ink)[:3])) < 60
    expect(page.locator(".paper")).to_have_text(page.url.partition("#")[0])
    expect(page.locator(".paper")).to_be_visible()
    page.goto("/docs")
    expect(page.locator("#try:not([hidden])")).to_have_count(1)
    expect(page.locator("#try")).to_be_hidden()


@pytest.mark.parametrize(
    "path", ["/en/", "/zh/search?q=oom", "/en/entries/slime/oom-max-tokens-per-gpu", "/zh/diagnose"]
)
def test_nothing_moves_while_a_page_loads_and_nothing_blocks_its_first_paint(
    open_page: OpenPage, path: str
) -> None:
    page = open_page("about:blank")
    page.add_init_script(
        """window.shifts = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            for (const { node, previousRect, currentRect } of entry.sources)
              shifts.push([node?.outerHTML?.slice(0, 80) ?? node?.textContent, previousRect, currentRect]);
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    # The page must be painted although its script never comes.
    page.route("**/static/app.js*", lambda route: None)
    page.goto(path, wait_until="commit")
    # The page's policy allows no wait_for_function, which evaluates a text inside the page.
    painted = "performance.getEntriesByName('first-contentful-paint').length > 0"
    until(page, lambda: bool(page.evaluate(painted)))
    page.unroute_all(behavior="ignoreErrors")
    # What moves does so every time; a page of which half had come when the browser drew it moves on a busy machine.
    for _ in range(LOADS):
        page.goto("about:blank")
        page.goto(path)
        page.wait_for_timeout(300)
        if not (shifts := page.evaluate("window.shifts")):
            break
    assert shifts == []


LOADS = 5

LONG = (
    "## 步骤之外\n\n"
    + "".join(f"### Step {number}\n\nDo it.\n\n" for number in range(12))
    + "## Notes\n\nDone.\n"
)


def test_a_long_page_has_its_contents_at_hand_on_every_screen(
    open_page: OpenPage, serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    base = served(serve, write(tmp_path, {"en/roll/long.md": edition("Long", LONG)}))
    page = open_page(f"{base}/en/entries/roll/long", viewport=LAPTOP)
    assert page.locator(".beside .toc").is_visible()
    assert not page.locator(".fold").is_visible()
    page.locator("h2").first.evaluate("(part) => part.scrollIntoView({ behavior: 'instant' })")
    expect(page.locator(".beside .toc [aria-current]")).to_have_text("步骤之外")
    page.set_viewport_size({"width": 360, "height": 740})
    assert not page.locator(".beside .toc").is_visible()
    page.locator(".fold summary").click()
    page.locator(".fold a", has_text="Step 11").click()
    page.wait_for_url("**#step-11")
    expect(page.locator("#step-11")).to_be_in_viewport()


PICTURE = """type => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 480 });
  canvas.getContext("2d").fillRect(0, 0, 320, 240);
  return canvas.toDataURL(type).split(",")[1];
}"""


def test_nothing_moves_when_an_image_arrives(
    open_page: OpenPage, serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    page = open_page("/en/")
    body = "## Answer\n\n![a](a.png)\n\n![b](b.jpg)\n\n![c](c.webp)\n\nThe end.\n"
    content = write(tmp_path, {"en/roll/seen.md": edition("Seen", body)})
    for name, kind in {"a.png": "png", "b.jpg": "jpeg", "c.webp": "webp"}.items():
        data = page.evaluate(PICTURE, f"image/{kind}")
        (content / "en" / "roll" / name).write_bytes(base64.b64decode(data))
    base = served(serve, content)
    waiting = hold(page, "**/entries/roll/*.*")
    page.set_viewport_size({"width": 400, "height": 2000})
    page.goto(f"{base}/en/entries/roll/seen", wait_until="domcontentloaded")
    end = page.locator(".prose p").last
    before = end.bounding_box()
    until(page, lambda: len(waiting) == 3)
    for route in waiting:
        route.continue_()
    for place in range(3):
        expect(page.locator("img").nth(place)).to_have_js_property("naturalWidth", 640)
    assert end.bounding_box() == before


def test_no_line_of_a_chinese_title_begins_inside_a_word(open_page: OpenPage) -> None:
    """The places where it may are marked in the page; a browser of every width keeps to them."""
    page = open_page("/zh/entries/slime/resume-training", viewport={"width": 360, "height": 740})
    for path in ("slime/stuck-on-ray-submission", "roll/batch-size-less-than-chunks", "slime/garbled-output"):
        page.goto(f"/zh/entries/{path}")
        inside = page.locator("h1").evaluate(
            """title => [...title.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => {
              const range = document.createRange();
              range.selectNodeContents(node);
              const rows = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
              return rows.size > 1 && /^[\u4e00-\u9fff]+$/.test(node.data) ? node.data : "";
            }).filter(Boolean)"""
        )
        assert inside == [], path


def test_no_flag_is_broken_behind_its_dashes(open_page: OpenPage) -> None:
    page = open_page("/zh/entries/slime/oom-max-tokens-per-gpu")
    flags = page.locator("code, code span", has_text=re.compile("^--[^ ]{1,24}$"))
    assert flags.count() > 4
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        # In a cell, a long one may break between its parts: its head is a span of its own.
        broken = """all => all.filter((flag) => !flag.matches(":is(th, td) .mid-flag"))
          .filter((flag) => new Set([...flag.getClientRects()].map((box) => Math.round(box.top))).size > 1)
          .map((flag) => flag.outerHTML)"""
        assert flags.evaluate_all(broken) == [], width


def test_dropping_a_file_fills_the_log(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("/zh/diagnose")
    drop = """(text) => {
      const files = new DataTransfer();
      files.items.add(new File([text], "train.log"));
      document.querySelector("form.paste").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
    }"""
    page.evaluate(drop, "assert self.lr_decay_steps > 0")
    expect(page.locator("#log")).to_have_value("assert self.lr_decay_steps > 0")


def test_a_log_pasted_into_the_search_box_is_diagnosed(open_page: OpenPage) -> None:
    page = open_page("/zh/search", permissions=["clipboard-read", "clipboard-write"])
    log = "step 3\n    assert self.lr_decay_steps > 0\nAssertionError\n"
    page.evaluate("text => navigator.clipboard.writeText(text)", log)
    page.locator("#q").focus()
    page.keyboard.press("Control+V")
    page.wait_for_url("**/zh/diagnose")
    expect(page.locator(".match-title a").first).to_have_attribute(
        "href", "/zh/entries/roll/lr-decay-steps-assertion"
    )
    expect(page.locator(".match mark").first).to_contain_text("assert self.lr_decay_steps > 0")
    expect(page.locator(".best .answer")).to_be_visible()
    page.locator(".language").click()
    expect(page.locator(".match-title a").first).to_have_attribute(
        "href", "/en/entries/roll/lr-decay-steps-assertion"
    )
    assert "lr_decay" not in page.url


def test_a_phone_in_the_dark(open_page: OpenPage) -> None:
    page = open_page(
        "/zh/", viewport={"width": 360, "height": 740}, color_scheme="dark", has_touch=True, is_mobile=True
    )
    page.locator("#q").fill("显存不足")
    page.locator("form.ask [type=submit]").tap()
    page.wait_for_url("**/zh/search**")
    page.locator(".found .chip", has_text="slime").tap()
    page.wait_for_url("**framework=slime**")
    page.locator("#results .card h2 a").first.tap()
    expect(page.locator(".answer")).to_be_visible()
    red, green, blue = map(
        int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]
    )
    assert max(red, green, blue) < 60


def test_a_long_name_of_a_site_leaves_the_header_of_a_phone_in_one_row(
    open_page: OpenPage, serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    named = "site:\n  name: {en: Kubernetes at work answers, zh: 员工手册与差旅报销问答}\n" + TAXONOMY
    base = served(serve, write(tmp_path, {"taxonomy.yaml": named, "en/roll/a.md": edition("A")}))
    for lang in ("en", "zh"):
        page = open_page(f"{base}/{lang}/", viewport={"width": 390, "height": 844})
        assert page.locator(".brand-name").is_visible()
        places = [page.locator(each).bounding_box() for each in (".top .brand", ".top .nav", "#language")]
        assert all(place is not None for place in places)
        assert len({round(place["y"] + place["height"] / 2) for place in places if place}) == 1


def test_what_a_phone_shows_of_a_name_in_two_scripts_is_whole(open_page: OpenPage) -> None:
    cut = """() => {
      const name = document.querySelector(".brand-name"), { bottom, right } = name.getBoundingClientRect();
      const places = [...name.children].map((each) => each.getBoundingClientRect());
      return places.some((each) => each.top < bottom - 1 && each.right > right + 1);
    }"""
    for lang in ("en", "zh"):
        page = open_page(f"/{lang}/about")
        for width in range(320, 500, 3):
            page.set_viewport_size({"width": width, "height": 800})
            assert not page.evaluate(cut), (lang, width)
