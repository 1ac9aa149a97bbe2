"""The second stage: the blocks of a page under their headings, as a tree."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.content.markdown.body import SourceBlock

NOISE = frozenset({"hr"})
"""Blocks that say nothing."""

MAX_UNDERLINED = 200

_ANCHOR = re.compile(
    r"\s*(?:\{\s*#([\w.:-]+)[^}]*\}|<a\s+(?:id|name)=[\"']([\w.:-]+)[\"'][^>]*>(?:\s*</a>)?)\s*"
)
_TAG = re.compile(
    r"</?(?:a|b|br|code|em|font|i|img|kbd|small|span|strong|sub|summary|sup|u)\b[^>]*>", re.IGNORECASE
)
_EMPTY_HTML = re.compile(r"(?:\s|</?(?:br|p|div|center|hr|section|details)\b[^>]*>)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """Where a heading stands in the order of headings: those of the page before those of list items."""

    nested: int
    level: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it: lines `first` up to `end`, `own` blocks, and smaller sections.

    The whole page is a section, too, without title or rank.
    """

    title: str
    anchor: str
    rank: Rank | None
    first: int
    end: int
    own: tuple[SourceBlock, ...]
    children: tuple["Section", ...]

    @property
    def leaf(self) -> bool:
        """Whether no smaller heading stands under it."""
        return not self.children

    def walk(self) -> Iterator["Section"]:
        """This section and all below it, in the order of the page."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class _Opening:
    """A heading, and the blocks up to the next one."""

    heading: SourceBlock
    rank: Rank
    first: int
    own: tuple[SourceBlock, ...]


def outline(blocks: Sequence[SourceBlock], line_count: int) -> Section:
    """The tree of a page of `line_count` lines."""
    preface: list[SourceBlock] = []
    openings: list[_Opening] = []
    for block, rank, first in _flat(blocks):
        if rank is not None:
            openings.append(_Opening(block, rank, first, ()))
        elif openings:
            last = openings[-1]
            openings[-1] = _Opening(last.heading, last.rank, last.first, (*last.own, block))
        else:
            preface.append(block)
    return Section("", "", None, 0, line_count, tuple(preface), tuple(_sections(openings, line_count)))


def plain(text: str) -> str:
    """A heading or the start of a paragraph as it reads: without anchors, tags, links and emphasis."""
    text = _ANCHOR.sub(" ", text)
    text = _TAG.sub(" ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!<>-])", r"\1", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return " ".join(text.split()).strip()


def anchor_of(text: str) -> str:
    """The anchor that a heading gives itself, or nothing."""
    match = _ANCHOR.search(text)
    return (match[1] or match[2]) if match else ""


def is_noise(block: SourceBlock) -> bool:
    """Whether a block says nothing: a rule, or tags without text."""
    if block.kind == "html_block":
        return _EMPTY_HTML.fullmatch(block.content) is not None
    return block.kind in NOISE or (block.kind == "paragraph" and not block.content.strip("\u200b \n"))


def _is_heading(block: SourceBlock) -> bool:
    """A long paragraph above a line of dashes was meant as a paragraph above a rule."""
    if block.kind != "heading" or not plain(block.content):
        return False
    underlined = block.markup in {"-", "="}
    return not underlined or (len(block.content) <= MAX_UNDERLINED and "\n" not in block.content)


def _flat(blocks: Sequence[SourceBlock]) -> Iterator[tuple[SourceBlock, Rank | None, int]]:
    """Blocks in order, headings with their rank; a list whose items are headed comes item by item."""
    for block in blocks:
        if _is_heading(block):
            yield block, Rank(0, block.level), block.first
        elif any(_is_headed(item) for item in block.children):
            for item in block.children:
                yield from _item(item)
        else:
            yield block, None, block.first


def _item(item: SourceBlock) -> Iterator[tuple[SourceBlock, Rank | None, int]]:
    if not _is_headed(item):
        yield item, None, item.first
        return
    head, *rest = item.children
    yield head, Rank(1, head.level), item.first
    for block in rest:
        yield block, Rank(2, block.level) if _is_heading(block) else None, block.first


def _is_headed(item: SourceBlock) -> bool:
    return item.kind == "list_item" and bool(item.children) and _is_heading(item.children[0])


def _sections(openings: Sequence[_Opening], end: int) -> Iterator[Section]:
    """Sections of openings that stand side by side under one parent, each with those that belong below it."""
    start = 0
    while start < len(openings):
        opening = openings[start]
        behind = next(
            (at for at in range(start + 1, len(openings)) if not opening.rank < openings[at].rank),
            len(openings),
        )
        last = openings[behind].first if behind < len(openings) else end
        yield Section(
            title=plain(opening.heading.content),
            anchor=anchor_of(opening.heading.content),
            rank=opening.rank,
            first=opening.first,
            end=last,
            own=opening.own,
            children=tuple(_sections(openings[start + 1 : behind], last)),
        )
        start = behind
