"""The third stage: the questions of a page, out of its headings and of the sections that are made of questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.content.markdown.body import parse_page
from app.importing.hosts import ASKING, Host, divided_ranks, find_hosts
from app.importing.outline import Section, outline
from app.importing.page import Page
from app.importing.styles import Inner, Written, inner_units
from app.importing.wording import Wording, fold_title


@dataclass(frozen=True, slots=True)
class Question:
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


def find_questions(page: Page, wording: Wording) -> tuple[Question, ...]:
    """The questions of a page, in order."""
    parsed = parse_page(page.text)
    root = outline(parsed.blocks, len(page.lines))
    divided = divided_ranks(root, wording)
    hosts = tuple(find_hosts(root, (), divided, wording))
    inner = inner_units(hosts, wording)
    found = [each for at, host in enumerate(hosts) for each in _of_host(host, inner.get(at), wording)]
    return tuple(_without_strays(found, hosts, inner, wording))


def _of_host(host: Host, written: Written | None, wording: Wording) -> Iterator[Question]:
    if written is None:
        if host.section.title and host.end == host.section.end:
            yield _headed(host, wording)
        return
    style, units = written
    ends = [unit.first for unit in units[1:]] + [host.end]
    for unit, end in zip(units, ends, strict=True):
        title = wording.without_mark(unit.title)
        yield Question(
            title, unit.anchor, unit.first, unit.body, end, host.path, style, unit.lead, unit.title
        )


def _headed(host: Host, wording: Wording) -> Question:
    section = host.section
    body = min(section.first + 1, section.end)
    title = wording.without_mark(section.title)
    return Question(
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
    found: Sequence[Question], hosts: Sequence[Host], inner: Inner, wording: Wording
) -> Iterator[Question]:
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


def _is_marked(question: Question, headed: Mapping[int, Section], wording: Wording) -> bool:
    section = headed.get(question.first)
    return question.style == "marked" or (section is not None and wording.marked(section.title))
