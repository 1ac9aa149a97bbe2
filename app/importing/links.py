"""Rewrites the links and images of an answer, for an entry lies somewhere else than the page it comes from."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin

from app.content.markdown.links import IMAGE_TYPES, LinkKind, read_link
from app.content.markdown.sections import slug
from app.entry import Language
from app.importing.tidy import outside_code

_INLINE = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|!?\[[^\[\]]*\](?:\([^()]*\))?)*)\]"
    r"\(\s*(?P<target><[^<>]*>|(?:[^()\s]|\([^()]*\))*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_REFERENCE = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]+)\](?:\[(?P<label>[^\[\]]*)\])?(?![(:\[])")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]^][^\]]*\]:\s+\S+.*\n?", re.MULTILINE)
_LANGUAGE_SUFFIX = re.compile(r"[._-](?:en|zh|zh[-_](?:cn|hans))$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Targets:
    """What addresses of a page lead to.

    `entries`: for each page of the same import, by its path, anchors to entry ids. `base`: the address of the page
    on the web, or nothing. `references`: the page's reference links.
    """

    path: Path
    base: str
    lang: Language
    framework: str
    entries: Mapping[Path, Mapping[str, str]]
    references: Mapping[str, str]


@dataclass(slots=True)
class _Found:
    """What is met on the way."""

    lost: list[str] = field(default_factory=list)
    images: dict[str, Path] = field(default_factory=dict)
    linked_images: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Relinked:
    """The text; links that led nowhere and are plain text now; images to be copied, by their new file name; images
    that could not be copied and are links now."""

    text: str
    lost: tuple[str, ...]
    images: Mapping[str, Path]
    linked_images: tuple[str, ...]


def relink(text: str, targets: Targets, entry_slug: str, anchors: Mapping[str, str]) -> Relinked:
    """The text with every address fit for the entry `entry_slug`; `anchors` are those inside the answer itself."""
    found = _Found()

    def resolve(image: str, label: str, target: str) -> str:
        if image:
            return _image(label, target, targets, entry_slug, found)
        address = _address(target, targets, entry_slug, anchors)
        if address is None:
            found.lost.append(target)
            return label
        return f"[{label}]({address})"

    def change(prose: str) -> str:
        return _inline(_DEFINITION.sub("", _references(prose, targets.references)), resolve)

    return Relinked(
        outside_code(text, change), tuple(dict.fromkeys(found.lost)), found.images, tuple(found.linked_images)
    )


def _inline(text: str, resolve: Callable[[str, str, str], str]) -> str:
    def replaced(match: re.Match[str]) -> str:
        label = _INLINE.sub(replaced, match["text"]) if not match["image"] else match["text"]
        return resolve(match["image"], label, match["target"].strip("<>"))

    return _INLINE.sub(replaced, text)


def _references(text: str, references: Mapping[str, str]) -> str:
    """Reference links as inline ones, for the definitions stay behind on the page."""

    def replaced(match: re.Match[str]) -> str:
        label = " ".join((match["label"] or match["text"]).split()).upper()
        return f"{match['image']}[{match['text']}]({references[label]})" if label in references else match[0]

    return _REFERENCE.sub(replaced, text) if references else text


def _address(target: str, targets: Targets, entry_slug: str, anchors: Mapping[str, str]) -> str | None:
    """Where a link leads to from the entry; None where that is nowhere."""
    path, _, fragment = target.partition("#")
    fragment = unquote(fragment)
    if not path and fragment in anchors:
        return f"#{anchors[fragment]}"
    if not re.match(r"[a-z][a-z0-9+.-]*:|//", path, re.IGNORECASE):
        known = _known_anchors(path, targets)
        entry = known.get(fragment) or known.get(slug(fragment) if fragment else "")
        if entry and entry != f"{targets.framework}/{entry_slug}":
            return f"{entry.rpartition('/')[2]}.md"
    address = urljoin(targets.base, target) if targets.base else target
    read = read_link(address, targets.lang, targets.framework, 0)
    return address if read.kind is LinkKind.EXTERNAL else None


def _known_anchors(path: str, targets: Targets) -> Mapping[str, str]:
    """The questions of the page that `path` names: that file, or one that differs in its ending only."""
    if not path:
        return targets.entries.get(targets.path, {})
    wanted = (targets.path.parent / unquote(path)).resolve()
    for page, anchors in targets.entries.items():
        if page == wanted or _stem(page) == _stem(wanted):
            return anchors
    return {}


def _stem(path: Path) -> Path:
    name = re.sub(r"\.(?:mdx?|markdown|rst|html?)$", "", path.name)
    return path.with_name(_LANGUAGE_SUFFIX.sub("", name))


def _image(label: str, target: str, targets: Targets, entry_slug: str, found: _Found) -> str:
    """An image that lies on disk is copied; another becomes a link, for pages load nothing from other hosts."""
    file = targets.path.parent / unquote(target.partition("?")[0].partition("#")[0])
    local = not re.match(r"[a-z]+:|//|/", target, re.IGNORECASE) and file.is_file()
    if local and file.suffix.lower() in IMAGE_TYPES:
        name = f"{entry_slug}-{slug(file.stem)}{file.suffix.lower()}"
        if name.isascii():
            found.images[name] = file.resolve()
            return f"![{label}]({name})"
    address = _address(target, targets, entry_slug, {})
    found.linked_images.append(target)
    return f"[{label or target.rpartition('/')[2]}]({address})" if address else label
