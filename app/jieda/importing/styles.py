"""The third stage, below headings: for each style, a way to write questions without headings, finds where a question
may start in the blocks of a section; `jieda.importing.questions` decides which styles a page really uses."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jieda.content.markdown.body import SourceBlock, walk
from jieda.importing.outline import PICTURES, TAG, anchor_of, is_noise, plain
from jieda.importing.wording import WORDING, fold_title

MAX_TITLE_CHARS = 300

_STRONG = re.compile(r"(\*\*|__)(?=\S)(?P<title>.+?)(?:(?<=\S)|(?<=[?？] ))\1(?P<rest>.*)", re.DOTALL)
_SLANTED = re.compile(r"\A[*_](?=[^*_\s])([^*_]+[?？])[*_]\Z")
"""A question in italics on a line of its own."""
_SEPARATOR = r"\s*(?:[:：→]|->|=>|\s[-–—]\s)\s*"
_LED = re.compile(
    rf"(?:(?P<strong>\*\*|__)(?=\S)(?P<bold>[^\n]+?)(?:(?<=[:：])(?P=strong)\s*|(?P=strong){_SEPARATOR})"
    rf"|(?P<plain>(?:`[^`\n]+`|[^`\n:：*[\]]){{1,60}}?){_SEPARATOR})(?=[^\s/])"
)
"""A problem, a colon, an arrow or a dash, and what to do, on one line."""
_DASHED = re.compile(r"\*\*(?P<title>[^*\n]+)\*\*\s*[-–—]\s")
"""A problem in bold, then a dash and what to do."""
_BEFORE_STRONG = re.compile(rf"{PICTURES.pattern}(?:<a\b[^>]*>\s*</a>\s*)*(?:\d{{1,3}}[.、)]\s*)?")
_BOX_TAG = re.compile(
    r"<details\b|</details\s*>|<summary\b[^>]*>\s*(?:#{1,6}\s)?(?P<title>.*?)</summary>",
    re.DOTALL | re.IGNORECASE,
)
_TERM = re.compile(r"<dt\b[^>]*>(?P<title>.*?)(?:</dt>|(?=<dd))", re.DOTALL | re.IGNORECASE)
_DEFINITION = re.compile(r"(?P<title>[^\n]+)\n:[ \t]+\S")
_BRACKETS = r"(?:[`*]*\[[^\]\n\d]{1,40}\][`*]*(?![(\[])|【[^】\n]{1,40}】)"
_TAG_NAME = rf"(?:`[^`\n]{{1,40}}`|{_BRACKETS})"
_TAGGED = re.compile(rf"^(?:{_TAG_NAME}(?:,?\s*{_TAG_NAME})*\s*[:：-]\s*|(?:{_BRACKETS},?\s*)+)(?=\S)")
"""Category tags before a question: `install`: How …, [install] How …"""
_NUMBERED = re.compile(
    r"\s*(?:\d{1,3}\s*[.、)）](?!\d)|[（(]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\s*\S"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A possible question: its title, the line it starts on (`first`), and the first line after it (`body`). `lead`:
    text after the question on the same line, the start of the answer or all of it. `style`: its key in STYLES, once
    decided."""

    title: str
    first: int
    body: int
    answered: bool
    anchor: str = ""
    lead: str = ""
    style: str = ""


Finder = Callable[[Sequence[SourceBlock]], Iterator[Unit]]


def box_tags(blocks: Sequence[SourceBlock]) -> Iterator[tuple[re.Match[str], int, SourceBlock, int]]:
    """Yield the tags of boxes, each with the number of boxes that are open after it, its block and its line."""
    depth = 0
    for block in blocks:
        for match in _BOX_TAG.finditer(block.content if block.kind in {"html_block", "paragraph"} else ""):
            if match["title"] is None:
                depth = max(depth - 1, 0) if match[0].startswith("</") else depth + 1
            yield match, depth, block, block.first + block.content.count("\n", 0, match.start())


