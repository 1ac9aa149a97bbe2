"""Style and script without comments, indentation and spaces around punctuation.

A client that takes no gzip would otherwise load more of these than of the page. Names are not shortened and
lines of script are not joined, so what fails in a browser can still be found in the source.
"""

import re
from collections.abc import Mapping, Sequence

Rule = tuple[re.Pattern[str], str]

RULES: Mapping[str, Sequence[Rule]] = {
    ".css": (
        (re.compile(r"/\*.*?\*/", re.DOTALL), ""),
        (re.compile(r"\s+"), " "),
        # A colon keeps the space before it: `.a :is(b)` is another selector than `.a:is(b)`.
        (re.compile(r" ?([{};,]) ?"), r"\1"),
        (re.compile(r": "), ":"),
        (re.compile(r";}"), "}"),
    ),
    ".js": (
        (re.compile(r"^\s*(//|/\*).*$", re.MULTILINE), ""),
        (re.compile(r" // .*$", re.MULTILINE), ""),
        (re.compile(r"\s*\n\s*"), "\n"),
    ),
}
"""By the ending of the file name. They hold for how our own files are written: a string in the style has no
two spaces and no punctuation of the third rule, the script no text over several lines."""


def minified(suffix: str, text: str) -> str:
    """`text` of a file whose name ends in `suffix`, shorter and with the same meaning."""
    for pattern, replacement in RULES.get(suffix, ()):
        text = pattern.sub(replacement, text)
    return text.strip()
