"""Converts extensions of Markdown: headings as HTML, collapsible boxes of site generators (`::: details`,
`??? question`, `<Accordion title=…>`, a question with `:` below it), notices and tabs whose text is set in, and
components of MDX."""

import re
from collections import Counter
from collections.abc import Iterator

from jieda.importing.elements import Lines
from jieda.importing.outline import fence_after, plain

CLOSED = re.compile(
    r"^(?P<fence>:{3,}|/{3,})\s*details\s+(?:\|\s*)?(?P<fenced>\S.*)$"
    r"|^(?P<myst>:{3,}|`{3,})\{(?:dropdown|rubric)\}\s+(?P<directive>\S.*)$"
    r"|^\{\{[<%]\s*details\s+(?:\w+=)?\"(?P<shortcode>[^\"]+)\".*[>%]\}\}\s*$"
    r"|^\s*<(?P<tag>(?:Accordion|Details|Collaps|Expand)\w*)\s(?:.*\s)?(?:title|summary)="
    r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)').*(?<!/)>\s*$"
)
"""Opening line of a box with a closing line: VitePress, VuePress, PyMdown, MyST, Hugo, components of MDX."""
SET_IN = re.compile(r"^(?:\?\?\?\+?|!!!)\s+(?:question|faq|help)\b[^\"]*\"(?P<title>.+)\"\s*$")
"""Opening line of a box whose text is indented: MkDocs."""
_COMPONENT = re.compile(
    r"^\s*<(?P<close>/?)(?P<name>(?!Accordion|Details|Collaps|Expand)[A-Z][\w.]*)"
    r"(?P<rest>(?:\s[^<>]*)?)(?<!/)>\s*$"
)
"""A line with only an MDX tag, which would make Markdown read the lines below it as HTML."""
_BARE_TAG = re.compile(r"^\s*</?[A-Z]\w*>\s*$")
"""The same without attributes: a box without a title."""
_LABEL = re.compile(r"\b(?:label|title)=(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)')")
_TAB = re.compile(
    r"^\s*(?:\{\{[<%]\s*tab\s+(?:\w+=)?\"(?P<hugo>[^\"]+)\".*[>%]\}\}|\{%\s*tab\s+title=\"(?P<gitbook>[^\"]+)\".*%\})\s*$"
)
"""Opening line of a tab: Hugo, GitBook."""
_SET_IN_TEXT = re.compile(
    r"^(?P<indent> *)(?:(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)(?:[^\"]*\"(?P<title>.*)\")?"
    r"|===[!+]?\s+\"(?P<tab>.+)\")\s*$"
)
"""Opening line of a notice or tab whose text is indented: MkDocs."""
_OPTION = re.compile(r"^ {4}[a-z][\w-]*: ")
_TERM = re.compile(r"^\S.*[?？]\s*$")
_DEFINED = re.compile(r"^:[ \t]+(?=\S)")
_HEADING = re.compile(
    r"<h(?P<level>[1-6])(?:\s[^>]*?\b(?:id|name)=[\"']?(?P<anchor>[\w.:-]+))?[^>]*>"
    r"(?P<title>.*?)</h(?P=level)\s*>[ \t]*(?:\n|$)",
    re.IGNORECASE | re.DOTALL,
)
MOST_BLANK = 8
"""Maximum of lines in which the first text of a component is looked for."""
MOST_HEADING_LINES = 8
"""Maximum of lines of a heading written as HTML."""
_INDENT = re.compile(r"^(?: {4}|\t)")


def open_boxes(text: str) -> Lines:
    """Return the page with each box as `<details>`, each heading as Markdown, and the labels of tabs in bold."""
    lines = list(_open_components(text.split("\n")))
    converted = _convert_lines([line for line, _ in lines])
    return [(line, lines[number][1]) for line, number in converted]


