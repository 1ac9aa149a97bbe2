"""What fits into the room there is: code, names, flags and fields, on a laptop and on a phone."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenPage
from tests.support.server import ROOT

DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 360, "height": 740}
LOG = ROOT / "content/samples/chatlearn/vocab-parallel-embedding-size-mismatch/gptmodel-64-ranks.log"
ROWS = """all => all.map((each) => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return new Set([...range.getClientRects()].filter((box) => box.width).map((box) => Math.round(box.top))).size;
})"""


def rows(found: Locator) -> list[int]:
    """On how many rows each of the elements stands."""
    found.first.wait_for()
    counted: list[int] = found.evaluate_all(ROWS)
    return counted


def test_of_a_fix_nothing_is_out_of_sight(open_page: OpenPage) -> None:
    page = open_page("about:blank", viewport=DESKTOP)
    for lang in ("en", "zh"):
        page.goto(f"/{lang}/entries/chatlearn/non-contiguous-tensor-pipeline")
        fix = page.locator(".answer pre")
        assert fix.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth)") == []
        assert "contiguous()" in fix.first.inner_text()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for lang in ("en", "zh"):
        page.goto(f"/{lang}/entries/slime/sglang-max-retries")
        table = page.locator(".answer .table-scroll")
        assert table.evaluate_all("all => all.map((each) => each.scrollWidth <= each.clientWidth)") == [True]
        for entry in (
            "batch-size-calculation",
            "gradient-accumulation",
            "lora-support",
            "images-and-versions",
        ):
            page.goto(f"/{lang}/entries/slime/{entry}")
            wide = table.evaluate_all(
                """all => all.filter((each) => each.scrollWidth > each.clientWidth)
                  .filter((each) => each.querySelectorAll("th").length < 3).map((each) => each.textContent)"""
            )
            assert wide == [], f"two columns of {entry} fit"
            assert set(rows(table.locator(".flag"))) == {1}, "no flag is broken behind its dashes"
        # Three columns are too many to be whole: the table scrolls rather than break a name to pairs of letters.
        page.goto(f"/{lang}/entries/roll/npu-megatron-unsupported")
        assert max(rows(page.locator(".answer td:last-child code"))) <= 2
        page.goto(f"/{lang}/entries/roll/npu-hccl-timeout")
        assert max(rows(page.locator(".answer td:first-child"))) <= 7, (
            "words beside long names have room, too"
        )


def test_a_name_in_a_title_is_whole_where_a_line_can_hold_it(open_page: OpenPage) -> None:
    page = open_page("about:blank", viewport=PHONE)
    for entry, name in (
        ("slime/oom-max-tokens-per-gpu", "max_tokens_per_gpu"),
        ("roll/node2pg-keyerror", "self.node2pg[node_rank]"),
    ):
        for lang in ("en", "zh"):
            page.goto(f"/{lang}/entries/{entry}")
            assert rows(page.locator("h1 .name")) == [1], (lang, entry)
            assert name in page.locator("h1 .name").inner_text()
    for lang in ("en", "zh"):
        page.goto(f"/{lang}/search?q=per_device_train_batch_size")
        names = page.locator(".card h2 .name", has_text="_batch_size")
        assert set(rows(names)) == {1}, lang
        assert page.locator(".card h2 .name mark").count() > 0, "names that matched are whole too"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_flag_in_a_listed_title_is_broken_behind_its_dashes(open_page: OpenPage, lang: str) -> None:
    page = open_page(f"/{lang}/frameworks/slime", viewport=PHONE)
    flags = page.locator(".row-title :is(.flag, .mid-flag, .long-flag)")
    assert flags.count() > 1
    assert set(rows(flags)) == {1}
    titles = page.locator(".row-title a", has_text="：--")
    words = """all => all.map((each) => {
      const before = each.firstChild, range = document.createRange();
      range.setStart(before, before.length - 3);
      range.setEnd(before, before.length);
      return range.getClientRects().length;
    })"""
    assert set(titles.evaluate_all(words)) == ({1} if lang == "zh" else set()), (
        "no word before a flag is broken"
    )


def test_what_an_entry_applies_to_begins_beside_its_kind(open_page: OpenPage) -> None:
    page = open_page("/zh/frameworks/slime", viewport={"width": 768, "height": 1024})
    apart = page.locator(".row-meta").evaluate_all(
        """all => all.filter((each) => {
          const [kind, rest] = [each.querySelector(".kind"), each.querySelector(".applies-to")];
          return rest && rest.getClientRects()[0].top > kind.getBoundingClientRect().bottom;
        }).map((each) => each.textContent)"""
    )
    assert apart == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_the_form_and_its_answer_fit(open_page: OpenPage, lang: str) -> None:
    page = open_page(f"/{lang}/diagnose", viewport=PHONE)
    chosen, label = (
        page.locator("#framework").bounding_box(),
        page.locator("label[for=framework]").bounding_box(),
    )
    assert chosen
    assert label
    assert label["width"] + chosen["width"] > 300, "no empty room beside a choice whose words are cut off"
    page.locator("#log").fill(LOG.read_text(encoding="utf-8"))
    page.locator("form.paste [type=submit]").click()
    flags = page.locator("#diagnosis .answer :is(.flag, .mid-flag)", has_text=re.compile("^--"))
    assert set(rows(flags)) == {1}, "no flag is broken behind its dashes"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_suggestions_are_told_apart(open_page: OpenPage, lang: str) -> None:
    page = open_page(f"/{lang}/", viewport=PHONE)
    page.locator("#q").press_sequentially("max_tok")
    titles = page.locator("#options a > :first-child")
    expect(titles.first).to_be_visible()
    assert titles.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0


def test_a_table_with_more_at_its_side_casts_a_shadow_there(open_page: OpenPage) -> None:
    """A third column that is out of sight to the last letter would not be looked for."""
    page = open_page("/en/entries/slime/multimodal-training", viewport=PHONE)
    table = page.locator(".table-scroll").first
    row = table.locator("tbody tr").first
    row.scroll_into_view_if_needed()
    place = row.bounding_box()
    assert place
    beside = {
        "x": place["x"] + 2,
        "y": place["y"] + place["height"] - 6,
        "width": 3,
        "height": 3,
    }  # in its padding
    at_the_start = page.screenshot(clip=beside)  # type: ignore[arg-type]
    assert table.evaluate("each => { each.scrollLeft = each.scrollWidth; return each.scrollLeft; }") > 50
    assert page.screenshot(clip=beside) != at_the_start  # type: ignore[arg-type]
