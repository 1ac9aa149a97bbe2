"""The third stage, below headings: runs of text that each start with what may be a question.

A style is a way to write questions without a heading of their own. Each finds, among the blocks of one section,
the lines where a question may start; `jieda.importing.questions` decides which style a page really uses.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from jieda.content.markdown.body import SourceBlock, parse_page
from jieda.importing.outline import (
    ASKING,
    HeadedSection,
    HeadingRank,
    Host,
    anchor_of,
    divided_ranks,
    find_hosts,
    is_noise,
    outline,
    plain,
    weight,
)
from jieda.importing.page import MarkdownPage
from jieda.importing.wording import Wording, fold_title

MAX_TITLE_CHARS = 300

_STRONG = re.compile(r"(\*\*|__)(?=\S)(?P<title>.+?)(?<=\S)\1(?P<rest>.*)", re.DOTALL)
_SUMMARY = re.compile(r"<summary\b[^>]*>(?P<title>.*?)</summary>", re.DOTALL | re.IGNORECASE)
_DETAILS = re.compile(r"<details\b|</details\s*>", re.IGNORECASE)
_TERM = re.compile(r"<dt\b[^>]*>(?P<title>.*?)(?:</dt>|(?=<dd))", re.DOTALL | re.IGNORECASE)
_DEFINITION = re.compile(r"(?P<title>[^\n]+)\n:[ \t]+\S")
_NUMBERED = re.compile(
    r"\s*(?:\d{1,3}\s*[.、)）](?!\d)|[（(]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\s*\S"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What may be a question: its title, the line it starts on, and the first line behind the question.

    `lead` is what stands behind the question on its own line: the start of the answer, or all of it.
    """

    title: str
    first: int
    body: int
    answered: bool
    anchor: str = ""
    lead: str = ""


Finder = Callable[[Sequence[SourceBlock], Wording], Iterator[Unit]]


def _collapsed(blocks: Sequence[SourceBlock], _wording: Wording) -> Iterator[Unit]:
    """`<details>` that are not inside another one."""
    depth = 0
    for block in blocks:
        if block.kind not in {"html_block", "paragraph"}:
            continue
        for match in re.finditer(
            f"{_DETAILS.pattern}|{_SUMMARY.pattern}", block.content, re.IGNORECASE | re.DOTALL
        ):
            if match[0].startswith("</"):
                depth = max(depth - 1, 0)
            elif match["title"] is None:
                depth += 1
                start = block.first + block.content.count("\n", 0, match.start())
            elif depth == 1:
                body, lead = _behind(block, match.end())
                yield Unit(plain(match["title"]), start, body, answered=True, lead=lead)


def _behind(block: SourceBlock, offset: int) -> tuple[int, str]:
    """The line behind the one that `offset` of a block stands on, and the rest of that one."""
    rest = block.content[offset:].partition("\n")[0]
    return block.first + block.content.count("\n", 0, offset) + 1, rest


def _marked_lines(blocks: Sequence[SourceBlock], wording: Wording) -> Iterator[Unit]:
    """Lines that start with `Q:` or `问：`, in paragraphs and at the start of list items."""
    for block in _paragraphs(blocks):
        lines = block.content.split("\n")
        for offset, line in enumerate(lines):
            if wording.marked(line):
                title, rest = _until_answer(line, wording)
                first = block.first + offset
                yield Unit(plain(title), first, first + 1, answered=True, lead=rest)


def _strong_starts(blocks: Sequence[SourceBlock], wording: Wording) -> Iterator[Unit]:
    """Paragraphs that start with bold text which is a line of its own, or a question."""
    for block in blocks:
        if block.kind == "paragraph":
            yield from _strong(block, wording)


