"""axe-core on every kind of page, in both languages and both themes, and what axe cannot see."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.e2e.conftest import MISSING, OpenPage

WIDTHS = (1440, 360)
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
    "topic": "/topics/memory",
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
LOG = "Traceback (most recent call last):\n    assert self.lr_decay_steps > 0\nAssertionError\n"


def paste(page: Page, log: str = LOG) -> None:
    """Send a log by the form of the page, and wait for its diagnosis."""
    page.locator("#log").fill(log)
    page.locator("form.paste button[type=submit]").click()
    page.wait_for_selector("#viewer .viewer-line")


def violations(page: Page, rules: dict[str, Any] = RULES) -> list[str]:
    """What axe finds, with the elements."""
    found = Axe().run(page, options=rules).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


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


EACH_THEME = pytest.mark.parametrize(
    ("lang", "theme", "rules"),
    [("en", "light", (OTHERS, RULES)), ("zh", "light", (OTHERS,)), ("en", "dark", (OF_COLORS,))],
    ids=["en", "zh", "dark"],
)
"""A language, a theme, and what of axe is run at the widths, of which the last is narrow."""


@EACH_THEME
def test_axe_finds_nothing(
    open_page: OpenPage, lang: str, theme: str, rules: tuple[dict[str, Any], ...]
) -> None:
    """On every kind of page, wide and narrow."""
    page = open_page("about:blank", color_scheme=theme, locale=lang)
    page.on("dialog", lambda dialog: dialog.dismiss())
    found = {}
    for name, (path, prepare) in STATES.items():
        if lang == "zh" and not path:
            continue  # the documentation of the API is one page for both languages
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        page.goto(f"/{lang}{path}" if path else "/docs")
        prepare(page)
        for width, chosen in zip(WIDTHS[-len(rules) :], rules, strict=True):
            page.set_viewport_size({"width": width, "height": 900})
            if problems := violations(page, chosen):
                found[name, width] = problems
    assert found == {}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [320, 640])
def test_nothing_scrolls_sideways(open_page: OpenPage, lang: str, width: int) -> None:
    """320 px is a small phone, or a laptop at 400 % zoom; 640 px is a laptop at 200 %."""
    page = open_page(f"/{lang}/", viewport={"width": width, "height": 640})
    for name, path in PAGES.items():
        page.goto(f"/{lang}{path}")
        if name == "diagnosed":
            paste(page, LOG + "x" * 500)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_everything_is_reached_by_tab_and_shows_where_focus_is(open_page: OpenPage) -> None:
    page = open_page("/en/entries/slime/oom-max-tokens-per-gpu")
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
    assert any("copy" in name for name in seen) or page.locator(".copy").count() == 0
    assert len(seen) > 20


def test_the_skip_link_leads_past_the_header(open_page: OpenPage) -> None:
    page = open_page("/en/frameworks/slime")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_motion_is_left_out_where_it_is_not_wanted(open_page: OpenPage) -> None:
    page = open_page("/en/entries/roll/node2pg-keyerror", reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert page.evaluate("getComputedStyle(document.querySelector('.copy')).transitionDuration") == "0s"


def test_targets_are_large_enough_for_a_finger(open_page: OpenPage) -> None:
    page = open_page("/zh/search?q=oom", viewport={"width": 360, "height": 740}, has_touch=True)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, summary, .chip, .nav a, .brand, .crumbs a, .pager a")]
          .map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 80)])
          .filter(([box]) => box.width > 1 && (box.width < 24 || box.height < 24)).map(([, name]) => name)"""
    )
    assert small == []
