"""Answers as they are seen: the evidence begins with what matched, on a phone, too."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.support.server import ROOT

SAMPLES = sorted((ROOT / "content" / "samples").glob("*/*/*.log"))
PREFIXED = [path for path in SAMPLES if "pid=" in path.read_text(encoding="utf-8")][::3]
MARKS_IN_VIEW = """lines => lines.map(line => {
  const bottom = line.getBoundingClientRect().bottom;
  return [...line.querySelectorAll("mark")].some(mark => mark.getClientRects()[0]?.top < bottom - 4);
})"""


@pytest.mark.parametrize("width", [360, 1440])
def test_evidence_never_hides_what_matched(open_page: OpenPage, width: int) -> None:
    assert len(PREFIXED) > 5
    page = open_page("/en/diagnose", viewport={"width": width, "height": 740})
    for path in PREFIXED:
        page.locator("#log").fill(path.read_text(encoding="utf-8"))
        with page.expect_response("**/en/diagnose"):
            page.locator("#log-form [type=submit]").click()
        expect(page.locator("#log-form")).not_to_have_class("busy")
        lines = page.locator(".best .line-text")
        if lines.count():
            seen = lines.evaluate_all(MARKS_IN_VIEW)
            assert all(seen), (path.name, seen)
        page.get_by_role("button", name="Edit or paste another").click()


def test_a_tap_shows_the_whole_line_where_it_stands_in_the_log(open_page: OpenPage) -> None:
    page = open_page("/zh/diagnose", viewport={"width": 360, "height": 740}, has_touch=True)
    page.locator("#log").fill(Path(PREFIXED[0]).read_text(encoding="utf-8"))
    page.locator("#log-form [type=submit]").click()
    row = page.locator(".best li", has=page.locator(".prefix")).first
    expect(row.locator(".prefix")).to_be_hidden()
    number = row.locator("[data-line]").first.get_attribute("data-line")
    prefix = row.locator(".prefix").inner_text().strip()
    page.wait_for_selector("#viewer .viewer-line")
    row.locator(".line-text").tap()
    expect(page).to_have_url(re.compile(f"#L{number}$"))
    expect(page.locator(".viewer-line[aria-selected=true]")).to_be_in_viewport()
    expect(page.locator(".viewer-chosen")).to_contain_text(prefix)
