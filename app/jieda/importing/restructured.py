"""Converts reStructuredText to Markdown with the origin of each line; no other module uses docutils.

docutils is an optional extra. Roles and directives of Sphinx, which it does not know, are reduced to their text.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from textwrap import dedent, indent
from typing import Any

from jieda.errors import ImportingError
from jieda.importing.boxes import Lines

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

SILENT = frozenset({"toctree", "contents", "index", "only", "meta", "raw", "include", "highlight", "sectnum"})
"""Directives whose content is not text."""
FOLDED = frozenset({"dropdown", "collapse", "details", "toggle"})
"""Directives that make their content collapsible, as `<details>` does."""

_DIRECTIVE = re.compile(
    r"\.\.\s+(?P<name>[\w:.+-]+)::[ \t]*(?P<argument>[^\n]*)\n?(?P<content>.*)", re.DOTALL
)
_OPTION = re.compile(r"^\s*:[\w-]+:.*\n?", re.MULTILINE)

_ROLE = re.compile(r":(?:[\w.+-]+:)*(?P<role>[\w.+-]+):`(?P<text>[^`]+)`")
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_LOST = "\0"
"""Placeholder for a line end inside a role, until the lines of the source have been counted."""
_PROSE_ROLES = frozenset({"ref", "doc", "term", "numref", "abbr", "guilabel", "menuselection", "any"})


class Writer:
    """Writes a tree of docutils as Markdown, with a method for each kind of block, which ends with a blank line.

    `origin`: source line of each line that was passed to docutils. `level`: number of titles above a block.
    """

    def __init__(self, origin: Sequence[int]) -> None:
        self._origin = origin

    def blocks(self, node: Any, level: int) -> Lines:
        return [line for child in node.children for line in self._block(child, level)]

    def _block(self, node: Any, level: int) -> Lines:
        write: Callable[[Any, int], Lines] | None = getattr(self, type(node).__name__, None)
        if write is not None:
            return write(node, level)
        if any(hasattr(self, type(child).__name__) for child in node.children):
            return self.blocks(node, level)
        return self.paragraph(node, level) if node.astext().strip() else []

    def _lines(self, node: Any, *texts: str) -> Lines:
        line = self._line(node)
        return [(text, line) for text in (*texts, "")]

    def section(self, node: Any, level: int) -> Lines:
        """Write a title with its explicit anchor, and the content below it."""
        title, *content = node.children
        names = [name for name in node["names"][1:] if re.fullmatch(r"[\w.-]+", name)]
        anchor = f" {{#{names[0]}}}" if names else ""
        heading = self._lines(title, f"{'#' * min(level + 1, 6)} {inline(title)}{anchor}")
        return heading + [line for child in content for line in self._block(child, level + 1)]

    def paragraph(self, node: Any, _level: int) -> Lines:
        return self._lines(node, inline(node))

    def literal_block(self, node: Any, _level: int) -> Lines:
        """Write a code fence, with the language that the source gives."""
        text = node.astext()
        language = next((each for each in node["classes"] if each != "code"), "")
        fence = "```" if "```" not in text else "~~~~"
        return self._lines(node, f"{fence}{language}", *text.split("\n"), fence)

    doctest_block = math_block = literal_block

    def bullet_list(self, node: Any, level: int) -> Lines:
        return [line for item in node.children for line in self._hang("- ", item, level)]

    def enumerated_list(self, node: Any, level: int) -> Lines:
        """Write a numbered list. A single `A. …` is not a list but an answer, as `Q. …` is a question."""
        start = node.get("start", 1)
        lettered = node["enumtype"] == "upperalpha" and len(node.children) == 1
        lines: Lines = []
        for number, item in enumerate(node.children, start):
            lines += self._hang(f"{chr(64 + number) if lettered else number}. ", item, level)
        return lines

    def definition_list(self, node: Any, level: int) -> Lines:
        """Write terms as lines of their own, and definitions after a colon."""
        lines: Lines = []
        for child in (child for item in node.children for child in item.children):
            if _is(child, "term"):
                lines.append((inline(child), self._line(child)))
            elif _is(child, "definition"):
                lines += self._hang(": ", child, level)
        return lines

    def block_quote(self, node: Any, level: int) -> Lines:
        """Write a quotation, or a notice with its name in bold; an indented line block is neither."""
        name = type(node).__name__
        written = self.blocks(node, level)
        if all(_is(child, "line_block") for child in node.children):
            return written
        while written and not written[-1][0]:
            written.pop()
        line = self._line(node)
        head = [] if name == "block_quote" else [(f"> **{name.capitalize()}**", line), (">", line)]
        return [*head, *((f"> {text}".rstrip(), at) for text, at in written), ("", line)]

    admonition = attention = caution = danger = error = hint = important = note = tip = warning = block_quote

    def table(self, node: Any, _level: int) -> Lines:
        lines: list[str] = []
        for row in node.findall(lambda each: _is(each, "row")):
            cells = (" ".join(map(inline, entry.children)) for entry in row.children)
            written = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
            lines.append(f"| {' | '.join(written)} |")
            if len(lines) == 1:
                lines.append(f"|{' --- |' * len(written)}")
        return self._lines(node, *lines)

    def image(self, node: Any, _level: int) -> Lines:
        return self._lines(node, INLINE["image"](node))

    def transition(self, node: Any, _level: int) -> Lines:
        return self._lines(node, "---")

    def system_message(self, node: Any, _level: int) -> Lines:
        """Write a directive of Sphinx, which docutils reports as an error, by parsing its text separately."""
        texts: list[str] = []
        for block in node.findall(lambda each: _is(each, "literal_block")):
            match = _DIRECTIVE.match(block.astext())
            if match and match["name"] not in SILENT:
                argument, text = match["argument"].strip(), _OPTION.sub("", dedent(match["content"]))
                title = argument if match["name"] in FOLDED else ""
                body = [line for line, _ in _document(text if title else f"{argument}\n\n{text}")]
                texts += (
                    [f"<details><summary>{title}</summary>", "", *body, "</details>", ""] if title else body
                )
        return [(text, self._line(node)) for text in texts]

    def nothing(self, _node: Any, _level: int) -> Lines:
        """Write nothing for comments, targets and the like."""
        return []

    comment = target = substitution_definition = docinfo = pending = nothing

    def _hang(self, mark: str, node: Any, level: int) -> Lines:
        (text, line), *others = self.blocks(node, level) or self._lines(node, "")
        indented = ((indent(text, " " * max(len(mark), 2)), line) for text, line in others)
        return [(f"{mark}{text}".rstrip(), line), *indented]

    def _line(self, node: Any) -> int:
        """Return the line of a node, or else of its nearest ancestor that has one. docutils gives the underline for a
        title, and for a system message the end of its subject, unless the message has the line of its start."""
        at = node
        while at is not None and at.line is None:
            at = at.parent
        line = node["line"] if _is(node, "system_message") else at.line if at is not None else 1
        return self._origin[max(min(line, len(self._origin)) - (2 if _is(node, "title") else 1), 0)]


def _is(node: Any, name: str) -> bool:
    return type(node).__name__ == name


def inline(node: Any) -> str:
    """Write the text of a node with emphasis, code and links as Markdown."""
    parts = (INLINE.get(type(child).__name__, inline)(child) for child in node.children)
    return "".join(parts).replace("\n", " ")


def _reference(node: Any) -> str:
    address = node.get("refuri") or (f"#{node['refid']}" if node.get("refid") else "")
    text = inline(node)
    return f"[{text}]({address})" if address and text != address else text


INLINE: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("Text", "problematic"), lambda node: node.astext()),
    "strong": lambda node: f"**{inline(node)}**",
    "emphasis": lambda node: f"*{inline(node)}*",
    **dict.fromkeys(("literal", "math", "title_reference"), lambda node: f"`{node.astext()}`"),
    "image": lambda node: f"![{node.get('alt', '')}]({node['uri']})",
    "reference": _reference,
    **dict.fromkeys(("target", "system_message"), lambda _node: ""),
}


def to_markdown(text: str) -> Lines:
    """Return the page as Markdown. Raises ImportingError without docutils, or if the page is nested too deeply."""
    if docutils_core is None:
        raise ImportingError(EXTRA_MISSING.format(what="reStructuredText", package="docutils"))
    try:
        return _document(text)
    except RecursionError:
        raise ImportingError("it is nested too deeply to be read") from None


def _document(text: str) -> Lines:
    read = _ROLE.sub(_plain_role, text)
    origin = accumulate((1 + line.count(_LOST) for line in read.split("\n")), initial=0)
    tree = docutils_core.publish_doctree(read.replace(_LOST, ""), settings_overrides=SETTINGS)
    return Writer(tuple(origin)).blocks(tree, 0)


def _plain_role(match: re.Match[str]) -> str:
    """Replace a role of Sphinx with text or a literal, and mark lost line ends; roles of docutils stay."""
    role, text = match["role"], match["text"]
    titled = _TITLED.match(text)
    if role in {"math", "emphasis", "strong", "literal", "code", "sup", "sub"}:
        return match[0]
    bare = text.rpartition("/")[2] if role in _PROSE_ROLES else text.lstrip("~!")
    said = titled["title"] if titled else bare
    lost = _LOST * (match[0].count("\n") - said.count("\n"))
    return f"{said}{lost}" if role in _PROSE_ROLES else f"``{said}``{lost}"