def _strong(block: SourceBlock, wording: Wording) -> Iterator[Unit]:
    match = _STRONG.match(re.sub(r"^\d{1,3}[.、)]\s*", "", block.content.strip()))
    if not match or len(match["title"]) > MAX_TITLE_CHARS or wording.answer_mark.match(block.content):
        return
    rest = match["rest"].strip(" :：。.")
    own_line = not rest or match["rest"].lstrip(" :：").startswith("\n")
    if own_line or (wording.asks(match["title"]) and match["title"].rstrip()[-1] in "?？"):
        lead = "" if own_line else match["rest"].partition("\n")[0]
        anchor = anchor_of(block.content)
        yield Unit(
            plain(match["title"]), block.first, block.first + 1, answered=True, anchor=anchor, lead=lead
        )


def _items(blocks: Sequence[SourceBlock], wording: Wording) -> Iterator[Unit]:
    """Items of lists, by their first paragraph; the answer stands in the item or between the lists."""
    for index, block in enumerate(blocks):
        if block.kind not in {"bullet_list", "ordered_list", "list_item"}:
            continue
        items = block.children if block.kind != "list_item" else (block,)
        following = next((each for each in blocks[index + 1 :] if not is_noise(each)), None)
        outside = following is not None and following.kind not in {"bullet_list", "ordered_list"}
        for item in items:
            if item.children and item.children[0].kind == "paragraph":
                yield _item(item, wording, last=item is items[-1] and outside)


def _item(item: SourceBlock, wording: Wording, *, last: bool) -> Unit:
    paragraph = item.children[0]
    content = paragraph.content.strip()
    strong = _STRONG.match(content)
    if strong and (not strong["rest"].strip(" :：") or strong["rest"].lstrip(" :：").startswith("\n")):
        title, rest = strong["title"], strong["rest"].strip(" :：")
        lead = ""
    elif strong and wording.asks(strong["title"]):
        title, rest = strong["title"], strong["rest"]
        lead = rest.partition("\n")[0]
    else:
        title, _, rest = content.partition("\n")
        lead = ""
    answered = len(item.children) > 1 or bool(rest.strip()) or last
    return Unit(plain(title), item.first, paragraph.first + 1, answered, anchor_of(content), lead)


def _definitions(blocks: Sequence[SourceBlock], _wording: Wording) -> Iterator[Unit]:
    """Terms of definition lists: a line above one that starts with a colon, and `<dt>`."""
    for block in blocks:
        if block.kind == "paragraph":
            for match in _DEFINITION.finditer(block.content):
                first = block.first + block.content.count("\n", 0, match.start())
                yield Unit(plain(match["title"]), first, first + 1, answered=True)
        elif block.kind == "html_block":
            for match in _TERM.finditer(block.content):
                first = block.first + block.content.count("\n", 0, match.start())
                body, lead = _behind(block, match.end())
                yield Unit(plain(match["title"]), first, body, answered=True, lead=lead)


def _rows(blocks: Sequence[SourceBlock], wording: Wording) -> Iterator[Unit]:
    """Rows of tables with a column of questions and one of answers, by their heads."""
    for block in blocks:
        if block.kind != "table" or len(block.children) < 2:
            continue
        heads = [plain(cell.content) for cell in block.children[0].children[0].children]
        folded = [fold_title(head) for head in heads]
        asked = next((at for at, head in enumerate(folded) if head in wording.question_columns), None)
        if asked is None or not set(folded[:asked] + folded[asked + 1 :]) & wording.answer_columns:
            continue
        for row in block.children[1].children:
            cells = [cell.content.strip() for cell in row.children]
            others = [(heads[at], cell) for at, cell in enumerate(cells) if at != asked and cell]
            answer = (
                others[0][1]
                if len(others) == 1
                else "\n\n".join(f"**{name}**: {cell}" for name, cell in others)
            )
            anchor = anchor_of(cells[asked])
            yield Unit(plain(cells[asked]), row.first, row.end, bool(answer), anchor, answer)


