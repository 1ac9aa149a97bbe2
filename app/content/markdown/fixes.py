"""Whether a fix can be followed without the rest of its page: diagnosis, the API and agents show it alone.

What a program can see of that: words that point to another part of the page, a section that holds nothing but
a link, and a line of code that is spoken of in a fix that names no file. Whether the fix names the right file,
parameter and value, and the condition under which it applies, only a reader can tell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.content.markdown.body import PlacedHeading

FENCE = re.compile(r"\s*(```|~~~)")
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[[^\]]*\]\([^)]*\)")
LETTER = re.compile(r"[^\W\d_]")

ELSEWHERE = re.compile(
    # "above 0.5" and "below the limit" compare; "see above", "the table above." and "(below)" point.
    r"\b(?:see|as|shown|described|listed|mentioned|explained|given) (?:above|below)\b"
    r"|\b(?:above|below)(?=\s*(?:[.,;:)]|$))|\bthe (?:above|below|previous|preceding|former) \w+"
    r"|上面|上文|上述|(?<!上)下文|见上|见下|如上|前文|前面(?:的|提到|说过|说的)",
    re.IGNORECASE,
)
A_LINE = re.compile(r"\b(?:the|this|that) line\b(?! of (?:output|the log))|[这那该]一?行", re.IGNORECASE)
FILE = re.compile(r"[\w-]\.[a-z]\w{0,5}\b|/|\b(?:file|script|yaml|json)\b|文件|脚本", re.IGNORECASE)

FEWEST_LETTERS = 8
"""Of what stands beside links: with fewer, the fix is the link."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the fix outside code blocks: its number in the file, as written, and without code spans."""

    number: int
    text: str
    prose: str


def leanings(raw: str, headings: Sequence[PlacedHeading]) -> Iterator[tuple[int, str]]:
    """Where the fix of a file leans on the rest of its page, or on a page elsewhere: line and message.

    `raw` is the whole file; `headings` tell where its sections start.
    """
    lines, has_code = _fix_of(raw, headings)
    names_file = any(FILE.search(line.text) for line in lines)
    if lines and not has_code and _is_only_a_link(lines):
        yield lines[0].number, "the fix is only a link: say here what to do"
    for line in lines:
        if pointer := ELSEWHERE.search(line.prose):
            yield (
                line.number,
                f"the fix says {pointer[0].strip()!r}, and is shown without the rest of the page",
            )
        if not names_file and (spoken := A_LINE.search(line.prose)):
            yield line.number, f"the fix says {spoken[0]!r} and names no file"


def _fix_of(raw: str, headings: Sequence[PlacedHeading]) -> tuple[list[_Line], bool]:
    """The lines of the section `fix` that are not blank, and whether it has a code block."""
    sections = [placed for placed in headings if placed.section]
    starts = [placed.line for placed in sections if placed.heading.anchor == "fix"]
    if not starts:
        return [], False
    written = raw.splitlines()
    end = min((placed.line - 1 for placed in sections if placed.line > starts[0]), default=len(written))
    lines: list[_Line] = []
    fenced = has_code = False
    for number, text in enumerate(written[starts[0] : end], starts[0] + 1):
        if FENCE.match(text):
            fenced, has_code = not fenced, True
        elif not fenced and text.strip():
            lines.append(_Line(number, text, CODE_SPAN.sub("", text)))
    return lines, has_code


def _is_only_a_link(lines: list[_Line]) -> bool:
    text = " ".join(line.text for line in lines)
    return bool(LINK.search(text)) and len(LETTER.findall(LINK.sub("", text))) < FEWEST_LETTERS
