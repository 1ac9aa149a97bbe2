"""The third stage, its second step: which sections are made of questions that have no heading of their own.

A style counts only where the whole of a section is made of it, and where what it finds on the page are questions.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from app.importing.hosts import Host, weight
from app.importing.outline import Rank, is_noise
from app.importing.units import STYLES, Unit
from app.importing.wording import Wording, fold_title

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


def _asking_ranks(hosts: Sequence[Host], wording: Wording) -> frozenset[Rank]:
    """Ranks of headings that are questions themselves, most of them: bold text below them divides answers."""
    titles: dict[Rank, list[str]] = defaultdict(list)
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
