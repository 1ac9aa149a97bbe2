"""Searching in the browser: while typing, by keyboard, with an input method, and back again."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from tests.e2e.conftest import OpenPage, hold, until

FIRST = "#results :is(.best, .card:first-child) h2 a >> nth=0"


def query(page: Page) -> dict[str, list[str]]:
    """The parameters of the page's address."""
    return parse_qs(urlsplit(page.url).query)


def asked(page: Page) -> list[str]:
    """Collects what the page asks the server for from now on, as paths with their query."""
    seen: list[str] = []

    def note(request: Request) -> None:
        parts = urlsplit(request.url)
        seen.append(f"{parts.path}?{parts.query}")

    page.on("request", note)
    return seen


@pytest.mark.parametrize(
    ("lang", "symptom", "entry"),
    [
        ("en", "KeyError: 1 node2pg", "roll/node2pg-keyerror"),
        ("zh", "训练出现乱码", "slime/garbled-output"),
        ("zh", "--no-check-for-nan-in-loss-and-grad", "slime/grad-nan-inf"),
    ],
)
def test_somebody_finds_the_fix_from_a_symptom(
    open_page: OpenPage, lang: str, symptom: str, entry: str
) -> None:
    page = open_page(f"/{lang}/")
    page.locator("#q").fill(symptom)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{lang}/search**")
    expect(page.locator(FIRST)).to_have_attribute("href", f"/{lang}/entries/{entry}")
    page.locator(FIRST).click()
    expect(page.locator(".answer h2")).to_be_visible()


def test_whoever_came_by_another_name_than_the_configured_one_stays_there(
    open_page: OpenPage, serve: Callable[..., httpx.Client]
) -> None:
    base = str(serve(base_url="https://faq.example.com").base_url).rstrip("/")
    page = open_page(f"{base}/en/")
    page.locator("#q").press_sequentially("node2pg")
    # Until the last letter is answered, the first title is another one.
    page.locator("#options [data-type=title]", has_text="node2pg").first.click()
    page.wait_for_url(f"{base}/en/entries/roll/node2pg-keyerror")
    expect(page.locator(".answer h2")).to_be_visible()


def test_results_follow_the_typing_and_the_address_follows_the_results(open_page: OpenPage) -> None:
    page = open_page("/en/search")
    page.locator("#q").press_sequentially("garbled", delay=20)
    page.wait_for_url("**/en/search?q=garbled")
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/slime/garbled-output")
    expect(page).to_have_title(re.compile("^garbled"))
    expect(page.locator("[role=status]")).to_contain_text("result")
    page.locator("#q").fill("node2pg")
    page.wait_for_url("**/en/search?q=node2pg")
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/roll/node2pg-keyerror")
    expect(page.locator("#language [name=next]")).to_have_attribute("value", "/zh/search?q=node2pg")
    page.locator("#q").fill("checkpoint")
    page.locator("[rel=next]").click()
    expect(page.locator("[role=status]")).to_contain_text("Page 2 of")


