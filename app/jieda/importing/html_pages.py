"""Reads a page of HTML as elements."""

from collections.abc import Mapping
from html.parser import HTMLParser

from jieda.content.markdown.body import walk
from jieda.entry import NO_TEXT
from jieda.importing.elements import HEADINGS, MARKUP, Element, Lines, write_blocks

SILENT, SILENT_NAMES, LANDMARKS, CONTENT, EMPTY, SCOPES = (
    frozenset(MARKUP["html"][name].split())
    for name in ("silent", "silent_names", "landmarks", "content", "empty", "scopes")
)
ENDED_BY: Mapping[str, str] = MARKUP["html"]["ended_by"]


class TreeBuilder(HTMLParser):
    """Collects the elements of a page below `root`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", 0)
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ENDED_BY:
            self._close(ENDED_BY[tag], SCOPES)
        attributes = {name: value or "" for name, value in attrs}
        element = Element(tag, self._line(), attributes=attributes)
        if not self._is_silent(element):
            self._open[-1].children.append(element)
        if tag not in EMPTY:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self._close(tag)

    def handle_data(self, data: str) -> None:
        """Add text; its line is that of its first word."""
        before = data[: len(data) - len(data.lstrip())]
        self._open[-1].children.append(Element("", self._line() + before.count("\n"), NO_TEXT.sub("", data)))

    def _line(self) -> int:
        return self.getpos()[0] - 1

    def _close(self, names: str, scopes: frozenset[str] = frozenset()) -> None:
        """End the innermost open element with one of the names, unless one of `scopes` is open inside it."""
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].name in names.split():
                del self._open[at:]
                return
            if self._open[at].name in scopes:
                return

    def _is_silent(self, element: Element) -> bool:
        attributes = element.attributes
        names = set(attributes.get("class", "").split())
        # The id of another element, or of a section, is from its heading.
        if element.name == "div" and "section" not in names:
            names.add(attributes.get("id", ""))
        if SILENT_NAMES & names:
            return True
        if element.name not in {"header", "aside"}:
            return element.name in SILENT or attributes.get("role") in LANDMARKS
        # A header or notice of a part of the page is not that of the site.
        around = {name for each in self._open for name in (each.name, each.attributes.get("role", ""))}
        return CONTENT.isdisjoint(around)


def _holds_page(element: Element) -> bool:
    """Whether an element holds a page, as a form of ASP.NET does, instead of a small part of it."""
    return sum(each.name in HEADINGS or each.asks for each in walk([element])) > 1


def _label_tabs(root: Element) -> None:
    """Put the label of each tab above its text, in bold, if they are linked."""
    tabs: dict[str, Element] = {}
    for each in walk([root]):
        if each.attributes.get("role") == "tab" and each.attributes.get("id"):
            tabs[each.attributes["id"]] = each
        elif each.name in {"div", "section"} and (
            tab := tabs.pop(each.attributes.get("aria-labelledby", ""), None)
        ):
            label = Element("strong", each.line, children=tab.children)
            each.children.insert(0, Element("p", each.line, children=[label]))
            tab.children = []
        elif "sd-tab-label" in each.attributes.get("class", ""):
            each.name = "strong"


def html_to_markdown(text: str) -> Lines:
    """Return the page as Markdown."""
    builder = TreeBuilder()
    builder.feed(text)
    builder.close()
    for each in walk([builder.root]):
        each.children = [child for child in each.children if child.name != "form" or _holds_page(child)]
    _label_tabs(builder.root)
    # What is outside of the main part, such as the help of the site, belongs to every page.
    mains = [each for each in walk([builder.root]) if "main" in (each.name, each.attributes.get("role"))]
    return write_blocks(mains[0] if len(mains) == 1 and _holds_page(mains[0]) else builder.root)
