"""Interprets the addresses of links and images in entries, and defines section titles and anchors.

Entries link to each other by relative `.md` paths, so the links also work on a git host. In the HTML they become
`entry:` and `entry-image:` addresses, which the web layer turns into real ones.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from jieda.entry import Kind, Language

ENTRY_SCHEME = "entry:"
IMAGE_SCHEME = "entry-image:"
IMAGE_TYPES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""No SVG: it can contain scripts."""

_EXTERNAL = re.compile(r"https?://[^/\s\\?#@]+(?:[/?#][^\s\\]*)?|mailto:[^\s/\\@]+@[^\s/\\@]+", re.IGNORECASE)
_ENTRY_PATH = re.compile(r"(?:en|zh)/(?P<id>[A-Za-z0-9][\w.-]*/[a-z0-9][a-z0-9-]*)\.md", re.ASCII)
_IMAGE_NAME = re.compile(r"(?:\./)?(?P<name>[^./\\:?#%\s][^/\\:?#%\x00-\x1f]*)")
_ANCHOR = re.compile(r"[\w.-]+")


class LinkKind(StrEnum):
    """The kind of a link's target."""

    EXTERNAL = "external"
    ANCHOR = "anchor"
    ENTRY = "entry"
    IMAGE = "image"
    REFUSED = "refused"
    REFUSED_IMAGE = "refused image"


@dataclass(frozen=True, slots=True)
class Link:
    """`target`: the address (external), the entry id, `<framework>/<file name>` (image), or as written.
    `line` is the link's line in the file. `size`: the width and height of an image in pixels, once known."""

    kind: LinkKind
    target: str
    anchor: str
    line: int
    written: str
    size: tuple[int, int] | None = None

    @property
    def href(self) -> str:
        """The address in the HTML, unescaped."""
        if self.kind is LinkKind.EXTERNAL:
            return self.target
        fragment = f"#{self.anchor}" if self.anchor else ""
        prefix = {LinkKind.ENTRY: ENTRY_SCHEME, LinkKind.IMAGE: IMAGE_SCHEME}.get(self.kind, "")
        return f"{prefix}{self.target}{fragment}"


def read_link(href: str, lang: Language, framework: str, line: int) -> Link:
    """Return the link for an address in an edition under `<lang>/<framework>/`."""
    if _EXTERNAL.fullmatch(href):
        return Link(LinkKind.EXTERNAL, href, "", line, href)
    path, _, fragment = href.partition("#")
    anchor = unquote(fragment)
    if fragment and not _ANCHOR.fullmatch(anchor):
        return Link(LinkKind.REFUSED, "", "", line, href)
    if not path and anchor:
        return Link(LinkKind.ANCHOR, "", anchor, line, href)
    full = posixpath.normpath(posixpath.join(lang.value, framework, unquote(path)))
    if match := _ENTRY_PATH.fullmatch(full):
        return Link(LinkKind.ENTRY, match["id"], anchor, line, href)
    return Link(LinkKind.REFUSED, "", "", line, href)


def read_image(src: str, framework: str, line: int) -> Link:
    """Return the link for an image in an edition of `framework`: a file beside it of an allowed type, in NFC."""
    match = _IMAGE_NAME.fullmatch(composed(unquote(src)))
    if match and posixpath.splitext(match["name"])[1].lower() in IMAGE_TYPES:
        return Link(LinkKind.IMAGE, f"{framework}/{match['name']}", "", line, src)
    return Link(LinkKind.REFUSED_IMAGE, "", "", line, src)


def composed(name: str) -> str:
    """Return a name in NFC. macOS stores some names decomposed, which look the same."""
    return unicodedata.normalize("NFC", name)


SECTIONS: Mapping[str, Mapping[Language, str]] = {
    key: {Language.EN: en, Language.ZH: zh}
    for key, en, zh in (
        ("symptom", "Symptom", "现象"),
        ("cause", "Cause", "原因"),
        ("fix", "Fix", "解决办法"),
        ("verify", "Check that it worked", "如何确认"),
        ("answer", "Answer", "回答"),
        ("steps", "Steps", "步骤"),
        ("example", "Example", "示例"),
        ("notes", "Notes", "说明"),
        ("see-also", "See also", "另见"),
    )
}
"""The titles of the sections by language; the keys are their anchors."""

PAGE_IDS = frozenset(
    """
    again also answer ask best context diagnosis exits foreign found framework language log log-hint log-layout main
    near offers origin preferences q recent related results tagged tied toc topics understood viewer vote vote-label
    vote-line
    """.split()
)
"""Ids used on pages that show an entry or a part of it, and therefore not available to headings."""

_KEYS = {(lang, title): key for key, titles in SECTIONS.items() for lang, title in titles.items()}


def section_key(lang: Language, title: str) -> str | None:
    """Return the anchor of a section title; None if it is not in SECTIONS."""
    return _KEYS.get((lang, title.strip()))


def missing_section(kind: Kind, keys: Iterable[str]) -> str | None:
    """Return a message about the section that an entry lacks; None if nothing is missing."""
    present = tuple(keys)
    if kind is Kind.ERROR:
        return None if "fix" in present else "an error entry needs the section `fix`"
    if present and present[0] in {"answer", "steps"}:
        return None
    return f"a {kind.value} entry starts with the section `answer` or `steps`"


def slug(text: str) -> str:
    """Return an anchor of letters and digits of any script, `_` and `-`. It is never empty."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[^\w]+", "-", folded).strip("-") or "section"


class Anchors:
    """Makes anchors that are unique within a page: `memory`, `memory-2`, …; none of them is `reserved`."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken: set[str] = set(reserved)
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return `wanted`, or the first of `wanted-2`, `wanted-3`, … that is free."""
        anchor = wanted
        while anchor in self._taken:
            number = self._next.get(wanted, 2)
            self._next[wanted] = number + 1
            anchor = f"{wanted}-{number}"
        self._taken.add(anchor)
        return anchor
