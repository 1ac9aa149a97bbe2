"""A log and its answer: kept on every way back, shared without a server that stores it, shown on a phone."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.conftest import OpenPage, hold, paste, served, until
from tests.support.server import ROOT
from tests.support.small_content import edition, write

LOG = "step 3\nTraceback (most recent call last):\n    assert self.lr_decay_steps > 0\nAssertionError\n"
ENTRY = "roll/lr-decay-steps-assertion"
PHONE = {"width": 360, "height": 740}
FOLD = 690
"""Pixels of a phone's screen below which the beginning of the fix is hardly seen."""


OTHER = "step 4\nKeyError: 1 at self.node2pg[node_rank]\n"
OTHER_ENTRY = "roll/node2pg-keyerror"


def diagnosed(page: Page, lang: str = "en", entry: str = ENTRY) -> None:
    """Waits until the page shows the answer to `LOG`, or to another log."""
    expect(page.locator("#best a")).to_have_attribute("href", f"/{lang}/entries/{entry}")


def send(page: Page, log: str = LOG) -> None:
    """Types a log into the field and sends it."""
    page.locator("#log").fill(log)
    page.locator("#log-form [type=submit]").click()


def test_back_and_reload_show_the_diagnosis_again(open_page: OpenPage) -> None:
    page = open_page("/en/")
    page.locator("#q").fill(LOG)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/en/diagnose")
    diagnosed(page)
    page.locator("#best a").click()
    page.wait_for_selector(".article")
    page.go_back()
    diagnosed(page)
    page.reload()
    diagnosed(page)
    expect(page.locator("#log")).to_have_value(LOG)
    page.locator(".language").click()
    page.wait_for_url("**/zh/diagnose")
    diagnosed(page, "zh")
    assert "lr_decay" not in page.url
    page.locator(".nav a[aria-current]").click()
    expect(page.locator("#log")).to_be_focused()
    expect(page.locator("#log")).to_have_value("")
    expect(page.locator("#diagnosis")).to_have_count(0)
    page.go_back()
    diagnosed(page, "zh")


