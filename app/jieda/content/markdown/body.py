"""Parses the body of an edition into structure, plain text and safe HTML; no other package uses markdown-it.

All of it comes from the same tokens. Raw HTML is off, so a tag in the source is shown as text. An allow-list decides
which addresses may become links and images (`jieda.content.markdown.links`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_inline import StateInline, autolink
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from jieda.content.markdown.html_writer import (
    BREAKS,
    CODE_BLOCKS,
    Keep,
    can_open_close,
    inline_text,
    plain_text,
    write_html,
)
from jieda.content.markdown.links import (
    IMAGE_TYPES,
    PAGE_IDS,
    SECTIONS,
    Anchors,
    Link,
    read_image,
    read_link,
    section_key,
    slug,
)
from jieda.entry import Heading, Language, Section

MOST_COLORED = 12 << 10
"""Maximum number of code characters that are highlighted per edition: more could take over two seconds."""


@dataclass(frozen=True, slots=True)
class PlacedHeading:
    """A heading and its line in the file.

    `section`: it is an H2 of the page itself, not inside a block quote or a list. `known`: its title is in SECTIONS.
    `level` is as written, whereas `heading.level` is at least 2 because the title is the page's H1.
    """

    heading: Heading
    level: int
    line: int
    section: bool
    known: bool


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed body. `tokens` are markdown-it's, for use in this package only."""

    markdown: str
    tokens: tuple[Token, ...]
    headings: tuple[PlacedHeading, ...]
    links: tuple[Link, ...]
    code: tuple[str, ...]
    """Code spans and code blocks, in order, as written."""
    code_spans: tuple[str, ...]
    first_line: int
    """The line of the file that the body starts on."""
    starts_with_section: bool
    unrendered: tuple[tuple[int, str], ...]
    """Unsupported Markdown, which is shown as written: the line, and what to write instead."""
    references: Mapping[str, str]
    """The definitions of reference links, as written, by label."""

    @property
    def code_lines(self) -> frozenset[int]:
        """Lines of the file in code blocks, fences included."""
        ranges = (_line_range(token) for token in self.tokens if token.type in CODE_BLOCKS)
        return frozenset(self.first_line + line for start_end in ranges for line in range(*start_end))

    @property
    def section_texts(self) -> dict[str, str]:
        """The Markdown of each section without its heading, but with the links defined elsewhere, by key, in their
        order."""
        lines, openings = self.markdown.split("\n"), list(filter(_opens_section, self.tokens))
        ends = [_line_range(each)[0] for each in openings[1:]] + [len(lines)]
        return {
            str(opening.attrs["id"]): self._with_links(
                "\n".join(lines[_line_range(opening)[1] : end]).strip("\n")
            )
            for opening, end in zip(openings, ends, strict=False)
        }

    def _with_links(self, text: str) -> str:
        folded = normalizeReference(text) if self.references else ""
        absent = (
            each for label, each in self.references.items() if f"[{label}]" in folded and each not in text
        )
        return "\n\n".join(filter(None, (text, "\n".join(absent))))


@dataclass(frozen=True, slots=True)
class Rendered:
    """The HTML of a whole body and of each of its sections."""

    html: str
    sections: tuple[Section, ...]


def parse_body(markdown: str, lang: Language, framework: str, first_line: int) -> Body:
    """Parse a body that starts on line `first_line` of its file. Any text is a valid body."""
    env: dict[str, Any] = {}
    tokens, lines = _parser().parse(markdown, env), markdown.split("\n")
    references = {
        label: "\n".join(lines[slice(*each["map"])]) for label, each in env.get("references", {}).items()
    }
    _mark_plain_code(tokens)
    return Body(
        references=references,
        markdown=markdown,
        headings=_place_headings(tokens, lang, first_line),
        links=tuple(_read_links(tokens, lang, framework, first_line)),
        tokens=tuple(tokens),
        code=tuple(text for text, _ in _find_code(tokens)),
        code_spans=tuple(text for text, is_span in _find_code(tokens) if is_span),
        first_line=first_line,
        starts_with_section=bool(tokens) and _opens_section(tokens[0]),
        unrendered=tuple(_find_unrendered(tokens, first_line)),
    )


