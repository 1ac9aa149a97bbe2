"""Converts extensions of Markdown: headings as HTML, and collapsible boxes of site generators (`::: details`,
`??? question`, `<Accordion title=…>`, a question with `:` below it)."""

import re
from collections.abc import Iterator

from jieda.importing.outline import plain

CLOSED = re.compile(
    r"^(?P<fence>:{3,}|/{3,})\s*details\s+(?:\|\s*)?(?P<fenced>\S.*)$"
    r"|^(?P<myst>:{3,}|`{3,})\{(?:dropdown|rubric)\}\s+(?P<directive>\S.*)$"
    r"|^\{\{[<%]\s*details\s+(?:\w+=)?\"(?P<shortcode>[^\"]+)\".*[>%]\}\}\s*$"
    r"|^\s*<(?P<tag>(?:Accordion|Details|Collaps|Expand)\w*)\s(?:.*\s)?(?:title|summary)="
    r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)').*>\s*$"
)
"""Opening line of a box with a closing line: VitePress, VuePress, PyMdown, MyST, Hugo, components of MDX."""
SET_IN = re.compile(r"^(?:\?\?\?\+?|!!!)\s+(?:question|faq|help)\b[^\"]*\"(?P<title>.+)\"\s*$")
"""Opening line of a box whose text is indented: MkDocs."""
_COMPONENT = re.compile(r"^\s*</?[A-Z]\w*>\s*$")
"""A line with only an MDX tag, which would make Markdown read the lines below it as HTML."""
_OPTION = re.compile(r"^ {4}[a-z][\w-]*: ")
_TERM = re.compile(r"^\S.*[?？]\s*$")
_DEFINED = re.compile(r"^:[ \t]+(?=\S)")
_HEADING = re.compile(
    r"<h(?P<level>[1-6])(?:\s[^>]*?\b(?:id|name)=[\"']?(?P<anchor>[\w.:-]+))?[^>]*>"
    r"(?P<title>.*?)</h(?P=level)\s*>[ \t]*(?:\n|$)",
    re.IGNORECASE | re.DOTALL,
)
MOST_HEADING_LINES = 8
"""Maximum of lines of a heading written as HTML."""
_INDENT = re.compile(r"^(?: {4}|\t)")
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}(?!\{(?:dropdown|rubric)\})|~{3,})")

Lines = list[tuple[str, int]]
"""Lines of Markdown, each with its line in the file, counted from 0."""


def open_boxes(text: str) -> Lines:
    """Return the page with each box as `<details>` and each heading as Markdown."""
    return list(_convert_lines(text.split("\n")))


def _convert_lines(lines: list[str]) -> Iterator[tuple[str, int]]:
    at, fenced = 0, False
    while at < len(lines):
        fenced ^= _FENCE.match(lines[at]) is not None
        if not fenced and (heading := _heading(lines, at)):
            text, count = heading
            yield from ((line, at) for line in ("", text, ""))
            at += count
            continue
        title, body, end, behind = ("", at, at, at) if fenced else _box(lines, at)
        if not title:
            yield "" if not fenced and _COMPONENT.match(lines[at]) else lines[at], at
            at += 1
            continue
        yield from ((line, at) for line in (f"<details><summary>{title}</summary>", ""))
        inside = [_INDENT.sub("", line) for line in lines[body:end]]
        yield from ((line, body + number) for line, number in _convert_lines(inside))
        yield from ((line, end - 1) for line in ("", "</details>", ""))
        at = behind


def _heading(lines: list[str], at: int) -> tuple[str, int] | None:
    """Convert an HTML heading at the start of a line to Markdown; also return how many lines it takes."""
    if lines[at][:2].casefold() != "<h":
        return None
    match = _HEADING.match("\n".join(lines[at : at + MOST_HEADING_LINES]))
    title = " ".join(match["title"].split()) if match else ""
    if match is None or not plain(title):
        return None
    anchor = f" {{#{match['anchor']}}}" if match["anchor"] else ""
    return f"{'#' * int(match['level'])} {title}{anchor}", match[0].rstrip().count("\n") + 1


def _box(lines: list[str], at: int) -> tuple[str, int, int, int]:
    """Return title of the box that opens on a line, or empty, start and end of its text, and the line after it."""
    line = lines[at]
    if match := CLOSED.match(line):
        closing = match["fence"] or match["myst"] or f"/{match['tag'] or 'details'}"
        inside = range(at + 1, len(lines))
        end = next((number for number in inside if lines[number].strip(" \t{<%>}") == closing), len(lines))
        title = next(filter(None, match.group("fenced", "directive", "shortcode", "double", "single")))
        options = (number for number in inside if not _OPTION.match(lines[number]))
        return title, next(options, end) if line[0] == "/" else at + 1, end, end + 1
    if match := SET_IN.match(line):
        end = _end_of_indented(lines, at + 1)
        return match["title"], at + 1, end, end
    below = next((number for number in range(at + 1, min(at + 3, len(lines))) if lines[number].strip()), at)
    if below > at and _TERM.match(line) and (defined := _DEFINED.match(lines[below])):
        lines[below] = "    " + lines[below][defined.end() :]
        end = _end_of_indented(lines, below)
        return line.strip(), below, end, end
    return "", at, at, at


def _end_of_indented(lines: list[str], first: int) -> int:
    return next(
        (at for at in range(first, len(lines)) if lines[at].strip() and not _INDENT.match(lines[at])),
        len(lines),
    )
