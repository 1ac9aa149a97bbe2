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


@pytest.mark.parametrize(
    ("width", "logs"), [(360, PREFIXED[::2]), (1440, PREFIXED[::3])], ids=["360", "1440"]
)
def test_evidence_never_hides_what_matched(open_page: OpenPage, width: int, logs: list[Path]) -> None:
    """Where there is room, of fewer logs."""
    assert len(logs) > 5
    page = open_page("/en/diagnose", viewport={"width": width, "height": 740})
    for path in logs:
        page.locator("#log").fill(path.read_text(encoding="utf-8"))
        with page.expect_response("**/en/diagnose"):
            page.locator("#log-form [type=submit]").click()
        expect(page.locator("#log-form")).not_to_have_class(re.compile(r"\bbusy\b"))
        seen = page.locator(".best .line-text").evaluate_all(MARKS_IN_VIEW)
        assert seen, f"{path.name} is answered"
        assert all(seen), (path.name, seen)
        page.get_by_role("button", name="Edit or paste another").click()


PATH = (
    "/mnt/nas/users/me/2026-03-11/actor_rollout_policy_version_3/iter_0000100/mp_rank_00/model_optim_rng.pt"
)
TENSOR = "model.layers.0.self_attention.linear_qkv.layer_norm_weight.extra_state_for_fp8_amax_history"
MATCHED = "batch_size 3 < chunks 4"
LONG = {
    f"{PATH}: {MATCHED}": MATCHED,
    f"(ActorWorker pid=4001, ip=10.1.1.1) AssertionError: {TENSOR} {MATCHED}": MATCHED,
    f"AssertionError:https://git.example.com{PATH}:{MATCHED}": MATCHED,
    f"{'k' * 180}{MATCHED}": MATCHED,
    f"AssertionError: {'some words of a long line ' * 76}{MATCHED}": MATCHED,
    f"AssertionError: {'x' * 1960} {MATCHED}": MATCHED,
    f"AssertionError: {'step=0, ' * 120}{MATCHED}, {'then more ' * 90}": MATCHED,
    # By its words, not by a signature.
    "TypeError: " + "0, " * 300 + "BackendCompi1erFailed.__init__() missing 1 required positional argument:"
    " 'inner_exception'": "required",
}
SEEN_MARKS = """line => [...line.querySelectorAll("mark")].filter(mark => {
  const bottom = line.getBoundingClientRect().bottom;
  return [...mark.getClientRects()].every(box => box.bottom <= bottom + 1);
}).map(mark => mark.textContent)"""
FIRST_ROW = """line => {
  const range = document.createRange();
  range.selectNodeContents(line);
  const boxes = [...range.getClientRects()].filter(box => box.width);
  const row = boxes.filter(box => box.top < boxes[0].top + 8);
  const {left, width} = line.getBoundingClientRect();
  return (Math.max(...row.map(box => box.right)) - left) / width;
}"""


def test_on_a_phone_no_long_word_takes_the_place_of_what_matched(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport={"width": 360, "height": 740}, java_script_enabled=False)
    for line, matched in LONG.items():
        page.locator("#log").fill(line)
        page.locator("#log-form [type=submit]").click()
        seen = page.locator(".best .line-text").evaluate(SEEN_MARKS)
        assert matched in seen, (line[:60], seen)


def test_on_a_phone_a_name_begins_behind_the_word_before_it(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", viewport={"width": 360, "height": 740}, java_script_enabled=False)
    missing = "missing 1 required positional argument: 'inner_exception'"
    for line in (f"TypeError: BackendCompilerFailed.__init__() {missing}", "assert self.lr_decay_steps > 0"):
        page.locator("#log").fill(line)
        page.locator("#log-form [type=submit]").click()
        assert page.locator(".best .line-text").first.evaluate(FIRST_ROW) > 0.6, line


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
