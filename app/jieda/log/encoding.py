"""Tells text from other files by its first bytes, and rewrites it as UTF-8."""

import codecs
import re
from collections.abc import Callable

BEGINNING = 1 << 12
"""Bytes by which text is told from other files."""

_UNPACKERS = {
    b"\x1f\x8b": "zcat",
    b"BZh": "bzcat",
    b"\xfd7zXZ": "xzcat",
    b"\x28\xb5\x2f\xfd": "zstdcat",
    b"PK\x03\x04": "unzip -p",
}
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16
_NO_ASCII = bytes(range(128, 256))
_GB_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+")  # the marks and characters of GB 2312
_LEAST_PAIRED = 0.7  # of bytes that are not ASCII; German in Latin-1 has two fifths
_NO_TEXT = bytes(set(range(32)) - set(b"\0\a\b\t\n\f\r\x1b"))
_MOST_NO_TEXT = 0.02  # the share of control bytes that text may have; binaries have 4 to 15 hundredths


def unpacker_of(beginning: bytes) -> str:
    """Return the program that decompresses a file that begins so; empty if the file is not compressed."""
    return next((program for magic, program in _UNPACKERS.items() if beginning.startswith(magic)), "")


def is_binary(beginning: bytes) -> bool:
    """Return whether a file that begins so is no text, in any encoding."""
    head = beginning[:BEGINNING]
    controls = len(head) - len(head.translate(None, _NO_TEXT))
    return controls > _MOST_NO_TEXT * len(head) and not head.startswith(_WIDE)


class Utf8Writer:
    """Rewrites a log as UTF-8, block by block, the first two bytes at once.

    UTF-16, as PowerShell writes it, begins with a mark. Unless another encoding than UTF-8 is declared, GB 18030, as
    Windows in Chinese writes it, is told by the first block that is not ASCII.
    """

    def __init__(self, declared: str = "utf-8") -> None:
        self._declared = declared
        self._write: Callable[[bytes], bytes] | None = None

    def __call__(self, block: bytes) -> bytes:
        if self._write is None and (self._declared != "utf-8" or not block.isascii()):
            encoding = _encoding_of(block, self._declared)
            decoder = codecs.getincrementaldecoder(encoding)("replace")
            self._write = bytes if encoding == "utf-8" else lambda block: decoder.decode(block).encode()
        return self._write(block) if self._write else block


def _encoding_of(block: bytes, declared: str) -> str:
    """Return the encoding of a log that has `block`: in GB 18030 most bytes that are not ASCII come in pairs, which are
    no UTF-8; in Latin-1 they stand alone."""
    if block.startswith(_WIDE):
        return "utf-16"
    read, _ = codecs.utf_8_decode(block, "replace")  # without a character whose end is in the next block
    lost = read.count("\ufffd")
    is_utf8 = len(read) - len(read.encode("ascii", "ignore")) >= 3 * lost  # twice as many are characters
    if declared != "utf-8" or is_utf8:
        return declared
    high = len(block) - len(block.translate(None, _NO_ASCII))
    paired = sum(map(len, _GB_PAIRS.findall(block)))
    return "gb18030" if paired > _LEAST_PAIRED * high else declared
