"""Han characters and the wider East Asian blocks: their only definition."""

import re

HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Ideographs, with the iteration mark and the zero, as the inside of a character class."""

EAST_ASIAN = (
    r"\u1100-\u11ff\u2e80-\u2fff\u3000-\u30ff\u3100-\u31ff\u3200-\u4dbf\u4e00-\ua4cf\ua960-\ua97f"
    r"\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffee\U0001b000-\U0001b16f\U0001f200-\U0001f2ff"
    r"\U00020000-\U0003fffd"
)
"""Characters of scripts that set no space between words, punctuation and full-width forms included."""

_HAN = re.compile(f"[{HAN}]")
_EAST_ASIAN = re.compile(f"[{EAST_ASIAN}]")


def has_han(text: str) -> bool:
    """Whether any character of `text` is an ideograph."""
    return _HAN.search(text) is not None


def count_han(text: str) -> int:
    """Count the characters of `text` that are ideographs."""
    return len(_HAN.findall(text))


def is_han(character: str) -> bool:
    """Whether `character` (the first one of a longer text) is an ideograph."""
    return _HAN.match(character) is not None


def is_east_asian(character: str) -> bool:
    """Whether `character` (the first one of a longer text) belongs to `EAST_ASIAN`."""
    return _EAST_ASIAN.match(character) is not None