def test_a_place_within_the_page_leaves_the_verdict(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    send(page)
    diagnosed(page)
    page.locator(".skip").first.press("Enter")
    page.evaluate("location.hash = 'L2'")
    selected = page.locator(".viewer-line[aria-selected=true] .viewer-number")
    expect(selected).to_have_text("2")
    page.evaluate("location.hash = 'L4'")
    expect(selected).to_have_text("4")
    page.get_by_role("button", name="Edit or paste another").click()
    page.locator(".best .line-number").first.click()
    page.wait_for_url("**/diagnose#log")
    diagnosed(page)
    page.reload()
    diagnosed(page)
    page.evaluate("log => { location.hash = new URLSearchParams({ log }); }", OTHER)
    diagnosed(page, entry=OTHER_ENTRY)
    page.go_back()
    diagnosed(page)


@pytest.mark.parametrize("storage", ["null", "undefined.any"])
def test_where_nothing_can_be_kept_logs_are_diagnosed(open_page: OpenPage, storage: str) -> None:
    page = open_page("about:blank")
    page.add_init_script(
        f"Object.defineProperty(window, 'sessionStorage', {{ get() {{ return {storage}; }} }});"
    )
    page.goto("/zh/diagnose")
    send(page)
    diagnosed(page, "zh")
    expect(page.locator(".said")).to_have_count(0)
    paste(page, OTHER, into="#q")
    diagnosed(page, "zh", OTHER_ENTRY)


def test_a_log_pasted_into_the_header_is_read_as_one_in_the_field(open_page: OpenPage) -> None:
    """Over a verdict, with a progress bar in it, larger than is read, and larger than the browser keeps."""
    page = open_page("/en/diagnose")
    send(page)
    diagnosed(page)
    for size in (0, 11_000, 41_000):
        text = "Epoch: 10%\rEpoch: 40%\n" + ("step of no interest " * 5 + "\n") * size + OTHER
        paste(page, text, into="#q")
        diagnosed(page, entry=OTHER_ENTRY)
        root = page.locator(".viewer-line.root")
        expect(root).to_contain_text("self.node2pg[node_rank]")
        number = root.locator(".viewer-number").text_content() or ""
        expect(page.locator(".best .line-number").first).to_have_text(re.compile(rf"\b{number}\b"))
        said = page.locator(".said")
        expect(said).to_have_count(1 if size else 0)
        assert not size or f"This is {len(text) / (1 << 20):.1f} MiB" in (said.text_content() or "")
        page.goto("/en/entries")
    page.go_back()
    diagnosed(page, entry=OTHER_ENTRY)


def test_of_several_answers_the_one_that_was_asked_last_stands(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    viewers = hold(page, "**/log-viewer.js*")
    send(page)
    diagnosed(page)
    paste(page, OTHER)
    diagnosed(page, entry=OTHER_ENTRY)
    until(page, lambda: bool(viewers))
    viewers.pop().continue_()
    expect(page.locator(".viewer-text").first).to_have_text("step 4")
    expect(page.locator("#viewer")).to_have_count(1)
    held = hold(page, "**/en/diagnose")
    page.evaluate("history.back()")
    until(page, lambda: len(held) == 1)
    page.evaluate("history.forward()")
    expect(page.locator("form.busy")).to_have_count(0)
    page.evaluate("history.go(-2)")
    expect(page.locator("h1")).to_have_text("Paste an error")
    held.pop().abort()
    send(page)
    until(page, lambda: len(held) == 1)
    expect(page.locator("#log")).not_to_be_editable()
    held.pop().continue_()
    diagnosed(page)
    paste(page, LOG)
    until(page, lambda: len(held) == 1)
    paste(page, OTHER)
    until(page, lambda: len(held) == 2)
    held[1].continue_()
    diagnosed(page, entry=OTHER_ENTRY)
    held[0].abort()
    expect(page.locator(".viewer-text").first).to_have_text("step 4")
    page.unroute("**/en/diagnose")
    page.evaluate(
        """(last) => {
          for (const text of ["of megabytes\\n".repeat(2 ** 18), last]) {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
          }
        }""",
        LOG,
    )
    diagnosed(page)
    expect(page.locator("#log")).to_have_value(LOG)


def test_what_was_made_of_a_diagnosed_log_survives_with_its_verdict(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    send(page)
    diagnosed(page)
    page.get_by_role("button", name="Edit or paste another").click()
    page.locator("#log").fill("another one, half written")
    page.reload()
    diagnosed(page)
    expect(page.locator("#log")).to_have_value("another one, half written")
    page.locator("#best a").click()
    page.wait_for_selector(".article")
    page.go_back()
    diagnosed(page)
    expect(page.locator("#log")).to_be_visible()
    expect(page.locator("#log")).to_have_value("another one, half written")
    page.locator(".language").click()
    page.wait_for_url("**/zh/diagnose")
    diagnosed(page, "zh")
    expect(page.locator("#log")).to_be_visible()
    expect(page.locator("#log")).to_have_value("another one, half written")


DROP = """(input) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(input.files[0]);
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


def test_a_file_dropped_over_a_verdict_is_diagnosed_in_its_place(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("/en/diagnose")
    send(page)
    diagnosed(page)
    file = tmp_path / "run.log"
    file.write_text("step of no interest\n" * 70_000 + OTHER, encoding="utf-8")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('input'), { type: 'file', id: 'held' }))"
    )
    held = page.locator("#held")
    held.set_input_files(file)
    held.evaluate(DROP)
    diagnosed(page, entry=OTHER_ENTRY)
    expect(page.locator(".said")).to_contain_text("This is 1.3 MiB")
    expect(page.locator(".said")).to_be_in_viewport(ratio=1)
    paste(page, LOG)
    diagnosed(page)
    expect(page.locator(".said")).to_have_count(0)
    file.unlink()  # what cannot be read, as a folder cannot
    for size in ({"width": 1280, "height": 800}, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.evaluate("scrollTo({ top: 300, behavior: 'instant' })")
        held.evaluate(DROP)
        expect(page.locator(".said[role=alert]")).to_contain_text("not text")
        expect(page.locator(".said[role=alert]")).to_be_in_viewport(ratio=1)


def test_a_log_that_was_not_sent_survives_theme_and_language(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", color_scheme="light")
    page.locator("#log").fill(LOG)
    page.locator("#preferences summary").click()
    with page.expect_response("**/preferences"):
        page.locator(".menu button[value=dark]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#log")).to_have_value(LOG)
    page.locator(".language").click()
    page.wait_for_url("**/zh/diagnose")
    expect(page.locator("#log")).to_have_value(LOG)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_of_a_log_too_large_both_ends_are_read(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    log = "first line 显存\n" + ("step of no interest " * 10 + "\n") * 19_850 + LOG
    paste(page, log, into="#log")
    note = page.locator(".said")
    expect(note).to_contain_text("Its first 128 KiB and its last 896 KiB are read")
    page.goto("/en/")
    file: FilePayload = {"name": "run.log", "mimeType": "text/plain", "buffer": log.encode("utf-16")}
    page.locator("form.paste [type=file]").set_input_files(files=[file])
    expect(note).to_contain_text("Its first 128 KiB and its last 896 KiB are read")
    page.locator("form.paste [type=submit]").first.click()
    diagnosed(page)
    expect(note).to_contain_text("3.8 MiB")
    text = page.locator("#log").input_value()
    assert text.startswith("first line 显存\n")
    assert text.endswith(LOG)
    page.locator(".language").click()
    diagnosed(page, "zh")
    expect(note).to_contain_text("全文 3.8 MiB")


@pytest.mark.parametrize("start", ["/en/", "/en/diagnose"])
def test_a_compressed_file_is_said_to_be_one_and_not_read(open_page: OpenPage, start: str) -> None:
    page = open_page(start)
    field = page.locator("form.paste textarea")
    field.fill("typed before")
    packed: FilePayload = {"name": "run.log.gz", "mimeType": "", "buffer": gzip.compress(LOG.encode())}
    page.locator("form.paste [type=file]").set_input_files(files=[packed])
    expect(page.locator(".said")).to_contain_text("Unpack it")
    empty: FilePayload = {"name": "run.log", "mimeType": "", "buffer": b"\n"}
    page.locator("form.paste [type=file]").set_input_files(files=[empty])
    expect(page.locator(".said[role=alert]")).to_contain_text("nothing to look at")
    expect(field).to_have_value("typed before")
    wide: FilePayload = {"name": "run.log", "mimeType": "", "buffer": LOG.encode("utf-16")}
    page.locator("form.paste [type=file]").set_input_files(files=[wide])
    expect(page.locator(".said")).to_have_count(0)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("step 1\n" * 30_000 + "保存检查点失败：磁盘空间不足\n", "gb18030"),
        ("保存检查点失败：磁盘空间不足 ✗\n" * 9, "utf-8"),
        ("Das Gerät ist nicht verfügbar für größere Läufe\n", "utf-8"),
    ],
)
def test_a_file_is_read_in_the_encoding_it_has(open_page: OpenPage, text: str, encoding: str) -> None:
    page = open_page("/zh/diagnose")
    file: FilePayload = {"name": "run.log", "mimeType": "", "buffer": text.encode(encoding)}
    page.locator("form.paste [type=file]").set_input_files(files=[file])
    expect(page.locator("#log")).to_have_value(text)


def test_what_takes_long_is_told(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    held = hold(page, "**/en/diagnose")
    page.locator("#log").fill(LOG)
    page.locator("#log-form [type=submit]").click()
    expect(page.locator(".said")).to_have_text("Reading 1 KiB …")
    until(page, lambda: bool(held))
    held[0].continue_()
    diagnosed(page)
    expect(page.locator(".said")).to_have_count(0)


def test_the_example_of_a_log_opens_its_diagnosis(open_page: OpenPage) -> None:
    page = open_page("/en/")
    page.locator(".examples .scripted a").click()
    expect(page.locator("#best a")).to_have_attribute("href", "/en/entries/roll/batch-size-less-than-chunks")


def test_a_log_that_could_not_be_sent_is_still_there(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose")
    page.locator("#log").fill(LOG)
    page.route("**/en/diagnose", lambda route: route.abort())
    page.locator("#log-form [type=submit]").click()
    expect(page.locator(".said[role=alert]")).to_contain_text("cannot be reached")
    expect(page.locator("#log")).to_have_value(LOG)
    page.unroute("**/en/diagnose")
    page.locator("#log-form [type=submit]").click()
    diagnosed(page)


def test_who_asks_too_often_reads_when_to_try_again_and_keeps_the_log(
    open_page: OpenPage, serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    content = write(tmp_path, {"en/roll/memory.md": edition("Out of memory in node2pg")})
    base = served(serve, content, diagnoses_per_minute="1", trusted_proxies="127.0.0.1")
    client = {"X-Forwarded-For": "203.0.113.9"}
    page = open_page(f"{base}/en/diagnose", refused="status of 429", extra_http_headers=client)
    page.locator("#log").fill(LOG)
    page.locator("#log-form [type=submit]").click()
    page.get_by_role("button", name="Edit or paste another").click()
    page.locator("#log-form [type=submit]").click()
    expect(page.locator(".said[role=alert]")).to_have_text(re.compile(r"Try again in \d+ s\."))
    expect(page.locator("#log")).to_have_value(LOG)


def test_a_copied_link_opens_the_same_verdict_elsewhere(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", permissions=["clipboard-read", "clipboard-write"])
    told = f"    assert self.lr_decay_steps > 0  # ask li.wang@mail.example.com {'again ' * 60}\n"
    log = LOG.replace("    assert self.lr_decay_steps > 0\n", told)
    page.locator("#log").fill(log + "a line that has nothing to do with it\n")
    page.locator("#log-form [type=submit]").click()
    diagnosed(page)
    verdict = page.locator(".best .confidence").text_content()
    page.locator("[data-copy-log]").click()
    expect(page.locator("[data-copy-log]")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.partition("#")[0].endswith("/en/diagnose")
    assert "nothing" not in link
    assert "li.wang" not in link, "what is sent to others names nobody"
    page.locator("[data-copy-text]").click()
    expect(page.locator("[data-copy-text]")).to_have_text("Copied")
    markdown = page.evaluate("navigator.clipboard.readText()")
    assert markdown.startswith(f"**{verdict}** · [")
    assert f"/en/entries/{ENTRY})" in markdown
    assert "again …" in markdown or "again…" in markdown, "a line that is cut says so"
    asked: list[str] = []
    other = open_page("about:blank")
    other.on("request", lambda request: asked.append(request.url))
    other.goto(link)
    diagnosed(other)
    expect(other.locator(".best .confidence")).to_have_text(verdict or "")
    other.locator(".language").click()
    other.wait_for_url(f"**/zh/diagnose#{link.partition('#')[2]}")
    diagnosed(other, "zh")
    assert not [address for address in asked if "lr_decay" in address.partition("#")[0]]


def test_on_a_phone_the_fix_of_a_sample_is_on_the_first_screen(open_page: OpenPage) -> None:
    page = open_page("/zh/diagnose", viewport=PHONE)
    samples = sorted((ROOT / "content" / "samples").glob("*/*/*.log"))[::2]
    tops = page.evaluate(
        """async (logs) => {
          const tops = [];
          for (const text of logs) {
            const response = await fetch("/zh/diagnose", { method: "POST", body: new URLSearchParams({ text }) });
            const page = new DOMParser().parseFromString(await response.text(), "text/html");
            document.getElementById("answer").replaceWith(document.adoptNode(page.getElementById("answer")));
            scrollTo(0, 0);
            tops.push(document.querySelector(".best .answer, .match.tied")?.getBoundingClientRect().top ?? Infinity);
          }
          return tops;
        }""",
        [path.read_text(encoding="utf-8", errors="replace") for path in samples],
    )
    late = [path.name for path, top in zip(samples, tops, strict=True) if top > FOLD]
    assert len(samples) > 40
    assert late == []


def test_a_tap_on_a_filter_leaves_the_keyboard_closed(open_page: OpenPage) -> None:
    page = open_page("/en/search?q=oom", viewport=PHONE, has_touch=True)
    page.locator(".found .chip", has_text="slime").tap()
    page.wait_for_url("**framework=slime**")
    expect(page.locator(".found .chip[aria-current]")).to_be_focused()


OLD = """
delete URLSearchParams.prototype.size;
for (const name of ["ariaSelected", "ariaLabel", "role"]) delete Element.prototype[name];
for (const [owner, names] of [
  [Array.prototype, ["toSorted", "toReversed", "toSpliced", "with", "findLast"]],
  [Object, ["groupBy"]], [Map, ["groupBy"]], [Promise, ["withResolvers", "try"]], [Array, ["fromAsync"]],
  [URL, ["canParse", "parse"]], [AbortSignal, ["any"]], [Element.prototype, ["checkVisibility"]],
  [HTMLElement.prototype, ["showPopover", "hidePopover", "togglePopover", "popover"]],
  [window, ["Iterator", "navigation", "CookieStore", "scheduler"]],
  [Document.prototype, ["startViewTransition"]],
]) for (const name of names) delete owner[name];
"""


def test_what_older_browsers_lack_is_not_missed(open_page: OpenPage) -> None:
    page, lang = open_page("about:blank"), "zh"
    page.add_init_script(OLD)
    page.goto(f"/{lang}/search")
    page.locator("#q").fill("node2pg")
    page.wait_for_url(f"**/{lang}/search?q=node2pg")
    first = page.locator("#results .card:first-child h2 a")
    expect(first).to_have_attribute("href", f"/{lang}/entries/roll/node2pg-keyerror")
    page.goto(f"/{lang}/frameworks/slime")
    page.locator("#q").press_sequentially("node2pg")
    expect(page.locator("#options a").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#options [aria-selected=true]")).to_have_count(1)
    page.goto(f"/{lang}/entries/roll/node2pg-keyerror")
    expect(page.locator(".copy").first).to_be_visible()
    page.goto(f"/{lang}/")
    page.locator("#q").fill(LOG)
    page.keyboard.press("Control+Enter")
    diagnosed(page, lang)
    page.locator("#best a").click()
    page.wait_for_selector(".article")
    page.go_back()
    diagnosed(page, lang)


NIGHT = "".join(f"iteration {each} of a long night\n" for each in range(200))
FAILED = 'Traceback (most recent call last):\n  File "/opt/ours/data.py", line 8, in load\n'


@pytest.mark.parametrize(
    ("log", "verdict", "kept"),
    [
        (f"{NIGHT}KeyError: 1 at self.node2pg[node_rank]\n", "known", "KeyError: 1 at self.node2pg"),
        (f"{NIGHT}{FAILED}ours.ShardMismatchError: shard 17 of 64 has 4093 rows\n", "unknown", FAILED),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.", "possible", "9.28 GiB"),
        (f"{NIGHT}the run is done\n", "no_error", "the run is done"),
    ],
)
def test_without_scripts_back_leads_to_the_answer_again_in_either_language(
    open_page: OpenPage, log: str, verdict: str, kept: str
) -> None:
    page = open_page("/en/diagnose", java_script_enabled=False)
    page.locator("#log").fill(log)
    page.locator("form.paste button[type=submit]").click()
    shown = page.locator("#diagnosis")
    expect(shown).to_have_attribute("data-verdict", verdict)
    for lang, other in (("en", "zh"), ("zh", "en")):
        heading = page.locator("h1").inner_text()
        page.locator(".nav a[href$=entries]").click()
        expect(page.locator(".rows").first).to_be_visible()
        page.go_back()
        expect(page.locator("h1")).to_have_text(heading)
        assert f"/{lang}/" in page.url
        expect(page.locator(".share:visible")).to_have_count(0)  # nothing copies
        text = page.locator("#log").input_value()
        assert kept in text
        assert text.count("long night") < 100, (
            "the browser may keep this page, so most of the log is not in it"
        )
        page.locator(".language").click()
        page.wait_for_url(f"**/{other}/diagnose")
        expect(shown).to_have_attribute("data-verdict", verdict)


def test_without_scripts_the_question_which_framework_is_answered_after_back(open_page: OpenPage) -> None:
    page = open_page("/en/diagnose", java_script_enabled=False)
    page.locator("#log").fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.")
    page.locator("form.paste button[type=submit]").click()
    page.locator(".tied .titles a").first.click()
    expect(page.locator("article h1")).to_be_visible()
    page.go_back()
    page.locator(".which button[value=slime]").click()
    expect(page.locator("#best a")).to_have_attribute("href", "/en/entries/slime/oom-max-tokens-per-gpu")
