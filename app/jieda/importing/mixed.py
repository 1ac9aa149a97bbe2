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
    """Return the questions of the hosts by number, with those that `chosen`, a style for each host, leaves out.

    Below a heading that asks, only what asks is a question, and only in styles that other sections consist of.
    """
    styles = {units[0].style for units in chosen.values() if units}
    mixed = dict(chosen)
    for at, host in enumerate(hosts):
        written = chosen.get(at, ())
        title = host.section.title
        if written and written[0].style in MIXED:
            mixed[at] = _beside(host, written, styles)
        elif not written and title and host.end == host.section.end:
            below = host.section.rank in asking or WORDING.likeness(title) >= ASKING
            mixed[at] = tuple(_below_question(host, styles - {"table"})) if below else ()
    return {at: units for at, units in mixed.items() if units}


def heading_unit(section: HeadedSection) -> Unit:
    """Return the question that a heading is."""
    body = min(section.first + 1, section.end)
    return Unit(section.title, section.first, body, answered=True, anchor=section.anchor, style="heading")


def _beside(host: Host, written: Units, styles: Set[str]) -> Units:
    """Return the chosen questions of a host and those of other styles that are no part of their answers: in front of
    them all, behind a closed box, marked, or in a style that other sections consist of."""
    style, first = written[0].style, written[0].first
    others = [
        unit
        for unit in _units(host, [each for each in MIXED if each != style])
        if unit.first < first
        or style == "details"
        or unit.style == "marked"
        or (unit.style in styles and unit.style != "table")
    ]
    units = _in_order((*written, *others))
    own = host.section
    if others and own.title.rstrip().endswith(("?", "？")) and _has_text_before(own, units[0].first):
        return (heading_unit(own), *units)
    return units


def _below_question(host: Host, styles: Set[str]) -> Iterator[Unit]:
    units = _in_order(_units(host, [each for each in MIXED if each in styles]))
    if units and _has_text_before(host.section, units[0].first):
        yield heading_unit(host.section)
        yield from units


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
