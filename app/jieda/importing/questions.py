"""The third stage: finds the questions of a page, from its headings and the question styles that it really uses."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from jieda.content.markdown.body import SourceBlock, parse_page, walk
from jieda.importing.mixed import Units, heading_unit, mix_styles
from jieda.importing.outline import (
    ASKING,
    SHORT,
    HeadedSection,
    HeadingRank,
    Host,
    find_hosts,
    is_noise,
    leads_to_page,
    outline,
    score_ranks,
    size,
)
from jieda.importing.page import MarkdownPage
from jieda.importing.styles import STYLES
from jieda.importing.wording import WORDING, fold_title

WHOLE_PAGE_STYLES: Mapping[str, float] = {"problem": 0.0, "page": ASKING, "undivided": 1.0}
"""Styles of a page that is one question: its answer has parts on a problem and its fix, other parts, or none. For each,
the minimum likeness of its title if the page is neither named explicitly nor named for questions."""
CERTAIN = frozenset({"marked", "table"})
"""Styles that are explicitly marked as questions."""
BOXED = frozenset({"marked", "details"})
"""Styles that are also accepted below peripheral headings, such as “See also”."""

_OUTLINE_NUMBER = re.compile(r"^\d{1,2}(?:\.\d{1,2})+\s+(?=\S)")
_INNER_LINK = re.compile(r"\[[^\]]*\]\(#[^)]*\)")


def inner_units(hosts: Sequence[Host]) -> Mapping[int, Units]:
    """Return the questions of the hosts whose text has some, by the number of the host."""
    chosen: dict[int, Units] = {}
    asking = _asking_ranks(hosts)
    marking = any(host.section.rank in asking and WORDING.marked(host.section.title) for host in hosts)
    for style, find in STYLES.items():
        if style == "table" and marking:
            continue
        found: dict[int, Units] = {}
        for at, host in enumerate(hosts):
            if at in chosen or not _may_contain(host, style, asking):
                continue
            units = tuple(replace(each, style=style) for each in find(host.section.own) if each.title)
            if units and not (style == "marked" and _only_labels(host, units)):
                found[at] = units
        if found and _has_real_questions(style, [(hosts[at], units) for at, units in found.items()]):
            chosen |= found
    return mix_styles(hosts, chosen, asking)


def _may_contain(host: Host, style: str, asking: Set[HeadingRank]) -> bool:
    """Whether the text of a host may have questions in a style: not if its heading asks or is peripheral."""
    if style == "led":
        return _is_for_questions(host)
    if _title(host) in WORDING.sections:
        return True
    if style != "marked" and host.section.rank in asking:
        return False
    return style in BOXED or not WORDING.is_peripheral(host.section.title)


def _is_for_questions(host: Host) -> bool:
    """Whether a heading is named for questions; that of the FAQ section of a longer page has become the root."""
    return WORDING.holds_questions(host.section.title) or not (host.section.rank or host.section.first == 0)


def _only_labels(host: Host, units: Units) -> bool:
    """Whether a single mark such as `Problem:` begins the answer to a heading that says itself what it is about."""
    own_words = _title(host) and not _is_for_questions(host)
    return bool(own_words and len(units) == 1 and WORDING.label.match(units[0].title))


def _asking_ranks(hosts: Sequence[Host]) -> frozenset[HeadingRank]:
    """Return ranks whose headings are mostly questions themselves, so that bold text below them divides answers."""
    titles: dict[HeadingRank, list[str]] = defaultdict(list)
    for host in hosts:
        if host.section.rank and host.end == host.section.end:
            titles[host.section.rank].append(host.section.title)
    return frozenset(
        rank
        for rank, of_rank in titles.items()
        if len(of_rank) > 1 and fmean(WORDING.likeness(title) for title in of_rank) >= 0.6
    )


def _has_real_questions(style: str, groups: Sequence[tuple[Host, Units]]) -> bool:
    """Whether the units of a style are really questions, judged by all of them on the page."""
    units = [unit for _, of_host in groups for unit in of_host]
    titles = [unit.title for unit in units]
    leading_in = not all(_is_for_questions(host) for host, _ in groups)
    parts = sum(WORDING.is_part(title) or (leading_in and _leads_in(style, title)) for title in titles)
    if parts * 2 >= len(titles):
        return False
    headings = [host.section.title for host, _ in groups if not _is_for_questions(host)]
    host_likeness = sum(map(WORDING.likeness, filter(None, headings))) / len(groups)
    if style == "table" or (style in CERTAIN and len(units) > (len(groups) if host_likeness >= 0.5 else 1)):
        return True
    answered = fmean(unit.answered for unit in units) >= 0.7
    likeness = fmean(WORDING.likeness(title) for title in titles)
    if (
        style in {"details", "strong"}
        and likeness == 1
        and all(_may_have_single_question(host) for host, _ in groups)
    ):
        return True
    if len(units) < 2 or not answered or host_likeness >= 0.6:
        return False
    # Sections that consist of such units are questions, however they are worded.
    return likeness >= 0.5 or (
        style in {"details", "definition", "strong", "led"} and len(units) >= 2 * len(groups)
    )


def _leads_in(style: str, title: str) -> bool:
    """Whether a bold line only introduces what follows."""
    return style == "strong" and title.endswith((":", "："))


def _may_have_single_question(host: Host) -> bool:
    """Whether a single box may be a question: above subheadings, or below no title or one such as FAQ."""
    return host.end < host.section.end or not _title(host) or _title(host) in WORDING.sections


def _title(host: Host) -> str:
    return fold_title(host.section.title)


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question of a page. Lines count from 0: the question is on `first`, the answer from `body` up to `end`, where
    the next question or heading starts. `lead`: start of the answer on the question's own line; `written`: the
    question with its mark and number."""

    title: str
    anchor: str
    first: int
    body: int
    end: int
    categories: tuple[str, ...]
    style: str
    lead: str
    written: str


