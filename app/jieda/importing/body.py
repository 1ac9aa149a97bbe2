"""The fifth stage: converts the lines of an answer into the body of an edition."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jieda.content.markdown.body import SourceBlock, parse_page, walk
from jieda.content.markdown.links import PAGE_IDS, SECTIONS, Anchors, slug
from jieda.entry import Kind, Language
from jieda.importing.outline import anchor_of, plain
from jieda.importing.page import MarkdownPage
from jieda.importing.questions import PageQuestion
from jieda.importing.rewrite import LinkRewriter, Targets, dedent, tidy, trim
from jieda.importing.wording import WORDING

MAIN_SECTION: Mapping[Kind, str] = {Kind.ERROR: "fix", Kind.HOW_TO: "steps", Kind.CONCEPT: "answer"}

EMPTY = {Language.EN: "TODO: the page has no answer to this.", Language.ZH: "待填：原页面没有给出答案。"}

_HEADING = re.compile(r"(?P<before>[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?)#{1,6}\s+(?P<text>.*?)(?:\s+#+)?\s*$")
_LABEL = re.compile(
    r"(?:\*\*|__)(?P<name>[^*_\n:：]{1,40}?)\s*"
    r"(?:[:：]\s*(?:\*\*|__)|(?:\*\*|__)(?=\s*[:：]|\s*$|\s+[^a-z\s]))\s*[:：]?\s*(?P<rest>.*)"
)
"""A label such as `**Cause**`; in `**Verify** that it runs`, the bold word is part of a sentence."""
_PLAIN_LABEL = re.compile(r"(?P<name>[^*_\n:：]{1,40}?)\s*[:：]\s*(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer as Markdown that is valid in an entry. `parts`: the same text split by section, each part with the key
    of its section."""

    text: str
    parts: tuple[tuple[str, str], ...]
    links: LinkRewriter


def read_answer(page: MarkdownPage, question: PageQuestion, targets: Targets, entry_slug: str) -> PageAnswer:
    """Read the answer to a question and convert it for the entry `entry_slug`."""
    text, anchors = _shift_headings(tidy("\n".join(source_lines(page, question))))
    links = LinkRewriter(targets, entry_slug, anchors)
    text = links.rewrite(text).strip("\n")
    return PageAnswer(text, _split_sections(text), links)


def source_lines(page: MarkdownPage, question: PageQuestion) -> list[str]:
    """Return the lines of the answer as on the page, without the marks that separate it from the question."""
    # Right below a heading, what is indented is code.
    as_is = list if page.lines[question.first].startswith("#") else dedent
    lines = as_is(trim(page.lines[question.body : question.end]))
    if question.lead.strip(" \t*_:："):
        lines = [question.lead.strip().removeprefix(":").removeprefix("：").strip(), *lines]
    lines = trim(lines)
    quoted = page.origin and lines and all(line.startswith(">") for line in lines)
    if quoted and not lines[0].startswith("> **"):
        # An answer that is only indented is neither a quotation nor a notice.
        lines = trim([line.removeprefix(">").removeprefix(" ") for line in lines])
    if lines and question.style == "definition":
        lines[0] = re.sub(r"^\s*:\s+", "", lines[0])
    if lines and (mark := WORDING.answer_mark.match(lines[0])):
        lines[0] = _without_mark(lines[0], mark.end())
    return as_is(trim(lines))


def _without_mark(line: str, end: int) -> str:
    """Remove a mark such as `A:`; if bold text starts with it, the rest of that stays bold."""
    rest, mark = line[end:].lstrip(), line[:end]
    if mark.count("**") % 2 and rest.count("**") % 2:
        return f"**{rest}"
    return rest


def compose(answers: Mapping[Language, PageAnswer], kind: Kind) -> dict[Language, str]:
    """Return the bodies, with a section per part if all editions have the same parts, otherwise with one section."""
    by_section = kind is Kind.ERROR and _have_same_sections(answers.values())
    bodies: dict[Language, str] = {}
    for lang, answer in answers.items():
        parts = answer.parts if by_section else ((MAIN_SECTION[kind], answer.text),)
        bodies[lang] = "\n".join(
            f"## {SECTIONS[key][lang]}\n\n{text or EMPTY[lang]}\n" for key, text in parts
        )
    return bodies


def _have_same_sections(answers: Iterable[PageAnswer]) -> bool:
    """Whether all editions have the same sections, each once, including the one required for an error."""
    keys = {tuple(key for key, _ in answer.parts) for answer in answers}
    first = next(iter(keys))
    return len(keys) == 1 and "fix" in first and len(set(first)) == len(first)


def _split_sections(text: str) -> tuple[tuple[str, str], ...]:
    """Split an answer at headings and bold labels that name a section; text before the first is the symptom."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    starts = {block.first: block for block in parse_page(text).blocks}
    for number, line in enumerate(text.split("\n")):
        section = _section_of(starts[number], line) if number in starts else None
        if section:
            parts.append((section[0], [section[1]]))
        else:
            parts[-1][1].append(line)
    if not "".join(parts[0][1]).strip():
        parts = parts[1:]
    elif len(parts) > 1:
        # What the page labels as the symptom may continue what it says in front of it.
        labeled = parts.pop(1)[1] if parts[1][0] == "symptom" else []
        parts[0] = ("symptom", [*parts[0][1], *trim(labeled)])
    return tuple((key, "\n".join(lines).strip("\n")) for key, lines in parts if key)


def _section_of(block: SourceBlock, line: str) -> tuple[str, str] | None:
    """Return the section that a block names, and the rest of its line; None if it names none."""
    if block.kind == "heading":
        key = WORDING.part(plain(block.content))
        return (key, "") if key else None
    match = _LABEL.match(line) or _PLAIN_LABEL.match(line) if block.kind == "paragraph" else None
    key = WORDING.part(match["name"]) if match else ""
    usual = match and (match.re is _LABEL or key in {"symptom", "cause", "fix"})
    return (key, match["rest"]) if match and key and usual else None


def _shift_headings(text: str) -> tuple[str, dict[str, str]]:
    """Shift headings to start at H3, below the sections; also return a map of old anchors to new ones."""
    lines = text.split("\n")
    headings = [block for block in walk(parse_page(text).blocks) if block.kind == "heading"]
    if not headings:
        return text, {}
    shift = 3 - min(block.level for block in headings)
    new_anchors = Anchors({*PAGE_IDS, *SECTIONS})
    anchors: dict[str, str] = {}
    for block in reversed(headings):
        level = min(max(block.level + shift, 3), 6)
        match = _HEADING.match(lines[block.first])
        title = " ".join(re.sub(r"\{\s*#[^}]*\}", "", block.content).split())
        lines[block.first] = f"{match['before'] if match else ''}{'#' * level} {title}"
        if block.markup in {"-", "="}:
            del lines[block.first + 1 : block.end]
    for block in headings:
        title = plain(block.content)
        new = new_anchors.take(slug(title.replace("`", "")))
        for old in (anchor_of(block.content), slug(title), new):
            anchors.setdefault(old, new)
    return "\n".join(lines), anchors
