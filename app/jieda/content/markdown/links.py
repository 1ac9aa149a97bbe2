"""What the address of a link or an image in an entry means, and whether it may be written.

Entries link to one another by relative `.md` path, so that the links work in a git host, too. Pages
get `entry:` and `entry-image:` addresses instead, which the web layer turns into real ones.
"""

import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from jieda.entry import Language

ENTRY_SCHEME = "entry:"
IMAGE_SCHEME = "entry-image:"
IMAGE_TYPES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""No SVG: it can carry script."""

_EXTERNAL = re.compile(r"https?://[^/\s\\?#@]+(?:[/?#][^\s\\]*)?|mailto:[^\s/\\@]+@[^\s/\\@]+", re.IGNORECASE)
_ENTRY_PATH = re.compile(r"(?:en|zh)/(?P<id>[A-Za-z0-9][\w.-]*/[a-z0-9][a-z0-9-]*)\.md", re.ASCII)
_IMAGE_NAME = re.compile(r"(?:\./)?(?P<name>\w[\w.-]*)")
_ANCHOR = re.compile(r"[\w.-]+")


class LinkKind(StrEnum):
    """Where a link leads."""

    EXTERNAL = "external"
    ANCHOR = "anchor"
    ENTRY = "entry"
    IMAGE = "image"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Link:
    """`target`: the address (external), the entry id, `<framework>/<file name>` (image), or as written.

    `line` is the line of the file in which the paragraph with the link starts. `size`: width and height of
    an image in pixels, once it is known.
    """

    kind: LinkKind
    target: str
    anchor: str
    line: int
    written: str
    size: tuple[int, int] | None = None

    @property
    def href(self) -> str:
        """What stands in the HTML. Unescaped."""
        if self.kind is LinkKind.EXTERNAL:
            return self.target
        fragment = f"#{self.anchor}" if self.anchor else ""
        prefix = {LinkKind.ENTRY: ENTRY_SCHEME, LinkKind.IMAGE: IMAGE_SCHEME}.get(self.kind, "")
        return f"{prefix}{self.target}{fragment}"


def read_link(href: str, lang: Language, framework: str, line: int) -> Link:
    """What a link in an edition under `<lang>/<framework>/` points to."""
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
    """What an image in an edition of `framework` points to: a file beside it, of an allowed type."""
    match = _IMAGE_NAME.fullmatch(unquote(src))
    if match and posixpath.splitext(match["name"])[1].lower() in IMAGE_TYPES:
        return Link(LinkKind.IMAGE, f"{framework}/{match['name']}", "", line, src)
    return Link(LinkKind.REFUSED, "", "", line, src)
