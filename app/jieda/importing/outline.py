"""The second stage: arranges the blocks of a page in a tree of headings."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import accumulate, pairwise
from statistics import fmean

from jieda.content.markdown.body import SourceBlock, parse_page, walk
from jieda.entry import NO_TEXT
from jieda.importing.wording import WORDING, fold_title

MAX_UNDERLINED = 200
SHORT = 200
"""Characters below which the text above subsections is not an answer by itself."""

_ANCHOR = re.compile(
    r"\s*(?:\{\s*#([\w.:-]+)[^}]*\}|<a\s+(?:id|name)=[\"']([\w.:-]+)[\"'][^>]*>(?:\s*</a>)?)\s*"
)
TAG = re.compile(
    r"</?(?:a|b|br|button|code|em|font|h[1-6]|i|img|kbd|mark|small|span|strong|sub|summary|sup|u)\b[^>]*>",
    re.IGNORECASE,
)
ATTRIBUTES = re.compile(r"\{:(?:\s*[.#]|\s+[a-z]|toc)[^{}\n]*\}")
"""Attributes of what precedes: kramdown."""
_COMPONENT = re.compile(r"\s*<[A-Z]\w*\s[^<>]*=[^<>]*/>(?!\s*[\w?？])")
_TO_PAGE = re.compile(r"\W*\[[^\]]+\]\((?!#|[a-z]+:)[^)]+\)\W*")
PICTURES = re.compile(r"^(?:[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d\s]+|:[a-z][a-z0-9_+-]*:\s+)*")
"""Emoji before a title."""
_EMPTY_HTML = re.compile(r"(?:\s|</?(?:br|p|div|center|hr|section|details)\b[^>]*>)*", re.IGNORECASE)


_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}(?!.*`)|~{3,})")


def fence_after(fence: str, line: str) -> str:
    """Return the fence of the code block that is open after a line, given that before it; empty if none is open."""
    match = _FENCE.match(line)
    if not fence or match is None:
        return match[1] if match else fence
    return "" if match[1].startswith(fence) and not line.strip(" \t>").strip(fence[0]) else fence


def code_lines(lines: Iterable[str]) -> frozenset[int]:
    """Return the numbers of lines in fenced code, fences included."""
    marks = list(accumulate(lines, fence_after, initial=""))
    return frozenset(number for number, pair in enumerate(pairwise(marks)) if any(pair))


def all_code_lines(text: str) -> frozenset[int]:
    """Return the numbers of lines in fenced and in indented code."""
    indented = (each for each in walk(parse_page(text).blocks) if each.kind == "code_block")
    return code_lines(text.split("\n")).union(*(range(each.first, each.end) for each in indented))


def between_spans(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` with placeholders for code spans, because a link may contain one."""
    spans: list[str] = []

    def keep(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\x00{len(spans) - 1}\x00"

    changed = change(_SPAN.sub(keep, text))
    return re.sub("\x00(\\d+)\x00", lambda match: spans[int(match[1])], changed)


HeadingRank = tuple[int, int]
"""Place of a heading (0: on the page, 1: at the start of a list item, 2: further down in it), then its level."""


@dataclass(slots=True)
class HeadedSection:
    """A heading and its content: lines `first` up to `end`, `own` blocks, and subsections. `linked`: the heading is a
    link to another page of the same site. The whole page is a section, too, without title or rank."""

    title: str
    anchor: str
    rank: HeadingRank | None
    first: int
    end: int
    linked: bool = False
    own: list[SourceBlock] = field(default_factory=list)
    children: list["HeadedSection"] = field(default_factory=list)


def outline(blocks: Sequence[SourceBlock], line_count: int) -> HeadedSection:
    """Return the tree of headings of a page with `line_count` lines."""
    root = HeadedSection("", "", None, 0, line_count)
    open_sections: list[tuple[HeadingRank, HeadedSection]] = []
    for block, rank, first in _flatten(blocks):
        if rank is None:
            (open_sections[-1][1] if open_sections else root).own.append(block)
            continue
        while open_sections and open_sections[-1][0] >= rank:
            open_sections.pop()[1].end = first
        title, anchor = plain(block.content), anchor_of(block.content)
        section = HeadedSection(title, anchor, rank, first, line_count, leads_to_page(block.content))
        (open_sections[-1][1] if open_sections else root).children.append(section)
        open_sections.append((rank, section))
    return root


def plain(text: str) -> str:
    """Return the plain text of a heading or the start of a paragraph: no anchors, tags, links or emphasis."""
    text = decode(between_spans(_ANCHOR.sub(" ", text), _plain))
    return " ".join((PICTURES.sub("", text) or text).split())


def _plain(text: str) -> str:
    text = TAG.sub(" ", _COMPONENT.sub("", text))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return re.sub(r"\\([\\`*_{}\[\]()#+.!<>-])", r"\1", text)


def decode(text: str) -> str:
    """Decode character references. Those of Markdown end with `;`: the `&region=` of an address is none."""
    return re.sub(r"&#?\w+;", lambda match: NO_TEXT.sub("", unescape(match[0])), text)


def anchor_of(text: str) -> str:
    """Return the explicit anchor of a heading, or an empty text."""
    match = _ANCHOR.search(text)
    return (match[1] or match[2]) if match else ""


def leads_to_page(text: str) -> bool:
    """Whether a text is only a link to another page of the same site."""
    return _TO_PAGE.fullmatch(text) is not None


def is_noise(block: SourceBlock) -> bool:
    """Whether a block has no content: a rule, or tags without text."""
    if block.kind == "html_block":
        return _EMPTY_HTML.fullmatch(block.content) is not None
    return block.kind == "hr" or (block.kind == "paragraph" and not block.content.strip("\u200b \n"))


def _is_heading(block: SourceBlock) -> bool:
    """Whether a block is a real heading; a long one above a line of dashes was meant as a paragraph above a rule."""
    if block.kind != "heading" or not plain(block.content):
        return False
    underlined = block.markup in {"-", "="}
    return not underlined or (len(block.content) <= MAX_UNDERLINED and "\n" not in block.content)


def _flatten(blocks: Sequence[SourceBlock]) -> Iterator[tuple[SourceBlock, HeadingRank | None, int]]:
    """Yield blocks with the rank of headings and their first line; a list whose items start with headings is split."""
    for block in blocks:
        if _is_heading(block):
            yield block, (0, block.level), block.first
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
    yield head, (1, head.level), item.first
    for block in rest:
        yield block, (2, block.level) if _is_heading(block) else None, block.first


def _is_headed(item: SourceBlock) -> bool:
    return item.kind == "list_item" and bool(item.children) and _is_heading(item.children[0])


ASKING = 0.75
"""Minimum likeness of a title that reads like a question or an error by itself."""


@dataclass(frozen=True, slots=True)
class Host:
    """A section whose text may contain questions. `path`: titles of the headings above it and its own."""

    section: HeadedSection
    path: tuple[str, ...]
    end: int


def find_hosts(
    section: HeadedSection, path: tuple[str, ...], rank_scores: Mapping[HeadingRank, float]
) -> Iterator[Host]:
    """Yield sections that are or contain questions: leaves, questions with parts, and text before the first heading."""
    here = (*path, section.title) if section.title else path
    if not section.children or (section.rank and not _is_category(section, rank_scores)):
        yield Host(section, here, section.end)
        return
    yield Host(section, here, section.children[0].first)
    for child in section.children:
        yield from find_hosts(child, here, rank_scores)


def _is_category(section: HeadedSection, rank_scores: Mapping[HeadingRank, float]) -> bool:
    """Whether the subsections are questions rather than parts of an answer."""
    rank_score = rank_scores[section.rank] if section.rank else 0.0
    is_faq = fold_title(section.title) in WORDING.sections and not _has_parts(section)
    if is_faq or all(_has_parts(child) for child in section.children):
        return True
    return _category_score(section) + rank_score > 0


def score_ranks(root: HeadedSection) -> dict[HeadingRank, float]:
    """Return a score per rank of headings: above 0 if they look like categories, otherwise like questions."""
    ranks: dict[HeadingRank, list[HeadedSection]] = defaultdict(list)
    for section in walk([root]):
        if section.rank:
            ranks[section.rank].append(section)
    return {rank: _rank_score(sections, root) for rank, sections in ranks.items()}


def _rank_score(sections: Sequence[HeadedSection], root: HeadedSection) -> float:
    parents = [section for section in sections if section.children]
    if not parents:
        return 0.0
    if len(sections) == 1 and sections[0] is root.children[0] and len(root.children) == 1:
        return 10.0
    share = len(parents) / len(sections)
    base = 1 if share > 0.7 else -1 if share <= 0.5 else 0
    return base + fmean(_category_score(section) for section in parents)


def _category_score(section: HeadedSection) -> float:
    """Score how much a section with subsections looks like a category, by these, its text and its title."""
    if _has_parts(section):
        return -4.0
    titles = [child.title for child in section.children]
    child_likeness = fmean(WORDING.likeness(title) for title in titles)
    likeness = WORDING.likeness(section.title)
    own = size(section.own)
    children = 1.5 if child_likeness >= 0.6 else -0.5
    text = 1.0 if own == 0 else 0.3 if own < SHORT else -1.0
    return children + text + (-1.5 if likeness == 1 else -0.3 if likeness >= ASKING else 0.5)


def _has_parts(section: HeadedSection) -> bool:
    """Whether most subsections are parts of an answer, so that the heading is a question."""
    titles = [child.title for child in section.children]
    parts = sum(WORDING.is_part(title) for title in titles)
    return bool(titles) and parts * 2 >= len(titles) and not any(map(WORDING.marked, titles))


def size(blocks: Sequence[SourceBlock]) -> int:
    """Return the number of characters in blocks; a code block or table counts as 400."""
    return sum(
        400 if block.kind in {"fence", "code_block", "table"} else len(block.content) + size(block.children)
        for block in blocks
        if not is_noise(block)
    )