def render_body(body: Body, keep: Keep) -> Rendered:
    """Render a body as HTML. `keep` decides about each entry link, anchor link and image."""
    starts = [index for index, token in enumerate(body.tokens) if _opens_section(token)]
    sections: list[Section] = []
    html = [write_html(body.tokens[: starts[0] if starts else None], keep)]
    places = pairwise([*starts, len(body.tokens)])
    for (start, end), (key, markdown) in zip(places, body.section_texts.items(), strict=True):
        tokens = body.tokens[start + 3 : end]
        text, code = plain_text(tokens)
        html += [write_html(body.tokens[start : start + 3], keep), write_html(tokens, keep)]
        title = inline_text(body.tokens[start + 1])
        sections.append(Section(key, title, markdown, html[-1], text, code))
    return Rendered("".join(html), tuple(sections))


def _line_range(token: Token) -> list[int]:
    return token.map or [0, 0]


def _opens_section(token: Token) -> bool:
    # `meta["level"]` is the tag as written; that of an H1 has been changed to h2.
    return token.type == "heading_open" and token.level == 0 and token.meta.get("level", token.tag) == "h2"


def _mark_plain_code(tokens: list[Token]) -> None:
    """Mark the code blocks beyond the first MOST_COLORED characters of code as plain."""
    characters = 0
    for token in tokens:
        if token.type in CODE_BLOCKS:
            characters += len(token.content)
            token.meta["plain"] = characters > MOST_COLORED


def _place_headings(tokens: list[Token], lang: Language, first_line: int) -> tuple[PlacedHeading, ...]:
    """Give every heading its anchor. The anchors in SECTIONS are reserved for sections."""
    anchors, seen = Anchors({*PAGE_IDS, *SECTIONS}), set[str]()
    placed: list[PlacedHeading] = []
    for index, opening in enumerate(tokens):
        if opening.type != "heading_open":
            continue
        opening.meta["level"] = opening.tag
        text, level = inline_text(tokens[index + 1]), int(opening.tag[1])
        section = _opens_section(opening)
        key = section_key(lang, text) if section else None
        anchor = key if key and key not in seen else anchors.take(key or slug(text))
        seen.add(anchor)
        opening.attrs["id"] = anchor
        opening.tag = tokens[index + 2].tag = f"h{max(level, 2)}"
        heading = Heading(max(level, 2), text, anchor)
        line = _line_range(opening)[0] + first_line
        placed.append(PlacedHeading(heading, level, line, section, key is not None))
    return tuple(placed)


def _read_links(tokens: list[Token], lang: Language, framework: str, first_line: int) -> Iterator[Link]:
    for block in tokens:
        line = _line_range(block)[0] + first_line
        for token in block.children or ():
            line += token.type in BREAKS
            if token.type == "link_open":
                token.meta["link"] = read_link(str(token.attrs["href"]), lang, framework, line)
            elif token.type == "image":
                token.meta["link"] = read_image(str(token.attrs["src"]), framework, line)
            if "link" in token.meta:
                yield token.meta["link"]


