"""Reads a page of reStructuredText as elements, with docutils, an optional extra. Roles and directives of Sphinx, which
it does not know, are reduced to their text."""

import re
import sys
from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any

from jieda.content.markdown.body import walk
from jieda.errors import ImportingError
from jieda.importing.elements import MARKUP, NOTICES, Element, Lines, write_blocks

try:
    from docutils import core as docutils_core
except ImportError:
    docutils_core = None  # type: ignore[assignment]  # it is an optional extra

EXTRA_MISSING = (
    "reading {what} needs {package}, which is not installed; install it beside Jieda:"
    " pip install {package}, in a checkout: make install"
)
SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "syntax_highlight": "none",
    "input_encoding": "unicode",
    "line_length_limit": sys.maxsize,
    "_disable_config": True,
}
"""Settings of docutils: no inclusion of other files, no output, and every title stays a section."""

SILENT, CODE, FOLDED, PROSE_ROLES, DROPPED = (
    frozenset(MARKUP["rst"][name].split()) for name in ("silent", "code", "folded", "prose_roles", "dropped")
)
NAMES: Mapping[str, str] = MARKUP["rst"]["names"] | dict.fromkeys(NOTICES, "blockquote")
"""By kind of a docutils node: the name of the element that it becomes. Of others, only the content is kept."""

_DIRECTIVE = re.compile(
    r"\.\.\s+(?P<name>[\w:.+-]+)::[ \t]*(?P<argument>[^\n]*)\n?(?P<content>.*)", re.DOTALL
)
_OPTIONS = re.compile(r"\A(?:[ \t]*:[\w-]+:(?:[ \t].*)?(?:\n|\Z))+")
_ROLE = re.compile(r":(?:[\w.+-]+:)*(?P<role>[\w.+-]+):`(?P<text>[^`]+)`")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
ATTRIBUTES = {"uri": "src", "alt": "alt", "refuri": "href", "start": "start"}


def _element(node: Any, level: int = 0) -> Element:
    """Return the element that a node becomes. `level`: number of titles above it."""
    kind = type(node).__name__
    name = NAMES.get(kind, "")
    if kind in {"Text", "problematic"}:
        return Element("", _line(node), _ROLE.sub(_plain_role, node.astext()))
    level += kind == "section"
    children = [_element(child, level) for child in node.children if type(child).__name__ not in DROPPED]
    attributes = {name: str(node[key]) for key, name in ATTRIBUTES.items() if key in node}
    element = Element(name, _line(node), attributes=attributes, children=children)
    if change := _CHANGES.get(kind) or _CHANGES_BY_NAME.get(name):
        change(element, node, level)
    return element


def _line(node: Any) -> int:
    """Return the line of a node or its nearest ancestor that has one. For a title, docutils has the underline, and for
    a system message the end of what it is about, unless the message itself has a line."""
    at = node
    while at is not None and at.line is None:
        at = at.parent
    line = node["line"] if _is(node, "system_message") else at.line if at is not None else 1
    return max(line - (2 if _is(node, "title") else 1), 0)


def _is(node: Any, name: str) -> bool:
    return type(node).__name__ == name


def _change_title(element: Element, node: Any, level: int) -> None:
    """Make the title of a section a heading with its explicit anchor."""
    if _is(node.parent, "section"):
        names = (name for name in node.parent["names"][1:] if re.fullmatch(r"[\w.-]+", name))
        element.name, element.attributes = f"h{min(level, 6)}", {"anchor": next(names, "")}


def _change_code(element: Element, node: Any, _level: int) -> None:
    element.attributes = {"language": next((name for name in node["classes"] if name != "code"), "")}
    element.children = [Element("", element.line, node.astext())]


def _change_numbered(element: Element, node: Any, _level: int) -> None:
    """Make a list of one item `A. …` an answer, as `Q. …` is a question."""
    if node["enumtype"] == "upperalpha" and len(node.children) == 1:
        element.name = element.children[0].name = ""
        mark = Element("", element.line, f"{chr(64 + node.get('start', 1))}. ")
        content = element.children[0].children
        if not content or content[0].name != "p":
            content.insert(0, Element("p", element.line))
        content[0].children.insert(0, mark)


def _change_quotation(element: Element, node: Any, _level: int) -> None:
    """Begin a notice with its name in bold; make an indented line block plain text, not a quotation."""
    kind = type(node).__name__
    if kind != "block_quote":
        name = Element("strong", element.line, children=[Element("", element.line, kind.capitalize())])
        element.children.insert(0, Element("p", element.line, children=[name]))
    elif all(_is(child, "line_block") for child in node.children):
        element.name = ""


def _change_table(element: Element, _node: Any, _level: int) -> None:
    """Make the cells of the first row header cells."""
    rows = (each for each in walk([element]) if each.name == "tr")
    for number, row in enumerate(rows):
        for cell in row.children:
            cell.name = "td" if number else "th"


def _change_link(element: Element, node: Any, _level: int) -> None:
    if "refid" in node:
        element.attributes = {"href": f"#{node['refid']}"}


def _read_directive(element: Element, node: Any, level: int) -> None:
    """Read the text of a Sphinx directive, which docutils reports as an error, as a document of its own."""
    element.children = []
    for block in node.findall(lambda each: _is(each, "literal_block")):
        match = _DIRECTIVE.match(block.astext())
        if match and match["name"] not in SILENT:
            argument, text = match["argument"].strip(), _OPTIONS.sub("", dedent(match["content"]))
            if match["name"] in CODE:
                element.name, element.attributes = "pre", {"language": argument.partition(" ")[0]}
                element.children = [Element("", element.line, text.strip("\n"))]
                return
            summary = argument if match["name"] in FOLDED else ""
            content = _document(text if summary else f"{argument}\n\n{text}", level)
            for each in walk([content]):
                each.line = element.line
            if summary:
                element.name = "details"
                title = Element("", element.line, summary)
                element.children.append(Element("summary", element.line, children=[title]))
            element.children.append(content)


_CHANGES: Mapping[str, Callable[[Element, Any, int], None]] = {
    "title": _change_title,
    "enumerated_list": _change_numbered,
    "table": _change_table,
    "reference": _change_link,
    "system_message": _read_directive,
}
"""By kind of a node: a function that changes its element."""
_CHANGES_BY_NAME = {"blockquote": _change_quotation, "pre": _change_code}


def to_markdown(text: str) -> Lines:
    """Return the page as Markdown. Raises ImportingError without docutils."""
    if docutils_core is None:
        raise ImportingError(EXTRA_MISSING.format(what="reStructuredText", package="docutils"))
    return write_blocks(_document(text))


def _document(text: str, level: int = 0) -> Element:
    return _element(docutils_core.publish_doctree(text, settings_overrides=SETTINGS), level)


def _plain_role(match: re.Match[str]) -> str:
    """Return a role of Sphinx as text or as code."""
    prose, text = match["role"] in PROSE_ROLES, match["text"]
    if labeled := _TITLED.match(text):
        shown = labeled["title"]
    else:
        shown = text.rpartition("/")[2] if prose else text.lstrip("~!")
    return shown if prose else f"`{shown}`"
