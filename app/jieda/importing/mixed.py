"""Finds questions that a section writes in several styles: boxes, bold lines, marked lines and table rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from jieda.content.markdown.body import SourceBlock
from jieda.importing.outline import ASKING, HeadedSection, HeadingRank, Host, is_noise
from jieda.importing.styles import STYLES, Unit, box_tags
from jieda.importing.wording import WORDING

MIXED = ("marked", "details", "table", "strong")
"""Styles that may occur side by side below one heading."""

Units = tuple[Unit, ...]


def mix_styles(
    hosts: Sequence[Host], chosen: Mapping[int, Units], asking: Set[HeadingRank]
) -> Mapping[int, Units]:
    """Return the questions of each host by its number: those in `chosen`, all in one style, and those in other styles.
    A host with boxes may have more in any style of MIXED, another only marked ones and those in a style of some host.
    A heading that asks is a question itself, if it has text before others; `asking`: ranks of headings that do."""
    used_styles = {units[0].style for units in chosen.values()}
    mixed = dict(chosen)
    for at, host in enumerate(hosts):
        section, chosen_units = host.section, chosen.get(at, ())
        style = chosen_units[0].style if chosen_units else ""
        if style in MIXED:
            allowed = MIXED if style == "details" else used_styles - {"table"} | {"marked"}
            others = _units(host, [each for each in MIXED if each in allowed and each != style])
            mixed[at] = _in_order((*chosen_units, *others))
        elif not chosen_units and section.title and host.end == section.end:
            asks = section.rank in asking or WORDING.likeness(section.title) >= ASKING
            units = _in_order(_units(host, [each for each in MIXED if each in used_styles - {"table"}]))
            before = (block for block in section.own if units and block.first < units[0].first)
            if asks and not all(map(is_noise, before)):
                mixed[at] = (heading_unit(section), *units)
    return mixed


def heading_unit(section: HeadedSection) -> Unit:
    """Return the question that a heading is."""
    body = min(section.first + 1, section.end)
    return Unit(section.title, section.first, body, answered=True, anchor=section.anchor, style="heading")


def _units(host: Host, styles: Sequence[str]) -> Iterator[Unit]:
    """Yield the units of a host in the given styles that ask a question and are not inside a box."""
    boxes = list(_boxes(host.section.own))
    for style in styles:
        for unit in STYLES[style](host.section.own):
            boxed = style != "details" and any(unit.first in box for box in boxes)
            asks = style in {"marked", "table"} or unit.title.rstrip().endswith(("?", "？"))
            if not boxed and (asks or (style == "details" and WORDING.likeness(unit.title) == 1)):
                yield replace(unit, style=style)


def _in_order(units: Iterable[Unit]) -> Units:
    """Return the units in order of their lines, and of several on one line only the first."""
    by_line: dict[int, Unit] = {}
    for unit in units:
        by_line.setdefault(unit.first, unit)
    return tuple(by_line[line] for line in sorted(by_line))


def _boxes(blocks: Sequence[SourceBlock]) -> Iterator[range]:
    """Yield the lines of each outermost `<details>`; an unclosed one extends to the end."""
    before = first = 0
    for _, depth, _, line in box_tags(blocks):
        if depth and not before:
            first = line
        elif before and not depth:
            yield range(first, line + 1)
        before = depth
    if before:
        yield range(first, blocks[-1].end)