def _open_components(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the lines without the tags of components, and without the indentation that these give to what is in them;
    labels of components are kept."""
    tags = [_COMPONENT.match(line) for line in lines]
    closings = Counter(tag["name"] for tag in tags if tag and tag["close"])
    opened: list[tuple[str, int]] = []
    names: Counter[str] = Counter()
    fence = ""
    for at, (line, tag) in enumerate(zip(lines, tags, strict=True)):
        before, fence = fence, _fence_after(fence, line)
        if before or fence or tag is None:
            width = opened[-1][1] if opened else 0
            yield line[min(width, len(line) - len(line.lstrip(" "))) :], at
            continue
        name = tag["name"]
        if tag["close"]:
            closings[name] -= 1
            inner = ""
            while names[name] and inner != name:
                inner, _ = opened.pop()
                names[inner] -= 1
        elif closings[name] > 0:
            names[name] += 1
            first = next((each for each in lines[at + 1 : at + 1 + MOST_BLANK] if each.strip()), "")
            opened.append((name, len(first) - len(first.lstrip(" "))))
        label = _LABEL.search(tag["rest"])
        yield from _labeled(f"**{label['double'] or label['single']}:**" if label else "", at)


def _fence_after(fence: str, line: str) -> str:
    # A box of MyST is written like a code block.
    return fence_after(fence, "" if CLOSED.match(line) else line)


def _labeled(line: str, at: int) -> Iterator[tuple[str, int]]:
    yield from ((each, at) for each in (("", line, "") if line else ("",)))


def _convert_lines(lines: list[str]) -> Iterator[tuple[str, int]]:
    at, fence = 0, ""
    while at < len(lines):
        before, fence = fence, _fence_after(fence, lines[at])
        fenced = bool(before or fence)
        if not fenced and (heading := _heading(lines, at)):
            text, count = heading
            yield from _labeled(text, at)
            at += count
            continue
        title, body, end, behind = ("", at, at, at) if fenced else _box(lines, at)
        if title:
            yield from ((line, at) for line in (f"<details><summary>{title}</summary>", ""))
            inside = [_INDENT.sub("", line) for line in lines[body:end]]
            yield from ((line, body + number) for line, number in _convert_lines(inside))
            yield from ((line, end - 1) for line in ("", "</details>", ""))
            at = behind
            continue
        set_in = None if fenced else _SET_IN_TEXT.match(lines[at])
        end = _end_of_indented(lines, at + 1, set_in["indent"]) if set_in else at
        if set_in and any(map(str.strip, lines[at + 1 : end])):
            yield from _set_in_text(set_in, lines, at, end)
            at = end
            continue
        line = "" if not fenced and _BARE_TAG.match(lines[at]) else lines[at]
        tab = None if fenced else _TAB.match(line)
        yield from _labeled(f"**{tab['hugo'] or tab['gitbook']}:**", at) if tab else [(line, at)]
        at += 1


def _set_in_text(opening: re.Match[str], lines: list[str], at: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield a notice as a quotation with a bold title, a tab as a bold label and its text."""
    indent, tab = opening["indent"], opening["tab"]
    inside = _convert_lines([line[len(indent) + 4 :] for line in lines[at + 1 : end]])
    text = [(line, at + 1 + number) for line, number in inside]
    while text and not text[-1][0]:
        text.pop()
    if tab:
        text = [("", at), (f"**{tab}:**", at), ("", at), *text, ("", end - 1)]
    else:
        title = opening["kind"].capitalize() if opening["title"] is None else opening["title"]
        head = [(f"**{title}**", at), ("", at)] if title else []
        quoted = [(f"> {line}".rstrip(), number) for line, number in [*head, *text]]
        text = [("", at), *quoted, ("", end - 1)]
    yield from (((f"{indent}{line}" if line else ""), number) for line, number in text)


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


def _closing(line: str) -> str:
    """Return what closes the box that opens on a line; empty if none does."""
    match = CLOSED.match(line)
    return (match["fence"] or match["myst"] or f"/{match['tag'] or 'details'}") if match else ""


def _box(lines: list[str], at: int) -> tuple[str, int, int, int]:
    """Return title of the box that opens on a line, or empty, start and end of its text, and the line after it. Without
    a closing line, it ends where the next one like it opens."""
    line = lines[at]
    if match := CLOSED.match(line):
        closing = _closing(line)
        inside = range(at + 1, len(lines))
        ends = (
            number
            for number in inside
            if closing in (lines[number].strip(" \t{<%>}"), _closing(lines[number]))
        )
        end = next(ends, len(lines))
        title = next(filter(None, match.group("fenced", "directive", "shortcode", "double", "single")))
        options = (number for number in inside if not _OPTION.match(lines[number]))
        behind = end + (end < len(lines) and not _closing(lines[end]))
        return title, next(options, end) if line[0] == "/" else at + 1, end, behind
    if match := SET_IN.match(line):
        end = _end_of_indented(lines, at + 1, "")
        return match["title"], at + 1, end, end
    below = next((number for number in range(at + 1, min(at + 3, len(lines))) if lines[number].strip()), at)
    if below > at and _TERM.match(line) and (defined := _DEFINED.match(lines[below])):
        lines[below] = "    " + lines[below][defined.end() :]
        end = _end_of_indented(lines, below, "")
        return line.strip(), below, end, end
    return "", at, at, at


def _end_of_indented(lines: list[str], first: int, indent: str) -> int:
    """Return the line that ends a text set in by four columns more than `indent`."""
    inner = re.compile(rf"^{indent}(?: {{4}}|\t)")
    return next(
        (at for at in range(first, len(lines)) if lines[at].strip() and not inner.match(lines[at])),
        len(lines),
    )
