"""Converts extensions of Markdown: headings as HTML, collapsible boxes of site generators (`::: details`,
`??? question`, `<Accordion title=…>`, a question with `:` below it), notices, tabs, shortcodes and MDX components."""

import re
from collections import Counter
from collections.abc import Iterator

from jieda.importing.elements import NOTICES, Lines, indented
from jieda.importing.outline import ATTRIBUTES, code_lines, fence_after, plain

_BOX_OPENING = re.compile(
    r"^(?P<fence>:{3,}|/{3,})\s*details\s+(?:\|\s*)?(?P<fenced>\S.*?)(?:\s+\{\w+\})?$"
    r"|^(?P<myst>:{3,}|`{3,})\{(?:dropdown|rubric)\}\s+(?P<directive>\S.*)$"
    r"|^\{\{[<%]\s*details\s+(?:\w+=)?\"(?P<shortcode>[^\"]+)\".*[>%]\}\}\s*$"
    r"|^\s*<(?P<tag>(?:Accordion|Details|Collaps|Expand)\w*)\s(?:.*\s)?(?:title|summary)="
    r"(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)').*(?<!/)>\s*$"
)
"""Opening line of a box with a closing line: VitePress, VuePress, PyMdown, MyST, Hugo, components of MDX."""
_COMPONENT = re.compile(
    r"^\s*<(?P<close>/?)(?P<name>(?!Accordion|Details|Collaps|Expand)[A-Z][\w.]*)"
    r"(?P<rest>(?:\s[^<>]*)?)(?<!/)>\s*$"
)
"""A line with only an MDX tag, which would make Markdown read the lines below it as HTML."""
_LABEL = re.compile(r"\b(?:label|title)=(?:\"(?P<double>[^\"]+)\"|'(?P<single>[^']+)')")
_TAB = re.compile(
    r"^\s*(?:\{\{[<%]\s*tab\s+(?:\w+=)?\"([^\"]+)\".*[>%]\}\}|\{%\s*tab\s+title=\"([^\"]+)\".*%\}"
    r"|@tab(?::active)?\s+([^#]*[^#\s]).*)\s*$"
)
"""Opening line of a tab: Hugo, GitBook, VuePress."""
_INDENTED = re.compile(
    r"^(?P<indent> *)(?:(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)(?:[^\"]*\"(?P<title>.*)\")?"
    r"|===[!+]?\s+\"(?P<tab>.+)\")\s*$"
)
"""Opening line of a box, notice or tab whose text is indented: MkDocs."""
_ASKING = frozenset({"question", "faq", "help"})
"""Kinds of boxes whose title is a question."""
_FENCED = re.compile(
    r"^(?P<fence>:{3,}(?!\s*\{)|[:`]{3,}"
    rf"(?=\s*\{{(?:admonition|seealso|{'|'.join(sorted(NOTICES))})\}}))"
    r"\s*\{?(?P<kind>\w[\w-]*)\}?\s*(?P<title>.*)$"
)
"""Opening line of a notice with a closing line: Docusaurus, VitePress, MyST."""
_ALERT = re.compile(r"^(\s*>\s*)\[!(\w+)\][+-]?\s*(.*?)\s*$")
"""First line of a quotation that is a notice: GitHub, VitePress, Obsidian."""
_MARK = re.compile(
    rf"^\s*(?:</?[A-Z]\w*>|\{{[{{%].*[%}}]\}}|:{{3,}}(?:\s*\{{[^{{}}]*[.=#][^{{}}]*\}})?|{ATTRIBUTES.pattern})\s*$"
    r"|^ {0,3}(?i:\[{1,2}_?toc_?\]{1,2})\s*$"
    r"|^(?:import\s+(?:[\w*{].*?\bfrom\b\s*)?['\"]|export\s+(?:const|default|function|\{))"
)
"""A line with only a tag of MDX, a shortcode, the end of a notice, a place for contents, or attributes of kramdown; or
an import or export of MDX."""
_HIGHLIGHT = re.compile(
    r"^(\s*)\{[{%][<%-]?\s*(?:highlight\s+([\w+#-]+).*|(?:end|/\s*)highlight\s*)[>%-]?[%}]\}\s*$"
)
"""First or last line of code: Jekyll, Hugo."""
_GROUPS = frozenset({"code-group", "code-tabs", "tabs"})
"""Kinds of boxes that only hold code or tabs."""
_OPTIONS = {
    "/": re.compile(r" {4}[a-z][\w-]*: "),
    r"\s*[:`]{3,}\s*\{": re.compile(r"\s*(?::[a-z][\w-]*:(?:\s|$)|$)"),
    "": re.compile(r"(?!)"),
}
"""Options below the opening line of a box: PyMdown, MyST, none of the others."""
_TERM = re.compile(r"^\S.*[?？]\s*$")
_DEFINED = re.compile(r"^:[ \t]+(?=\S)")
_HEADING = re.compile(
    r"<h(?P<level>[1-6])(?:\s[^>]*?\b(?:id|name)=[\"']?(?P<anchor>[\w.:-]+))?[^>]*>"
    r"(?P<title>.*?)</h(?P=level)\s*>[ \t]*(?:\n|$)",
    re.IGNORECASE | re.DOTALL,
)
MOST_LINES = 8
"""Maximum number of lines of an HTML heading, and of those to search for the first text of a component."""
MOST_ABOVE = 500
"""Maximum number of lines to search for the list item that holds a box."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_INDENT = re.compile(r"^(?: {4}|\t)")

Converted = tuple[Lines, int]
"""Converted lines, and the number of the source line after them."""


def open_boxes(text: str) -> Lines:
    """Return the page with each box as `<details>`, each notice as a quotation, each heading as Markdown, and the
    labels of tabs in bold."""
    written = text.split("\n")
    code = code_lines(written)
    fenced = [line if at in code else _HIGHLIGHT.sub(r"\1```\2", line) for at, line in enumerate(written)]
    lines = list(_open_components(fenced))
    converted = _convert_lines([line for line, _ in lines])
    return [(line, lines[number][1]) for line, number in converted]


def _open_components(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the lines without the tags of components and without the indentation of their content; labels of components
    are kept."""
    tags = [_COMPONENT.match(line) for line in lines]
    closings = Counter(tag["name"] for tag in tags if tag and tag["close"])
    opened: list[tuple[str, int]] = []
    open_names: Counter[str] = Counter()
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
            closed = ""
            while open_names[name] and closed != name:
                closed, _ = opened.pop()
                open_names[closed] -= 1
        elif closings[name] > 0:
            open_names[name] += 1
            first = next((each for each in lines[at + 1 : at + 1 + MOST_LINES] if each.strip()), "")
            opened.append((name, len(first) - len(first.lstrip(" "))))
        label = _LABEL.search(tag["rest"])
        yield from _spaced(f"**{label['double'] or label['single']}:**", at) if label else [("", at)]


