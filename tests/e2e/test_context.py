"""What a reader works with: guessed from a log, kept by a tap, followed by results, filters and the map of a run."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import OpenPage

LOG = 'slime==0.2.4\nTraceback (most recent call last):\n  File "/opt/slime/a.py", line 1, in f\nours.OddError: x\n'
PHONE = {"width": 360, "height": 740}


def first_result(page: Page) -> Locator:
    return page.locator("#results .card h2 a").first


def test_what_a_log_says_is_kept_by_a_tap_and_followed(open_page: OpenPage) -> None:
    page = open_page("/zh/diagnose", viewport=PHONE, has_touch=True)
    works = page.locator("#context summary")
    page.locator("#log").fill(LOG)
    page.locator("form.paste [type=submit]").click()
    page.locator(".keep button").tap()
    expect(works).to_contain_text("slime 0.2.4")
    expect(works).to_be_visible()
    expect(page.locator(".keep")).to_have_count(0)
    expect(page.locator("#log")).to_have_value(LOG)

    page.goto("/zh/search?q=oom")
    expect(works).to_contain_text("slime 0.2.4")
    assert "/entries/slime/" in (first_result(page).get_attribute("href") or "")
    for lang in ("en", "zh"):  # its place in the header depends on the room that the words beside it take
        page.goto(f"/{lang}/search?q=oom")
        works.tap()
        for button in page.locator("#context .menu-items button").all():
            expect(button).to_be_in_viewport(ratio=1)
    page.goto("/zh/")
    links = page.locator(".map li p a").evaluate_all("all => all.map((each) => each.search)")
    assert links
    assert all("framework=slime" in each for each in links)

    works.tap()
    page.locator("#context button[value='']").tap()
    expect(page.locator("#context")).not_to_have_class(re.compile(r"\bknown\b"))
    expect(page.locator(".map li p a").first).not_to_have_attribute("href", re.compile("framework=slime"))


def test_what_was_said_last_of_a_log_holds_for_it(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    page.locator("#log").fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.")
    page.locator("#framework").select_option("slime")
    page.locator("#log-form [type=submit]").click()
    expect(page.locator("#best a[href*='/slime/']")).to_be_visible()
    for choice, answer in (
        ("roll", "#best a[href*='/roll/']"),
        ("", ".tied"),
        ("slime", "#best a[href*='/slime/']"),
    ):
        page.locator("#context summary").click()
        menu = page.locator("#context .menu-items")
        assert menu.evaluate("each => each.scrollWidth <= each.clientWidth"), "no name is cut off"
        page.locator(f"#context button[value='{choice}']").click()
        expect(page.locator(answer)).to_be_visible()
        page.reload()
        expect(page.locator(answer)).to_be_visible()
        expect(page.locator("#framework")).to_have_value(choice)


def test_few_results_are_narrowed_by_chips_above_them(open_page: OpenPage) -> None:
    page = open_page("/zh/search?q=oom")
    expect(page.locator(".filters")).to_have_count(0)
    chip = page.locator(".found .chip", has_text="ROLL")
    above, below = chip.bounding_box(), first_result(page).bounding_box()
    assert above
    assert below
    assert above["y"] < below["y"]
    chip.click()
    page.wait_for_url("**framework=roll**")
    for href in page.locator("#results .card h2 a").evaluate_all("all => all.map((each) => each.pathname)"):
        assert "/entries/roll/" in href


@pytest.mark.parametrize(("lang", "width"), [("en", 1280), ("zh", 360)])
def test_the_map_is_a_list_of_steps_that_reads_down_or_along(
    open_page: OpenPage, lang: str, width: int
) -> None:
    page = open_page(f"/{lang}/", viewport={"width": width, "height": 740})
    steps = page.get_by_role("region", name=page.locator("#map").inner_text()).get_by_role("list").first
    steps = steps.locator("> li")
    assert steps.count() > 5
    expect(steps.first.get_by_role("heading")).to_be_visible()
    boxes = [box for step in steps.all()[:3] if (box := step.bounding_box())]
    tops, lefts = {round(box["y"]) for box in boxes}, {round(box["x"]) for box in boxes}
    assert (len(tops), len(lefts)) == ((3, 1) if width < 500 else (1, 3))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    told = steps.locator("p a").first
    count = int("".join(filter(str.isdigit, told.inner_text())))
    told.click()
    expect(page.locator("#results .row, #results .card")).to_have_count(count)
