"""The second stage: arranges the blocks of a page in a tree of headings."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from jieda.content.markdown.body import SourceBlock
from jieda.importing.wording import Wording

NOISE = frozenset({"hr"})
"""Kinds of blocks without content."""

MAX_UNDERLINED = 200

_ANCHOR = re.compile(
    r"\s*(?:\{\s*#([\w.:-]+)[^}]*\}|<a\s+(?:id|name)=[\"']([\w.:-]+)[\"'][^>]*>(?:\s*</a>)?)\s*"
)
TAG = re.compile(
    r"</?(?:a|b|br|button|code|em|font|h[1-6]|i|img|kbd|mark|small|span|strong|sub|summary|sup|u)\b[^>]*>",
    re.IGNORECASE,
)
PICTURES = re.compile(r"^(?:[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\s]+|:[a-z][a-z0-9_+-]*:\s+)*")
"""Emoji before a title."""
_EMPTY_HTML = re.compile(r"(?:\s|</?(?:br|p|div|center|hr|section|details)\b[^>]*>)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class HeadingRank:
    """Rank in the hierarchy of headings: those of the page are above those in list items."""

    nested: int
    level: int


@dataclass(frozen=True, slots=True)
class HeadedSection:
    """A heading and its content: lines `first` up to `end`, `own` blocks, and subsections.

    The whole page is a section, too, without title or rank.
    """

    title: str
    anchor: str
    rank: HeadingRank | None
    first: int
    end: int
    own: tuple[SourceBlock, ...]
    children: tuple["HeadedSection", ...]

    @property
    def leaf(self) -> bool:
        """Whether it has no subsections."""
        return not self.children

    def walk(self) -> Iterator["HeadedSection"]:
        """Yield this section and all below it, in the order of the page."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class _Opening:
    """A heading, and the blocks up to the next one."""

    heading: SourceBlock
    rank: HeadingRank
    first: int
    own: tuple[SourceBlock, ...]


def outline(blocks: Sequence[SourceBlock], line_count: int) -> HeadedSection:
    """Return the tree of a page of `line_count` lines."""
    preface: list[SourceBlock] = []
    openings: list[_Opening] = []
    for block, rank, first in _flatten(blocks):
        if rank is not None:
            openings.append(_Opening(block, rank, first, ()))
        elif openings:
            last = openings[-1]
            openings[-1] = _Opening(last.heading, last.rank, last.first, (*last.own, block))
        else:
            preface.append(block)
    return HeadedSection("", "", None, 0, line_count, tuple(preface), tuple(_sections(openings, line_count)))


