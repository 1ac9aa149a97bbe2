"""What a log says to tell that nothing is wrong: counters at zero, empty lists, settings. It names troubles, too."""

import re
from collections.abc import Sequence
from itertools import zip_longest

TROUBLES = frozenset(
    "aborted corrupted dead dropped errors exceptions failed failures faults hangs infs inf killed lost nan nans ooms"
    " overflows pending restarts retries skipped timeouts unhealthy warnings".split()
)
"""What counters count. In lower case: a `KeyError: 0` is about the key 0."""
_LAST_WORDS = 3

_ZERO = re.compile(
    r"(?<![\w.])((?:[A-Za-z\d#-]{1,30}+[ _]){0,8}+(?:[A-Za-z\d#-]{1,30}+)?)['\"]?\s{0,4}+[:=]\s{0,8}+"
    r"0(?:\.0{1,8})?%?(?![\w.])"
)
_NONE_OF = re.compile(r"(?<![\w.])(?:0|no) (?:[a-z]{1,20} )?([a-z]{1,20})(?=\s{0,4}(?:[,;.|)]|$))")
_BREAK = re.compile("[ _]")
_EMPTY = re.compile(r"(?:[\w /-]{1,40}:\s{0,8})?\((?:no|none)\b[^()]{0,60}\)")
_EMPTY_LIST = re.compile(r"\s{0,20}\((?:no|none)\b[^()]{0,60}\)\s{0,20}")
_HEADING = re.compile(r"\s{0,20}[A-Z][\w /-]{1,40}:\s{0,20}")
# An argument and its value, as Megatron prints all of them at its start.
_SETTING = re.compile(r"\s{0,20}\w{1,80} \.{3,100} \S.{0,200}")


def without_all_clear(texts: Sequence[str]) -> list[str]:
    """The lines of a log with a space in the place of all that speaks of troubles only to deny them."""
    return [_cleared(text, below) for text, below in zip_longest(texts, texts[1:], fillvalue="")]


def _cleared(text: str, below: str) -> str:
    """`text`, which is the heading of an empty list where the line `below` it says so."""
    if _SETTING.fullmatch(text) or (_EMPTY_LIST.fullmatch(below) and _HEADING.fullmatch(text)):
        return " "
    if "(no" in text:
        text = _EMPTY.sub(" ", text)
    if "0" in text or "no " in text:
        text = _NONE_OF.sub(_unless_trouble, _ZERO.sub(_unless_trouble, text))
    return text


def _unless_trouble(counted: re.Match[str]) -> str:
    words = _BREAK.split(counted[1].rstrip(" _"))
    return counted[0] if TROUBLES.isdisjoint(words[-_LAST_WORDS:]) else " "
