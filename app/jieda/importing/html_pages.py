"""HTML to Markdown, line by line with its origin: headings, paragraphs, lists, code, tables, `<details>` and links."""

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser

SILENT = frozenset(
    {
        "head",
        "title",
        "script",
        "style",
        "nav",
        "header",
        "footer",
        "aside",
        "form",
        "noscript",
        "svg",
        "template",
    }
)
"""Elements whose text is not the page's."""
INLINE = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "tt": "`"}
BREAKS = frozenset(
    "p div section article main body ul ol table tr blockquote hr figure dl tbody thead details pre li dt dd".split()
)
"""Elements that begin a block."""
HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
Lines = list[tuple[str, int]]


class PageWriter(HTMLParser):
    """Collects the lines of a page; each has the line of the source that its block begins on, counted from 0."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: Lines = []
        self._text = ""
        self._first = 0
        self._mark = ""
        self._lists: list[int] = []
        """The number of the last item of each open list; -1 where it has bullets."""
        self._silent = self._pre = self._quoted = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins a block, an emphasis or a link."""
        given = {name: value or "" for name, value in attrs}
        self._silent += tag in SILENT
        if self._silent:
            return
        if tag in HEADINGS or tag in BREAKS or tag == "summary":
            self.end_block()
        if tag in HEADINGS:
            self._mark = HEADINGS[tag]
            self._begin()
        elif tag in INLINE and not self._pre:
            self._write(INLINE[tag])
        elif tag in STARTS:
            STARTS[tag](self, given)

    def handle_endtag(self, tag: str) -> None:
        """Ends what it began."""
        if tag in SILENT:
            self._silent = max(self._silent - 1, 0)
        elif self._silent:
            return
        elif tag in INLINE and not self._pre:
            self._write(INLINE[tag])
        elif tag == "a" and self._links:
            address = self._links.pop()
            self._write(f"]({address})" if address else "")
        elif tag in HEADINGS or tag in BREAKS or tag == "summary":
            self.end_block("</summary>" if tag == "summary" else "")
            ENDS.get(tag, PageWriter.nothing)(self)

    def handle_data(self, data: str) -> None:
        """Takes text, its white space folded outside of code."""
        if not self._silent:
            self._write(data if self._pre else re.sub(r"\s+", " ", data))

    def end_block(self, behind: str = "") -> None:
        """Writes what was collected, as a block of its own."""
        text, self._text = self._text if self._pre else self._text.strip(), ""
        if not text.strip():
            return
        before = "> " * self._quoted + "  " * max(len(self._lists) - (self._mark[:1] in {"-", "1"}), 0)
        if self._pre:
            self.lines += [(f"{before}{line}", self._first + at) for at, line in enumerate(text.split("\n"))]
        else:
            self.lines += [(f"{before}{self._mark}{text}{behind}", self._first), ("", self._first)]
        self._mark = ""

    def raw(self, line: str) -> None:
        """Writes a line as it is, and a blank one."""
        self.lines += [(line, self.getpos()[0] - 1), ("", self.getpos()[0] - 1)]

    def fence(self, _given: Mapping[str, str]) -> None:
        """Begins code."""
        self.lines.append(("  " * len(self._lists) + "```", self.getpos()[0] - 1))
        self._pre += 1

    def end_fence(self) -> None:
        """Ends code."""
        self._pre = max(self._pre - 1, 0)
        self.lines += [("  " * len(self._lists) + "```", self.getpos()[0] - 1), ("", self.getpos()[0] - 1)]

    def item(self, _given: Mapping[str, str]) -> None:
        """Begins an item."""
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            self._mark = "1. "
        else:
            self._mark = "- "
        self._begin()

    def bullets(self, _given: Mapping[str, str]) -> None:
        """Begins a list with bullets."""
        self._lists.append(-1)

    def numbers(self, _given: Mapping[str, str]) -> None:
        """Begins a list with numbers."""
        self._lists.append(0)

    def end_list(self) -> None:
        """Ends a list."""
        self._lists = self._lists[:-1]

    def quote(self, _given: Mapping[str, str]) -> None:
        """Begins a quotation."""
        self._quoted += 1

    def end_quote(self) -> None:
        """Ends a quotation."""
        self._quoted = max(self._quoted - 1, 0)

    def term(self, _given: Mapping[str, str]) -> None:
        """Begins a term of a definition list: bold, for its definition stands below."""
        self._mark = "#### "
        self._begin()

    def link(self, given: Mapping[str, str]) -> None:
        """Begins a link; one within the page is an anchor or a heading's own."""
        address = given.get("href", "")
        self._links.append("" if address.startswith("#") else address)
        self._write("[" if self._links[-1] else "")

    def image(self, given: Mapping[str, str]) -> None:
        """Writes an image."""
        self._write(f"![{given.get('alt', '')}]({given.get('src', '')})")

    def line_break(self, _given: Mapping[str, str]) -> None:
        """Writes a line break."""
        self._write("\n" if self._pre else " ")

    def nothing(self) -> None:
        """Ends what needs no end."""

    def _begin(self) -> None:
        self._first = self.getpos()[0] - 1

    def _write(self, text: str) -> None:
        if not self._text.strip() and not self._mark:
            self._begin()
        self._text += text


STARTS: Mapping[str, Callable[[PageWriter, Mapping[str, str]], None]] = {
    "pre": PageWriter.fence,
    "li": PageWriter.item,
    "ul": PageWriter.bullets,
    "ol": PageWriter.numbers,
    "blockquote": PageWriter.quote,
    "dt": PageWriter.term,
    "a": PageWriter.link,
    "img": PageWriter.image,
    "br": PageWriter.line_break,
    "details": lambda writer, _given: writer.raw("<details>"),
    "summary": lambda writer, _given: writer.handle_data("<summary>"),
}
ENDS: Mapping[str, Callable[[PageWriter], None]] = {
    "pre": PageWriter.end_fence,
    "ul": PageWriter.end_list,
    "ol": PageWriter.end_list,
    "blockquote": PageWriter.end_quote,
    "details": lambda writer: writer.raw("</details>"),
}


def html_to_markdown(text: str) -> tuple[str, tuple[int, ...]]:
    """The page as Markdown, and for each of its lines the line of `text` it comes from."""
    writer = PageWriter()
    writer.feed(text)
    writer.close()
    writer.end_block()
    return "\n".join(line for line, _ in writer.lines), tuple(number for _, number in writer.lines)