def plain(text: str) -> str:
    """Return the plain text of a heading or the start of a paragraph: no anchors, tags, links or emphasis."""
    text = _ANCHOR.sub(" ", text)
    text = TAG.sub(" ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!<>-])", r"\1", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return " ".join(PICTURES.sub("", text).split()) or text.strip()


def anchor_of(text: str) -> str:
    """Return the explicit anchor of a heading, or an empty text."""
    match = _ANCHOR.search(text)
    return (match[1] or match[2]) if match else ""


def is_noise(block: SourceBlock) -> bool:
    """Whether a block has no content: a rule, or tags without text."""
    if block.kind == "html_block":
        return _EMPTY_HTML.fullmatch(block.content) is not None
    return block.kind in NOISE or (block.kind == "paragraph" and not block.content.strip("\u200b \n"))


def _is_heading(block: SourceBlock) -> bool:
    """Whether a block is a real heading; a long paragraph above a line of dashes was meant as one above a rule."""
    if block.kind != "heading" or not plain(block.content):
        return False
    underlined = block.markup in {"-", "="}
    return not underlined or (len(block.content) <= MAX_UNDERLINED and "\n" not in block.content)


def _flatten(blocks: Sequence[SourceBlock]) -> Iterator[tuple[SourceBlock, HeadingRank | None, int]]:
    """Yield blocks in order, headings with their rank; a list whose items have headings is split into items."""
    for block in blocks:
        if _is_heading(block):
            yield block, HeadingRank(0, block.level), block.first
        elif any(_is_headed(item) for item in block.children):
            for item in block.children:
                yield from _item(item)
        else:
            yield block, None, block.first


def _item(item: SourceBlock) -> Iterator[tuple[SourceBlock, HeadingRank | None, int]]:
    if not _is_headed(item):
        yield item, None, item.first
        return
    head, *rest = item.children
    yield head, HeadingRank(1, head.level), item.first
    for block in rest:
        yield block, HeadingRank(2, block.level) if _is_heading(block) else None, block.first


def _is_headed(item: SourceBlock) -> bool:
    return item.kind == "list_item" and bool(item.children) and _is_heading(item.children[0])


def _sections(openings: Sequence[_Opening], end: int) -> Iterator[HeadedSection]:
    """Yield the sibling sections of openings under one parent, each with its subsections."""
    start = 0
    while start < len(openings):
        opening = openings[start]
        behind = next(
            (at for at in range(start + 1, len(openings)) if not opening.rank < openings[at].rank),
            len(openings),
        )
        last = openings[behind].first if behind < len(openings) else end
        yield HeadedSection(
            title=plain(opening.heading.content),
            anchor=anchor_of(opening.heading.content),
            rank=opening.rank,
            first=opening.first,
            end=last,
            own=opening.own,
            children=tuple(_sections(openings[start + 1 : behind], last)),
        )
        start = behind


ASKING = 0.75
"""Minimum likeness of a title that is a question or an error by itself."""


@dataclass(frozen=True, slots=True)
class Host:
    """A section whose text may contain questions. `path`: titles of the headings above it and its own.

    `among_categories`: headings of its rank are categories of questions.
    """

    section: HeadedSection
    path: tuple[str, ...]
    end: int
    among_categories: bool


def find_hosts(
    section: HeadedSection, path: tuple[str, ...], scores: Mapping[HeadingRank, float], wording: Wording
) -> Iterator[Host]:
    """Yield sections that are or contain questions: leaves, questions with parts, and text before the first heading."""
    here = (*path, section.title) if section.title else path
    if section.leaf or (section.rank and not _is_category(section, scores, wording)):
        yield Host(section, here, section.end, section.rank is not None and scores[section.rank] > 0)
        return
    yield Host(section, here, section.children[0].first, among_categories=False)
    for child in section.children:
        yield from find_hosts(child, here, scores, wording)


def _is_category(section: HeadedSection, scores: Mapping[HeadingRank, float], wording: Wording) -> bool:
    """Whether the subsections are questions rather than parts of an answer."""
    usual = scores[section.rank] if section.rank else 0.0
    if all(_has_parts(child, wording) for child in section.children):
        return True
    return _category_score(section, wording) + usual > 0


def score_ranks(root: HeadedSection, wording: Wording) -> dict[HeadingRank, float]:
    """Return a score per rank of headings: above 0 if they look like categories, otherwise like questions."""
    ranks: dict[HeadingRank, list[HeadedSection]] = defaultdict(list)
    for section in root.walk():
        if section.rank:
            ranks[section.rank].append(section)
    return {rank: _rank_score(sections, root, wording) for rank, sections in ranks.items()}


def _rank_score(sections: Sequence[HeadedSection], root: HeadedSection, wording: Wording) -> float:
    parents = [section for section in sections if section.children]
    if not parents:
        return 0.0
    if len(sections) == 1 and sections[0] is root.children[0] and len(root.children) == 1:
        return 10.0
    share = len(parents) / len(sections)
    return fmean(_category_score(section, wording) for section in parents) + (
        1 if share > 0.7 else -1 if share <= 0.5 else 0
    )


def _category_score(section: HeadedSection, wording: Wording) -> float:
    """Score how much a section with subsections looks like a category, by these, its text and its title."""
    if _has_parts(section, wording):
        return -4.0
    titles = [child.title for child in section.children]
    asked = fmean(wording.likeness(title) for title in titles)
    title = wording.likeness(section.title)
    own = weight(section.own)
    parts = 1.5 if asked >= 0.6 else -0.5
    text = 1.0 if own == 0 else 0.3 if own < 200 else -1.0
    return parts + text + (-1.5 if title == 1 else -0.3 if title >= ASKING else 0.5)


def _has_parts(section: HeadedSection, wording: Wording) -> bool:
    """Whether most subsections are parts of an answer, so that the heading is a question."""
    titles = [child.title for child in section.children]
    named = sum(wording.is_part(title) for title in titles)
    return bool(titles) and named * 2 >= len(titles) and not any(map(wording.marked, titles))


def weight(blocks: Sequence[SourceBlock]) -> int:
    """Count the characters of text below a heading; a code block or table counts as 400."""
    return sum(
        400 if block.kind in {"fence", "code_block", "table"} else len(block.content) + weight(block.children)
        for block in blocks
        if not is_noise(block)
    )
