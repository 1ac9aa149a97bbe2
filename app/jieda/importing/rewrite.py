"""Tidies the Markdown of an answer: converts HTML and JSX, links and images."""

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urljoin

from jieda.content.markdown.body import BARE_ADDRESS
from jieda.content.markdown.links import IMAGE_TYPES, LinkKind, read_link, slug
from jieda.entry import Language
from jieda.importing.elements import INLINE, MARKUP, UNRAISED
from jieda.importing.html_pages import html_to_markdown
from jieda.importing.outline import ATTRIBUTES, all_code_lines, between_spans, decode

_ATTRIBUTE = r"""\b{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|\{{?["'`]?([^"'`}}\s>]+))"""
_DROPPED = "|".join(MARKUP["dropped"].split())
_COMPONENT = rf"[A-Z][\w.]*|(?:{'|'.join(MARKUP['components'].split())})\b"
_TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>(?:{_DROPPED}|b|strong|i|em|code|kbd|tt|br|img|summary)\b|(?P<other>{_COMPONENT}))"
    r"(?P<rest>[^<>]*)>"
)
_ATTRIBUTES = re.compile(
    rf"(?:(?<=[\x00)\]])|(?<=[^\s(/\\][*_]))"
    rf"(?:{ATTRIBUTES.pattern}|\{{(?:\s*(?:[.#][A-Za-z_-][\w-]*|[a-z-]+=\"[^\"{{}}]*\"))+\s*\}})"
)
"""Attributes of what precedes: kramdown, pandoc."""
_SPANNED = re.compile(r"(?<![\]\\])\[([^\[\]\\]*)\]\{[.#][A-Za-z_-][^{}\n]*\}")
_WIKI_LINK = re.compile(
    r"(?<![\w\\])(?:(?P<embed>!)\[\[|\[\[(?!(?a:[a-z_][\w.]*)\]\]))(?=[^\W\d]|#)"
    r"(?P<page>[^\[\]|#\n\\:=,\"$]*)"
    r"(?:#(?P<heading>[^\[\]|\n\\]+))?(?:\\?\|(?P<text>[^\[\]\n]+))?\]\](?!\()"
)
"""A link or an embedded image of Obsidian. A list of numbers or names, a condition of a shell, an attribute of C++ such
as `[[nodiscard]]` and `[[1]](address)` are none."""
_CLOSED = re.compile(rf"</({_COMPONENT})\s*>|<([A-Z][\w.]*)\b[^<>]*/>")
_SPACED: Mapping[tuple[str, str], str] = {
    ("br", ""): " ",
    ("br", "/"): " ",
    ("sup", ""): "^",
    ("summary", ""): "\n\n**",
    ("summary", "/"): "**\n\n",
}
_TABLE = re.compile(r"^<table\b(?:(?!<table\b).)*?</table\s*>", re.DOTALL | re.MULTILINE)
_ANCHOR = re.compile(r"<a\b(?P<rest>[^<>]*)>(?P<text>.*?)</a>", re.IGNORECASE | re.DOTALL)
_EDGE = re.compile(
    r"[\s\u200b]*|[ \u200b]{0,3}"
    r"(?:-{3,}|={3,}|\*{3,}|_{3,}|(?:<br\s*/?>|</?details>|</?p>|</?div>|</summary>)+)[\s\u200b]*",
    re.IGNORECASE,
)


def trim(lines: Sequence[str]) -> list[str]:
    """Remove blank lines, rules and empty tags at both ends."""
    start, end = 0, len(lines)
    while start < end and _EDGE.fullmatch(lines[start]):
        start += 1
    while end > start and _EDGE.fullmatch(lines[end - 1]):
        end -= 1
    return list(lines[start:end])


def dedent(lines: Sequence[str]) -> list[str]:
    """Remove the indentation of the first line, up to eight columns, from each line as far as it has it."""
    filled = [line for line in lines if line.strip()]
    first = len(filled[0]) - len(filled[0].lstrip(" ")) if filled else 0
    if not 0 < first <= 8:
        return list(lines)
    return [line[min(first, len(line) - len(line.lstrip(" "))) :] for line in lines]