_BOX, _ALERT = re.compile(r"\[[ xX]\]\s"), re.compile(r"\[!(\w+)\]")
_TAG = re.compile(
    r"</?(?:a|b|br|center|details|div|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|small|span|strong|sub|summary|sup|table|td|tr"
    r"|u|ul)(?:\s[^<>]*)?/?>|<!--",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\[\^[\w-]+\]")
_UNREAD_LINK = re.compile(r"(!?\[[^\[\]]*\])\(([^()<>]+)\)")
"""A link or an image in a text: one that was read is none."""
BARE_ADDRESS = re.compile(r"(?a:https?://[\w.:/?#&=%~+@-]*[\w/])")
"""An address in a text. It is not a link unless it is in angle brackets."""


def _find_unrendered(tokens: Sequence[Token], first_line: int) -> Iterator[tuple[int, str]]:
    for index, block in enumerate(tokens):
        parent = tokens[index - 2].type if index > 1 else ""
        line = _line_range(block)[0] + first_line
        if parent == "list_item_open" and _BOX.match(block.content):
            yield line, "a task-list box is shown as `[ ]`: write a plain list"
        elif parent == "blockquote_open" and (alert := _ALERT.match(block.content)):
            yield line, f"`{alert[0]}` is shown as it is: write `> **{alert[1].capitalize()}**: …`"
        link_depth = 0
        for token in block.children or ():
            line += token.type in BREAKS
            link_depth += token.nesting if token.type.startswith("link_") else 0
            text = token.content if token.type == "text" else ""
            if tag := _TAG.search(text):
                yield (
                    line,
                    f"`{tag[0]}` is shown as it is, because entries cannot contain HTML: write it as Markdown",
                )
            if note := _FOOTNOTE.search(text):
                yield line, f"`{note[0]}` is shown as it is: write the footnote into the text"
            for link in _UNREAD_LINK.finditer(text):
                if " " in link[2] and link[2].partition("#")[0].lower().endswith((".md", *IMAGE_TYPES)):
                    yield line, f"`{link[0]}` is shown as it is: write `{link[1]}(<{link[2]}>)`"
            if not link_depth and (bare := BARE_ADDRESS.search(text)):
                yield line, f"`{bare[0]}` is shown without a link: write `<{bare[0]}>`"


def _find_code(tokens: Sequence[Token]) -> Iterator[tuple[str, bool]]:
    for token in tokens:
        if token.type in CODE_BLOCKS:
            yield token.content.removesuffix("\n"), False
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.content, True


T = TypeVar("T", bound=Any)


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A block of any Markdown page: lines `first` to `end` of its source, from 0, without the last.

    `kind` is markdown-it's name for the block (`heading`, `paragraph`, `list_item`, `fence`, `html_block`, …), `level`
    the level of a heading or 0, `markup` its marker (`##`, `-`, `1.`). `content` is the source of a paragraph, heading
    or cell, or the text of a code or HTML block; blocks with `children` have none.
    """

    kind: str
    first: int
    end: int
    level: int
    markup: str
    content: str
    children: tuple["SourceBlock", ...]


def walk(blocks: Iterable[T]) -> Iterator[T]:
    """Yield blocks, or other nodes with `children`, and all their descendants, in the order of the page."""
    for block in blocks:
        yield block
        yield from walk(block.children)


@dataclass(frozen=True, slots=True)
class SourcePage:
    """The blocks of a page, and the addresses of its reference links by label in upper case."""

    blocks: tuple[SourceBlock, ...]
    references: Mapping[str, str]


def parse_page(markdown: str) -> SourcePage:
    """Parse a page written by others. Raw HTML becomes a block. Any text is a valid page."""
    env: dict[str, Any] = {}
    tokens = iter(_page_parser().parse(markdown, env))
    references = {label: str(reference["href"]) for label, reference in env.get("references", {}).items()}
    return SourcePage(tuple(_source_blocks(tokens, 0)), references)


def _source_blocks(tokens: Iterator[Token], line: int) -> Iterator[SourceBlock]:
    """Yield the blocks up to the end of their parent, which starts on `line`."""
    for token in tokens:
        if token.nesting < 0:
            return
        first, end = token.map or [line, line + 1]
        children = tuple(_source_blocks(tokens, first)) if token.nesting > 0 else ()
        inline = children[0] if len(children) == 1 and children[0].kind == "inline" else None
        kind = token.type.removesuffix("_open")
        level = int(token.tag[1]) if kind == "heading" else 0
        content = inline.content if inline else token.content
        yield SourceBlock(
            kind, first, end, level, token.info + token.markup, content, () if inline else children
        )


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - name and arguments are markdown-it's
        """Accept every address, because `links` refuses bad ones and can report their line."""
        return True


def _parse_emphasis(state: StateInline, silent: bool) -> bool:
    """Consume a run of `*` or `_` and record whether it may open or close emphasis. markdown-it pairs the runs."""
    start, marker = state.pos, state.src[state.pos]
    if silent or marker not in "*_":
        return False
    end = start
    while end < state.posMax and state.src[end] == marker:
        end += 1
    before = state.src[start - 1] if start else " "
    after = state.src[end] if end < state.posMax else " "
    can_open, can_close = can_open_close(before, after, marker == "*")
    for _ in range(end - start):
        state.push("text", "", 0).content = marker
        token = len(state.tokens) - 1
        state.delimiters.append(Delimiter(ord(marker), end - start, token, -1, can_open, can_close))
    state.pos = end
    return True


@cache
def _page_parser() -> MarkdownIt:
    return _Parser("js-default", {"html": True})


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("js-default", {"html": False})
    parser.inline.ruler.at("emphasis", _parse_emphasis)
    # Links do not nest: within the text of one, an address in angle brackets is text.
    parser.inline.ruler.at("autolink", lambda state, silent: not state.linkLevel and autolink(state, silent))
    return parser
