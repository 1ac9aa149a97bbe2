"""The third stage: finds the questions of a page, from its headings and the question styles that it really uses."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from jieda.content.markdown.body import SourceBlock, parse_page
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
    weight,
)
from jieda.importing.page import MarkdownPage
from jieda.importing.styles import STYLES
from jieda.importing.wording import WORDING, fold_title

LEAST_LIKENESS: Mapping[str, float] = {"problem": 0.0, "page": ASKING, "undivided": 1.0}
"""The ways in which a page is one question: it says what is wrong and what to do, it is divided otherwise, or not at
all; for each the likeness of its title from which it is a question though nobody named the page."""
CERTAIN = frozenset({"marked", "table"})
"""Styles that are explicitly marked as questions."""
BOXED = frozenset({"marked", "details"})
"""Styles that are also accepted under headings of surrounding material."""

_INNER_LINK = re.compile(r"\[[^\]]*\]\(#[^)]*\)")


def inner_units(hosts: Sequence[Host]) -> Mapping[int, Units]:
    """Return the questions, by the number of the host, of those whose text has some."""
    chosen: dict[int, Units] = {}
    asking = _asking_ranks(hosts)
    marking = any(host.section.rank in asking and WORDING.marked(host.section.title) for host in hosts)
    for style, find in STYLES.items():
        if style == "table" and marking:
            continue
        found = {
            at: units
            for at, host in enumerate(hosts)
            if at not in chosen
            and _may_hold(host, style, asking)
            and (units := tuple(find(host.section.own)))
        }
        if found and _believable(style, [(hosts[at], units) for at, units in found.items()]):
            chosen |= {at: tuple(replace(each, style=style) for each in units) for at, units in found.items()}
    return mix_styles(hosts, chosen, asking)


def _may_hold(host: Host, style: str, asking: Set[HeadingRank]) -> bool:
    """Whether the text of a host may consist of questions of this style: not if its heading asks or is around them."""
    if _title(host) in WORDING.sections:
        return True
    if style != "marked" and host.section.rank in asking:
        return False
    return style in BOXED or not WORDING.surrounds(host.section.title)


def _asking_ranks(hosts: Sequence[Host]) -> frozenset[HeadingRank]:
    """Return ranks whose headings are mostly questions themselves, so that bold text below them divides answers."""
    titles: dict[HeadingRank, list[str]] = defaultdict(list)
    for host in hosts:
        if host.section.rank and host.end == host.section.end:
            titles[host.section.rank].append(host.section.title)
    return frozenset(
        rank
        for rank, each in titles.items()
        if len(each) > 1 and fmean(WORDING.likeness(title) for title in each) >= 0.6
    )


def _believable(style: str, found: Sequence[tuple[Host, Units]]) -> bool:
    """Whether the units of a style are really questions, judged by all of them on the page."""
    units = [unit for _, each in found for unit in each]
    titles = [unit.title for unit in units]
    if sum(WORDING.is_part(title) or _leads_in(style, title) for title in titles) * 2 >= len(titles):
        return False
    hosted = fmean(WORDING.likeness(host.section.title) if host.section.title else 0.0 for host, _ in found)
    if style == "table" or (style in CERTAIN and len(units) > (len(found) if hosted >= 0.5 else 1)):
        return True
    answered = fmean(unit.answered for unit in units) >= 0.7
    asked = fmean(WORDING.likeness(title) for title in titles)
    if (
        style in {"details", "strong"}
        and asked == 1
        and all(_replaces_no_question(host) for host, _ in found)
    ):
        return True
    if len(units) < 2 or not answered or hosted >= 0.6:
        return False
    # Sections that consist of these are made of questions, however they are worded.
    return asked >= 0.5 or (style in {"details", "definition", "strong"} and len(units) >= 2 * len(found))


def _leads_in(style: str, title: str) -> bool:
    """Whether a bold line only introduces what follows."""
    return style == "strong" and title.endswith((":", "："))


def _replaces_no_question(host: Host) -> bool:
    """Whether a single box may be a question: above a section's headings, or if its title is empty or such as FAQ."""
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
    found = tuple(each for part in parts for each in _questions_of(part))
    whole = _whole_page(page, root, found) if parts == (root,) else None
    return (whole,) if whole else found


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A section with text that no question has. `outside`: it is not in the FAQ section of a longer page."""

    title: str
    file: str
    line: int
    outside: bool


def find_left_out(page: MarkdownPage, questions: Sequence[PageQuestion]) -> Iterator[LeftOut]:
    """Yield what the questions of a page leave out, but for repetitions of them and tables of contents."""
    root = outline(parse_page(page.text).blocks, len(page.lines))
    parts = _question_sections(page, root)
    titles = {question.written for question in questions}
    for section in root.walk():
        taken = any(each.first < section.end and section.first < each.end for each in questions)
        if not taken and not section.children and section.title not in titles and _has_text(section.own):
            outside = not any(part.first <= section.first < part.end for part in parts)
            yield LeftOut(section.title, str(page.path), page.line_of(section.first) + 1, outside)


def _has_text(blocks: Sequence[SourceBlock]) -> bool:
    """Whether there is more than links within the page."""
    return any(
        _has_text(block.children)
        or (not is_noise(block) and re.search(r"\w", _INNER_LINK.sub("", block.content)) is not None)
        for block in blocks
    )


def _questions_of(root: HeadedSection) -> tuple[PageQuestion, ...]:
    scores = score_ranks(root)
    hosts = tuple(find_hosts(root, (), scores))
    inner = inner_units(hosts)
    found = [each for at, host in enumerate(hosts) for each in _questions_of_host(host, inner.get(at, ()))]
    return tuple(_drop_strays(found, hosts))


def _whole_page(
    page: MarkdownPage, root: HeadedSection, found: Sequence[PageQuestion]
) -> PageQuestion | None:
    """Return the question that the page is as a whole, which has no questions in it but perhaps its only heading; its
    title may be in front matter."""
    top = root.children[0] if len(root.children) == 1 else root
    if page.titled and (not root.children or any(WORDING.is_part(each.title) for each in root.children)):
        top = replace(root, title=page.title, first=-1)
    if not top.title or WORDING.surrounds(top.title):
        return None
    style = _divided(top) if top.children else ""
    if not top.children and all(each.style == "heading" for each in found):
        style = "" if WORDING.holds_questions(top.title) or not _answers(top) else "undivided"
    title, first = WORDING.without_mark(top.title), max(top.first, 0)
    question = PageQuestion(title, top.anchor, first, top.first + 1, top.end, (), style, "", top.title)
    return question if style else None


def _divided(top: HeadedSection) -> str:
    """Return how a page is one question whose answer has headings; empty if it is not."""
    titles = [child.title for child in top.children]
    named = sum(WORDING.is_part(title) for title in titles)
    asked = fmean(WORDING.likeness(title) for title in titles)
    if named * 2 < len(titles) and not (WORDING.likeness(top.title) == 1 and asked < 0.5):
        return ""
    keys = {WORDING.part(title) for title in titles}
    return "problem" if "fix" in keys and keys & {"symptom", "cause"} else "page"


def _answers(section: HeadedSection) -> bool:
    return _has_text(section.own) and not _leads_elsewhere(section, WORDING.likeness(section.title))


def _question_sections(page: MarkdownPage, root: HeadedSection) -> tuple[HeadedSection, ...]:
    """Return the FAQ sections of a page about something else; otherwise the whole page."""
    names = [page.title, page.path.stem, *(each.title for each in root.children if len(root.children) == 1)]
    found = [each for each in root.walk() if each.rank and WORDING.holds_questions(each.title)]
    if not found or any(map(WORDING.holds_questions, names)):
        return (root,)
    inside = [
        each for each in found if not any(other is not each and each in other.walk() for other in found)
    ]
    spans = [range(each.first, each.end) for each in inside]
    leaves = [each for each in root.walk() if each.title and not each.children]
    others = [each.title for each in leaves if not any(each.first in span for span in spans)]
    asked = [WORDING.likeness(title) == 1 for title in others]
    if not others or sum(asked) > 0.5 * len(asked):
        return (root,)
    return tuple(replace(each, title="", rank=None) for each in inside)


def _questions_of_host(host: Host, units: Units) -> Iterator[PageQuestion]:
    section = host.section
    if not units and section.title and (host.end == section.end or _answers_too(host)):
        units = (heading_unit(section),)
    categories = host.path[:-1] if units and units[0].style == "heading" else host.path
    ends = [unit.first for unit in units[1:]] + [host.end]
    for unit, end in zip(units, ends, strict=bool(units)):
        title = WORDING.without_mark(unit.title)
        yield PageQuestion(
            title, unit.anchor, unit.first, unit.body, end, categories, unit.style, unit.lead, unit.title
        )


def _answers_too(host: Host) -> bool:
    """Whether a heading above other questions is one itself, with an answer in front of them."""
    title = host.section.title
    return WORDING.likeness(title) == 1 and title.rstrip()[-1] in "?？" and weight(host.section.own) >= SHORT


def _drop_strays(found: Sequence[PageQuestion], hosts: Sequence[Host]) -> Iterator[PageQuestion]:
    """Skip surrounding material: links, introductions, and unmarked headings on a page that marks its questions."""
    headed = {host.section.first: host.section for host in hosts}
    marked = [each for each in found if _is_marked(each, headed)]
    ranks = {(section.rank, each.categories) for each in marked if (section := headed.get(each.first))}
    counts = [WORDING.count(each.written) for each in marked if each.style == "heading"]
    follows = all(count in {1, before + 1} for before, count in pairwise((0, *counts)))
    counted = 3 <= len(counts) == len(marked) and follows
    marks = len(marked) >= 3 and (counted or len(marked) >= 0.6 * len(found))
    starts = {each.first for each in marked}
    for question in _merge_parts(found, starts if counted else None):
        if question.style == "heading" and question.first not in starts:
            likeness = WORDING.likeness(question.title)
            around = WORDING.surrounds(question.title) or fold_title(question.title) in WORDING.sections
            section = headed[question.first]
            odd = marks and likeness < 1 and (section.rank, question.categories) not in ranks
            if counted or around or odd or _leads_elsewhere(section, likeness):
                continue
        yield question


def _leads_elsewhere(section: HeadedSection, likeness: float) -> bool:
    """Whether a section only leads to other pages: by its heading, or by the list of links that a topic begins with."""
    begins = next((block for block in section.own if not is_noise(block)), None)
    items = begins.children if begins and begins.kind.endswith("_list") else ()
    listed = len(items) > 1 and all(
        len(item.children) == 1 and leads_to_page(item.children[0].content) for item in items
    )
    return (section.linked and weight(section.own) < SHORT) or (listed and likeness < ASKING)


def _merge_parts(found: Sequence[PageQuestion], counted: Set[int] | None) -> Sequence[PageQuestion]:
    """Merge into the question above: headings titled like a part of an answer, bold lines that end with a colon and,
    if questions are numbered (on lines `counted`), everything else in the same section. A heading right below a box
    with its title takes the place of the box."""
    kept: list[PageQuestion] = []
    for question in found:
        part = WORDING.is_part(question.title) and not WORDING.surrounds(question.title)
        if kept and counted is not None and question.first not in counted:
            part = kept[-1].categories == question.categories
        led = _leads_in(question.style, question.title)
        if kept and question.written == kept[-1].written and question.first <= kept[-1].body + 2:
            kept[-1] = question
        elif kept and ((question.style == "heading" and part) or (led and WORDING.asks(kept[-1].title))):
            kept[-1] = replace(kept[-1], end=question.end)
        else:
            kept.append(question)
    return kept


def _is_marked(question: PageQuestion, headed: Mapping[int, HeadedSection]) -> bool:
    section = headed.get(question.first)
    title = section.title if section else ""
    return question.style == "marked" or WORDING.marked(title) or WORDING.label.match(title) is not None
