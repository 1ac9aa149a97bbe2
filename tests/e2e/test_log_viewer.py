"""The log of an answer as a page: what is in view, folded, told apart, found, and addressed by its line."""

import re

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.conftest import OpenPage, paste

RANKS = 64
FRAMES = [
    text
    for depth in range(9)
    for text in (
        f'  File "/opt/roll/stage{depth}.py", line {depth}, in call_{depth}',
        "    return self.inner(batch)",
    )
]
FAILURE = [
    "Traceback (most recent call last):",
    *FRAMES,
    '  File "/opt/roll/scheduler.py", line 9, in __init__',
    "    assert self.lr_decay_steps > 0",
    "AssertionError",
]
WRAPPER = [
    "Traceback (most recent call last):",
    *FRAMES[:8],
    "ray.exceptions.RayTaskError(AssertionError): ray::ActorWorker.initialize()",
]
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 360, "height": 740}


def rank_says(rank: int, text: str) -> str:
    """A line as Ray prints it."""
    return f"(ActorWorker pid={4000 + rank}, ip=10.1.1.{rank // 8}) {text}"


def log_of_ranks(steps: int) -> str:
    """What 64 ranks print: steps, the same failure each, interleaved, and what passes it on."""
    lines = [
        rank_says(
            rank, f"2025-03-11 09:14:{step % 60:02d},{rank:03d} INFO train.py:12 -- step {step} of {rank}"
        )
        for step in range(steps)
        for rank in range(RANKS)
    ]
    lines += [rank_says(rank, text) for text in FAILURE for rank in range(RANKS)]
    return "\n".join([*lines, *WRAPPER, "main exits with 1", ""])


def show(page: Page, log: str) -> None:
    """Open a log as a file, and wait for it beside its verdict."""
    file: FilePayload = {"name": "run.log", "mimeType": "text/plain", "buffer": log.encode()}
    page.locator("form.paste [type=file]").set_input_files(files=[file])
    expect(page.locator("#log")).not_to_have_value("")
    page.locator("form.paste [type=submit]").first.click()
    page.wait_for_selector("#viewer .viewer-line")


def line(page: Page, number: int) -> Locator:
    """A line of the log that is drawn."""
    return page.locator(".viewer-line").filter(
        has=page.locator(".viewer-number", has_text=re.compile(f"^{number}$"))
    )


def numbers(page: Page) -> list[int]:
    """Of the lines that are in view."""
    found: list[int] = page.evaluate(
        """() => {
          const box = document.querySelector(".viewer-lines").getBoundingClientRect();
          return [...document.querySelectorAll(".viewer-line")]
            .filter((row) => row.getBoundingClientRect().top >= box.top - 1)
            .filter((row) => row.getBoundingClientRect().bottom <= box.bottom + 1)
            .map((row) => Number(row.querySelector(".viewer-number").textContent)).filter(Boolean);
        }"""
    )
    return found


ROOT_LINE = 10 * RANKS + (len(FAILURE) - 1) * RANKS + 1
"""That of the first rank's failure in a log of ten steps."""


def test_the_root_failure_is_in_view_and_what_repeats_is_folded(open_page: OpenPage) -> None:
    page = open_page("/zh/diagnose", viewport=DESKTOP)
    log = log_of_ranks(10)
    show(page, log)
    root = page.locator(".viewer-line.root")
    expect(root.locator(".viewer-number")).to_have_text(str(ROOT_LINE))
    assert ROOT_LINE in numbers(page)
    expect(root.locator("mark, .viewer-badge").first).to_be_visible()
    assert "根源报错 " in (root.text_content() or ""), "read aloud, it is a word of its own"
    folds = page.locator(".viewer-fold")
    assert folds.count() >= 2, "the same failure of 63 ranks, and frames"
    height = page.locator(".viewer-sheet").bounding_box()
    assert height
    assert height["height"] < 0.5 * 20 * log.count("\n"), "most of the failure's lines are folded"
    before = folds.count()
    folds.last.click()
    expect(folds).to_have_count(before - 1)


def test_a_large_log_is_drawn_in_part_and_read_to_its_end(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP)
    log = log_of_ranks(120)
    show(page, log)
    assert page.locator(".viewer-line").count() < 120
    page.locator(".viewer-lines").evaluate("(lines) => { lines.scrollTop = lines.scrollHeight; }")
    expect(line(page, log.count("\n"))).to_be_visible()
    assert page.locator(".viewer-line").count() < 120
    page.evaluate("void (history.replaceState = () => { throw new Error('too many') })")  # as Safari does
    page.locator(".viewer-lines").press("PageUp")
    expect(page.locator(".viewer-chosen span")).to_contain_text(re.compile(r"\d"))
    drawn = page.locator(".viewer-lines").evaluate(
        """async (lines) => {
          lines.scrollTop -= 400;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return [...lines.querySelectorAll("[data-place]")].map((row) => Number(row.dataset.place));
        }"""
    )
    assert drawn == sorted(drawn), "what is selected with the mouse is what is copied"


