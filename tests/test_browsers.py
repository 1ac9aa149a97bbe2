"""The floor of browsers: style and scripts use nothing newer than it, unless another browser may pass it over.

Chrome and Edge 109 (the last for Windows 7 and Server 2012), Firefox ESR 115, Safari 16.4. Each row is a feature with
its first versions (MDN's compatibility data); one that is in all of the floor needs no row.
"""

import re
from dataclasses import dataclass

import pytest

from tests.support.server import ROOT

FLOOR = (109, 115, 16.4)


@dataclass(frozen=True)
class Feature:
    """`pattern` finds it; `since` are Chrome, Firefox and Safari, infinite where it is in none."""

    name: str
    pattern: str
    since: tuple[float, float, float]


NEVER = float("inf")
STYLE = (
    Feature("light-dark()", r"light-dark\(", (123, 120, 17.5)),
    Feature(":has()", r":has\(", (105, 121, 15.4)),
    Feature("color-mix()", r"color-mix\(", (111, 113, 16.2)),
    Feature("oklch() and the like", r"\b(?:ok)?l(?:ch|ab)\(", (111, 113, 15.4)),
    Feature("relative colors", r"\b(?:rgb|hsl)a?\(from\b", (119, 128, 16.4)),
    Feature("nesting", r"[;{]\s*&", (112, 117, 16.5)),
    Feature("alternative text in content", r'content: "[^"]*" / "', (77, 128, 17.4)),
    Feature("@scope", r"@scope\b", (118, 128, 17.4)),
    Feature("@starting-style", r"@starting-style\b", (117, 129, 17.5)),
    Feature("field-sizing", r"field-sizing:", (123, NEVER, NEVER)),
    Feature("subgrid", r":\s*subgrid\b", (117, 71, 16)),
    Feature("anchor positioning", r"anchor-name:|position-area:", (125, 147, 26)),
    Feature("@container style()", r"@container[^{]*style\(", (111, NEVER, 18)),
    Feature("scroll-driven animation", r"animation-timeline:", (115, NEVER, 26)),
    Feature("linear() easing", r"\blinear\(", (113, 112, 17.2)),
    Feature("popover", r":popover-open", (114, 125, 17)),
    Feature("::details-content", r"::details-content", (131, 143, 18.4)),
    Feature("unprefixed mask", r"[;{ ]mask(?:-image)?:", (120, 53, 15.4)),
)
SCRIPT = (
    Feature("URLSearchParams.size", r"(?:params|URLSearchParams\([^)]*\))\.size\b", (113, 112, 17)),
    Feature("ARIA reflection", r"\.aria[A-Z]\w+|\baria[A-Z]\w+:", (81, 119, 12.1)),
    Feature("role reflection", r"\.role = |make\([^;]*\brole:", (103, 119, 12.1)),
    Feature("Array.prototype.with, toSorted", r"\.(?:toSorted|toReversed|toSpliced|with)\(", (110, 115, 16)),
    Feature("Object.groupBy", r"(?:Object|Map)\.groupBy", (117, 119, 17.4)),
    Feature("Array.fromAsync", r"Array\.fromAsync", (121, 115, 16.4)),
    Feature("Promise.withResolvers", r"Promise\.withResolvers", (119, 121, 17.4)),
    Feature("Promise.try", r"Promise\.try\b", (128, 134, 18.2)),
    Feature(
        "iterator helpers", r"\.(?:values|keys|entries)\(\)\.(?:map|filter|take|drop)\(", (122, 131, 18.4)
    ),
    Feature("set operations", r"\.(?:union|intersection|difference|isSubsetOf)\(", (122, 127, 17)),
    Feature("URL.canParse, URL.parse", r"URL\.(?:canParse|parse)\(", (120, 115, 17)),
    Feature("AbortSignal.any", r"AbortSignal\.any", (116, 124, 17.4)),
    Feature("Navigation API", r"\bnavigation\.", (102, 147, 26.2)),
    Feature("view transitions", r"startViewTransition", (111, 144, 18)),
    Feature("popover", r"\.(?:show|hide|toggle)Popover", (114, 125, 17)),
    Feature("checkVisibility", r"\.checkVisibility\(", (105, 106, 17.4)),
    Feature("regular expressions with v", r"/[dgimsuy]*v[dgimsuy]*[;,).]", (112, 116, 17)),
    Feature("import attributes", r"\bwith \{ type:", (123, 138, 17.2)),
)


def without_guards(style: str) -> str:
    """`style` without comments and the blocks that @supports guards."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    kept, place = [], 0
    for guard in re.finditer(r"@supports[^{]*\{", style):
        if guard.start() < place:
            continue
        kept.append(style[place : guard.start()])
        depth, place = 1, guard.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(style[place], 0)
            place += 1
    return "".join([*kept, style[place:]])


def used(features: tuple[Feature, ...], text: str) -> list[str]:
    """The names of those of `features` that `text` uses."""
    return [feature.name for feature in features if re.search(feature.pattern, text)]


def test_the_style_needs_nothing_newer_than_the_floor() -> None:
    style = (ROOT / "static" / "app.css").read_text(encoding="utf-8")
    assert used(STYLE, without_guards(style)) == []
    assert used(STYLE, style), "what is guarded is newer, or it would need no guard"


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "static").glob("*.js")))
def test_no_script_needs_anything_newer_than_the_floor(name: str) -> None:
    assert used(SCRIPT, (ROOT / "static" / name).read_text(encoding="utf-8")) == []


def test_every_row_is_newer_than_the_floor_somewhere() -> None:
    old = [
        feature.name
        for feature in (*STYLE, *SCRIPT)
        if all(since <= floor for since, floor in zip(feature.since, FLOOR, strict=True))
    ]
    assert old == []


@pytest.mark.parametrize(
    ("features", "text", "name"),
    [
        (STYLE, ":root { --paper: light-dark(#fff, #000); }", "light-dark()"),
        (STYLE, ".a:not(:has(.b)) { color: red; }", ":has()"),
        (SCRIPT, "if (params.size) go();", "URLSearchParams.size"),
        (SCRIPT, 'item.ariaSelected = "false";', "ARIA reflection"),
    ],
)
def test_a_newer_feature_is_found(features: tuple[Feature, ...], text: str, name: str) -> None:
    assert used(features, text) == [name]
