"""The pictures of the README: a recording of some twenty seconds in each language, made in a real browser.

    make run & .venv/bin/python -m bench.pictures http://127.0.0.1:8000

Chromium captures each frame as WebP; this module joins them into one animated file (WebP Container Specification,
"Animation"), so nothing needs to be installed. A still shows the log and its verdict.
"""

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from bench.pages import SAMPLES, launch, server_address

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SAMPLE = SAMPLES / "chatlearn" / "ray-channel-timeout" / "ray-prefixed-chained-traceback.log"
WIDTH, HEIGHT = 1280, 760
QUALITY = 50
QUESTION = {"en": "garbled rollouts", "zh": "训练出现乱码"}
TYPING, PAUSE, LONG = 120, 1300, 3500
"""Milliseconds for which a frame is shown."""


@dataclass
class Recording:
    """Frames as WebP, each with its duration in milliseconds. Identical consecutive frames are merged."""

    page: Page
    frames: list[tuple[bytes, int]] = field(default_factory=list)

    def frame(self, milliseconds: int) -> None:
        """Capture a frame."""
        session = self.page.context.new_cdp_session(self.page)
        shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        session.detach()
        data = base64.b64decode(shot["data"])
        if self.frames and self.frames[-1][0] == data:
            milliseconds += self.frames.pop()[1]
        self.frames.append((data, milliseconds))

    def animated(self) -> bytes:
        """Return all frames as one file that loops forever."""
        size = (WIDTH - 1).to_bytes(3, "little") + (HEIGHT - 1).to_bytes(3, "little")
        chunks = [_chunk(b"VP8X", b"\x02\0\0\0" + size), _chunk(b"ANIM", b"\xff\xff\xff\xff\0\0")]
        for data, milliseconds in self.frames:
            head = bytes(6) + size + milliseconds.to_bytes(3, "little") + b"\x02"  # not blended
            chunks.append(_chunk(b"ANMF", head + b"".join(_image(data))))
        body = b"WEBP" + b"".join(chunks)
        return b"RIFF" + struct.pack("<I", len(body)) + body


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def _image(still: bytes) -> Iterator[bytes]:
    """Yield the chunks of a still that contain its picture."""
    place = 12
    while place < len(still):
        name, (size,) = still[place : place + 4], struct.unpack("<I", still[place + 4 : place + 8])
        if name in {b"VP8 ", b"VP8L", b"ALPH"}:
            yield _chunk(name, still[place + 8 : place + 8 + size])
        place += 8 + size + size % 2


def record(page: Page, base: str, lang: str) -> tuple[bytes, bytes]:
    """Record typing a question, its entry, then a log, its verdict and the jump from a reason to its line. Also return
    a still of the log beside its verdict."""
    film = Recording(page)
    page.goto(f"{base}/{lang}/search?q=")
    film.frame(PAUSE)
    field_of_query = page.locator("#q")
    for end in range(1, len(QUESTION[lang]) + 1):
        field_of_query.fill(QUESTION[lang][:end])
        film.frame(TYPING)
    page.wait_for_selector("#results li a")
    page.keyboard.press("Enter")
    page.wait_for_timeout(800)
    film.frame(LONG)
    page.locator("#results li h2 a").first.click()
    page.wait_for_selector("article h1")
    film.frame(LONG)
    page.goto(f"{base}/{lang}/")
    film.frame(PAUSE)
    page.goto(f"{base}/{lang}/diagnose")
    page.locator("#log").fill(SAMPLE.read_text(encoding="utf-8"))
    film.frame(PAUSE)
    page.locator("form.paste button[type=submit]").click()
    page.wait_for_selector("body.with-log")
    page.wait_for_timeout(400)
    film.frame(LONG)
    still = film.frames[-1][0]
    page.locator(".evidence [data-line]").last.click()
    page.wait_for_timeout(400)
    film.frame(LONG)
    return film.animated(), still


def main() -> None:
    """Record both languages."""
    if not (base := server_address(__doc__)):
        return
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for lang in QUESTION:
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEIGHT}, locale=lang, color_scheme="light"
            )
            film, still = record(page, base, lang)
            for name, data in ((f"tour-{lang}.webp", film), (f"log-{lang}.webp", still)):
                (IMAGES / name).write_bytes(data)
                print(f"{name}: {len(data) / 1024:.0f} KiB")
        browser.close()


if __name__ == "__main__":
    main()
