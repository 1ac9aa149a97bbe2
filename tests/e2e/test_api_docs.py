"""The documentation of the API in a browser, under our policy and without another host."""

from jieda.web.api.routes import ROUTES
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage

LIGHT_TEXT = "rgb(233, 231, 226)"
"""The color of text in our dark theme."""


def test_an_operation_can_be_tried_out(open_page: OpenPage) -> None:
    page = open_page("/docs")
    page.route("**/swagger-ui-bundle.js*", lambda route: route.abort())
    page.locator("#try").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
    expect(page.locator("#try")).to_be_focused()
    page.unroute("**/swagger-ui-bundle.js*")
    page.keyboard.press("Enter")
    expect(page.locator(".opblock")).to_have_count(len(ROUTES))
    expect(page.locator("#swagger-ui")).to_be_focused()
    page.locator(".opblock-summary-control").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table .response-col_status").last).to_contain_text("200")
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_theme_is_the_readers_choice_or_the_systems(open_page: OpenPage) -> None:
    page = open_page("/docs", color_scheme="dark")
    page.locator("#try").click()
    summary = page.locator(".opblock-summary-description").first
    expect(summary).to_have_css("color", LIGHT_TEXT)
    page.locator("#preferences summary").click()
    page.locator(".menu button[value=light]").click()
    expect(summary).not_to_have_css("color", LIGHT_TEXT)
