"""The documentation of the API in a browser, under our policy and without another host."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from app.web.api.routes import ROUTES
from tests.e2e.conftest import OpenPage
from tests.support.server import Server


def test_an_operation_can_be_tried_out_and_nothing_leaves_this_host(
    open_page: OpenPage, server: Server
) -> None:
    page = open_page("/docs")
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.reload()
    expect(page.locator(".opblock")).to_have_count(len(ROUTES))
    page.locator(".opblock-summary-control").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table .response-col_status").last).to_contain_text("200")
    assert hosts == {urlsplit(server.base).netloc}
