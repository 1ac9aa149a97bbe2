"""Writes elements, named as in HTML, as Markdown lines with their origins, for pages in HTML and reStructuredText."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from urllib.parse import unquote

from jieda.content.markdown.body import walk
from jieda.importing.wording import WORDING

Lines = list[tuple[str, int]]
"""Lines of Markdown, each with its line in the file, counted from 0."""

MARKUP = tomllib.loads(Path(__file__).with_name("markup.toml").read_text(encoding="utf-8"))
NOTICES, NOTICE_CLASSES = (frozenset(MARKUP[name].split()) for name in ("notices", "notice_classes"))
INLINE: Mapping[str, str] = MARKUP["inline"]
UNRAISED = re.compile(r"\s*(?:(?:st|nd|rd|th|er|tm)\b|\[)", re.IGNORECASE)
"""What is no exponent though it is raised: `1<sup>st</sup>`, the mark of a footnote."""
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
BLOCKS = HEADINGS | frozenset(MARKUP["blocks"].split())
QUESTION = "#### "
"""Prefix of a `<dt>`, and of an element with a class such as `faq-question`; the definition or answer follows below."""

_ASKED = re.compile(
    r"(?:question|expand-control|(?:accordion|toggle)[\w-]*[-_](?:title|header|heading|button))(?:\s|$)",
    re.IGNORECASE,
)
_TITLES = re.compile(r"(?:^|[\s_-])(?:title|heading)(?:\s|$)", re.IGNORECASE)
_REDIRECT = re.compile(r"https://www\.google\.com/url\?q=([^&]*).*")
"""How Google Docs writes the address of a link."""
_BULLET = re.compile(r"font-family:\s*[\"']?(?:Wingdings\b(?s:.*)\n.|Symbol\b(?s:.*)\n[·\uf0b7])\Z")
"""Style and text of a bullet of Word, a letter in a font of symbols."""
_SELF_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(#(?:[^()]|\([^()]*\))*\)")
"""A heading or question that is a link to itself or to its answer."""
_ENDS_ITEM = re.compile(r"(?<=[\w`])(?<!&lt);$")
_ONLY_LINK = re.compile(r"[\d.\s]*\[[^\]]*\]\([^)]*\)")
_LESS = re.compile(r"(?P<code>`[^`]+`)|(?P<tag>(?<!\w)</?\w[^<>`]*>)|<")
_BEGINS_BLOCK = re.compile(r"#|- |\d+\. |>|```|~~~|\||<details")


@dataclass(slots=True)
class Element:
    """An element of a page, or a piece of `text`, which has no name. `line`: its line in the file, counted from 0.
    Names that HTML does not have: `term` and `definition`, which become a definition list, while a `<dt>` becomes a
    heading."""

    name: str
    line: int
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list["Element"] = field(default_factory=list)

    @property
    def asks(self) -> bool:
        """Whether its name or class marks it as a question."""
        # A title that is no link, as Elementor writes them.
        can_ask = self.name in BLOCKS or (self.name == "a" and not self.attributes.get("href"))
        return self.name == "dt" or (can_ask and bool(_ASKED.search(self.attributes.get("class", ""))))


def write_blocks(parent: Element) -> Lines:
    """Return the content of an element as Markdown blocks, each followed by a blank line."""
    lines: Lines = []
    run: list[Element] = []
    for child in parent.children:
        if not _is_block(child):
            run.append(child)
            continue
        lines += _paragraph(run)
        run = []
        lines += _question(child) if child.asks else _WRITERS.get(child.name, _other)(child)
    return lines + _paragraph(run)


def _is_block(element: Element) -> bool:
    return element.name in BLOCKS or element.asks or any(map(_is_block, element.children))


def _paragraph(run: Sequence[Element]) -> Lines:
    text = _inline(run).strip()
    pieces = (piece for piece in walk(run) if piece.text.strip() or piece.name == "img")
    return _block(text, next(pieces).line) if text else []


def _block(text: str, line: int) -> Lines:
    return [(text, line), ("", line)]


def _inline(elements: Sequence[Element]) -> str:
    return re.sub(" {2,}", " ", "".join(map(_inline_text, elements)))


def _inline_text(element: Element) -> str:
    """Write an element as inline Markdown; blocks in it become plain text."""
    name, attributes = element.name, element.attributes
    if (mark := INLINE.get(name, "`" if name == "pre" else "")) == "`":
        code = " ".join("".join(" " if each.name == "br" else each.text for each in walk([element])).split())
        return " " if not code else f"`` {code} ``" if "`" in code else f"`{code}`"
    text = _LESS.sub(_less, re.sub(r"\s+", " ", element.text)) + _inline(element.children)
    if _BULLET.search(f"{attributes.get('style', '')}\n{text.strip()}"):
        return "- "
    if mark or (name == "sup" and not UNRAISED.match(text)):
        # Spaces within the marks would keep them from being read.
        return re.sub(r"\S(?:.*\S)?", lambda match: f"{mark or '^'}{match[0]}{mark}", text)
    if name == "a":
        return _link(_REDIRECT.sub(lambda match: unquote(match[1]), attributes.get("href", "")), text)
    if name == "img":
        return f"![{attributes.get('alt', '')}]({attributes.get('src', '')})"
    if name in {"ul", "ol"}:
        items = (_ENDS_ITEM.sub("", _inline([each]).strip()) for each in element.children)
        text = "; ".join(filter(None, items))
    return f" {text} " if name in BLOCKS or name in {"br", "td", "th"} else text


def _link(address: str, text: str) -> str:
    if address == "#" or (address.startswith("#") and not re.search(r"[^\W\d]{2}", text)):
        # It is a button, the `¶` that links a heading to itself, or the mark of a footnote.
        return text if re.search(r"\w", text) else ""
    return f"[{text}]({address})" if address and text.strip() else text


def _less(match: re.Match[str]) -> str:
    """Write a tag that a text mentions as code: in Markdown it would be a tag."""
    return match["code"] or (f"`{match['tag']}`" if match["tag"] else "&lt;")


def _heading(element: Element) -> Lines:
    text, anchor = _without_self_link(_inline(element.children).strip()), element.attributes.get("anchor")
    written = f"{'#' * int(element.name[1])} {text}" + (f" {{#{anchor}}}" if anchor else "")
    return _block(written, element.line) if text else []


def _without_self_link(text: str) -> str:
    return match[1] if (match := _SELF_LINK.fullmatch(text)) else text


def _question(element: Element) -> Lines:
    """Mark the first paragraph of an element as a question, or as a list item if it is only a link."""
    lines = write_blocks(element)
    # DocBook puts the number of a question in a cell of its own.
    lines = lines[2:] if len(lines) > 2 and re.fullmatch(r"[\d.*]+", lines[0][0]) else lines
    if lines and not _BEGINS_BLOCK.match(lines[0][0]):
        text = _without_self_link(lines[0][0].rstrip(" +-−▼▾"))
        lines[0] = (f"{'- ' if _ONLY_LINK.fullmatch(text) else QUESTION}{text}", element.line)
    return lines


def _list(element: Element) -> Lines:
    lines: Lines = []
    start = element.attributes.get("start", "")
    number = int(start) if re.fullmatch(r"[0-9]{1,9}", start) else 1
    for child in element.children:
        mark = "- " if element.name == "ul" else f"{number}. "
        # An item that begins with a collapsible box is one.
        filled = (each.name for each in child.children if each.name or each.text.strip())
        if child.name == "li" and next(filled, "") == "details":
            lines += write_blocks(child)
        elif child.name == "li":
            lines += _item(child, mark)
            number += 1
        else:
            blocks = write_blocks(Element("", child.line, children=[child]))
            lines += indented(blocks, mark)
    return lines


def _item(element: Element, mark: str = "- ") -> Lines:
    if not (blocks := write_blocks(element)):
        return []
    (text, _), *others = blocks
    return [(f"{mark}{text}", element.line), *indented(others, mark)]


def indented(lines: Lines, mark: str) -> Lines:
    """Indent lines, except blank ones, by the width of a mark."""
    return [(indent(text, " " * len(mark)), line) for text, line in lines]


def _code(element: Element) -> Lines:
    text = "".join("\n" if each.name == "br" else each.text for each in walk([element]))
    lines = [(line, at) for at, line in enumerate(text.rstrip().split("\n"), element.line)]
    # A line break next to a tag is not part of the code.
    lines = lines[1:] if not lines[0][0].strip() else lines
    fence = "~~~~" if "```" in text else "```"
    opening = (f"{fence}{element.attributes.get('language', '')}", element.line)
    return [opening, *lines, *_block(fence, lines[-1][1])] if lines else []


def _quotation(element: Element) -> Lines:
    lines = write_blocks(element)
    while lines and not lines[-1][0]:
        lines.pop()
    return [*((f"> {text}".rstrip(), line) for text, line in lines), ("", element.line)]


def _other(element: Element) -> Lines:
    """Write an element without a writer; a notice as a quotation that begins with its title in bold, unless it is a
    part of the page with a heading of its own."""
    if not NOTICE_CLASSES & set(element.attributes.get("class", "").split()):
        return write_blocks(element)
    blocks = [each for each in walk(element.children) if each.name in BLOCKS]
    title = next((each for each in blocks if _TITLES.search(each.attributes.get("class", ""))), None)
    if any(each.name in HEADINGS or each.asks for each in blocks if each is not title):
        return write_blocks(element)
    if title:
        title.name, title.children = "p", [Element("strong", title.line, children=title.children)]
    return _quotation(element)


def _details(element: Element) -> Lines:
    lines = write_blocks(element)
    ends = lines[-1][1] if lines else element.line
    return [*_block("<details>", element.line), *lines, *_block("</details>", ends)]


def _table(element: Element) -> Lines:
    """Write a table, or only its blocks if it lays out a page: if it contains headings, questions or tables, or without
    header cells other blocks or rows that are not equally long."""
    descendants = list(walk(element.children))
    layout = any(each.name in HEADINGS | {"table", "details"} or each.asks for each in descendants)
    rows = [(cells, each.line) for each in descendants if each.name == "tr" and (cells := _cells(each))]
    widths = {len(cells) for cells, _ in rows}
    if not any(each.name == "th" for each in descendants):
        layout |= len(rows) < 2 or len(widths) > 1 or max(widths) < 2
        layout |= any(each.name in BLOCKS - {"tr", "p", "div"} for each in descendants)
        layout |= any(WORDING.marked(cell) for cells, _ in rows for cell in cells)
        layout |= any(
            re.search("[?？]", cell) or WORDING.asks(cell) for cells, _ in rows[:1] for cell in cells
        )
    if layout:
        return write_blocks(element)
    width = max(widths, default=0)
    padded = [([*cells, *[""] * (width - len(cells))], line) for cells, line in rows]
    padded[1:1] = [(["---"] * width, line) for _, line in padded[:1]]
    lines = [(f"| {' | '.join(cells)} |", line) for cells, line in padded]
    return [*lines, ("", lines[-1][1])] if lines else []


def _cells(row: Element) -> list[str]:
    texts = (_inline(each.children) for each in row.children if each.name in {"td", "th"})
    return [" ".join(text.split()).replace("|", "\\|") for text in texts]


_WRITERS: Mapping[str, Callable[[Element], Lines]] = {
    **dict.fromkeys(HEADINGS, _heading),
    **dict.fromkeys(("ul", "ol"), _list),
    "li": _item,
    "pre": _code,
    "blockquote": _quotation,
    "details": _details,
    "summary": lambda element: _block(
        f"<summary>{_inline(element.children).strip()}</summary>", element.line
    ),
    "table": _table,
    "term": lambda element: [(_inline(element.children).strip(), element.line)],
    "definition": lambda element: _item(element, ": "),
    "hr": lambda element: _block("---", element.line),
}
