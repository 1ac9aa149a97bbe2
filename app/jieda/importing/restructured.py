"""Converts reStructuredText to Markdown with the origin of each line; no other module uses docutils.

docutils is an optional extra. Roles and directives of Sphinx, which it does not know, are reduced to their text.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from textwrap import dedent, indent
from typing import Any

from jieda.errors import ImportingError

try:
    from docutils import core as docutils_core
except ImportError:
    docutils_core = None  # type: ignore[assignment]  # it is an optional extra

EXTRA_MISSING = (
    "{name}: reading reStructuredText needs docutils, which is an optional extra; install it beside Jieda:"
    " pip install 'jieda[import]', in a checkout: .venv/bin/pip install docutils"
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

Lines = list[tuple[str, int]]
"""Lines of Markdown, each with its line in the source, counted from 0."""


class Writer:
    """Writes the nodes of a tree as Markdown. `origin`: source line of each line that was passed to docutils."""

    def __init__(self, origin: Sequence[int]) -> None:
        self._origin = origin

    def blocks(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Yield the lines of all blocks in a node, with a blank line after each."""
        for child in node.children:
            yield from self._block(child, level)

    def _block(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        return BLOCKS.get(type(node).__name__, Writer.plain)(self, node, level)

    def section(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Write a title with its explicit anchor, and the content below it."""
        for child in node.children:
            if _is(child, "title"):
                names = [name for name in node["names"][1:] if re.fullmatch(r"[\w.-]+", name)]
                anchor = f" {{#{names[0]}}}" if names else ""
                line = self._line(child)
                yield f"{'#' * min(level + 1, 6)} {inline(child)}{anchor}", line
                yield "", line
            else:
                yield from self._block(child, level + 1)

    def paragraph(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        yield inline(node), self._line(node)
        yield "", self._line(node)

    def code(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        """Write a code fence, with the language that the source gives."""
        language = next((each for each in node["classes"] if each != "code"), "")
        line = self._line(node)
        fence = "```" if "```" not in node.astext() else "~~~~"
        yield f"{fence}{language}", line
        yield from ((text, line) for text in node.astext().split("\n"))
        yield fence, line
        yield "", line

    def items(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Write a list with indented items. A single `A. …` is not a list but an answer, as `Q. …` is a question."""
        ordered = _is(node, "enumerated_list")
        start = node.get("start", 1) if ordered else 0
        lettered = ordered and node["enumtype"] == "upperalpha" and len(node.children) == 1
        for number, item in enumerate(node.children):
            mark = f"{chr(64 + start)}. " if lettered else f"{start + number}. " if ordered else "- "
            yield from self._hang(mark, item, level)

    def definitions(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Write terms as lines of their own, and definitions after a colon."""
        for item in node.children:
            for child in item.children:
                if _is(child, "term"):
                    yield inline(child), self._line(child)
                elif _is(child, "definition"):
                    yield from self._hang(": ", child, level)

    def quote(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Write a quotation, or a notice with its name in bold; an indented line block is neither."""
        name = type(node).__name__
        if all(_is(child, "line_block") for child in node.children):
            yield from self.blocks(node, level)
            return
        if name != "block_quote":
            yield f"> **{name.capitalize()}**", self._line(node)
            yield ">", self._line(node)
        written = list(self.blocks(node, level))
        while written and not written[-1][0]:
            written.pop()
        for text, line in written:
            yield f"> {text}".rstrip(), line
        yield "", self._line(node)

    def table(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        """Write a table with one line per row."""
        rows = list(node.findall(lambda each: _is(each, "row")))
        for number, row in enumerate(rows):
            cells = [" ".join(_cell(entry).split()).replace("|", "\\|") for entry in row.children]
            yield f"| {' | '.join(cells)} |", self._line(row)
            if number == 0:
                yield f"|{' --- |' * len(cells)}", self._line(row)
        yield "", self._line(node)

    def image(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        yield f"![{node.get('alt', '')}]({node['uri']})", self._line(node)
        yield "", self._line(node)

    def rule(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        yield "---", self._line(node)
        yield "", self._line(node)

    def complaint(self, node: Any, _level: int) -> Iterator[tuple[str, int]]:
        """Write a directive of Sphinx, which docutils reports as an error, by parsing its text separately."""
        for block in node.findall(lambda each: _is(each, "literal_block")):
            match = _DIRECTIVE.match(block.astext())
            if match and match["name"] not in SILENT:
                argument, text = match["argument"].strip(), _OPTION.sub("", dedent(match["content"]))
                title = argument if match["name"] in FOLDED else ""
                body = [line for line, _ in _document(text if title else f"{argument}\n\n{text}")]
                if title:
                    body = [f"<details><summary>{title}</summary>", "", *body, "</details>", ""]
                yield from ((line, self._line(node)) for line in body)

    def nothing(self, _node: Any, _level: int) -> Iterator[tuple[str, int]]:
        """Write nothing for comments, targets and the like."""
        yield from ()

    def plain(self, node: Any, level: int) -> Iterator[tuple[str, int]]:
        """Write the blocks in any other block, or its text."""
        if any(type(child).__name__ in BLOCKS for child in node.children):
            yield from self.blocks(node, level)
        elif node.astext().strip():
            yield from self.paragraph(node, level)

    def _hang(self, mark: str, node: Any, level: int) -> Iterator[tuple[str, int]]:
        lines = list(self.blocks(node, level)) or [("", self._line(node)), ("", self._line(node))]
        yield f"{mark}{lines[0][0]}".rstrip(), lines[0][1]
        for text, line in lines[1:]:
            yield indent(text, " " * max(len(mark), 2)), line

    def _line(self, node: Any) -> int:
        """Return the line of a node, or else of its nearest ancestor that has one. docutils gives the underline for a
        title, and for a system message the end of its subject, unless the message has the line of its start."""
        at = node
        while at is not None and at.line is None:
            at = at.parent
        line = node["line"] if _is(node, "system_message") else at.line if at is not None else 1
        return self._origin[max(min(line, len(self._origin)) - (2 if _is(node, "title") else 1), 0)]


def _is(node: Any, name: str) -> bool:
    """Whether docutils calls a node by this name."""
    return type(node).__name__ == name


def _cell(entry: Any) -> str:
    return " ".join(inline(child) for child in entry.children)


def inline(node: Any) -> str:
    """Write the text of a node with emphasis, code and links as Markdown."""
    parts = []
    for child in node.children:
        if _is(child, "Text"):
            parts.append(child.astext())
            continue
        write = INLINE.get(type(child).__name__)
        parts.append(write(child) if write else inline(child))
    return "".join(parts).replace("\n", " ")


def _reference(node: Any) -> str:
    address = node.get("refuri") or (f"#{node['refid']}" if node.get("refid") else "")
    text = inline(node)
    return f"[{text}]({address})" if address and text != address else text


INLINE: Mapping[str, Callable[[Any], str]] = {
    "strong": lambda node: f"**{inline(node)}**",
    "emphasis": lambda node: f"*{inline(node)}*",
    "literal": lambda node: f"`{node.astext()}`",
    "math": lambda node: f"`{node.astext()}`",
    "title_reference": lambda node: f"`{node.astext()}`",
    "problematic": lambda node: node.astext(),
    "image": lambda node: f"![{node.get('alt', '')}]({node['uri']})",
    "reference": _reference,
    "target": lambda _node: "",
    "system_message": lambda _node: "",
}

_NOTICES = "admonition attention caution danger error hint important note tip warning".split()

BLOCKS: Mapping[str, Callable[[Writer, Any, int], Iterator[tuple[str, int]]]] = {
    "section": Writer.section,
    "paragraph": Writer.paragraph,
    "literal_block": Writer.code,
    "doctest_block": Writer.code,
    "math_block": Writer.code,
    "bullet_list": Writer.items,
    "enumerated_list": Writer.items,
    "definition_list": Writer.definitions,
    "block_quote": Writer.quote,
    "table": Writer.table,
    "image": Writer.image,
    "transition": Writer.rule,
    "system_message": Writer.complaint,
    **dict.fromkeys(("comment", "target", "substitution_definition", "docinfo", "pending"), Writer.nothing),
    **dict.fromkeys(_NOTICES, Writer.quote),
}


def to_markdown(text: str, name: str) -> tuple[str, tuple[int, ...]]:
    """Return the page as Markdown, and for each of its lines the line of `text` that it is from.

    Raises ImportingError if docutils is not installed, or the page is nested too deeply.
    """
    if docutils_core is None:
        raise ImportingError(EXTRA_MISSING.format(name=name))
    try:
        lines = _document(text)
    except RecursionError:
        raise ImportingError(f"{name}: it is nested too deeply to be read") from None
    return "\n".join(line for line, _ in lines), tuple(number for _, number in lines)


def _document(text: str) -> Lines:
    read = _ROLE.sub(_plain_role, text)
    origin = accumulate((1 + line.count(_LOST) for line in read.split("\n")), initial=0)
    tree = docutils_core.publish_doctree(read.replace(_LOST, ""), settings_overrides=SETTINGS)
    return list(Writer(tuple(origin)).blocks(tree, 0))


def _plain_role(match: re.Match[str]) -> str:
    """Replace a role of Sphinx with text or a literal, and mark lost line ends; roles of docutils stay."""
    role, text = match["role"], match["text"]
    titled = _TITLED.match(text)
    if role in {"math", "emphasis", "strong", "literal", "code", "sup", "sub"}:
        return match[0]
    said = (
        titled["title"] if titled else text.rpartition("/")[2] if role in _PROSE_ROLES else text.lstrip("~!")
    )
    lost = _LOST * (match[0].count("\n") - said.count("\n"))
    return f"{said}{lost}" if role in _PROSE_ROLES else f"``{said}``{lost}"
