"""What a reader's browser has to do: typing, a log and its viewer, bytes. Measured in Chromium with a slow processor.

    make run & .venv/bin/python -m bench.pages http://127.0.0.1:8000

The browser throttles the CPU fourfold (`Emulation.setCPUThrottlingRate`). Other load on the machine makes every figure
worse, so the load average is printed as well.
"""

import argparse
import os
import shutil
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Playwright, Request, sync_playwright

SAMPLES = Path(__file__).parents[1] / "content" / "samples"
SAMPLE = SAMPLES / "chatlearn" / "resume-lr-error" / "torchrun-total-iterations.log"
THROTTLE = 4
QUERIES = {"en": "cuda out of memory", "zh": "训练出现乱码怎么办"}
PHONE = {"width": 360, "height": 740}
LINES = 300
MEBIBYTE = 1 << 20
LATE = 17.5
"""Milliseconds after which a frame has missed its turn at 60 a second."""
FRAMES = """() => new Promise((done) => {
  const times = [], log = document.querySelector(".viewer-lines");
  let before = 0;
  const step = (now) => {
    if (before) times.push(now - before);
    before = now;
    log.scrollTop += 120;
    if (times.length < 240) requestAnimationFrame(step); else done(times);
  };
  requestAnimationFrame(step);
})"""
WATCHED = """() => {
  window.worst = 0;
  const note = (list) => {
    for (const each of list.getEntries()) window.worst = Math.max(window.worst, each.duration);
  };
  new PerformanceObserver(note).observe({ type: "event", durationThreshold: 16, buffered: false });
  window.changed = 0;
  const seen = () => { window.changed ||= performance.now(); };
  new MutationObserver(seen).observe(document.querySelector("main"), { subtree: true, childList: true });
}"""


def launch(playwright: Playwright) -> Browser:
    """Launch the installed browser."""
    path = os.environ.get("CHROME") or shutil.which("chromium") or shutil.which("google-chrome")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])


def server_address(doc: str | None) -> str:
    """Return the address that the command line names; empty, and said, without one. `doc`: what the module does."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n", 1)[0])
    parser.add_argument("base", nargs="?", default="", help="address of a server over the shipped content")
    base: str = parser.parse_args().base
    if not base:
        print("skipped: name the address of a server over the shipped content")
    return base.rstrip("/")


def slowed(browser: Browser, **options: Any) -> Page:
    """Open a page with CPU throttling."""
    page = browser.new_page(**options)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
    return page


def typing(browser: Browser, base: str, lang: str) -> tuple[list[float], float]:
    """Return the milliseconds from each key that changes the results to the change, and the longest event."""
    page = slowed(browser, viewport=PHONE)
    page.goto(f"{base}/{lang}/search?q=a")
    page.evaluate(WATCHED)
    page.locator("#q").fill("")
    page.locator("#q").focus()
    page.wait_for_timeout(1500)
    waits = []
    for letter in QUERIES[lang]:
        start = page.evaluate("window.changed = 0, performance.now()")
        page.keyboard.type(letter)
        page.wait_for_timeout(900)
        changed = page.evaluate("window.changed")
        if changed:
            waits.append(changed - start)
    worst = page.evaluate("window.worst")
    page.context.close()
    return waits, worst


def log_of(lines: int) -> str:
    """Return a log of `lines` lines that ends with the failure of a sample."""
    tail = SAMPLE.read_text(encoding="utf-8").splitlines()
    noise = [
        f"[2026-01-02 03:04:{each % 60:02}] iteration {each}/5000 loss 1.{each:04} grad 0.{each:04}"
        for each in range(lines)
    ]
    return "\n".join([*noise[: lines - len(tail)], *tail])


def verdict(browser: Browser, base: str, log: str) -> tuple[float, list[float]]:
    """Return the milliseconds from submitting a log to its verdict, and of each frame while scrolling."""
    page = slowed(browser, viewport={"width": 1280, "height": 800})
    page.goto(f"{base}/en/diagnose")
    page.evaluate("log => { document.getElementById('log').value = log; }", log)
    told = page.evaluate(
        """() => new Promise((done) => {
          const start = performance.now();
          const told = () => document.getElementById("diagnosis");
          const look = () => told() ? done(performance.now() - start) : setTimeout(look, 2);
          document.querySelector("form.paste [type=submit]").click();
          look();
        })"""
    )
    page.wait_for_selector("body.with-log", timeout=60_000)
    page.wait_for_timeout(1000)
    frames = page.evaluate(FRAMES)
    page.context.close()
    return told, frames


def weights(browser: Browser, base: str) -> Iterator[tuple[str, int, int]]:
    """Yield the requests and transferred bytes of each page, then of the log viewer alone."""
    for path in (
        "/en/",
        "/zh/",
        "/en/search?q=cuda+out+of+memory",
        "/en/entries/roll/node2pg-keyerror",
        "/en/diagnose",
        "/en/about",
    ):
        page = browser.new_page()
        sizes: list[int] = []
        page.on("requestfinished", partial(weigh, sizes))
        page.goto(base + path, wait_until="networkidle")
        yield path, len(sizes), sum(sizes)
        if path.endswith("diagnose"):
            sizes.clear()
            page.locator("#log").fill(log_of(LINES))
            page.locator("form.paste [type=submit]").click()
            page.wait_for_selector("body.with-log")
            page.wait_for_load_state("networkidle")
            yield "the answer to a log and its viewer", len(sizes), sum(sizes)
        page.context.close()


def weigh(into: list[int], request: Request) -> None:
    """Add the bytes of a response, headers included."""
    sizes = request.sizes()
    into.append(sizes["responseBodySize"] + sizes["responseHeadersSize"])


def told(browser: Browser, base: str) -> Iterator[str]:
    """Yield all figures, a line each."""
    yield f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; the browser's processor {THROTTLE} times slower"
    for path, requests, size in weights(browser, base):
        yield f"{size / 1024:6.1f} KiB in {requests} requests  {path}"
    for lang in QUERIES:
        waits, worst = typing(browser, base, lang)
        median = statistics.median(waits)
        yield f"typing, {lang}: {median:.0f} ms to changed results (median of {len(waits)}), worst event {worst:.0f} ms"
    for name, log in ((f"{LINES} lines", log_of(LINES)), ("1 MiB", log_of(MEBIBYTE // 72))):
        until, frames = verdict(browser, base, log)
        yield f"{name}, {len(log) / 1024:.0f} KiB: verdict after {until:.0f} ms"
        rate, late = 1000 / statistics.median(frames), sum(each > LATE for each in frames)
        yield f"  {rate:.0f} frames a second in the median, {late} of {len(frames)} late, longest {max(frames):.0f} ms"


def main() -> None:
    """Measure and print."""
    if not (base := server_address(__doc__)):
        return
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for line in told(browser, base):
            print(line, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