def _fence_after(fence: str, line: str) -> str:
    # A box or notice of MyST is written like a code block.
    return fence_after(fence, "" if _BOX_OPENING.match(line) or _FENCED.match(line.lstrip()) else line)


def _spaced(line: str, at: int) -> Lines:
    return [("", at), (line, at), ("", at)]


def _convert_lines(lines: list[str]) -> Iterator[tuple[str, int]]:
    at, fence = 0, ""
    while at < len(lines):
        before, fence = fence, _fence_after(fence, lines[at])
        conversions = (convert(lines, at) for convert in (() if before or fence else CONVERTERS))
        text, at = next(filter(None, conversions), ([(lines[at], at)], at + 1))
        yield from text


def _convert_content(lines: list[str], first: int, end: int, indent: str = "") -> Lines:
    """Convert the text of a box, without its indentation and the blank lines after it."""
    bare = [line.removeprefix(indent) for line in lines[first:end]]
    if _INDENT.match(next(filter(str.strip, bare), "")):
        bare = [_INDENT.sub("", line) for line in bare]
    text = [(line, first + number) for line, number in _convert_lines(bare)]
    while text and not text[-1][0]:
        text.pop()
    return text


def _details(title: str, content: Lines, at: int, end: int) -> Lines:
    return [(f"<details><summary>{title}</summary>", at), ("", at), *content, *_spaced("</details>", end - 1)]


def _quotation(title: str, content: Lines, at: int, end: int) -> Lines:
    head = [(f"**{title}**", at), ("", at)] if title else []
    quoted = [(f"> {line}".rstrip(), number) for line, number in [*head, *content]]
    return [("", at), *quoted, ("", end - 1)]


def _convert_heading(lines: list[str], at: int) -> Converted | None:
    """Convert an HTML heading at the start of a line."""
    if lines[at][:2].casefold() != "<h":
        return None
    match = _HEADING.match("\n".join(lines[at : at + MOST_LINES]))
    title = " ".join(match["title"].split()) if match else ""
    if match is None or not plain(title):
        return None
    anchor = f" {{#{match['anchor']}}}" if match["anchor"] else ""
    after = at + match[0].rstrip().count("\n") + 1
    return _spaced(f"{'#' * int(match['level'])} {title}{anchor}", at), after


def _closing_mark(line: str) -> str:
    """Return the mark that closes the box that opens on a line; empty if none opens."""
    match = _BOX_OPENING.match(line)
    return (match["fence"] or match["myst"] or f"/{match['tag'] or 'details'}") if match else ""