def test_processes_are_told_apart_and_shown_one_by_one(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP | {"height": 500})
    show(page, log_of_ranks(20).replace(" INFO ", "&nbsp;INFO&#x20;", 1) + "main waits\n" * 40)
    process = page.get_by_label("Process", exact=True)
    page.locator(".viewer-fold").last.evaluate(
        """async (fold) => {
          for (const _ of Array(4)) {  // what is drawn above it may be higher than was guessed
            fold.closest(".viewer-lines").scrollTop = fold.offsetTop + 2;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          }
        }"""
    )
    process.select_option(label="4007")
    assert numbers(page)[-1] == 19 * RANKS + 8, "it goes on at the fold that was in view"
    process.select_option("0")
    page.locator(".viewer-lines").evaluate("(lines) => { lines.scrollTop = 0; }")
    expect(line(page, 1).locator(".viewer-text")).to_have_text("INFO train.py:12 -- step 0 of 0")
    colors = page.locator(".viewer-line.of-process").evaluate_all(
        "all => new Set(all.slice(0, 8).map((row) => getComputedStyle(row).borderInlineStartColor)).size"
    )
    assert colors == 8
    starts = page.locator(".viewer-time").evaluate_all(
        "all => new Set(all.map((one) => one.getBoundingClientRect().left)).size"
    )
    assert starts == 1, "times stand below one another"
    process.select_option(label="4007")
    expect(line(page, 8)).to_have_count(1)
    expect(line(page, 9)).to_have_count(0)
    assert set(page.locator(".viewer-who").all_text_contents()) == {"4007"}


def test_the_strip_shows_where_it_failed_and_leads_there(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP)
    show(page, log_of_ranks(60))
    strip = page.locator(".viewer-strip")
    for kind in ("root", "match"):
        expect(strip.locator(f".at-{kind}").first).to_be_visible()
    marked = strip.locator(".at-root").bounding_box()
    assert marked
    page.locator(".viewer-lines").evaluate("(lines) => { lines.scrollTop = 0; }")
    expect(line(page, 1)).to_be_visible()
    page.mouse.click(marked["x"] + 2, marked["y"] + 2)
    expect(page.locator(".viewer-line.root")).to_be_in_viewport()
    page.get_by_label("Find in the log").fill("step 3 of 7")
    expect(strip.locator(".at-hit").first).to_be_visible()


@pytest.mark.parametrize(
    ("lang", "label", "names"),
    [("en", "Find in the log", ["Previous", "Next"]), ("zh", "在日志中查找", ["上一处", "下一处"])],
)
def test_the_ways_to_the_next_hit_stand_in_one_row(
    open_page: OpenPage, lang: str, label: str, names: list[str]
) -> None:
    page = open_page(f"/{lang}/diagnose", viewport={"width": 1280, "height": 800})
    show(page, log_of_ranks(10))
    field = page.get_by_label(label)
    page.set_viewport_size({"width": 360, "height": 800})
    row, alone = page.locator(".viewer-search").bounding_box(), field.bounding_box()
    assert row
    assert alone
    assert alone["width"] > row["width"] - 12
    field.fill("stage3.py")
    ways = page.locator(".viewer-search button")
    for width in (1280, 768, 360):
        page.set_viewport_size({"width": width, "height": 800})
        boxes = [each.bounding_box() for each in (page.locator(".viewer-search"), *ways.all())]
        around, *others = [box for box in boxes if box]
        assert len(others) == 2, width
        assert all(box["height"] < 40 for box in others), width
        assert all(box["x"] + box["width"] <= around["x"] + around["width"] + 1 <= width for box in others)
    ways.last.click()
    expect(page.locator(".viewer-count")).to_contain_text("2")
    assert [each.get_attribute("aria-label") for each in ways.all()] == names


