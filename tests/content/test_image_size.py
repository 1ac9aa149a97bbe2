"""The size of an image is read from the first bytes of its file, and a broken file says nothing."""

import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from jieda.content.read.directory import image_size

from tests.support.small_content import edition, write


def png(width: int, height: int) -> bytes:
    """A gray picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


JPEG = b"".join(
    (
        b"\xff\xd8",
        b"\xff\xe0\x00\x10JFIF\x00" + bytes(9),
        b"\xff\xc4\x00\x05abc",  # a Huffman table, whose marker lies among those of frames
        b"\xff\xc2\x00\x0b\x08\x01\x2c\x03\x84\x01\x01\x11\x00",
        b"\xff\xda\x00\x02",
    )
)
SAMPLES = {
    "png": (png(900, 300), (900, 300)),
    "gif": (b"GIF89a\x84\x03\x2c\x01\x80\x00\x00;", (900, 300)),
    "jpeg": (JPEG, (900, 300)),
    "webp lossy": (b"RIFF\x30\x00\x00\x00WEBPVP8 \x20\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x84\x03\x2c\x41", (900, 300)),
    "webp lossless": (
        b"RIFF\x30\x00\x00\x00WEBPVP8L\x20\x00\x00\x00\x2f" + struct.pack("<I", 899 | 299 << 14 | 1 << 28),
        (900, 300),
    ),
    "webp extended": (
        b"RIFF\x30\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x83\x03\x00\x2b\x01\x00",
        (900, 300),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_width_and_height_are_in_the_file(name: str) -> None:
    content, size = SAMPLES[name]
    assert image_size(content) == size


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_that_ends_too_early_says_nothing_and_breaks_nothing(name: str) -> None:
    content, size = SAMPLES[name]
    assert {image_size(content[:length]) for length in range(len(content))} <= {None, size}
    assert image_size(content[:9]) is None


def test_what_is_no_image_has_no_size() -> None:
    for content in (
        b"",
        b"<svg/>",
        b"RIFF\x00\x00\x00\x00WAVEfmt ",
        b"\xff\xd8\xff\xd9",
        b"GIF89a" + bytes(8),
    ):
        assert image_size(content) is None


def test_a_page_knows_the_size_of_its_images_whatever_they_are_called(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    body = "## Answer\n\n![wide](<./é 图 (1)@2x.png>) and ![odd](odd.png)\n"
    folder = write(tmp_path, {"en/roll/a.md": edition("A", body)})
    (folder / "en/roll/e\u0301 图 (1)@2x.png").write_bytes(png(640, 20))  # as macOS names it
    (folder / "en/roll/odd.png").write_bytes(b"no picture at all")
    client = serve(folder)
    html = client.get("/en/entries/roll/a").text
    wide = re.search(r'src="([^"]*)" alt="wide" width="640" height="20"', html)
    assert wide
    assert client.get(wide[1]).content == png(640, 20)
    assert 'odd.png" alt="odd" loading' in html