def tidy(text: str) -> str:
    """Convert or remove tags, which are not Markdown; code stays as it is."""
    return re.sub(r"\n{3,}", "\n\n", outside_code(text, _tags)).strip("\n")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to all text outside code blocks and code spans."""
    lines = text.split("\n")
    code = all_code_lines(text)
    parts: list[str] = []
    for is_code, numbers in groupby(range(len(lines)), code.__contains__):
        part = "\n".join(lines[number] for number in numbers)
        parts.append(part if is_code else between_spans(part, change))
    return "\n".join(parts)


def _tags(text: str) -> str:
    # Components are closed; `List<String>` and `<text>`, which stands for one, are not.
    closed = {name for pair in _CLOSED.findall(text) for name in pair}
    text = _TABLE.sub(_table, text) if "</table" in text else text
    text = _ANCHOR.sub(_link, _ATTRIBUTES.sub("", _SPANNED.sub(r"\1", text)))
    text = decode(_TAG.sub(lambda match: _tag(match, closed), text))
    return _WIKI_LINK.sub(_wiki_link, text)  # last: `<a guide.md>` would be a tag


def _table(match: re.Match[str]) -> str:
    # A placeholder of a code span would be lost, and so would Markdown, which stands between blank lines.
    lines = [] if re.search(r"\x00|\n\s*\n", match[0]) else html_to_markdown(match[0])
    table = "\n".join(line for line, _ in lines)
    return f"\n{table}\n" if table else match[0]


def _attribute(rest: str, name: str) -> str:
    match = re.search(_ATTRIBUTE.format(name=name), rest)
    return next((value for value in match.groups() if value), "") if match else ""


def _link(match: re.Match[str]) -> str:
    address, text = _attribute(match["rest"], "href"), match["text"].strip()
    return f"[{text}]({address})" if address and text else match["text"]


def _wiki_link(match: re.Match[str]) -> str:
    page, heading, text = match["page"].strip(), match["heading"] or "", match["text"] or ""
    if match["embed"] and Path(page).suffix.lower() in IMAGE_TYPES:
        return f"![{Path(page).stem}](<{page}>)"
    address = (f"{page}.md" if page else "") + (f"#{heading}" if heading else "")
    return f"[{text or page or heading}](<{address}>)" if page or heading else match[0]


def _tag(match: re.Match[str], components: set[str]) -> str:
    name, rest = match["name"], match["rest"]
    if match["other"]:
        return "" if name in components else match[0]
    if name in INLINE:
        return INLINE[name]
    if name == "img":
        address = _attribute(rest, "src")
        return f"![{_attribute(rest, 'alt')}]({address})" if address else ""
    if name == "sup" and UNRAISED.match(match.string, match.end()):
        return ""
    return _SPACED.get((name, match["close"]), "")


_INLINE = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]!]|!(?!\[)|!?\[[^\[\]]*\])*+)\]"
    r"\(\s*(?P<target><[^<>]*>|(?:[^()\s]|\([^()]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_INLINE_OR_BARE = re.compile(rf"{_INLINE.pattern}|(?<!<)(?<!\]\(){BARE_ADDRESS.pattern}")
_REFERENCE = re.compile(r"(?P<image>!?)\[(?P<text>(?!\^)[^\[\]]+)\](?:\[(?P<label>[^\[\]]*)\])?(?![(:\[])")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]^][^\]]*)\]:\s+\S+.*\n?", re.MULTILINE)
_LANGUAGE_SUFFIX = re.compile(r"[._-](?:en|zh|zh[-_](?:cn|hans))$", re.IGNORECASE)


WHOLE_PAGE = ""
"""Anchor that stands for all of a page that is one entry: every link to the page leads to the entry."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Data to resolve the addresses on a page. `base`: web address of the page, or empty. `entries`: for each page of
    the same import, by path and by `page_stem`, a map of anchors and their keys to entry ids, with the id of a page
    that is one entry under WHOLE_PAGE. `references`: the page's reference links."""

    path: Path
    base: str
    entries: Mapping[Path, dict[str, str]]
    references: Mapping[str, str]