def find_questions(page: MarkdownPage) -> tuple[PageQuestion, ...]:
    """Find the questions of a page, in order."""
    parsed = parse_page(page.text)
    root = outline(parsed.blocks, len(page.lines))
    parts = _question_sections(page, root)
    questions = tuple(each for part in parts for each in _questions_of(part))
    whole_page = _whole_page(page, root, questions) if parts == (root,) else None
    return (whole_page,) if whole_page else _without_numbers(questions)


def _without_numbers(questions: tuple[PageQuestion, ...]) -> tuple[PageQuestion, ...]:
    """Remove the numbers of sections, such as `2.1`, if at least half of the titles have one: others are versions."""
    titles = [_OUTLINE_NUMBER.sub("", each.title) for each in questions]
    numbered = sum(title != each.title for title, each in zip(titles, questions, strict=True))
    if numbered < 2 or numbered * 2 < len(questions):
        return questions
    return tuple(replace(each, title=title) for title, each in zip(titles, questions, strict=True))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A section with text that is in no question. `outside`: it is outside the FAQ section of a longer page."""

    title: str
    file: str
    line: int
    outside: bool


def find_left_out(page: MarkdownPage, questions: Sequence[PageQuestion]) -> Iterator[LeftOut]:
    """Yield the sections with text that are in no question, except repeated questions, tables of contents and what
    only introduces subsections."""
    root = outline(parse_page(page.text).blocks, len(page.lines))
    parts = _question_sections(page, root)
    titles = {question.written for question in questions}
    for section in walk([root]):
        end = section.children[0].first if section.children else section.end
        covered = any(each.first < end and section.first < each.end for each in questions)
        introduces = section.children and size(section.own) < 2 * SHORT
        if not covered and not introduces and section.title not in titles and _has_text(section.own):
            outside = not any(part.first <= section.first < part.end for part in parts)
            title = section.title or page.title
            yield LeftOut(title, str(page.path), page.line_of(section.first) + 1, outside)


def _has_text(blocks: Sequence[SourceBlock]) -> bool:
    """Whether blocks have more text than links within the page."""
    return any(
        not is_noise(block) and re.search(r"\w", _INNER_LINK.sub("", block.content)) for block in walk(blocks)
    )


def _questions_of(root: HeadedSection) -> tuple[PageQuestion, ...]:
    scores = score_ranks(root)
    hosts = tuple(find_hosts(root, (), scores))
    inner = inner_units(hosts)
    found = [each for at, host in enumerate(hosts) for each in _questions_of_host(host, inner.get(at, ()))]
    return tuple(_drop_strays(found, hosts))


def _whole_page(
    page: MarkdownPage, root: HeadedSection, questions: Sequence[PageQuestion]
) -> PageQuestion | None:
    """Return the page as one question; None if it has other questions than perhaps its only heading. Its title may be
    in front matter."""
    top = root.children[0] if len(root.children) == 1 else root
    if page.titled and (not root.children or any(WORDING.is_part(each.title) for each in root.children)):
        top = replace(root, title=page.title, first=-1)
    if not top.title or WORDING.is_peripheral(top.title):
        return None
    style = _style_of_parts(top) if top.children else ""
    if not top.children and all(each.style == "heading" for each in questions):
        answers = _has_text(top.own) and not _leads_elsewhere(top, WORDING.likeness(top.title))
        style = "undivided" if answers and not WORDING.holds_questions(top.title) else ""
    title, first = WORDING.without_mark(top.title), max(top.first, 0)
    question = PageQuestion(title, top.anchor, first, top.first + 1, top.end, (), style, "", top.title)
    return question if style else None


def _style_of_parts(top: HeadedSection) -> str:
    """Return the style of a page that is one question with headings in its answer; empty if it is not one."""
    titles = [child.title for child in top.children]
    parts = sum(WORDING.is_part(title) for title in titles)
    likeness = fmean(WORDING.likeness(title) for title in titles)
    if parts * 2 < len(titles) and not (WORDING.likeness(top.title) == 1 and likeness < 0.5):
        return ""
    keys = {WORDING.part(title) for title in titles}
    if "fix" in keys and keys & {"symptom", "cause"}:
        return "problem"
    return "" if WORDING.holds_questions(top.title) else "page"


def _question_sections(page: MarkdownPage, root: HeadedSection) -> tuple[HeadedSection, ...]:
    """Return the FAQ sections of a page about something else; otherwise the whole page."""
    names = [page.title, page.path.stem, *(each.title for each in root.children if len(root.children) == 1)]
    faqs = [each for each in walk([root]) if each.rank and WORDING.holds_questions(each.title)]
    if not faqs or any(map(WORDING.holds_questions, names)):
        return (root,)
    outermost = [each for each in faqs if not any(each in walk(other.children) for other in faqs)]
    spans = [range(each.first, each.end) for each in outermost]
    leaves = [each for each in walk([root]) if each.title and not each.children]
    others = [each.title for each in leaves if not any(each.first in span for span in spans)]
    asking = [WORDING.likeness(title) == 1 for title in others]
    if not others or sum(asking) > 0.5 * len(asking):
        return (root,)
    return tuple(replace(each, title="", rank=None) for each in outermost)


def _questions_of_host(host: Host, units: Units) -> Iterator[PageQuestion]:
    section = host.section
    if not units and section.title and (host.end == section.end or _answers_too(host)):
        units = (heading_unit(section),)
    categories = host.path[:-1] if units and units[0].style == "heading" else host.path
    ends = [unit.first for unit in units[1:]] + [host.end]
    for unit, end in zip(units, ends, strict=bool(units)):
        title = WORDING.without_mark(unit.title)
        if unit.style == "strong":
            title = title.rstrip(" :：")
        yield PageQuestion(
            title, unit.anchor, unit.first, unit.body, end, categories, unit.style, unit.lead, unit.title
        )


def _answers_too(host: Host) -> bool:
    """Whether a heading above other questions is one itself, with an answer in front of them."""
    title = host.section.title
    return WORDING.likeness(title) == 1 and title.rstrip()[-1] in "?？" and size(host.section.own) >= SHORT


def _drop_strays(questions: Sequence[PageQuestion], hosts: Sequence[Host]) -> Iterator[PageQuestion]:
    """Skip peripheral headings: links, introductions, and unmarked ones on a page that marks its questions."""
    headed = {host.section.first: host.section for host in hosts}
    marked = [each for each in questions if _is_marked(each, headed)]
    ranks = {(section.rank, each.categories) for each in marked if (section := headed.get(each.first))}
    numbers = [WORDING.question_number(each.written) for each in marked if each.style == "heading"]
    consecutive = all(number in {1, before + 1} for before, number in pairwise((0, *numbers)))
    numbered = 3 <= len(numbers) == len(marked) and consecutive
    mostly_marked = len(marked) >= 3 and (numbered or len(marked) >= 0.6 * len(questions))
    starts = {each.first for each in marked}
    for question in _merge_parts(questions, starts if numbered else None):
        if question.style == "heading" and question.first not in starts:
            title, likeness = question.title, WORDING.likeness(question.title)
            named = likeness < ASKING and WORDING.holds_questions(title)
            peripheral = WORDING.is_peripheral(title) or fold_title(title) in WORDING.sections or named
            section = headed[question.first]
            unmarked = mostly_marked and likeness < 1 and (section.rank, question.categories) not in ranks
            if numbered or peripheral or unmarked or _leads_elsewhere(section, likeness):
                continue
        yield question


def _leads_elsewhere(section: HeadedSection, likeness: float) -> bool:
    """Whether a section only leads to other pages: by a link in its heading, or a list of links that it begins with."""
    first = next((block for block in section.own if not is_noise(block)), None)
    items = first.children if first and first.kind.endswith("_list") else ()
    only_links = len(items) > 1 and all(
        len(item.children) == 1 and leads_to_page(item.children[0].content) for item in items
    )
    return (section.linked and size(section.own) < SHORT) or (only_links and likeness < ASKING)


def _merge_parts(questions: Sequence[PageQuestion], numbered: Set[int] | None) -> Sequence[PageQuestion]:
    """Merge into the question above: headings titled like a part of an answer, bold lines that end with a colon and,
    if questions are numbered (on lines `numbered`), everything else in the same section. A heading right below a box
    with the same title replaces the box."""
    kept: list[PageQuestion] = []
    for question in questions:
        part = WORDING.is_part(question.title) and not WORDING.is_peripheral(question.title)
        if kept and numbered is not None and question.first not in numbered:
            part = kept[-1].categories == question.categories
        leads_in = _leads_in(question.style, question.written)
        if kept and question.written == kept[-1].written and question.first <= kept[-1].body + 2:
            kept[-1] = question
        elif kept and ((question.style == "heading" and part) or (leads_in and WORDING.asks(kept[-1].title))):
            kept[-1] = replace(kept[-1], end=question.end)
        else:
            kept.append(question)
    return kept


def _is_marked(question: PageQuestion, headed: Mapping[int, HeadedSection]) -> bool:
    section = headed.get(question.first)
    title = section.title if section else ""
    return question.style == "marked" or WORDING.marked(title) or WORDING.label.match(title) is not None
