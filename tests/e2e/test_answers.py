"""Answers as they are seen: the evidence begins with what matched, on a phone, too."""

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


def test_a_tap_shows_the_whole_line(open_page: OpenPage) -> None:
    page = open_page("/zh/diagnose", viewport={"width": 360, "height": 740}, has_touch=True)
    page.locator("#log").fill(Path(PREFIXED[0]).read_text(encoding="utf-8"))
    page.locator("#log-form [type=submit]").click()
    line = page.locator(".best .line-text", has=page.locator(".prefix")).first
    expect(line.locator(".prefix")).to_be_hidden()
    line.tap()
    expect(line.locator(".prefix")).to_be_visible()
