"""Converts HTML to Markdown with line origins: headings, paragraphs, lists, code, tables, `<details>` and links."""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from html.parser import HTMLParser

from jieda.importing.boxes import Lines

SILENT = frozenset("head title script style nav header footer aside form noscript svg template".split())
"""Elements whose text is not part of the page's content."""
LANDMARKS = frozenset("banner complementary contentinfo navigation search".split())
"""Roles that make an element such as `<div>` one of those."""
INLINE = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "tt": "`"}
BREAKS = frozenset(
    "p div section article main body ul ol table tr blockquote hr figure dl details pre li dt dd button".split()
)
"""Elements that begin a block."""
QUESTION = "#### "
"""Prefix of a term, and of an element with a class such as `faq-question`; the definition or answer follows below."""
HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
MARKS = HEADINGS | {"dt": QUESTION}
"""Prefixes of blocks."""
ONLY_LINK = re.compile(r"[\d.\s]*\[[^\]]*\]\([^)]*\)")
SIGN = re.compile(
    r"<(?P<tag>b|em|i|strong)\b[^<>]*></(?P=tag)>"
    r"|<a\b(?=[^<>]*\bhref=\"#)[^<>]*+>(?:[^\w<]{0,2}|&[\w#]+;)</a>"
)
"""An empty inline element, often an icon drawn by a style sheet, or the sign `¶` that links a heading to itself."""

_OTHERS = r"(?:(?!<(?:table|h[1-6]|details|dl)\b|<\w+\s[^<>]*question[\s\"']).)*?"
DATA_TABLE = re.compile(rf"<table\b(?>{_OTHERS}<th\b){_OTHERS}</table", re.IGNORECASE | re.DOTALL)
"""A table with header cells; others, and tables with headings, questions or tables in them, lay out a page. Any page is
searched in linear time."""