def _numbered_lines(blocks: Sequence[SourceBlock], wording: Wording) -> Iterator[Unit]:
    """Numbered lines that ask something and are not a list to Markdown, such as `1、如何…？`."""
    for block in blocks:
        if block.kind == "paragraph":
            for offset, line in enumerate(block.content.split("\n")):
                if _NUMBERED.match(line) and wording.asks(line) and len(line) <= MAX_TITLE_CHARS:
                    first = block.first + offset
                    yield Unit(plain(line), first, first + 1, answered=True)


def _paragraphs(blocks: Sequence[SourceBlock]) -> Iterator[SourceBlock]:
    """Paragraphs of a section and those that list items start with."""
    for block in blocks:
        if block.kind == "paragraph":
            yield block
        elif block.kind in {"bullet_list", "ordered_list"}:
            for item in block.children:
                if item.children and item.children[0].kind == "paragraph":
                    yield item.children[0]


def _until_answer(line: str, wording: Wording) -> tuple[str, str]:
    """A marked line as question and answer, where both stand in it: `Q: … A: …`, `**Q: …?** …`."""
    if (strong := _STRONG.match(line.strip())) and strong["rest"].strip(" :："):
        return strong["title"], strong["rest"].strip()
    for match in re.finditer(r"[?？]\s*", line):
        if wording.answer_mark.match(line[match.end() :]):
            return line[: match.end()], line[match.end() :]
    return line, ""


STYLES: Mapping[str, Finder] = {
    "marked": _marked_lines,
    "details": _collapsed,
    "table": _rows,
    "definition": _definitions,
    "strong": _strong_starts,
    "item": _items,
    "numbered": _numbered_lines,
}
"""The first that fits a page is the one that is believed."""


CERTAIN = frozenset({"marked", "table"})
"""Styles that say of themselves that they are questions."""

Written = tuple[str, tuple[Unit, ...]]
"""The style that the questions of a host are written in, and the questions."""
Inner = Mapping[int, Written]
"""By the number of the host."""


def inner_units(hosts: Sequence[Host], wording: Wording) -> Inner:
    """For the hosts that are made of questions: the style and the questions."""
    chosen: dict[int, Written] = {}
    asking = _asking_ranks(hosts, wording)
    for style, find in STYLES.items():
        rest = {
            at: host
            for at, host in enumerate(hosts)
            if at not in chosen and (style in CERTAIN or host.section.rank not in asking)
        }
        found = {at: units for at, host in rest.items() if (units := tuple(find(host.section.own, wording)))}
        if found and _believable(style, [(hosts[at], units) for at, units in found.items()], wording):
            chosen |= {at: (style, units) for at, units in found.items()}
    return chosen


def _asking_ranks(hosts: Sequence[Host], wording: Wording) -> frozenset[HeadingRank]:
    """Ranks of headings that are questions themselves, most of them: bold text below them divides answers."""
    titles: dict[HeadingRank, list[str]] = defaultdict(list)
    for host in hosts:
        if host.section.rank and host.end == host.section.end:
            titles[host.section.rank].append(host.section.title)
    return frozenset(
        rank
        for rank, each in titles.items()
        if len(each) > 1 and fmean(wording.likeness(title) for title in each) >= 0.6
    )


def _believable(style: str, found: Sequence[tuple[Host, tuple[Unit, ...]]], wording: Wording) -> bool:
    """Whether what a style finds are questions, judged by all it finds on the page."""
    units = [unit for _, each in found for unit in each]
    titles = [unit.title for unit in units]
    if style == "table" or (style in CERTAIN and len(units) > 1):
        return True
    hosted = fmean(wording.likeness(host.section.title) if host.section.title else 0.0 for host, _ in found)
    distinct = len({fold_title(title) for title in titles}) >= 0.7 * len(titles)
    answered = fmean(unit.answered for unit in units) >= 0.7
    if len(units) < 2 or not distinct or not answered or hosted >= 0.6:
        return False
    asked = fmean(wording.likeness(title) for title in titles)
    return asked >= 0.5 or _is_made_of(style, found, hosted)