def _convert_closed(lines: list[str], at: int) -> Converted | None:
    """Convert a box up to its closing line, or else up to where the next box with the same mark opens."""
    match = _BOX_OPENING.match(lines[at])
    if match is None:
        return None
    mark = _closing_mark(lines[at])
    below = range(at + 1, len(lines))
    ends = (
        number for number in below if mark in (lines[number].strip(" \t{<%>}"), _closing_mark(lines[number]))
    )
    end = next(ends, len(lines))
    title = next(filter(None, match.group("fenced", "directive", "shortcode", "double", "single")))
    after = end + (end < len(lines) and not _closing_mark(lines[end]))
    return _details(title, _convert_content(lines, _after_options(lines, at, end), end), at, end), after


def _after_options(lines: list[str], at: int, end: int) -> int:
    """Return the number of the first line of a box that is no option of it."""
    option = next(option for opening, option in _OPTIONS.items() if re.match(opening, lines[at]))
    return next((number for number in range(at + 1, end) if not option.match(lines[number])), end)


def _convert_indented(lines: list[str], at: int) -> Converted | None:
    match = _INDENTED.match(lines[at])
    if match is None:
        return None
    indent, title, kind = match["indent"], match["title"], match["kind"]
    end = _end_of_indented(lines, at + 1, indent)
    content = _convert_content(lines, at + 1, end, indent)
    if match["tab"]:
        text = [*_spaced(f"**{match['tab']}:**", at), *content, ("", end - 1)]
    elif title and kind in _ASKING and not indent:
        text = _details(title, content, at, end)
    else:
        text = _quotation(kind.capitalize() if title is None else title, content, at, end)
    return indented(text, indent), end


def _convert_fenced(lines: list[str], at: int) -> Converted | None:
    bare = lines[at].lstrip()
    match = _FENCED.match(bare)
    if match is None:
        return None
    indent = lines[at].removesuffix(bare)
    title = match["title"].strip(" \"'[]{}") or match["kind"].capitalize()
    below = range(at + 1, len(lines))
    end = next((number for number in below if lines[number].strip() == match["fence"]), None)
    if end is None:
        return _spaced(f"**{title}**", at), at + 1
    content = _convert_content(lines, _after_options(lines, at, end), end, indent)
    text = content if match["kind"] in _GROUPS else _quotation(title, content, at, end)
    above = (lines[number] for number in range(at - 1, max(at - MOST_ABOVE, -1) if indent else at, -1))
    outer = next((line for line in above if line.strip() and not line.startswith(indent)), "")
    return indented(text, indent if _ITEM.match(outer) else ""), end + 1


def _convert_quotation(lines: list[str], at: int) -> Converted | None:
    """Convert a quotation of GitLab, between two lines of `>>>`, which are also empty prompts of Python."""
    if lines[at].rstrip() != ">>>" or (at and lines[at - 1].strip()):
        return None
    number = next((each for each in range(at + 1, len(lines)) if re.match("#|>>>", lines[each])), at)
    if number == at or lines[number].rstrip() != ">>>":
        return None
    return _quotation("", _convert_content(lines, at + 1, number), at, number), number + 1


def _convert_term(lines: list[str], at: int) -> Converted | None:
    """Convert a question whose answer is below it, after a colon."""
    below = next((number for number in range(at + 1, min(at + 3, len(lines))) if lines[number].strip()), at)
    if below == at or not _TERM.match(lines[at]) or not (defined := _DEFINED.match(lines[below])):
        return None
    end = _end_of_indented(lines, below + 1, "")
    lines[below] = f"    {lines[below][defined.end() :]}"
    return _details(lines[at].strip(), _convert_content(lines, below, end), at, end), end


def _convert_line(lines: list[str], at: int) -> Converted | None:
    if tab := _TAB.match(lines[at]):
        return _spaced(f"**{next(filter(None, tab.groups()))}:**", at), at + 1
    if alert := _ALERT.match(lines[at]):
        title = alert[3].replace("**", "") or alert[2].capitalize()
        return [(f"{alert[1]}**{title}**", at), (alert[1].rstrip(), at)], at + 1
    return ([("", at)], at + 1) if _MARK.match(lines[at]) else None


CONVERTERS = (
    _convert_heading,
    _convert_closed,
    _convert_indented,
    _convert_fenced,
    _convert_quotation,
    _convert_term,
    _convert_line,
)
"""Converters of the block that begins on a line. The first that does not return None is used."""


def _end_of_indented(lines: list[str], first: int, indent: str) -> int:
    """Return the number of the first line from `first` that is not indented by four columns more than `indent`."""
    inner = re.compile(rf"^{indent}(?: {{4}}|\t)")
    return next(
        (at for at in range(first, len(lines)) if lines[at].strip() and not inner.match(lines[at])),
        len(lines),
    )
