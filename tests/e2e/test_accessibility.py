"""axe-core on every kind of page, in both languages and both themes, and what axe cannot see."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.e2e.conftest import MISSING, OpenPage

WIDE, LAPTOP, LARGE_TYPE, PHONE = 1440, 640, 188, 320
"""Pixels: a wide screen, a laptop at 200 % zoom, a phone of 375 px with letters twice as large, and a small phone or
that laptop at 400 %."""
PAGES = {
    "home": "/",
    "search": "/search?q=oom&framework=slime",
    "nothing": "/search?q=qqqzzzxxx",
    "entry": "/entries/slime/oom-max-tokens-per-gpu",
    "long entry": "/entries/chatlearn/yaml-config",
    "error line": "/search?q=torch.OutOfMemoryError: CUDA out of memory",
    "entries": "/entries",
    "about": "/about",
    "framework": "/frameworks/chatlearn",
    "error type": "/error-types/out-of-memory",
    "diagnose": "/diagnose",
    "diagnosed": "/diagnose",
    "agents": "/agents",
    "missing": f"/entries/slime{MISSING}",
}
RULES: dict[str, Any] = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
COLORS = ["color-contrast", "link-in-text-block"]
OF_COLORS = RULES | {"runOnly": {"type": "rule", "values": COLORS}}
"""All that a theme can break. Colors depend neither on the language nor on the width, and take axe longest."""
OTHERS = RULES | {"rules": {each: {"enabled": False} for each in COLORS}}
VIOLATIONS = """async (rules) => {
  const changing = document.getAnimations().filter((each) => each instanceof CSSTransition);
  await Promise.allSettled(changing.map((each) => each.finished));
  const { violations } = await axe.run(rules);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}"""
"""With the elements, once no color is on its way to another."""
LOG = f"Traceback (most recent call last):\n    assert self.lr_decay_steps > 0\nAssertionError\n{'x' * 500}\n"


def paste(page: Page) -> None:
    """Send a log by the form of the page, and wait for its diagnosis."""
    page.locator("#log").fill(LOG)
    page.locator("form.paste button[type=submit]").click()
    page.wait_for_selector("#viewer .viewer-line")


def violations(page: Page, rules: dict[str, Any] = RULES) -> list[str]:
    """What axe finds."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(VIOLATIONS, rules)
    return found


def faults(page: Page, lang: str, *, dark: bool = True) -> dict[str, list[str]]:
    """What is wrong with a page as it stands, for each way of looking at it. Axe looks at the wide page in Chinese, at
    the narrow one and at colors, also those of the dark theme, in English: one template makes the page of both."""
    found = {}
    page.emulate_media(color_scheme="light")
    for width in (WIDE, LAPTOP, LARGE_TYPE, PHONE):
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found[f"scrolls sideways at {width} px"] = [""]
        if width == WIDE and lang == "zh":
            found["wide"] = violations(page, OTHERS)
    if lang == "en":
        found["narrow"] = violations(page)
    if lang == "en" and dark:
        page.emulate_media(color_scheme="dark")
        found["dark"] = violations(page, OF_COLORS)
    return {way: each for way, each in found.items() if each}


def suggest(page: Page) -> None:
    """Type until there are suggestions, and choose one."""
    page.locator("#q").press_sequentially("max_tok")
    page.wait_for_selector("#options:not([hidden])")
    page.keyboard.press("ArrowDown")


def open_menu(page: Page) -> None:
    """Open the choice of a theme."""
    page.locator("#preferences summary").click()


def unfold(page: Page) -> None:
    """Show all that is folded away: filters, contents, other matches."""
    page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")


def try_out(page: Page) -> None:
    """Open a route of the API with parameters and short answers, once the list of routes has been looked at."""
    assert violations(page) == []
    page.locator("#try").click()
    page.locator(".opblock-summary-control", has_text="suggest").click()
    page.wait_for_selector(".opblock.is-open .responses-table")


STATES: dict[str, tuple[str, Callable[[Page], None]]] = {
    **{name: (path, unfold) for name, path in PAGES.items()},
    "diagnosed": (PAGES["diagnosed"], paste),
    "suggestions on home": ("/", suggest),
    "suggestions in the header": (PAGES["framework"], suggest),
    "menu": ("/diagnose", open_menu),
    "documentation of the API": ("", try_out),
}
"""What is looked at: an address below a language, and what is done there first."""
DARK = (
    "home",
    "search",
    "long entry",
    "framework",
    "diagnosed",
    "missing",
    "menu",
    "documentation of the API",
)
"""Those that have among them all that is colored: looking at colors takes axe longest."""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(open_page: OpenPage, lang: str) -> None:
    """On every kind of page: one visit for all widths and both themes."""
    page = open_page("about:blank", locale=lang)
    page.on("dialog", lambda dialog: dialog.dismiss())
    found = {}
    for name, (path, prepare) in STATES.items():
        if lang == "zh" and not path:
            continue  # the documentation of the API is one page for both languages
        page.set_viewport_size({"width": WIDE, "height": 900})
        page.goto(f"/{lang}{path}" if path else "/docs")
        prepare(page)
        found[name] = faults(page, lang, dark=name in DARK)
        if not path:  # Swagger's tables are as wide as they are
            for width in (LARGE_TYPE, PHONE):
                found[name].pop(f"scrolls sideways at {width} px", None)
    assert {name: each for name, each in found.items() if each} == {}


def test_everything_is_reached_by_tab_and_shows_where_focus_is(open_page: OpenPage) -> None:
    page = open_page("/en/entries/roll/node2pg-keyerror")
    reachable = page.locator("a[href], button, input:not([type=hidden]), summary, select, textarea").count()
    seen = set()
    for _ in range(reachable + 20):
        page.keyboard.press("Tab")
        focus = page.evaluate(
            """() => {
              const element = document.activeElement;
              if (element === document.body) return null;
              const style = getComputedStyle(element);
              const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
              return { name: element.outerHTML.slice(0, 120), outline };
            }"""
        )
        if focus is None:
            break
        assert focus["outline"], focus["name"]
        seen.add(focus["name"])
    assert any("permalink" in name for name in seen)
    assert any("copy" in name for name in seen)
    assert len(seen) > 20
    page.get_by_role("button", name="Yes").press("Enter")
    expect(page.locator("#vote")).to_be_focused()  # what changed is read out


UNCOVERED = """() => {
  const { x, y, width, height } = document.activeElement.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height / 2) === document.activeElement;
}"""


def test_the_skip_link_leads_past_the_header(open_page: OpenPage) -> None:
    page = open_page("/en/frameworks/slime")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate(UNCOVERED), "it is seen while it has the focus"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_motion_is_left_out_where_it_is_not_wanted(open_page: OpenPage) -> None:
    page = open_page(
        "/en/entries/roll/node2pg-keyerror", reduced_motion="reduce", viewport={"width": 360, "height": 740}
    )
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    for moved in (".copy", ".top"):
        assert (
            page.evaluate(f"getComputedStyle(document.querySelector('{moved}')).transitionDuration") == "0s"
        )


def test_targets_are_large_enough_for_a_finger(open_page: OpenPage) -> None:
    page = open_page("/zh/search?q=oom", viewport={"width": 360, "height": 740}, has_touch=True)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, .chip, .nav a, .brand, .crumbs a, .pager a")]
          .map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 80)])
          .filter(([box]) => box.width > 1 && (box.width < 24 || box.height < 24)).map(([, name]) => name)"""
    )
    assert small == []