def _is_made_of(style: str, found: Sequence[tuple[Host, tuple[Unit, ...]]], hosted: float) -> bool:
    """Whether sections are made of units of one style, so that these are questions however they read."""
    if style == "item":
        return hosted < 0.3 and all(_is_whole_list(host) for host, _ in found)
    leading = fmean(_leads(host, each[0]) for host, each in found)
    many = sum(len(each) for _, each in found) >= 2 * len(found)
    return style in {"details", "definition", "strong"} and leading >= 0.8 and many


def _is_whole_list(host: Host) -> bool:
    """Whether a section among categories is one list, every item a line and what is said about it."""
    blocks = [block for block in host.section.own if not is_noise(block)]
    items = blocks[0].children if len(blocks) == 1 and blocks[0].kind.endswith("_list") else ()
    return host.among_categories and len(items) > 1 and all(len(item.children) > 1 for item in items)


def _leads(host: Host, unit: Unit) -> bool:
    """Whether little stands in front of the first unit of a section."""
    before = [block for block in host.section.own if block.end <= unit.first]
    return weight(before) < 300


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question of a page. Lines count from 0: the question stands on `first`, the answer from `body` up to
    `end`, which is where the next question or heading starts. `lead` is what the answer starts with on the
    line of the question, `written` the question with its mark and number."""

    title: str
    anchor: str
    first: int
    body: int
    end: int
    categories: tuple[str, ...]
    style: str
    lead: str
    written: str


def find_questions(page: MarkdownPage, wording: Wording) -> tuple[PageQuestion, ...]:
    """The questions of a page, in order."""
    parsed = parse_page(page.text)
    root = outline(parsed.blocks, len(page.lines))
    divided = divided_ranks(root, wording)
    hosts = tuple(find_hosts(root, (), divided, wording))
    inner = inner_units(hosts, wording)
    found = [each for at, host in enumerate(hosts) for each in _of_host(host, inner.get(at), wording)]
    return tuple(_without_strays(found, hosts, inner, wording))


def _of_host(host: Host, written: Written | None, wording: Wording) -> Iterator[PageQuestion]:
    if written is None:
        if host.section.title and host.end == host.section.end:
            yield _headed(host, wording)
        return
    style, units = written
    ends = [unit.first for unit in units[1:]] + [host.end]
    for unit, end in zip(units, ends, strict=True):
        title = wording.without_mark(unit.title)
        yield PageQuestion(
            title, unit.anchor, unit.first, unit.body, end, host.path, style, unit.lead, unit.title
        )


def _headed(host: Host, wording: Wording) -> PageQuestion:
    section = host.section
    body = min(section.first + 1, section.end)
    title = wording.without_mark(section.title)
    return PageQuestion(
        title=title,
        anchor=section.anchor,
        first=section.first,
        body=body,
        end=section.end,
        categories=host.path[:-1],
        style="heading",
        lead="",
        written=section.title,
    )


def _without_strays(
    found: Sequence[PageQuestion], hosts: Sequence[Host], inner: Inner, wording: Wording
) -> Iterator[PageQuestion]:
    """Leaves out what surrounds the questions: links, introductions, and what does not fit a page that marks them."""
    headed = {host.section.first: host.section for host in hosts}
    marked = [each for each in found if _is_marked(each, headed, wording)]
    ranks = {section.rank for each in marked if (section := headed.get(each.first))}
    marks = len(marked) >= 3 and len(marked) >= 0.6 * len(found)
    units = sum(len(units) for _, units in inner.values())
    for question in found:
        if question.style == "heading" and question not in marked:
            likeness = wording.likeness(question.title)
            around = fold_title(question.title) in wording.around
            odd = marks and likeness < 1 and headed[question.first].rank not in ranks
            if around or odd or (units > len(found) / 2 and likeness < ASKING):
                continue
        yield question


def _is_marked(question: PageQuestion, headed: Mapping[int, HeadedSection], wording: Wording) -> bool:
    section = headed.get(question.first)
    return question.style == "marked" or (section is not None and wording.marked(section.title))
