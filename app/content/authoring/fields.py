"""One field of a front matter rewritten in its text; every other byte of the file stays as it is."""

import re
from dataclasses import replace

from app.content.authoring.edition_text import quoted
from app.content.authoring.source_text import FIRST_LINE, SourceText
from app.content.read.yaml_reader import Fields, Items, Scalar
from app.errors import AuthoringError

_ITEM = re.compile(r"([ \t]*-[ \t]+)\S")
_BARE = re.compile(r"[A-Za-z][\w.-]*")


def values_of(text: str, key: str) -> tuple[str, ...]:
    """What a field of an edition holds: one value, or those of a list; nothing where it cannot be made out."""
    try:
        node = SourceText.of(text.encode()).fields().values.get(key)
    except AuthoringError:
        return ()
    items = node.items if isinstance(node, Items) else (node,)
    return tuple(item.text for item in items if isinstance(item, Scalar) and item.text)


def with_list(text: str, key: str, values: tuple[str, ...], after: str) -> str:
    """An edition whose list `key` has these values, each in quotes where it is more than a name. A field that is
    missing comes after the field `after`. Raises AuthoringError where the front matter cannot be read."""
    if all(_BARE.fullmatch(value) for value in values):
        return _with(text, key, f"{key}: [{', '.join(values)}]\n", after)
    lines = "".join(f"  - {quoted(value)}\n" for value in values)
    return _with(text, key, f"{key}:\n{lines}", after)


def with_item(text: str, key: str, value: str, after: str) -> str:
    """An edition with a value more at the end of the list `key`, as `with_list`. The values that are there stay as they
    are written, where each has a line of its own."""
    source = SourceText.of(text.encode())
    lines = source.front_lines
    first, last = _span(source.fields(), lines, key)
    item = _ITEM.match(lines[last - 1]) if first + 1 < last else None
    if item:
        return _text(source, [*lines[:last], f"{item[1]}{quoted(value)}\n", *lines[last:]])
    return with_list(text, key, (*values_of(text, key), value), after)


def with_value(text: str, key: str, value: str, after: str) -> str:
    """An edition whose field `key` has this value, as `with_list`."""
    shown = value if _BARE.fullmatch(value) else quoted(value)
    return _with(text, key, f"{key}: {shown}\n", after)


def _with(text: str, key: str, written: str, after: str) -> str:
    source = SourceText.of(text.encode())
    fields, lines = source.fields(), source.front_lines
    first, last = _span(fields, lines, key if key in fields.key_lines else after)
    if key not in fields.key_lines:
        first = last
    return _text(source, [*lines[:first], written, *lines[last:]])


def _text(source: SourceText, lines: list[str]) -> str:
    return replace(source, front="".join(lines)).content.decode()


def _span(fields: Fields, lines: list[str], key: str) -> tuple[int, int]:
    """The lines of a field, from 0, without blank lines and comments that stand before the next one."""
    if key not in fields.key_lines:
        return len(lines), len(lines)
    firsts = [line - FIRST_LINE for line in fields.key_lines.values()]
    first = fields.key_lines[key] - FIRST_LINE
    last = min([*(each for each in firsts if each > first), len(lines)])
    while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
        last -= 1
    return first, last
