"""Questions that one section of a page writes in several ways: boxes, bold lines, marked lines and rows of tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from jieda.content.markdown.body import SourceBlock
from jieda.importing.outline import ASKING, HeadedSection, HeadingRank, Host, is_noise
from jieda.importing.styles import DETAILS, STYLES, Unit
from jieda.importing.wording import WORDING

MIXED = ("marked", "details", "table", "strong")
"""Styles that stand beside each other below one heading."""

Units = tuple[Unit, ...]


def mix_styles(
    hosts: Sequence[Host], chosen: Mapping[int, Units], asking: Set[HeadingRank]
) -> Mapping[int, Units]:
    """Return the questions of the hosts by number, with those that `chosen`, a style for each host, leaves out: beside
    others, what is marked and what is in a style that other sections consist of; behind a closed box, any.

    Below a heading that asks, only what asks is a question, and only in styles that other sections consist of.
    """
    styles = {units[0].style for units in chosen.values()}
    mixed = dict(chosen)
    for at, host in enumerate(hosts):
        section, written = host.section, chosen.get(at, ())
        style = written[0].style if written else ""
        if style in MIXED:
            beside = MIXED if style == "details" else styles - {"table"} | {"marked"}
            others = _units(host, [each for each in MIXED if each in beside and each != style])
            mixed[at] = _in_order((*written, *others))
        elif not written and section.title and host.end == section.end:
            asks = section.rank in asking or WORDING.likeness(section.title) >= ASKING
            units = _in_order(_units(host, [each for each in MIXED if each in styles - {"table"}]))
            if asks and units and _has_text_before(section, units[0].first):
                mixed[at] = (heading_unit(section), *units)
    return mixed


def heading_unit(section: HeadedSection) -> Unit:
    """Return the question that a heading is."""
    body = min(section.first + 1, section.end)
    return Unit(section.title, section.first, body, answered=True, anchor=section.anchor, style="heading")


def _units(host: Host, styles: Sequence[str]) -> Iterator[Unit]:
    """Yield the units of a host in some styles that ask and are not inside a box."""
    boxes = list(_boxes(host.section.own))
    for style in styles:
        for unit in STYLES[style](host.section.own):
            boxed = style != "details" and any(unit.first in box for box in boxes)
            if not boxed and _asks(style, unit):
                yield replace(unit, style=style)


def _asks(style: str, unit: Unit) -> bool:
    if style in {"marked", "table"}:
        return True
    ends_asking = unit.title.rstrip().endswith(("?", "？"))
    return ends_asking or (style == "details" and WORDING.likeness(unit.title) == 1)


def _in_order(units: Iterable[Unit]) -> Units:
    """Return units by line; of two on one line, the first that was given."""
    by_line: dict[int, Unit] = {}
    for unit in units:
        by_line.setdefault(unit.first, unit)
    return tuple(by_line[line] for line in sorted(by_line))


def _has_text_before(section: HeadedSection, line: int) -> bool:
    return any(block.first < line and not is_noise(block) for block in section.own)


def _boxes(blocks: Sequence[SourceBlock]) -> Iterator[range]:
    """Yield the lines of each outermost `<details>`; one that is not closed goes to the end."""
    depth, first = 0, 0
    for block in blocks:
        if block.kind not in {"html_block", "paragraph"}:
            continue
        for match in DETAILS.finditer(block.content):
            line = block.first + block.content.count("\n", 0, match.start())
            if not match[0].startswith("</"):
                first = first if depth else line
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    yield range(first, line + 1)
    if depth:
        yield range(first, blocks[-1].end)