def _details(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    start = 0
    for match, depth, block, line in box_tags(blocks):
        if match["title"] is None:
            start = start if match[0].startswith("</") else line
        elif depth == 1:
            body, lead = _after(block, match.end())
            yield Unit(plain(match["title"]), start, body, answered=True, lead=lead)


def _after(block: SourceBlock, offset: int) -> tuple[int, str]:
    """Return the number of the line after the one with `offset` in a block, and the text after `offset` on that one."""
    rest = block.content[offset:].partition("\n")[0]
    return block.first + block.content.count("\n", 0, offset) + 1, rest


def _marked_lines(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find lines that start with `Q:` or `问：`, in paragraphs and at the start of list items."""
    for block in (each for each in walk(blocks) if each.kind == "paragraph"):
        lines = block.content.split("\n")
        for offset, written in enumerate(lines):
            line = TAG.sub("", written).strip() if "<" in written else written
            if WORDING.marked(line) and not WORDING.answer_mark.match(WORDING.without_mark(line)):
                title, rest = _until_answer(line)
                first = block.first + offset
                yield Unit(plain(title), first, first + 1, answered=True, lead=rest)


def _strong_starts(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find paragraphs that start with bold text that is a line of its own or a question; anchors may precede it.
    If all paragraphs are bold text, a dash and more, and at least half state problems, all of them count."""
    paragraphs = [block for block in blocks if block.kind == "paragraph"]
    dashed = [match for block in paragraphs if (match := _DASHED.match(block.content))]
    problems = sum(WORDING.states_problem(match["title"]) for match in dashed)
    for block in paragraphs:
        yield from _strong(block, dashed=1 < len(dashed) == len(paragraphs) <= 2 * problems)


def _strong(block: SourceBlock, *, dashed: bool) -> Iterator[Unit]:
    before = _BEFORE_STRONG.match(block.content)
    content = _SLANTED.sub(r"**\1**", block.content.strip())
    match = _STRONG.match(content, before.end() if before else 0)
    if not match or len(match["title"]) > MAX_TITLE_CHARS or WORDING.answer_mark.match(block.content):
        return
    rest = match["rest"].strip(" :：。.")
    own_line = not rest or match["rest"].lstrip(" :：").startswith("\n")
    if own_line or dashed or (WORDING.asks(match["title"]) and match["title"].rstrip()[-1] in "?？"):
        lead = "" if own_line else match["rest"].lstrip(" -–—").partition("\n")[0]
        anchor = anchor_of(block.content)
        body = block.first + block.content.count("\n", 0, match.start()) + 1
        yield Unit(plain(match["title"]), block.first, body, answered=True, anchor=anchor, lead=lead)


def _items(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find items of lists of one kind by their first paragraph; the answer is in the item or between the lists."""
    kind = next((each.kind for each in blocks if "list" in each.kind), "")
    for index, block in enumerate(blocks):
        if block.kind != kind:
            continue
        items = block.children if block.kind != "list_item" else (block,)
        following = next((each for each in blocks[index + 1 :] if not is_noise(each)), None)
        outside = following is not None and following.kind != kind
        for item in items:
            if item.children and item.children[0].kind == "paragraph":
                yield _item(item, last=item is items[-1] and outside)


def _led_items(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find items of lists in which each item is a problem, a colon or the like, and what to do."""
    items = [item for block in blocks if block.kind.endswith("_list") for item in block.children]
    led = [match for item in items if item.children and (match := _LED.match(item.children[0].content))]
    for item, match in zip(items, led, strict=False) if len(led) == len(items) else ():
        lead = match.string[match.end() :].partition("\n")[0]
        if not lead.rstrip().endswith(("?", "？")):
            title = plain(match["bold"] or match["plain"])
            yield Unit(title, item.first, item.children[0].first + 1, answered=True, lead=lead)


def _item(item: SourceBlock, *, last: bool) -> Unit:
    paragraph = item.children[0]
    content = _SLANTED.sub(r"**\1**", paragraph.content.strip())
    strong = _STRONG.match(content)
    if strong and (not strong["rest"].strip(" :：") or strong["rest"].lstrip(" :：").startswith("\n")):
        title, rest = strong["title"].rstrip(" :："), strong["rest"].strip(" :：")
        lead = ""
    elif strong and WORDING.asks(strong["title"]):
        title, rest = strong["title"], strong["rest"]
        lead = rest.partition("\n")[0]
    else:
        title, _, rest = content.partition("\n")
        lead = ""
    answered = len(item.children) > 1 or bool(rest.strip()) or last
    title = _TAGGED.sub("", title)
    return Unit(plain(title), item.first, paragraph.first + 1, answered, anchor_of(content), lead)


def _definitions(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find terms of definition lists: a line above one that starts with a colon, and `<dt>`."""
    for block in blocks:
        pattern = {"paragraph": _DEFINITION, "html_block": _TERM}.get(block.kind)
        for match in pattern.finditer(block.content) if pattern else ():
            first = block.first + block.content.count("\n", 0, match.start())
            body, lead = _after(block, match.end()) if pattern is _TERM else (first + 1, "")
            yield Unit(plain(match["title"]), first, body, answered=True, lead=lead)


def _rows(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find rows of tables whose headers name a question column and an answer column."""
    for block in blocks:
        if block.kind != "table" or len(block.children) < 2:
            continue
        headers = [plain(cell.content) for cell in block.children[0].children[0].children]
        folded = tuple(map(fold_title, headers))
        question_column = _question_column(folded)
        if question_column is None:
            continue
        units: list[Unit] = []
        for row in block.children[1].children:
            cells = [cell.content.strip() for cell in row.children]
            others = [(headers[at], cell) for at, cell in enumerate(cells) if at != question_column and cell]
            answer = (
                others[0][1]
                if len(others) == 1
                else "\n\n".join(f"**{name}**: {cell}" for name, cell in others)
            )
            title, anchor = plain(cells[question_column]), anchor_of(cells[question_column])
            if title:
                units.append(Unit(title, row.first, row.end, bool(answer), anchor, answer))
            elif units:
                # A row without a question goes on with the answer above it.
                lead = f"{units[-1].lead}\n\n{answer}".strip()
                units[-1] = replace(units[-1], body=row.end, answered=bool(lead), lead=lead)
        yield from units


def _question_column(headers: tuple[str, ...]) -> int | None:
    """Return the column of questions, or else of error codes if another says what to do; None if there is none."""
    column = next((at for at, head in enumerate(headers) if head in WORDING.question_columns), None)
    if column is not None and set(headers[:column] + headers[column + 1 :]) & WORDING.answer_columns:
        return column
    code_column = next((at for at, head in enumerate(headers) if head in WORDING.code_columns), None)
    return code_column if any(WORDING.part(head) == "fix" for head in headers) else None


def _numbered_lines(blocks: Sequence[SourceBlock]) -> Iterator[Unit]:
    """Find numbered lines that ask something and are not lists in Markdown, such as `1、如何…？`. A line right above
    another has no answer: lists of links to tutorials look like that."""
    for block in blocks:
        lines = block.content.split("\n") if block.kind == "paragraph" else []
        for offset, line in enumerate(lines):
            if _NUMBERED.match(line) and WORDING.asks(line) and len(line) <= MAX_TITLE_CHARS:
                first = block.first + offset
                answered = not any(map(_NUMBERED.match, lines[offset + 1 : offset + 2]))
                yield Unit(plain(line), first, first + 1, answered)


def _until_answer(line: str) -> tuple[str, str]:
    """Split a marked line into question and answer, if it has both: `Q: … A: …`, `**Q: …?** …`."""
    strong = _STRONG.match(line.strip())
    only_mark = strong and WORDING.question_mark.fullmatch(f"{strong['title'].rstrip(' .:：')}:")
    if strong and strong["rest"].strip(" :：") and not only_mark:
        return strong["title"], strong["rest"].strip()
    for match in re.finditer(r"[?？]\s*", line):
        if WORDING.answer_mark.match(line[match.end() :]):
            return line[: match.end()], line[match.end() :]
    return line, ""


STYLES: Mapping[str, Finder] = {
    "marked": _marked_lines,
    "details": _details,
    "table": _rows,
    "definition": _definitions,
    "strong": _strong_starts,
    "led": _led_items,
    "item": _items,
    "numbered": _numbered_lines,
}
"""Finders by style, in order of precedence: the first style that fits is used."""