@dataclass(slots=True)
class LinkRewriter:
    """Rewrites the addresses in an answer for the entry `entry_slug`. `anchors`: old to new ones in the answer; `lost`:
    broken links, which are now plain text; `images`: files to be copied, by new name; `linked_images`: others, which
    are now links or text."""

    targets: Targets
    entry_slug: str
    anchors: Mapping[str, str]
    lost: list[str] = field(default_factory=list)
    images: dict[str, Path] = field(default_factory=dict)
    linked_images: list[str] = field(default_factory=list)

    def rewrite(self, text: str) -> str:
        return outside_code(text, self._rewrite_prose)

    def _rewrite_prose(self, text: str) -> str:
        known = self.targets.references
        inlined = _inline_references(text, known)
        # A line such as `[INFO]: up and running` defines no address.
        prose = _DEFINITION.sub(lambda match: "" if _label(match[1]) in known else match[0], inlined)
        return _INLINE_OR_BARE.sub(self._replacement, prose)

    def _replacement(self, match: re.Match[str]) -> str:
        if match["target"] is None:
            # In an entry, a bare address is a link only in angle brackets.
            return f"<{match[0]}>"
        label, target = match["text"], match["target"].strip("<>")
        if match["image"]:
            return self._image(label, target)
        label = _INLINE.sub(self._replacement, label)
        address = self._address(target, self.anchors)
        if address is None:
            self.lost.append(target)
            return label
        # A picture that became a link cannot be one within a link.
        label = _INLINE.sub(lambda inner: inner[0] if inner["image"] else inner["text"], label)
        return f"[{label}]({address})"

    def _address(self, target: str, anchors: Mapping[str, str]) -> str | None:
        """Return the address of a link in the entry; None if its target is neither imported nor on the web."""
        targets = self.targets
        path, _, fragment = target.partition("#")
        fragment = unquote(fragment)
        if not path and fragment in anchors:
            return f"#{anchors[fragment]}"
        if not re.match(r"[a-z][a-z0-9+.-]*:|//", path, re.IGNORECASE):
            ids = _anchors_of(path, targets)
            entry_id = ids.get(fragment) or ids.get(anchor_key(fragment)) or (path and ids.get(WHOLE_PAGE))
            if entry_id and entry_id.partition("/")[2] != self.entry_slug:
                return f"{entry_id.rpartition('/')[2]}.md"
        address = urljoin(targets.base, target) if targets.base else target
        return address if read_link(address, Language.EN, "", 0).kind is LinkKind.EXTERNAL else None

    def _image(self, label: str, target: str) -> str:
        """Copy an image on disk; turn any other into a link, because pages load nothing from other hosts."""
        file = self.targets.path.parent / unquote(target.partition("?")[0].partition("#")[0])
        local = not re.match(r"[a-z]+:|//|/", target, re.IGNORECASE) and file.is_file()
        if local and file.suffix.lower() in IMAGE_TYPES:
            base = slug(file.stem)[:120]
            stem, suffix = f"{self.entry_slug}-{base if base.isascii() else 'image'}", file.suffix.lower()
            name, count, source = f"{stem}{suffix}", 1, file.resolve()
            while self.images.get(name, source) != source:
                count += 1
                name = f"{stem}-{count}{suffix}"
            self.images[name] = source
            return f"![{label}]({name})"
        self.linked_images.append(target)
        address = self._address(target, {})
        return f"[{label or target.rpartition('/')[2]}]({address})" if address else label


def anchor_key(text: str) -> str:
    """Return the letters and digits of a title or anchor: what replaces the rest differs between site generators."""
    return re.sub(r"[\W_]+", "", slug(text))


def _label(text: str) -> str:
    return " ".join(text.split()).upper()


def _inline_references(text: str, references: Mapping[str, str]) -> str:
    """Convert reference links to inline ones, since the definitions are not imported."""

    def inline(match: re.Match[str]) -> str:
        label = _label(match["label"] or match["text"])
        return f"{match['image']}[{match['text']}]({references[label]})" if label in references else match[0]

    return _REFERENCE.sub(inline, text) if references else text


def _anchors_of(path: str, targets: Targets) -> Mapping[str, str]:
    """Return the anchors of the page at `path`, which may differ in its suffix and language."""
    if not path:
        return targets.entries.get(targets.path, {})
    target = (targets.path.parent / unquote(path)).resolve()
    return ChainMap(*(targets.entries.get(each, {}) for each in (target, page_stem(target))))


def page_stem(path: Path) -> Path:
    """Return the path of a page without its suffix and language."""
    name = re.sub(r"\.(?:mdx?|markdown|rst|html?)$", "", path.name)
    return path.parent / _LANGUAGE_SUFFIX.sub("", name)