class PageWriter(HTMLParser):
    """Collects the lines of a page, each with the source line on which its block begins, counted from 0."""

    def __init__(self, data_tables: Collection[tuple[int, int]] = ()) -> None:
        """`data_tables`: the places of tables with data, as `getpos` returns them."""
        super().__init__(convert_charrefs=True)
        self.lines: Lines = []
        self._text = ""
        self._first = 0
        self._mark = ""
        self._lists: list[str] = []
        """The marks of the items of the open lists."""
        self._data_tables = data_tables
        self._rows: list[tuple[list[str], int]] | None = None
        """The rows of the open table with data, each with its source line."""
        self._in_cell = False
        self._silences = self._usual_silences = SILENT
        self._silent = self._pre = self._quoted = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if not self._silent:
            self._choose_silences(tag, given)
        self._silent += tag in self._silences
        if self._silent:
            return
        if self._rows is not None:
            self._begin_in_table(self._rows, tag, given)
            return
        if tag in HEADINGS or tag in BREAKS or tag == "summary":
            self.end_block()
        asked = tag in BREAKS and re.search(r"question(?:\s|$)", given.get("class", ""), re.IGNORECASE)
        if tag in MARKS or asked:
            self._mark = MARKS.get(tag, QUESTION)
            self._begin()
        elif tag in INLINE and not self._pre:
            self._write(INLINE[tag])
        elif tag == "pre":
            self._write_lines(f"{self._indent()}```")
            self._pre += 1
        else:
            self._begin_other(tag, given)

    def _choose_silences(self, tag: str, given: Mapping[str, str]) -> None:
        if tag in {"article", "section"}:
            # From here on, a header belongs to a part of the page.
            self._usual_silences = SILENT - {"header"}
        self._silences = self._usual_silences | ({tag} if given.get("role") in LANDMARKS else set())

    def _begin_other(self, tag: str, given: Mapping[str, str]) -> None:
        match tag:
            case "ul" | "ol":
                self._lists.append("- " if tag == "ul" else "1. ")
            case "blockquote":
                self._quoted += 1
            case "details":
                self._write_lines("<details>", "")
            case "table" if self.getpos() in self._data_tables:
                self._rows = []
            case "li":
                self._mark = self._lists[-1] if self._lists else "- "
                self._begin()
            case "a":
                # A link within the page is an anchor, such as that of a heading.
                address = given.get("href", "")
                self._links.append("" if address.startswith("#") else address)
                self._write("[" if self._links[-1] else "")
            case "img":
                self._write(f"![{given.get('alt', '')}]({given.get('src', '')})")
            case "br" | "td" | "th":
                self._write("\n" if self._pre else " ")
            case "summary":
                self.handle_data("<summary>")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silences:
            self._silent = max(self._silent - 1, 0)
            self._silences = self._silences if self._silent else self._usual_silences
        elif self._silent:
            return
        elif tag in INLINE and not self._pre:
            self._write(INLINE[tag])
        elif tag == "a" and self._links:
            address = self._links.pop()
            self._write(f"]({address})" if address else "")
        elif self._rows is not None:
            self._end_in_table(self._rows, tag)
        elif tag in HEADINGS or tag in BREAKS or tag == "summary":
            self._end_block_of(tag)

    def _end_block_of(self, tag: str) -> None:
        self.end_block("</summary>" if tag == "summary" else "")
        if tag == "pre":
            self._pre = max(self._pre - 1, 0)
            self._write_lines(f"{self._indent()}```", "")
        elif tag in {"ul", "ol"}:
            self._lists = self._lists[:-1]
        elif tag == "blockquote":
            self._quoted = max(self._quoted - 1, 0)
        elif tag == "details":
            self._write_lines("</details>", "")

    def handle_data(self, data: str) -> None:
        """Collect text, with white space collapsed outside code."""
        if not self._silent:
            self._write(data if self._pre else re.sub(r"\s+", " ", data))

    def end_block(self, behind: str = "") -> None:
        """Write the collected text as a block."""
        text, self._text = self._text if self._pre else self._text.strip(), ""
        if not text.strip():
            return
        if self._mark == QUESTION:
            text = text.rstrip(" +-−▼▾")
            self._mark = "- " if ONLY_LINK.fullmatch(text) else QUESTION
        before = "> " * self._quoted + self._indent(item=self._mark in self._lists)
        if self._pre:
            # A line break beside a tag is none of the code.
            lines = enumerate(text.rstrip().split("\n"), self._first)
            self.lines += [(f"{before}{line}", at) for at, line in lines if at > self._first or line.strip()]
        else:
            self.lines += [(f"{before}{self._mark}{text}{behind}", self._first), ("", self._first)]
        self._mark = ""

    def _begin_in_table(self, rows: list[tuple[list[str], int]], tag: str, given: Mapping[str, str]) -> None:
        """Read a tag inside a table with data, where blocks are only text."""
        if tag in {"tr", "td", "th"}:
            self._end_cell(rows)
            if tag == "tr" or not rows:
                rows.append(([], self.getpos()[0] - 1))
        if tag in {"td", "th"}:
            self._in_cell = True
        elif tag in INLINE or tag == "pre":
            self._write(INLINE.get(tag, "`"))
        elif tag in {"a", "img"}:
            self._begin_other(tag, given)
        else:
            self._write(" ")

    def _end_in_table(self, rows: list[tuple[list[str], int]], tag: str) -> None:
        if tag in {"tr", "td", "th", "table"}:
            self._end_cell(rows)
        elif tag == "pre":
            self._write("`")
        if tag == "table":
            rows = [row for row in rows if row[0]]
            width = max((len(cells) for cells, _ in rows), default=0)
            padded = [([*cells, *[""] * (width - len(cells))], first) for cells, first in rows]
            padded[1:1] = [(["---"] * width, first) for _, first in padded[:1]]
            self.lines += [(f"{self._indent()}| {' | '.join(cells)} |", first) for cells, first in padded]
            self._write_lines("")
            self._rows = None

    def _end_cell(self, rows: list[tuple[list[str], int]]) -> None:
        text, self._text = " ".join(self._text.split()), ""
        if self._in_cell:
            rows[-1][0].append(text.replace("|", "\\|"))
        self._in_cell = False

    def _indent(self, *, item: bool = False) -> str:
        """Return what indents text in the open lists, or the mark of an item of the innermost."""
        return " " * sum(map(len, self._lists[: -1 if item else None]))

    def _write_lines(self, *lines: str) -> None:
        self.lines += [(line, self.getpos()[0] - 1) for line in lines]

    def _begin(self) -> None:
        self._first = self.getpos()[0] - 1

    def _write(self, text: str) -> None:
        if not self._text.strip() and not self._mark:
            self._begin()
        self._text += text


def html_to_markdown(text: str) -> Lines:
    """Return the page as Markdown."""
    text = SIGN.sub("", text)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    tables = [(found.start(), bisect_right(starts, found.start())) for found in DATA_TABLE.finditer(text)]
    writer = PageWriter({(line, at - starts[line - 1]) for at, line in tables})
    writer.feed(text)
    writer.close()
    writer.end_block()
    return writer.lines