def test_back_leads_to_the_search_before(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=garbled")
    page.locator("#q").fill("node2pg")
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/roll/node2pg-keyerror")
    page.go_back()
    expect(page.locator("#q")).to_have_value("garbled")
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/slime/garbled-output")
    page.locator(FIRST).click()
    page.wait_for_selector(".article")
    page.go_back()
    expect(page.locator("#q")).to_have_value("garbled")
    # Where JIEDA_HELP_URL names another site of this kind, a way on has the path of this page.
    page.route("https://faq.example.com/**", lambda route: route.fulfill(body="elsewhere"))
    page.locator(FIRST).evaluate("(link) => { link.href = 'https://faq.example.com/en/search?q=garbled'; }")
    page.locator(FIRST).click()
    page.wait_for_url("https://faq.example.com/en/search?q=garbled")


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(open_page: OpenPage) -> None:
    page = open_page("/en/search")
    held = hold(page, "**/en/search?q=garbled*")
    page.locator("#q").fill("garbled")
    until(page, lambda: bool(held))
    page.locator("#q").fill("node2pg")
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/roll/node2pg-keyerror")
    for route in held:
        route.fallback()
    page.wait_for_timeout(300)
    expect(page.locator(FIRST)).to_have_attribute("href", "/en/entries/roll/node2pg-keyerror")


def test_a_filter_is_put_on_and_off_without_losing_the_query(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=oom")
    page.locator(".found .chip", has_text="slime").click()
    page.wait_for_url("**framework=slime**")
    assert query(page) == {"q": ["oom"], "framework": ["slime"]}
    page.locator("#q").fill("training")
    page.wait_for_url("**q=training**")
    assert query(page) == {"q": ["training"], "framework": ["slime"]}
    # On a phone the filters are folded, and the chip is in them, too.
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator(".found .chip[aria-current]").press("Enter")
    page.wait_for_url(lambda url: "framework" not in url)
    expect(page.locator(".found .chip[aria-current]")).to_have_count(0)
    expect(page.locator(".found")).to_be_focused()
    assert query(page) == {"q": ["training"]}
    page.locator("#q").fill("hang")
    page.wait_for_url("**q=hang**")
    assert query(page) == {"q": ["hang"]}


def test_what_is_typed_in_one_go_is_one_step_back_though_the_field_is_left_at_once(
    open_page: OpenPage,
) -> None:
    page = open_page("/en/search?q=oom")
    page.locator("#q").fill("hang")
    page.wait_for_url("**q=hang**")
    page.locator("#q").fill("resume")
    page.locator("#q").press("Tab")
    page.wait_for_url("**q=resume**")
    page.locator("#q").fill("garbled")
    page.wait_for_url("**q=garbled**")
    for before in ("resume", "oom"):
        page.go_back()
        expect(page.locator("#q")).to_have_value(before)


def test_a_server_that_is_gone_is_said_in_words(open_page: OpenPage) -> None:
    page = open_page("/zh/search?q=oom", refused="429")
    told = page.locator("#results .status", has_text="按回车重试")
    page.locator(".found .chip", has_text="slime").click()
    page.wait_for_url("**framework=slime**")
    page.locator("#q").fill("resume")
    page.wait_for_url("**q=resume**")
    page.route("**/zh/search?**", lambda route: route.abort())
    page.go_back()
    expect(told).to_be_visible()
    assert page.locator(FIRST).count() == 1
    page.unroute("**/zh/search?**")
    page.locator("#q").press("Enter")
    expect(told).to_have_count(0)
    assert query(page) == {"q": ["oom"], "framework": ["slime"]}
    # A refusal while somebody types leaves them in the field.
    page.route("**/zh/search?**", lambda route: route.fulfill(status=429, body="429"))
    page.locator("#q").fill("显存")
    expect(told).to_be_visible()
    expect(page.locator("#q")).to_have_value("显存")


def test_keyboard_only_from_the_start_page_to_an_entry(open_page: OpenPage) -> None:
    page = open_page("/en/")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("node2pg", delay=20)
    expect(page.locator("#options")).to_be_visible()
    page.keyboard.press("ArrowDown")
    active = page.locator("#q").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    expect(page.locator("#options")).not_to_be_visible()
    expect(page.locator("#q")).to_have_value("node2pg")
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/search?q=node2pg")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    expect(page.locator(FIRST)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/en/entries/roll/node2pg-keyerror")


def test_a_suggested_entry_is_opened_with_enter(open_page: OpenPage) -> None:
    page = open_page("/zh/frameworks/slime", forced_colors="active")
    page.keyboard.press("/")
    page.keyboard.type("node2pg", delay=20)
    option = page.locator("#options [href$='/zh/entries/roll/node2pg-keyerror']").first
    expect(option).to_be_visible()
    for _ in range(10):
        page.keyboard.press("ArrowDown")
        if option.get_attribute("aria-selected") == "true":
            break
    expect(option).to_have_css("outline-style", "solid")  # the background is the system's
    page.keyboard.press("Enter")
    page.wait_for_url("**/zh/entries/roll/node2pg-keyerror")


def test_arrows_walk_the_results_and_back_to_the_box_which_escape_leaves(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=oom")
    page.locator("#q").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#results .card:nth-child(2) h2 a")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()
    expect(page.locator("#q")).to_have_value("oom")
    assert page.locator("#q").get_attribute("aria-expanded") is None, "nothing opens below it"


def test_the_filters_can_be_skipped(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=training")
    page.locator(".searchbox button").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#results .skip")).to_be_focused()
    with page.expect_event("framenavigated"):
        page.keyboard.press("Enter")
    # The browser goes to the anchor when it draws the page.
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    page.keyboard.press("Tab")
    until(page, lambda: bool(page.evaluate("document.activeElement.closest('.card') !== null")))


def test_an_entry_is_suggested_once_though_both_its_titles_fit(open_page: OpenPage) -> None:
    page = open_page("/en/frameworks/slime")
    page.locator("#q").press_sequentially("node2", delay=20)
    expect(page.locator("#q")).to_have_attribute("aria-expanded", "true")
    titles = page.locator("#options [data-type=title]")
    expect(titles).to_have_count(1)  # those of what was typed before may still be shown
    expect(titles).to_have_attribute("href", "/en/entries/roll/node2pg-keyerror")
    title, framework = (titles.locator(part).bounding_box() for part in ("> span", "small"))
    assert title
    assert framework
    assert framework["y"] >= title["y"] + title["height"], "in a row of its own"
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator("#options a, #options a > *").evaluate_all(cut) == 0
    page.locator("#q").fill("batch si")
    expect(page.locator("#options [data-type=tag][href='/en/error-types/batch-size']")).to_have_count(1)


@pytest.mark.parametrize("width", [360, 1280])
def test_suggestions_of_the_start_page_stand_directly_below_its_buttons(
    open_page: OpenPage, width: int
) -> None:
    page = open_page("/en/", viewport={"width": width, "height": 740})
    page.locator("#q").press_sequentially("cuda out of", delay=20)
    expect(page.locator("#options")).to_be_visible()
    buttons = page.locator(".ask button:visible, .ask .paste-foot label:visible").all()
    below = max(box["y"] + box["height"] for button in buttons if (box := button.bounding_box()))
    listed = page.locator("#options").bounding_box()
    assert listed
    assert below <= listed["y"] <= below + 12


def test_a_slash_in_a_text_is_a_slash(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    page.locator("#log").focus()
    page.keyboard.type("a/b")
    expect(page.locator("#log")).to_have_value("a/b")


@pytest.mark.parametrize("path", ["/zh/search", "/zh/", "/zh/entries/slime/resume-training"])
def test_an_input_method_sends_nothing_while_composing(open_page: OpenPage, path: str) -> None:
    page = open_page(path)
    address = page.url
    page.locator("#q").focus()
    requests = asked(page)
    keyboard = page.context.new_cdp_session(page)
    for text in ("x", "xian", "xian c", "xian cun"):
        keyboard.send(
            "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        )
        page.wait_for_timeout(200)
    # Enter takes the candidate: browsers report it as part of the composition, some only by its code.
    page.evaluate(
        """() => {
          const input = document.getElementById("q");
          for (const event of [
            { key: "Enter", isComposing: true },
            { key: "Enter", keyCode: 229 },
            { key: "ArrowDown", isComposing: true },
          ]) input.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...event }));
          input.form.requestSubmit();
        }"""
    )
    page.wait_for_timeout(300)
    assert requests == []
    assert page.url == address
    expect(page.locator("#q")).to_be_focused()
    with page.expect_request(lambda request: "q=" in request.url):
        keyboard.send("Input.insertText", {"text": "显存不足"})
    expect(page.locator("#q")).to_have_value("显存不足")
    texts = {parse_qs(urlsplit(each).query)["q"][0] for each in requests if "q=" in each}
    assert texts == {"显存不足"}


def test_enter_that_takes_a_candidate_does_not_take_a_suggestion(open_page: OpenPage) -> None:
    page = open_page("/zh/")
    address = page.url
    page.locator("#q").press_sequentially("node2pg", delay=20)
    expect(page.locator("#options")).to_be_visible()
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#q").get_attribute("aria-activedescendant")
    for event in (
        {"key": "Enter", "isComposing": True},
        {"key": "Enter", "keyCode": 229},
        {"key": "ArrowDown", "isComposing": True},
    ):
        page.locator("#q").dispatch_event("keydown", event)
    page.wait_for_timeout(300)
    assert page.url == address
    expect(page.locator("#q")).to_have_attribute("aria-activedescendant", chosen or "")


def test_without_javascript_everything_is_a_form_and_a_link(open_page: OpenPage) -> None:
    page = open_page("/zh/", java_script_enabled=False)
    page.locator("#q").fill("显存不足")
    page.locator("form.ask [type=submit]").first.click()
    page.locator(".found .chip", has_text="slime").first.click(force=True)
    page.wait_for_url("**framework=slime**")
    assert query(page) == {"q": ["显存不足"], "framework": ["slime"]}
    page.locator(FIRST).click()
    page.wait_for_url("**/zh/entries/slime/**")
    page.locator(".language").click()
    page.wait_for_url("**/en/entries/slime/**")
    page.locator("#preferences summary").click()
    page.locator(".menu button[value=dark]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert "/en/entries/slime/" in page.url


PASTE = """(field, text) => {
  field.focus();
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  return field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


@pytest.mark.parametrize(("lang", "path"), [("en", "/"), ("zh", "/entries")])
def test_several_lines_are_diagnosed_at_once_wherever_they_are_pasted(
    open_page: OpenPage, lang: str, path: str
) -> None:
    page = open_page(f"/{lang}{path}")
    assert page.locator("#q").evaluate(PASTE, "one line\n"), "left to the browser"
    page.locator("#q").evaluate(PASTE, "step 3\n    assert self.lr_decay_steps > 0\nAssertionError\n")
    page.wait_for_url(f"**/{lang}/diagnose")
    expect(page.locator("#best a")).to_have_attribute(
        "href", f"/{lang}/entries/roll/lr-decay-steps-assertion"
    )


def test_the_field_of_the_start_page_grows_with_a_long_line(open_page: OpenPage) -> None:
    page = open_page("/en/")
    field = page.locator("#q")
    for width in (360, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        empty = field.evaluate("field => field.offsetHeight")
        field.fill("torch.OutOfMemoryError: CUDA out of memory. " * 7)
        assert field.evaluate("field => field.scrollHeight - field.clientHeight") <= 0, width
        assert field.evaluate("field => field.offsetHeight") > empty, width
        field.fill("")
        assert field.evaluate("field => field.offsetHeight") == empty, width
