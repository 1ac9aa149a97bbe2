"""Removes values from messages, so that occurrences of one failure are equal."""

import re

# Order matters: the first matching kind wins.
_VALUES = (
    ("addr", r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b0x[0-9a-fA-F]{1,64}\b"),
    ("hex", r"\b[0-9a-f]{16,128}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("size", r"\b\d{1,20}(?:\.\d{1,20})? ?(?:[KMGT]i?B|[Bb]ytes)\b"),
    ("device", r"\b(?:cuda|npu|cpu):\d{1,4}\b|\b(?:GPU|gpu|[Rr]ank|device|node)[ _:=]\d{1,6}\b"),
    ("shape", r"\[\d{1,9}(?:, ?\d{1,9}){0,8}\]"),
    ("quoted", r"""'[^'\n]{0,300}'|"[^"\n]{0,300}\""""),
    ("path", r"(?<![\w<./])(?:~|\.{1,2})?/[\w.@+-]{1,200}(?:/[\w.@+-]{1,200}){1,40}/?"),
    ("num", r"(?<![\w.])[+-]?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,4})?(?!\w)"),
)
# No value begins with another character, so the regex skips most places of a message.
_BEGINNING = r"(?=[\da-fgnrGR\['\"~./+-])"

_CODE = re.compile(r"(?<!\w)(?<!\+ )0x[0-9a-fA-F]{2,8}\b")
"""More digits make an address, and `+ 0x…` is an offset."""

# Punctuation left over by removed values: `allocate . GPU`, `(, )`.
_LEFT_OVER = re.compile(r"(?<=\s)[.,;:=]{1,3}(?=\s|$)|\([\s,;:]{0,8}\)")


def _pattern(values: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile(
        _BEGINNING + "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in values) + ")"
    )


_ANY_VALUE = _pattern(_VALUES)
_WORDLESS_VALUE = _pattern(tuple(each for each in _VALUES if each[0] not in {"device", "quoted"}))


def mask(message: str) -> str:
    """Return `message` with each value replaced by its kind in braces: `{num}`, `{path}`, `{addr}`, …"""
    return _ANY_VALUE.sub(lambda found: f"{{{found.lastgroup}}}", message)


def without_values(message: str) -> str:
    """Return `message` as words to search for: without values that contain no words, with quoted text."""
    return " ".join(_LEFT_OVER.sub(" ", _WORDLESS_VALUE.sub(" ", message)).split())


def codes_in(message: str) -> tuple[str, ...]:
    """Return the hexadecimal error codes in a message, each once: `0xC0000005`."""
    return tuple(dict.fromkeys(_CODE.findall(message)))
