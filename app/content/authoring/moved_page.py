"""One edition when an entry gets another id: its links, `related`, `formerly` and the stamp of its twin."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.content.authoring.relinking import Setting, relink
from app.content.authoring.source_text import Blocks, SourceText, canonical_order
from app.content.read.front_matter import FrontMatter
from app.content.read.outline import FileOutline
from app.content.read.parse import SourceFile, parse_file
from app.content.read.yaml_reader import Items, Node, Scalar
from app.errors import AuthoringError

_LINE_END = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True)
class Page:
    """An edition before and after. `outline` and `after` are what it says, then and now."""

    source: SourceFile
    outline: FileOutline
    content: bytes
    after: FileOutline


def changed_page(source: SourceFile, outline: FileOutline, old: str, new: str) -> Page:
    """The edition once the entry `old` is called `new`. Raises AuthoringError where that cannot be written safely."""
    text = SourceText.of(source.content)
    before = outline.id.partition("/")[0]
    moved = outline.id == old
    setting = Setting(outline.lang, before, new.partition("/")[0] if moved else before, {old: new})
    fields = text.fields()
    named = [item for item in _scalars(fields.values.get("related")) if item.text.strip() == old]
    body = relink(text.body, setting, text.body_line)
    text = replace(text, body=body).with_values((item, new) for item in named)
    if moved:
        text = _with_formerly(text, old, new)
    where = f"{outline.lang}/{new}.md" if moved else outline.where
    parsed, _ = parse_file(replace(source, where=where, content=text.content))
    if not parsed or parsed.outline.front != _front(outline, old, new):
        raise AuthoringError(
            "`formerly` or `related` is written so that it cannot be changed: do it by hand first"
        )
    return Page(source, outline, text.content, parsed.outline)


def _front(outline: FileOutline, old: str, new: str) -> FrontMatter:
    front = outline.front
    formerly = front.formerly
    if outline.id == old:
        formerly = (
            tuple(old if each == new else each for each in formerly) if new in formerly else (*formerly, old)
        )
    return replace(
        front, related=tuple(new if each == old else each for each in front.related), formerly=formerly
    )


def _scalars(node: Node | None) -> Iterator[Scalar]:
    if isinstance(node, Items):
        yield from (item for item in node.items if isinstance(item, Scalar))


def _with_formerly(text: SourceText, old: str, new: str) -> SourceText:
    """With the old id among the old addresses: in the place of the new one where an entry moves back."""
    node = text.fields().values.get("formerly")
    items = list(_scalars(node))
    back = [item for item in items if item.text.strip() == new]
    if back:
        return text.with_values([(back[0], old)])
    if items:
        return _with_item(text, items[-1], old)
    blocks = Blocks.of(text)
    in_order = list(blocks.fields) == canonical_order(blocks.fields)
    field = f"formerly:{text.line_end}  - {old}{text.line_end}"
    more = Blocks(blocks.head, {**blocks.fields, "formerly": field}, blocks.tail)
    return replace(text, front=more.text(canonical_order(more.fields) if in_order else more.fields))


def _with_item(text: SourceText, last: Scalar, item: str) -> SourceText:
    """With one more item behind the last one of a list, in the manner of that."""
    front = text.front
    start = max(front.rfind(end, 0, last.start) for end in "\r\n") + 1
    if front[start : last.start].strip(" ") == "-":
        end = next(place.start() for place in _LINE_END.finditer(front, last.end))
        front = f"{front[:end]}{text.line_end}{front[start : last.start]}{item}{front[end:]}"
    else:
        front = f"{front[: last.end]}, {item}{front[last.end :]}"
    return replace(text, front=front)


def stamped(pages: Sequence[Page]) -> list[Page]:
    """With the twins that agreed before declared equal again: other links are no other text."""
    by_place = {(page.outline.id, page.outline.lang): page for page in pages}
    return [_synced(page, by_place.get((page.outline.id, page.outline.lang.other))) for page in pages]


def _synced(page: Page, twin: Page | None) -> Page:
    if not twin or twin.after.digest == twin.outline.digest:
        return page
    if page.outline.front.synced_with != twin.outline.digest:
        return page
    text = SourceText.of(page.content)
    stamp = text.fields().values["synced_with"]
    if not isinstance(stamp, Scalar):
        return page
    return replace(page, content=text.with_values([(stamp, twin.after.digest)]).content)
