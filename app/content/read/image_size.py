"""Width and height of an image, from the first bytes of its file: the page keeps its place free with them.

Sources: PNG specification §11.2.2, GIF89a §18, JPEG (ITU T.81) §B.2.2, RFC 9649 (WebP) §2.
"""

from collections.abc import Callable, Mapping
from struct import error, unpack_from

Size = tuple[int, int]
"""Width and height in pixels."""

FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG's markers that begin a frame; the three among them left out begin something else."""


def image_size(content: bytes) -> Size | None:
    """The size of a PNG, GIF, JPEG or WebP; None where the bytes are none of these or say nothing useful."""
    reader = next((read for start, read in _READERS.items() if content.startswith(start)), None)
    try:
        size = reader(content) if reader else None
    except error:
        return None
    return size if size and all(size) else None


def _png(content: bytes) -> Size:
    width, height = unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> Size:
    width, height = unpack_from("<HH", content, 6)
    return width, height


def _jpeg(content: bytes) -> Size | None:
    place = 2
    while place + 4 <= len(content) and content[place] == 0xFF:
        marker, length = unpack_from(">xBH", content, place)
        if marker in FRAMES:
            height, width = unpack_from(">HH", content, place + 5)
            return width, height
        place += 2 + length
    return None


def _webp(content: bytes) -> Size | None:
    if content[8:16] == b"WEBPVP8 ":
        width, height = unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if content[8:16] == b"WEBPVP8L":
        (bits,) = unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if content[8:16] == b"WEBPVP8X":
        width, height = unpack_from("<I", content, 24)[0], unpack_from("<I", content, 26)[0] >> 8
        return (width & 0xFFFFFF) + 1, height + 1
    return None


_READERS: Mapping[bytes, Callable[[bytes], Size | None]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"GIF87a": _gif,
    b"GIF89a": _gif,
    b"\xff\xd8": _jpeg,
    b"RIFF": _webp,
}