def test_the_keys_move_from_line_to_line_and_to_what_is_found_inside_folds(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP)
    show(page, log_of_ranks(10))
    lines = page.locator(".viewer-lines")
    page.locator(".best .line-number").first.press("Enter")
    expect(lines).to_be_focused()
    chosen = page.locator(".viewer-line[aria-selected=true]")
    before = int(chosen.locator(".viewer-number").text_content() or 0)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    active = lines.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    assert int(re.sub(r"\D", "", chosen.locator(".viewer-number").text_content() or "") or 0) < before
    page.keyboard.press("Control+f")
    field = page.get_by_label("Find in the log")
    expect(field).to_be_focused()
    field.fill("stage3.py")
    count = page.locator(".viewer-count")
    expect(count).to_have_text(f"1 of {RANKS + 1}")
    expect(page.locator(".viewer-line[aria-selected=true] .hit")).to_have_text("stage3.py")
    field.press("Enter")
    expect(count).to_have_text(f"2 of {RANKS + 1}")
    field.press("Shift+Enter")
    expect(count).to_have_text(f"1 of {RANKS + 1}")
    field.fill("no such words")
    expect(count).to_have_text("Not found")
    page.locator(".best .line-number").first.press("Enter")
    while not page.locator(".viewer-fold[aria-selected=true]").count():
        page.keyboard.press("ArrowUp")
    fold = int((lines.get_attribute("aria-activedescendant") or "").removeprefix("line-"))
    page.locator(f"#line-{fold - 2}").click()
    page.keyboard.press("ArrowDown")
    expect(lines).to_have_attribute("aria-activedescendant", f"line-{fold - 1}")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened = int(chosen.locator(".viewer-number").text_content() or 0)
    page.keyboard.press("ArrowDown")
    expect(chosen.locator(".viewer-number")).to_have_text(str(opened + 1))
    drawn = "lines => document.getElementById(lines.getAttribute('aria-activedescendant'))?.textContent"
    for key, place in (
        ("Home", "1"),
        ("PageDown", ""),
        ("End", str(log_of_ranks(10).count("\n"))),
        ("PageUp", ""),
    ):
        text = chosen.text_content() if chosen.count() else ""
        page.keyboard.press(key)
        assert lines.evaluate(drawn) == chosen.text_content() != text, key
        expect(chosen).to_be_in_viewport()
        assert not place or chosen.locator(".viewer-number").text_content() == place
    jump = page.locator(".viewer-tools select").first
    jump.select_option(index=1)
    selected = chosen.locator(".viewer-number").text_content() or ""
    jump.select_option(index=0)
    expect(chosen.locator(".viewer-number")).to_have_text(selected)


def test_a_reason_leads_to_its_line_whose_address_holds(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP, permissions=["clipboard-read", "clipboard-write"])
    log = log_of_ranks(10)
    show(page, log)
    reason = page.locator(".best .line-number").first
    number = int(reason.get_attribute("data-line") or 0)
    page.locator(".viewer-lines").evaluate("(lines) => { lines.scrollTop = 0; }")
    page.locator(".best .line-text").first.click()
    expect(page.locator(".viewer-line[aria-selected=true] .viewer-number")).to_have_text(str(number))
    assert number in numbers(page)
    page.get_by_role("button", name="Copy address").click()
    address = page.evaluate("navigator.clipboard.readText()")
    assert address.endswith(f"/en/diagnose#L{number}")
    page.reload()
    expect(page.locator(".viewer-line[aria-selected=true] .viewer-number")).to_have_text(str(number))
    other = open_page(address)
    expect(other.locator(".said")).to_contain_text(f"line {number} ")
    show(other, log)
    expect(other.locator(".viewer-line[aria-selected=true] .viewer-number")).to_have_text(str(number))


@pytest.mark.parametrize(("viewport", "beside"), [(DESKTOP, True), (PHONE, False)])
def test_the_verdict_stands_beside_the_log_or_above_it(
    open_page: OpenPage, viewport: dict[str, int], beside: bool
) -> None:
    page = open_page("/zh/diagnose", viewport=viewport)
    show(page, log_of_ranks(4))
    fix, log = page.locator(".best .answer").bounding_box(), page.locator(".viewer-lines").bounding_box()
    assert fix
    assert log
    assert (log["x"] > fix["x"] + fix["width"]) is beside
    assert (log["y"] > fix["y"] + fix["height"]) is not beside
    field, room = (
        page.get_by_label("在日志中查找").bounding_box(),
        page.locator(".viewer-search").bounding_box(),
    )
    assert field
    assert room
    assert field["x"] + field["width"] == pytest.approx(room["x"] + room["width"], abs=1), "no gap behind it"
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_nothing_is_asked_for_the_log_beside_its_diagnosis_and_another_is_pasted_over_it(
    open_page: OpenPage,
) -> None:
    page = open_page("/en/diagnose", viewport=DESKTOP)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url.partition('?')[0]}"))
    show(page, log_of_ranks(4))
    page.get_by_label("Find in the log").fill("step 3")
    expect(page.locator(".viewer-count")).to_contain_text("of")
    names = [name for each in asked if (name := each.rpartition("/")[2]) != "icon.svg"]
    assert sorted(names) == ["diagnose", "log-viewer.css", "log-viewer.js"]
    paste(page, "[rank0]: KeyError: 'node2pg'\n[rank1]: KeyError: 'node2pg'\n")
    expect(page.locator(".viewer-text").last).to_contain_text("node2pg")
    expect(page.get_by_role("button", name="Unfold all")).to_be_hidden()  # there is no fold
    page.get_by_role("button", name="Edit or paste another").click()
    expect(page.locator("#log")).to_be_focused()
    expect(page.locator("#viewer")).to_have_count(0)
